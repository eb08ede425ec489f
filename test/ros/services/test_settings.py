"""Test gravity and friction by request: changes, refusals, replies."""

import math

import numpy as np
import pytest
from support.node_states import ask, measure, node_state_of, refused, scene
from support.tiny_robots import EVERY_KIND, TWO_JOINTS

from dynamics_node import Robot

LINKS = 'base, shoulder_link, elbow_link'


def towards(x, y, z, frame=''):
    from geometry_msgs.msg import Vector3Stamped
    message = Vector3Stamped()
    message.header.frame_id = frame
    message.vector.x, message.vector.y, message.vector.z = map(float, (x, y, z))
    return message


@pytest.fixture
def s():
    """Two joints, all measured."""
    return scene(TWO_JOINTS)


def torque(s):
    return ask(s.node_state, 'inverse_dynamics').effort.tolist()


# Gravity -------------------------------------------------------------------------------------

@pytest.mark.parametrize('frame', ['', 'base'])
def test_gravity_in_the_root_frame_is_used_unchanged(s, frame):
    """No measurement is needed."""
    node_state = node_state_of(TWO_JOINTS)
    reply = ask(node_state, 'set_gravity', gravity=towards(1, 2, -9, frame))
    assert (reply.gravity.x, reply.gravity.y, reply.gravity.z) == (1.0, 2.0, -9.0)
    measure(node_state, s.q, s.v)
    robot = Robot.from_urdf(TWO_JOINTS, gravity=(1.0, 2.0, -9.0))
    answer = ask(node_state, 'inverse_dynamics')
    assert answer.effort.tolist() == robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()
    assert answer.model_id == reply.model_id


def test_gravity_in_the_axes_of_a_link_is_rotated_by_its_pose(s):
    """As from an accelerometer on the arm."""
    reply = ask(s.node_state, 'set_gravity', gravity=towards(1, 2, -9, 'elbow_link'))
    want = s.robot.frame_pose(s.q, 'elbow_link')[:3, :3] @ [1, 2, -9]
    assert [getattr(reply.gravity, x) for x in 'xyz'] == pytest.approx(want)
    assert s.node_state.robot.gravity == pytest.approx(want)


def test_gravity_at_a_link_needs_the_joints_that_carry_it_and_no_others(s):
    """A gripper that is not measured does not matter to the shoulder."""
    node_state = node_state_of(TWO_JOINTS)
    assert refused(node_state, 'set_gravity', gravity=towards(0, 0, -9,
                                                              'shoulder_link')).startswith(
        'no position of shoulder:')
    measure(node_state, s.q, s.v, joints=['shoulder'])
    assert ask(node_state, 'set_gravity', gravity=towards(0, 0, -9, 'shoulder_link')).success
    want = s.robot.frame_pose(s.q, 'shoulder_link')[:3, :3] @ [0, 0, -9]
    assert node_state.robot.gravity == pytest.approx(want)
    assert refused(node_state, 'set_gravity', gravity=towards(0, 0, -9, 'elbow_link')).startswith(
        'no position of elbow:')


@pytest.mark.parametrize('frame', ['follower_link', 'flange_link'])
def test_gravity_at_a_link_behind_every_kind_of_joint(frame):
    """Mimic, planar, prismatic, lumped."""
    s = scene(EVERY_KIND)
    assert ask(s.node_state, 'set_gravity', gravity=towards(1, 2, -9, frame)).success
    want = s.robot.frame_pose(s.q, frame)[:3, :3] @ [1, 2, -9]
    assert s.node_state.robot.gravity == pytest.approx(want)


@pytest.mark.parametrize('frame', ['base', 'shoulder_link', 'elbow_link'])
def test_gravity_at_a_link_of_a_floating_robot_is_in_the_world(frame):
    """Its root moves too."""
    s = scene(TWO_JOINTS, base='floating')
    reply = ask(s.node_state, 'set_gravity', gravity=towards(1, 2, -9, frame))
    want = s.robot.frame_pose(s.q, frame)[:3, :3] @ [1, 2, -9]
    assert [getattr(reply.gravity, x) for x in 'xyz'] == pytest.approx(want)


@pytest.mark.parametrize(('gravity', 'message'), [
    ((0, 0, 0), 'gravity.vector is zero'),
    ((0, math.nan, 0), 'gravity.vector is [0.0, nan, 0.0]; every entry must be finite'),
    ((0, 0, -math.inf), 'gravity.vector is [0.0, 0.0, -inf]; every entry must be finite'),
    ((0, 0, -9, 'tool0'), f"no frame 'tool0'; the robot has: {LINKS}"),
])
def test_invalid_gravity_is_refused_and_nothing_changes(s, gravity, message):
    """An empty request must not make an arm weightless."""
    before = torque(s)
    assert refused(s.node_state, 'set_gravity', gravity=towards(*gravity)).startswith(message)
    assert torque(s) == before


# Friction ------------------------------------------------------------------------------------

