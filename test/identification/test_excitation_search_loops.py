"""Test excitations of robots with loops: motors move, other joints follow within every limit."""

import numpy as np
import pytest
import yaml
from support.moving_mechanisms import Moved, loop_motion, mechanism, raw

from dynamics_node import DynamicsError
from dynamics_node.identification.excitation_limits import Box
from dynamics_node.identification.excitation_search import ExcitationSettings, excitation
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.trajectory_files import sample_trajectory, trajectory_yaml

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]
DENSELY = 1501
SETTINGS = ExcitationSettings(period=5.0, iterations=4, acceleration=30.0, seed=2,
                    boxes=(Box('tool', lower=(-1.0, -1.0, -0.52)),))


@pytest.fixture(scope='module')
def robot(kernels):
    return mechanism('five_bar')


@pytest.fixture(scope='module')
def found(robot):
    return excitation(robot, SETTINGS)


def test_the_loops_and_every_limit_are_kept(robot, found):
    """Positions, velocities and accelerations of all joints, the motors' torques, a box."""
    motion, loops = found.trajectory, loop_motion(robot)
    assert motion.joint_names == ('left_shoulder', 'right_shoulder')
    where, v, a = motion.sample(np.linspace(0.0, motion.period, DENSELY))
    q = loops.follow(where, loops.walk_to(loops.home, where[0])[0])
    q, v, a, N, clear = loops.motion(q, v, a)
    assert np.abs(robot.constraint_rows(q, v).residual).max() < 1e-9
    assert clear.all()
    for joint in robot.model.joints:
        middle, half = (joint.lower + joint.upper) / 2, (joint.upper - joint.lower) / 2
        assert np.abs(q[:, joint.q] - middle).max() <= 0.9 * half
        assert np.abs(v[:, joint.v]).max() <= 0.9 * joint.max_velocity
    assert np.abs(a).max() <= 30.0
    tau = project(loops, q, robot.inverse_dynamics(q, v, a))
    assert np.abs(tau).max() <= 0.9 * 20.0
    assert robot.frame_pose(q, 'tool')[:, 2, 3].min() >= -0.52
    assert np.abs(v[:, loops.independent]).max() > 0.5   # and it is a motion
    assert found.condition <= found.random_condition < np.inf
    assert found.base_parameters == 21


def test_a_mechanism_that_follows_it_gives_a_good_recording(robot, found):
    """The data pass all checks; the YAML names the motors."""
    time, where, v, a = sample_trajectory(found.trajectory, 100.0, 2)
    loops = loop_motion(robot)
    q = loops.follow(where, loops.walk_to(loops.home, where[0])[0])
    q, v, a, _, _ = loops.motion(q, v, a)
    tau = np.zeros_like(v)
    tau[:, loops.independent] = project(loops, q, robot.inverse_dynamics(q, v, a))
    motion = Moved(time, q, v, a, loops.q_indices, loops.independent, loops.names)
    assert prepare(robot, raw(robot, motion, tau)).warnings == ()
    message = yaml.safe_load(trajectory_yaml(found.trajectory, 10.0))
    assert message['joint_names'] == ['left_shoulder', 'right_shoulder']


def test_robots_that_cannot_be_excited_are_refused():
    """More motors than freedoms, or fewer; a floating base."""
    with pytest.raises(DynamicsError, match='4 motors and 2 degrees of freedom: a sum of sines'):
        excitation(mechanism('five_bar', ()))
    with pytest.raises(DynamicsError, match='have no motor, and the loops leave them free'):
        excitation(mechanism('five_bar', ('left_elbow', 'right_elbow', 'right_shoulder')))
    with pytest.raises(DynamicsError, match='more than one axis'):
        excitation(mechanism('five_bar', base='floating'))


def test_infeasible_limits_are_refused(robot):
    """A box out of reach; positions that the mechanism cannot reach."""
    with pytest.raises(DynamicsError, match='the robot can hold itself .* random configurations'):
        excitation(robot, ExcitationSettings(boxes=(Box('tool', lower=(5.0, 0.0, 0.0)),)))
    with pytest.raises(DynamicsError, match='within the ranges of left_shoulder, right_shoulder'):
        excitation(robot, ExcitationSettings(positions={'left_shoulder': (5.0, 5.1)}))
