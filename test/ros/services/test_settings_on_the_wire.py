"""Test payload, gravity and friction set over DDS: their effect on torques, and removal."""

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, Vector3Stamped
from support.remote_node import assert_close, floats, wait_until
from support.tolerances import EXACT_MATHS

from dynamics_node.ros import convert

TENSOR = np.array([[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.025]])

POINT = np.zeros((3, 3))


@pytest.fixture
def untouched(arm):
    """Return model_id and torques of the arm; at the end of the test they are the same again."""
    before = answer(arm)
    yield before
    left = arm.node.call('list_payloads').names
    for name in left:  # by a test that failed
        take_off(arm, name)
    assert (left, answer(arm)) == ([], before)  # to the bit


def answer(arm):
    reply = arm.node.call('inverse_dynamics')
    assert reply.success, reply.message
    return reply.model_id, list(reply.effort)


def torques(arm, robot):
    """Return the torques of a robot at the state that the node has measured."""
    return robot.inverse_dynamics(arm.q, arm.v, np.zeros(7))


def attach(arm, name, frame, mass, com=(0.0, 0.0, 0.0), tensor=POINT, seconds=0):
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    return arm.node.call('set_payload', name=name, frame=frame, payload=Inertia(
        m=mass, com=convert.vector3(com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy, iyz=iyz, izz=izz),
        transition_time=Duration(sec=seconds))


def take_off(arm, name):
    reply = arm.node.call('set_payload', name=name, remove=True)
    assert reply.success, reply.message
    return reply


def test_payloads_are_set_replaced_and_removed(arm, untouched):
    """Two at once, one set again; results are those of the library, at last to the bit."""
    com = (0.01, 0.02, 0.03)
    reply = attach(arm, 'tool', 'link_7', 1.5, com, TENSOR)
    robot = arm.robot.with_payload('tool', 'link_7', 1.5, com, TENSOR)
    assert reply.success and reply.total_mass == robot.total_mass
    model_id, effort = answer(arm)
    assert model_id == reply.model_id != untouched[0]
    assert_close(effort, torques(arm, robot), EXACT_MATHS)

    attach(arm, 'sensor', 'link_4', 0.5)
    attach(arm, 'tool', 'link_6', 2.5)
    robot = arm.robot.with_payload('tool', 'link_6', 2.5).with_payload('sensor', 'link_4', 0.5)
    assert_close(answer(arm)[1], torques(arm, robot), EXACT_MATHS)
    listed = arm.node.call('list_payloads')
    assert dict(zip(listed.names, listed.frames)) == {'tool': 'link_6', 'sensor': 'link_4'}
    assert (list(listed.fraction), listed.payload_mass) == ([1.0, 1.0], 3.0)
    assert arm.node.call('model_report').total_mass == pytest.approx(robot.total_mass)

    take_off(arm, 'tool')
    assert_close(answer(arm)[1], torques(arm, arm.robot.with_payload('sensor', 'link_4', 0.5)),
                 EXACT_MATHS)
    assert take_off(arm, 'sensor').model_id == untouched[0]


def test_payloads_are_listed_as_they_were_set(arm, untouched):
    """Mass, centre of mass and inertia."""
    attach(arm, 'tool', 'link_7', 1.5, (0.01, 0.02, 0.03), TENSOR)
    mass, com, tensor = convert.inertia(arm.node.call('list_payloads').payloads[0])
    assert (mass, com.tolist(), tensor.tolist()) == (1.5, [0.01, 0.02, 0.03], TENSOR.tolist())
    take_off(arm, 'tool')


def test_a_payload_takes_effect_over_its_transition(arm, untouched):
    """The reply speaks of its end."""
    reply = attach(arm, 'tool', 'link_7', 2.0, seconds=1000)
    robot = arm.robot.with_payload('tool', 'link_7', 2.0)
    assert reply.total_mass == robot.total_mass
    listed = arm.node.call('list_payloads')
    later = wait_until(lambda: [again for again in [arm.node.call('list_payloads')]
                                if again.fraction[0] > listed.fraction[0]], 'more of it')[0]
    assert 0.0 <= listed.fraction[0] < later.fraction[0] < 1.0
    assert later.payload_mass == pytest.approx(2.0 * later.fraction[0], abs=1e-3)
    model_id, effort = answer(arm)
    share = (effort[1] - untouched[1][1]) / (torques(arm, robot)[1] - untouched[1][1])
    assert later.fraction[0] <= share < 1.0
    assert model_id not in (untouched[0], reply.model_id)

    attach(arm, 'tool', 'link_7', 2.0)  # at once, in place of the slow one
    assert answer(arm)[0] == reply.model_id
    assert_close(answer(arm)[1], torques(arm, robot), EXACT_MATHS)
    take_off(arm, 'tool')


def test_a_transition_ends(arm, untouched):
    """Then the whole payload counts; its removal has a transition too."""
    reply = attach(arm, 'tool', 'link_7', 2.0, seconds=1)
    wait_until(lambda: arm.node.call('list_payloads').fraction[0] == 1.0, 'the end')
    assert answer(arm)[0] == reply.model_id
    arm.node.call('set_payload', name='tool', remove=True, transition_time=Duration(nanosec=1000))
    wait_until(lambda: answer(arm) == untouched, 'the robot as it was')


def gravity(arm, vector, frame=''):
    message = Vector3Stamped(vector=convert.vector3(vector))
    message.header.frame_id = frame
    reply = arm.node.call('set_gravity', gravity=message)
    assert reply.success, reply.message
    return reply


@pytest.mark.parametrize('frame', ['', 'base_link', 'link_5'])
def test_gravity_can_be_set_in_any_frame(arm, untouched, frame):
    """In the root frame, or in the axes of any link at its present pose."""
    given = np.array([1.0, -2.0, -9.0])
    reply = gravity(arm, given, frame)
    expected = arm.robot.frame_pose(arm.q, frame or 'base_link')[:3, :3] @ given
    assert_close(convert.xyz(reply.gravity), expected, EXACT_MATHS)
    assert_close(answer(arm)[1], torques(arm, arm.robot.with_gravity(expected)), EXACT_MATHS)
    assert answer(arm)[0] == reply.model_id != untouched[0]
    assert arm.node.call('model_report').gravity == reply.gravity
    assert gravity(arm, (0.0, 0.0, -9.81)).model_id == untouched[0]


def test_friction_of_some_joints_can_be_set_and_reset(arm, untouched):
    """Named joints only; what is left out stays; a reset goes back to the URDF."""
    names = ['joint_6', 'joint_1']
    reply = arm.node.call('set_friction', joint_names=names, damping=[1.25, 0.0])
    reply = arm.node.call('set_friction', joint_names=names, friction=[0.5, 2.0])
    robot = arm.robot.with_friction({'joint_6': 1.25, 'joint_1': 0.0},
                                    {'joint_6': 0.5, 'joint_1': 2.0})
    assert tuple(reply.joint_names) == robot.joint_names
    assert list(reply.damping) == floats(robot.model.damping)
    assert list(reply.friction) == floats(robot.model.friction)
    assert_close(answer(arm)[1], torques(arm, robot), EXACT_MATHS)
    assert answer(arm)[0] == reply.model_id != untouched[0]

    reply = arm.node.call('set_friction', joint_names=['joint_1'], reset=True)
    robot = arm.robot.with_friction({'joint_6': 1.25}, {'joint_6': 0.5})
    assert_close(answer(arm)[1], torques(arm, robot), EXACT_MATHS)
    assert arm.node.call('set_friction', reset=True).model_id == untouched[0]
