"""Test trajectories of robots with loops: passive joints follow, motors carry their load."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import relative
from support.linkage_closed_forms import FourBar
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.closed_trajectory import closed_motion, motor_efforts
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.example_robots import MECHANISMS

TIMES = np.linspace(0.0, 1.0, 30)
TURN = 1.5 * np.pi  # of the crank: far beyond one step of Newton's method


def robot_of(name, **options):
    return Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, **options)


def crank_turns():
    """Return (q, v, a) of the four-bar with its crank alone in motion; the others at zero."""
    q, v, a = np.zeros((3, len(TIMES), 3))
    q[:, 0], v[:, 0], a[:, 0] = TURN * TIMES ** 2, 2.0 * TURN * TIMES, 2.0 * TURN
    return q, v, a


def test_a_four_bar_follows_its_crank_as_in_the_textbook():
    """Configurations on one branch over a long turn, and the torque of the crank."""
    robot, textbook = robot_of('four_bar', friction=False), FourBar()
    q, v, a = crank_turns()
    found = closed_motion(robot, np.zeros(3), q, v, a)
    efforts = motor_efforts(robot, *found)
    for k in range(len(TIMES)):
        there = textbook.at(q[k, 0] + textbook.upright)
        first, second = np.transpose(there.slopes)
        turned = found.q[k] - textbook.coordinates(q[k, 0] + textbook.upright)
        assert relative(np.exp(1j * turned), np.ones(3)) < SOLVED
        assert relative(found.v[k], first * v[k, 0]) < SOLVED
        assert relative(found.a[k], first * a[k, 0] + second * v[k, 0] ** 2) < SOLVED
        assert relative(efforts[k], [there.torque(v[k, 0], a[k, 0]), 0.0, 0.0]) < SOLVED


@pytest.mark.parametrize('name', MECHANISMS)
def test_the_efforts_are_those_of_constrained_inverse_dynamics(name):
    """The motions of the motors are kept; constraint forces are found by another way."""
    robot = robot_of(name)
    start, _, _ = standing(robot.model, robot.loops.constraints, 3)
    rng = np.random.default_rng(1)
    v, a = rng.normal(size=(2, 3, robot.nv))
    motors = [joint for joint in robot.model.joints if joint.name not in robot.loops.passive]
    q = np.tile(start, (3, 1))
    for joint in motors:
        q[:, joint.q] += [[0.0], [0.01], [0.02]]
    found = closed_motion(robot, start, q, v, a)
    for joint in motors:
        assert np.array_equal(found.v[:, joint.v], v[:, joint.v])
        assert relative(found.q[:, joint.q], q[:, joint.q]) < SOLVED
    efforts = motor_efforts(robot, *found)
    for k in range(3):
        want = robot.constrained_inverse_dynamics(found.q[k], found.v[k], found.a[k],
                                                  choice='least_torque')
        assert relative(efforts[k], want.tau) < SOLVED


def test_the_greatest_payload_saturates_a_motor():
    """With it, the peak of the crank is its limit."""
    robot = robot_of('four_bar')
    motion = closed_motion(robot, np.zeros(3), *crank_turns())
    limits = np.array([40.0, np.nan, np.nan])
    com = (0.1, 0.0, 0.05)
    found = trajectory_torques(robot, TIMES, *motion, effort_limits=limits,
                               payload_frame='coupler', payload_com=com, closed=True)
    assert np.array_equal(found.peak[1:], np.zeros(2))
    assert 0.1 < found.greatest_payload < np.inf
    loaded = robot.with_payload('load', 'coupler', found.greatest_payload, com)
    again = trajectory_torques(loaded, TIMES, *motion, effort_limits=limits, closed=True)
    assert relative(again.peak[0], 40.0) < SOLVED
    tree = trajectory_torques(robot, TIMES, *motion, effort_limits=limits)
    assert np.array_equal(tree.effort, robot.inverse_dynamics(*motion))


def test_a_start_with_open_loops_is_refused():
    """Positions of another mechanism, or a sensor with a wrong zero."""
    with pytest.raises(DynamicsError, match=r'the loops are open by 0\.374 m or rad at the start'):
        closed_motion(robot_of('four_bar'), np.array([1.0, 0.0, 0.0]), *crank_turns())


def test_motions_that_no_loop_can_follow_are_refused():
    """The rocker of a four-bar, here its motor, cannot turn round."""
    robot = robot_of('four_bar')
    robot = robot.with_loops({'constraints': list(robot.loops.constraints),
                              'passive': ['crank_joint', 'coupler_joint']})
    q, v, a = np.zeros((3, 2, 3))
    q[1, 2] = 3.0
    with pytest.raises(DynamicsError, match='the loops cannot be followed to rocker_joint 3'):
        closed_motion(robot, np.zeros(3), q, v, a)
