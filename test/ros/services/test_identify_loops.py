"""Test identification of robots with loops at a node_state without ROS: goals and payloads."""

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from support.moving_mechanisms import mechanism, moved, other_mechanism, torques  # noqa: E402
from support.node_states import NOW, ask, node_state_of
from support.remote_node import joint_state

from dynamics_node import Robot
from dynamics_node.action import Identify
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.loop_equations import project
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.services.identify import identify_job

# Thousands of regressors: on kernels.
pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]
SAMPLES = 1200
LOAD = {'mass': 3.0, 'com': (0.05, -0.04, 0.12)}


def looped(name, meaning='motor_torque', constants=None):
    """Return a node_state with a bundled mechanism and a declared meaning of effort."""
    bundled = MECHANISMS[name]
    node_state = node_state_of(bundled.urdf.read_text(), constraints=bundled.loops.read_text())
    node_state.observer_parameters = ObserverParameters(effort_meaning=meaning,
                                                        torque_constants=PerJoint(
                                                            named=constants or {}))
    return node_state


def tell(node_state, names, time, q, tau):
    """Publish joint states to a node_state; the first sample is at NOW."""
    node_state.buffer.run(True)
    for t, position, effort in zip(time, q, tau):
        stamp = NOW + round(1e9 * t)
        node_state.buffer.take(stamp, bytes(serialize_message(
            joint_state(stamp, names, position, np.zeros(len(names)), effort))))


@pytest.fixture(scope='module')
def driven(kernels):
    """(joint names, a motion of a five-bar unlike its URDF, its torques, gravity of the URDF's)."""
    robot = mechanism('five_bar')
    layout, truth = other_mechanism(robot)
    motion = moved('five_bar', robot, SAMPLES, 3)
    tau = torques(robot, layout, truth, motion)
    tau[:, motion.motors] += 0.01 * np.random.default_rng(0).normal(size=(SAMPLES, 2))
    weight = np.zeros_like(tau)
    weight[:, motion.motors] = project(LoopMotion(robot), motion.q,
                                       robot.gravity_torque(motion.q))
    return robot.joint_names, motion, tau, weight


@pytest.mark.parametrize('meaning', ['motor_torque', 'current', 'without_gravity'])
def test_a_goal_identifies_a_mechanism_by_its_motors(driven, meaning):
    """Live, from joint states of all joints; rows are the motors, and the loops are named."""
    names, motion, tau, weight = driven
    efforts = {'motor_torque': tau, 'current': tau / [2.0, 1.0, -3.0, 1.0],
               'without_gravity': tau - weight}[meaning]
    constants = {'left_shoulder': 2.0, 'right_shoulder': -3.0} if meaning == 'current' else {}
    node_state = looped('five_bar', meaning, constants)
    tell(node_state, names, motion.time, motion.q, efforts)
    job = identify_job(node_state, Identify.Goal(duration=10.0))
    outcome = job.run(node_state.buffer.since(0), lambda *_: None, lambda *_: None)
    assert outcome.joint_names == ('left_shoulder', 'right_shoulder')
    assert len(outcome.rms_after) == 2
    assert outcome.gain > 3.0
    assert '2 equations per sample, of left_shoulder, right_shoulder' in outcome.warnings[0]
    assert set(outcome.drive['damping']) == set(names)
    assert Robot.from_urdf(outcome.urdf).nv == 4


def test_static_poses_of_the_motors_give_the_payload_of_a_platform(monkeypatch):
    """The floating platform is in no joint state; residuals are per motor."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '0')   # few states: NumPy is faster than compiling
    node_state = looped('stewart')
    robot = node_state.robot
    loops = LoopMotion(robot)
    q = loops.random_states(np.random.default_rng(1), 3).q
    tau = project(loops, q, robot.with_payload('load', 'platform', **LOAD).gravity_torque(q))
    reply = ask(node_state, 'identify_payload', question='poses', frame='platform',
                joint_names=list(loops.names), position=q[:, loops.q_indices].ravel().tolist(),
                effort=tau.ravel().tolist())
    assert reply.payload.m == pytest.approx(LOAD['mass'], rel=1e-4)
    np.testing.assert_allclose([reply.payload.com.x, reply.payload.com.y, reply.payload.com.z],
                               LOAD['com'], atol=1e-4)
    assert list(reply.joint_names) == list(loops.names)
    assert len(reply.residual) == 6


def test_poses_of_mechanisms_are_stored_from_measured_joints(driven):
    """All at rest; refused where gravity would have to be added."""
    names, motion, tau, _ = driven
    still = np.tile(motion.q[0], (130, 1)), np.tile(tau[0], (130, 1))
    node_state = looped('five_bar')
    tell(node_state, names, 0.01 * np.arange(130), *still)
    fields = {'question': 'pose', 'joint_names': ['left_shoulder', 'right_shoulder'],
              'approach': [1.0, -1.0]}
    assert ask(node_state, 'identify_payload', **fields).poses == 1
    assert node_state.payload_samples.poses.joint_names == names
    assert node_state.payload_samples.poses.approach.tolist() == [[1.0, 0.0, -1.0, 0.0]]
    node_state = looped('five_bar', 'without_gravity')
    tell(node_state, names, 0.01 * np.arange(130), *still)
    assert ask(node_state, 'identify_payload', **fields).poses == 1
