"""Test the simulated arm against physics and Robot."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from arm import SimulatedArm
from support.differences import relative
from support.tolerances import MUJOCO

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

RK4_ENERGY = 1e-5      # of the kinetic energy, five seconds of free fall at 1 ms
LOAD = {'mass': 2.0, 'com': (0.01, 0.02, 0.1),
        'inertia': [[0.02, 0.003, 0.0], [0.003, 0.025, 0.001], [0.0, 0.001, 0.03]]}
ROTORS = {f'joint_{k}': 0.05 * k for k in range(1, 8)}


@pytest.fixture(scope='module')
def robot():
    """Without friction: its acceleration is a closed form."""
    return Robot.from_urdf(ARM7, friction=False)


def frictionless(robot, **kwargs):
    return SimulatedArm(ARM7, robot.joint_names, damping=False, dry_friction=False, **kwargs)


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))


# The same physics --------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(5))
def test_acceleration_is_forward_dynamics(robot, seed):
    q, v, tau = state(robot, seed)
    arm = frictionless(robot)
    arm.set(q, v)
    assert relative(arm.acceleration(tau), robot.forward_dynamics(q, v, tau)) < MUJOCO


def test_damping_gravity_and_armature_are_those_given():
    root = ElementTree.parse(ARM7).getroot()
    for dynamics in root.iter('dynamics'):
        dynamics.set('friction', '0')   # MuJoCo's solver knows a hard one, Robot a smooth one
    urdf = ElementTree.tostring(root, encoding='unicode')
    robot = Robot.from_urdf(urdf, gravity=(1.0, -2.0, -9.0), armature=ROTORS)
    arm = SimulatedArm(urdf, gravity=(1.0, -2.0, -9.0), armature=ROTORS)
    q, v, tau = state(robot, 1)
    arm.set(q, v)
    assert relative(arm.acceleration(tau), robot.forward_dynamics(q, v, tau)) < MUJOCO


def test_falling_keeps_its_energy(robot):
    arm = frictionless(robot, stops=False)
    arm.set(state(robot, 2)[0])
    before, kinetic = arm.energy, []
    for _ in range(50):
        arm.step(np.zeros(arm.n), n=100)
        kinetic.append(robot.kinetic_energy(arm.q, arm.v))
        assert abs(arm.energy - before) < RK4_ENERGY * max(kinetic)
    assert max(kinetic) > 10.0


def test_a_step_follows_the_acceleration(robot):
    q, v, tau = state(robot, 3)
    arm = frictionless(robot, timestep=1e-5)
    arm.set(q, v)
    arm.step(tau)
    a = robot.forward_dynamics(q, v, tau)
    assert np.abs(arm.v - v - 1e-5 * a).max() < 1e-4 * 1e-5 * np.abs(a).max() + 1e-6
    assert arm.time == 1e-5


def test_gravity_torque_holds_the_arm(robot):
    """Ten seconds from rest at five random poses, without friction's help, at 100 Hz."""
    poses = np.array([robot.random_configuration(seed) for seed in range(5)])
    arms = [frictionless(robot) for _ in poses]
    for arm, q in zip(arms, poses):
        arm.set(q)
    for _ in range(1000):
        torques = robot.gravity_torque(np.array([arm.q for arm in arms]))
        for arm, tau in zip(arms, torques):
            arm.step(tau, n=10)
    assert np.abs(np.array([arm.q for arm in arms]) - poses).max() < 1e-3


def test_dry_friction_sticks_and_slides():
    arm = SimulatedArm(ARM7, gravity=(0.0, 0.0, 0.0))
    friction = np.array([0.9, 0.9, 0.7, 0.7, 0.4, 0.3, 0.2])
    arm.step(0.8 * friction, n=1000)
    assert np.abs(arm.v).max() < 1e-4
    arm.step(1.5 * friction, n=1000)
    assert (arm.v > 0.01).any()


# Load --------------------------------------------------------------------------------------------

