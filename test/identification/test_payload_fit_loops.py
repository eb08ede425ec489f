"""Test the fit of the payload of a mechanism with loops from its motor torques."""

import numpy as np
import pytest
from support.moving_mechanisms import loop_motion, mechanism, moved, raw, recorded, torques

from dynamics_node import DynamicsError
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.loop_recording import velocity_signs
from dynamics_node.identification.parameters import parameter_layout, parameter_values
from dynamics_node.identification.payload_fit import identify_payload
from dynamics_node.identification.static_poses import StaticPoses

LOAD = {'mass': 3.0, 'com': (0.05, -0.04, 0.12), 'inertia': np.diag([0.02, 0.03, 0.025])}
POSES = 8


pytestmark = pytest.mark.usefixtures('kernels')


@pytest.fixture(scope='module')
def stewart(kernels):
    """(robot, LoopMotion, random configurations)."""
    robot = mechanism('stewart')
    loops = loop_motion(robot)
    return robot, loops, loops.random_states(np.random.default_rng(1), POSES).q


def loaded(robot):
    return robot.with_payload('load', 'platform', **LOAD)


def test_a_motion_of_the_motors_gives_the_whole_payload(stewart):
    """On a Stewart platform: exactly, and with noise within the stated deviations."""
    robot, _, _ = stewart
    motion = moved('stewart', robot, 400, 3, 0.033)
    layout = parameter_layout(robot)
    tau = torques(loaded(robot), layout, parameter_values(robot, layout), motion)
    found = identify_payload(robot, recorded(robot, motion, tau), 'platform')
    assert found.mass == pytest.approx(LOAD['mass'], rel=1e-6)
    np.testing.assert_allclose(found.com, LOAD['com'], atol=1e-6)
    np.testing.assert_allclose(found.inertia, LOAD['inertia'], atol=1e-5)
    assert found.joint_names == motion.names
    assert found.residual_rms.shape == (6,)
    found = identify_payload(robot, raw(robot, motion, tau, motion.names, (0.0, 0.2)), 'platform')
    sigma = found.sigma
    assert abs(found.mass - LOAD['mass']) < 4.0 * sigma['mass'] < 0.1
    for k, axis in enumerate('xyz'):
        assert abs(found.com[k] - LOAD['com'][k]) < 4.0 * sigma[f'c{axis}'] < 0.02
    bare = raw(robot, motion, torques(robot, layout, parameter_values(robot, layout), motion),
               motion.names, (0.0, 0.2), seed=1)
    found = identify_payload(robot, raw(robot, motion, tau, motion.names, (0.0, 0.2)), 'platform',
                             bare)
    assert found.mass == pytest.approx(LOAD['mass'], rel=0.01)


@pytest.mark.parametrize('sides', [False, True])
def test_static_poses_give_mass_and_centre(stewart, sides):
    """By the motors alone; approached from both sides, dry friction of every joint cancels."""
    robot, loops, poses = stewart
    names = loops.names
    q, tau, approach = [], [], []
    for side in (1.0, -1.0) if sides else (0.0,):
        signs = velocity_signs(loops, poses, dict(zip(names, np.full((6, POSES), side))))
        friction = np.where(loops.active, 2.0, 0.0) * signs
        q.append(poses[:, loops.q_indices])
        tau.append(project(loops, poses, loaded(robot).gravity_torque(poses) + friction))
        approach.append(np.full((POSES, 6), side))
    found = identify_payload(robot, StaticPoses(
        names, np.concatenate(q), np.concatenate(tau),
        np.concatenate(approach) if sides else None), 'platform')
    assert found.mass == pytest.approx(LOAD['mass'], rel=1e-5)
    np.testing.assert_allclose(found.com, LOAD['com'], atol=1e-5)
    assert found.inertia is None
    assert found.joint_names == names


def test_a_frame_that_cannot_turn_is_refused():
    """The platform of a delta robot: gravity always has the same direction in its axes."""
    robot = mechanism('delta')
    motion = moved('delta', robot, 150, 3)
    layout = parameter_layout(robot)
    tau = torques(robot.with_payload('load', 'platform', 1.0), layout,
                  parameter_values(robot, layout), motion)
    with pytest.raises(DynamicsError, match="do not determine .* of a load at 'platform'"):
        identify_payload(robot, recorded(robot, motion, tau), 'platform')


def test_too_few_poses_and_missing_motors_are_refused(stewart):
    robot, loops, poses = stewart
    few = StaticPoses(loops.names, poses[:2, loops.q_indices], np.zeros((2, 6)))
    with pytest.raises(DynamicsError, match='2 poses are too few'):
        identify_payload(robot, few, 'platform')
    with pytest.raises(DynamicsError, match="no joint in the poses 'leg_6_slide'"):
        identify_payload(robot, StaticPoses(loops.names[:5], poses[:, loops.q_indices[:5]],
                                            np.zeros((POSES, 5))), 'platform')