def test_friction_is_set_for_named_joints_and_returned_for_all(s):
    """In the order of the model, what the request leaves empty unchanged."""
    reply = ask(s.node_state, 'set_friction', joint_names=['elbow'], damping=[3.0])
    assert reply.joint_names == ['shoulder', 'elbow']
    assert (reply.damping.tolist(), reply.friction.tolist()) == ([0.5, 3.0], [0.25, 0.25])
    reply = ask(s.node_state, 'set_friction', joint_names=['elbow', 'shoulder'], friction=[1.0,
                                                                                           2.0])
    assert (reply.damping.tolist(), reply.friction.tolist()) == ([0.5, 3.0], [2.0, 1.0])
    robot = s.robot.with_friction({'elbow': 3.0}, {'elbow': 1.0, 'shoulder': 2.0})
    assert torque(s) == robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()
    assert reply.model_id == ask(s.node_state, 'inverse_dynamics').model_id


def test_further_terms_of_friction_are_set_and_reset(s):
    """Stribeck, asymmetric, and the speeds; the reply has those of all joints."""
    given = {'stribeck': 0.4, 'stribeck_speed': 0.2, 'friction_asymmetry': -0.1,
             'damping_asymmetry': 0.3, 'friction_speed': 0.05}
    reply = ask(s.node_state, 'set_friction', joint_names=['elbow'],
                **{name: [value] for name, value in given.items()})
    assert {name: list(getattr(reply, name)) for name in given} == {
        'stribeck': [0.0, 0.4], 'stribeck_speed': [0.1, 0.2], 'friction_asymmetry': [0.0, -0.1],
        'damping_asymmetry': [0.0, 0.3], 'friction_speed': [0.01, 0.05]}
    robot = s.robot.with_friction(**{name: {'elbow': value} for name, value in given.items()})
    assert torque(s) == robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()
    assert reply.model_id == ask(s.node_state, 'inverse_dynamics').model_id
    text = refused(s.node_state, 'set_friction', joint_names=['elbow'], friction=[0.05])
    assert text.startswith("friction_asymmetry['elbow'] is -0.1; expected -0.05 to 0.05")
    again = ask(s.node_state, 'set_friction', reset=True)
    assert again.model_id != reply.model_id and not any(again.stribeck)
    assert torque(s) == s.robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()


def test_reset_goes_back_to_the_description_before_anything_is_set(s):
    """For the joints named."""
    ask(s.node_state, 'set_friction', damping=[3.0, 4.0], friction=[5.0, 6.0])
    reply = ask(s.node_state, 'set_friction', joint_names=['elbow'], friction=[7.0], reset=True)
    assert (reply.damping.tolist(), reply.friction.tolist()) == ([3.0, 0.5], [5.0, 7.0])
    reply = ask(s.node_state, 'set_friction', reset=True)
    assert (reply.damping.tolist(), reply.friction.tolist()) == ([0.5, 0.5], [0.25, 0.25])
    assert torque(s) == s.robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()


def test_an_empty_request_changes_nothing(s):
    """It returns the present values."""
    before = ask(s.node_state, 'inverse_dynamics').model_id
    assert ask(s.node_state, 'set_friction').model_id == before


def test_a_joint_of_several_degrees_of_freedom_has_one_value_for_all():
    """As the URDF has it."""
    s = scene(EVERY_KIND, base='floating')
    reply = ask(s.node_state, 'set_friction', joint_names=['drift', 'turn'], damping=[3.0, 4.0],
                friction=[5.0, 6.0])
    assert reply.joint_names == ['floating_base', 'lift', 'turn', 'drift', 'elbow']
    assert reply.damping.tolist()[:4] == [0.0, 0.5, 4.0, 3.0]
    assert reply.friction.tolist()[:4] == [0.0, 0.25, 6.0, 5.0]
    place = s.robot.model.joint('drift').v
    assert s.node_state.robot.model.damping[place].tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(('fields', 'message'), [
    ({'damping': [1.0]}, 'damping has 1 entries; expected 2 for the joints shoulder, elbow'),
    ({'friction': [1.0] * 3}, 'friction has 3 entries; expected 2 for the joints shoulder, elbow'),
    ({'damping': [1.0, -1.0]}, "damping['elbow'] is -1.0; expected zero or a positive number"),
    ({'friction': [math.nan, 1.0]}, "friction['shoulder'] is nan; expected a finite number"),
    ({'friction': [1.0, math.inf]}, "friction['elbow'] is inf; expected a finite number"),
])
def test_invalid_friction_is_refused_and_nothing_changes(s, fields, message):
    """Neither the valid part nor the reset is applied."""
    ask(s.node_state, 'set_friction', damping=[3.0, 4.0])
    before = torque(s)
    said = refused(s.node_state, 'set_friction', **{'damping': [9.0, 9.0], **fields}, reset=True)
    assert said.startswith(message)
    assert torque(s) == before