@pytest.mark.parametrize('load', [{'mass': 2.0}, LOAD], ids=['point mass', 'body'])
def test_a_load_is_a_payload(robot, load):
    """Attached in motion; the state is continuous, also when it is removed."""
    q, v, tau = state(robot, 4)
    arm = frictionless(robot)
    arm.set(q, v)
    bare = arm.acceleration(tau)
    arm.attach('box', 'tool0', **load)
    np.testing.assert_array_equal([arm.q, arm.v], [q, v])
    loaded = robot.with_payload('box', 'tool0', **load)
    assert relative(arm.acceleration(tau), loaded.forward_dynamics(q, v, tau)) < MUJOCO
    arm.step(tau, n=10)
    q, v = arm.q, arm.v
    assert relative(arm.acceleration(tau), loaded.forward_dynamics(q, v, tau)) < MUJOCO
    arm.detach('box')
    assert relative(arm.acceleration(tau), robot.forward_dynamics(q, v, tau)) < MUJOCO
    arm.set(*state(robot, 4)[:2])
    np.testing.assert_array_equal(arm.acceleration(tau), bare)


def test_two_loads_at_two_links(robot):
    q, v, tau = state(robot, 5)
    arm = frictionless(robot)
    arm.set(q, v)
    arm.attach('box', 'tool0', **LOAD)
    arm.attach('cable', 'link_3', 0.7, (0.0, 0.05, 0.1))
    loaded = robot.with_payload('box', 'tool0', **LOAD).with_payload('cable', 'link_3', 0.7,
                                                                     (0.0, 0.05, 0.1))
    assert arm.loads == ('box', 'cable')
    assert relative(arm.acceleration(tau), loaded.forward_dynamics(q, v, tau)) < MUJOCO


# A driver's manners ------------------------------------------------------------------------------

def test_efforts_are_clipped_to_their_limits(robot):
    arm = frictionless(robot)
    limits = [joint.max_effort for joint in robot.model.joints]
    np.testing.assert_array_equal(arm.effort_limit, limits)
    arm.step(np.full(arm.n, -50.0))
    np.testing.assert_array_equal(arm.effort, np.maximum(-50.0, -np.array(limits)))
    assert arm.clamped == 1


def test_joints_are_in_the_given_order(robot):
    order = robot.joint_names[::-1]
    q, v, tau = state(robot, 6)
    arm = SimulatedArm(ARM7, order, damping=False, dry_friction=False)
    arm.set(q[::-1], v[::-1])
    assert relative(arm.acceleration(tau[::-1])[::-1], robot.forward_dynamics(q, v, tau)) < MUJOCO
    assert relative(arm.frame_pose('tool0'), robot.frame_pose(q, 'tool0')) < MUJOCO


def test_brakes_hold_the_arm_and_measure_its_weight(robot):
    q, v, _ = state(robot, 7)
    arm = frictionless(robot)
    arm.set(q, v)
    arm.brake()
    arm.step(np.ones(arm.n), n=1000)
    np.testing.assert_array_equal([arm.q, arm.v], [q, np.zeros(arm.n)])
    assert relative(arm.effort, robot.gravity_torque(q)) < MUJOCO
    assert arm.time == 1.0
    arm.release()
    arm.step(np.zeros(arm.n))
    assert arm.v.any()


@pytest.mark.parametrize('what, message', [
    (lambda arm: arm.step([1.0, 2.0]), 'torque is [1.0, 2.0]; expected 7 finite numbers'),
    (lambda arm: arm.step(np.full(7, np.nan)), 'torque is [nan'),
    (lambda arm: arm.attach('box', 'hand', 1.0), "no link 'hand'; the robot has base_link"),
    (lambda arm: SimulatedArm(ARM7, ['joint_1']), 'expected an order of joint_1, joint_2'),
    (lambda arm: SimulatedArm(ARM7, armature={'elbow': 1.0}), 'elbow: no such joint'),
    (lambda arm: SimulatedArm(ARM7.read_text().replace(
        '<axis', '<mimic joint="joint_2"/><axis', 1)), 'joints joint_1: mimic'),
], ids=['size', 'nan', 'link', 'order', 'armature', 'mimic'])
def test_invalid_settings_are_refused(robot, what, message):
    arm = frictionless(robot)
    with pytest.raises(ValueError, match=re.escape(message)):
        what(arm)
