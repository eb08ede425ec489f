"""Test inverse kinematics at the node_state: solutions, starts, axes, refusals."""

import math

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from scipy.spatial.transform import Rotation
from support.current_robots import node_state_at
from support.node_states import NOW, ask, measure, node_state_of, refused, scene
from support.reply_stamps import stamp_of
from support.six_axis_arms import UR, arm
from support.tiny_robots import TWO_JOINTS, chain
from support.tolerances import EXACT_MATHS

from dynamics_node import Target
from dynamics_node.msg import FrameTarget
from dynamics_node.ros import convert
from dynamics_node.ros.client_replies import result_of
from dynamics_node.ros.services.inverse_kinematics import READS

TIP = 'elbow_link'
REACHED = 1e-6   # the tolerance that requests have by default
LIMIT = 2.0      # of every joint of a chain, either way
SIX = chain(*((f'axis_{k}', 'revolute') for k in range(6)))


def target(T, frame='axis_5_link', kind='pose', seen_from='', **fields):
    """Return the FrameTarget of a pose (4, 4), with the fields of its kind."""
    message = FrameTarget(frame=frame, kind=kind, **fields)
    message.header.frame_id = seen_from
    whole = convert.pose(T)
    if 'pose.position' in READS[kind]:
        message.pose.position = whole.position
    if 'pose.orientation' in READS[kind]:
        message.pose.orientation = whole.orientation
    return message


def pose_of(node_state, reply, frame):
    """Return the pose of a link in the reply, (position, R), by kinematics."""
    names = reply.joint_names
    found = ask(node_state, 'kinematics', joint_names=names, position=reply.position,
                velocity=[0.0] * len(names), frames=[frame]).poses[0]
    return (convert.xyz(found.position),
            Rotation.from_quat(convert.xyzw(found.orientation)).as_matrix())


@pytest.mark.parametrize('seen_from', ['', 'axis_2_link'])
@pytest.mark.parametrize('kind', READS)
def test_the_link_reaches_its_target(kind, seen_from):
    """By kinematics; in the root's axes or those of a link at the start; any joint order."""
    s = scene(SIX, seed=3)
    names = [str(name) for name in s.rng.permutation(s.robot.joint_names)]
    start = s.q
    goal = np.clip(start + 0.2 * s.rng.normal(size=6), -1.9, 1.9)
    T = s.robot.frame_pose(goal, 'axis_5_link')
    there = s.robot.frame_pose(start, seen_from) if seen_from else np.eye(4)
    axis = np.array([0.6, 0.0, 0.8])
    more = ({'axis': convert.vector3(axis),
             'direction': convert.vector3(there[:3, :3].T @ T[:3, :3] @ axis)}
            if 'axis' in READS[kind] else {})
    message = target(np.linalg.inv(there) @ T, kind=kind, seen_from=seen_from, **more)
    reply = ask(s.node_state, 'inverse_kinematics', targets=[message], joint_names=names,
                position=s.of(names, start, 'q'), restarts=8)
    assert (reply.solved, reply.reason, reply.joint_names) == (True, 'solved', names)
    assert (stamp_of(reply), reply.model_id) == (0, s.node_state.current_robot.model_id)
    assert max(*reply.position_errors, *reply.rotation_errors) <= REACHED
    p, R = pose_of(s.node_state, reply, 'axis_5_link')
    if 'pose.position' in READS[kind]:
        assert np.abs(p - T[:3, 3]).max() <= REACHED
    if 'pose.orientation' in READS[kind]:
        assert np.abs(R - T[:3, :3]).max() <= 2.0 * REACHED
    if 'axis' in READS[kind]:
        assert np.abs((R - T[:3, :3]) @ axis).max() <= 2.0 * REACHED
    assert np.abs(reply.position).max() <= LIMIT


def test_all_solutions_of_a_six_axis_arm_are_returned():
    """Those of the library, in the joint order of the request; the first is the position."""
    s = scene(arm(UR, 'revolute', lower=-3.1, upper=3.1).to_urdf(), seed=3)
    names = [str(name) for name in s.rng.permutation(s.robot.joint_names)]
    T, start = s.robot.frame_pose(s.q, 'l5'), s.q + 0.1
    reply = ask(s.node_state, 'inverse_kinematics', targets=[target(T, 'l5')], joint_names=names,
                position=s.of(names, start, 'q'))
    want = s.robot.inverse_kinematics(Target.pose('l5', T), start)
    assert reply.solved and reply.complete and want.complete and len(want.solutions) > 1
    found = np.reshape(reply.solutions, (-1, 6))
    assert found[0].tolist() == list(reply.position)
    assert np.abs(found - [s.of(names, each, 'q') for each in want.solutions]).max() < REACHED
    assert result_of(reply).solutions.shape == want.solutions.shape


def test_an_unreachable_target_gives_the_closest_configuration():
    """With its error and the reason; several targets at once."""
    s = scene(TWO_JOINTS)
    far, near = np.eye(4), s.robot.frame_pose(s.q, 'shoulder_link')
    far[:3, 3] = 5.0, 0.0, 0.0
    reply = ask(s.node_state, 'inverse_kinematics', restarts=2, targets=[
        target(far, TIP, 'position'), target(near, 'shoulder_link', 'orientation')])
    assert (reply.success, reply.solved, reply.reason) == (True, False, 'out of reach')
    assert 3.0 < reply.position_errors[0] < 6.0 and reply.rotation_errors[0] == 0.0
    assert reply.position_errors[1] == 0.0
    p, _ = pose_of(s.node_state, reply, TIP)
    assert reply.position_errors[0] == pytest.approx(np.linalg.norm(p - far[:3, 3]))
    assert stamp_of(reply) == NOW


def test_weights_decide_between_incompatible_targets():
    """Two positions for one link: it is nearer to the one with more weight."""
    s = scene(TWO_JOINTS)
    here, there = (s.robot.frame_pose(q, TIP) for q in ([0.5, 0.5], [-0.5, -0.5]))
    errors = []
    for weight in (1.0, 10.0):
        reply = ask(s.node_state, 'inverse_kinematics', restarts=2, targets=[
            target(here, TIP, 'position', position_weight=weight),
            target(there, TIP, 'position')])
        assert not reply.solved
        errors.append(list(reply.position_errors))
    assert errors[1][0] < 0.1 * errors[0][0] and errors[1][1] > errors[0][1]


# Where it starts -------------------------------------------------------------------------------

def test_the_start_is_given_else_measured_else_neutral():
    """A target that a start meets already keeps it."""
    robot = scene(TWO_JOINTS).robot
    node_state = node_state_of(TWO_JOINTS)

    def stays(q, **fields):
        T = robot.frame_pose(np.array(q), TIP)
        reply = ask(node_state, 'inverse_kinematics', targets=[target(T, TIP)], restarts=0,
                    **fields)
        assert np.abs(np.array(reply.position) - q).max() < EXACT_MATHS
        return stamp_of(reply)
    assert stays([0.0, 0.0]) == 0
    measure(node_state, np.array([0.3, -0.4]), np.zeros(2), joints=['elbow'])
    assert stays([0.0, -0.4]) == NOW
    assert stays([0.2, -0.4], joint_names=['shoulder'], position=[0.2]) == NOW
    assert stays([0.2, 0.7], position=[0.2, 0.7]) == 0


def test_a_start_that_is_too_old_is_refused():
    """As by every other service."""
    node_state = node_state_of(TWO_JOINTS, max_state_age=0.5)
    measure(node_state, np.zeros(2), np.zeros(2), age=10 ** 9)
    T = np.eye(4)
    assert 'max_state_age' in refused(node_state, 'inverse_kinematics', targets=[target(T, TIP)])


def test_a_target_in_the_axes_of_a_link_needs_the_measured_state():
    """Not for a link that does not move."""
    node_state = node_state_of(TWO_JOINTS)
    T = np.eye(4)
    T[:3, 3] = 0.1, 0.1, 0.5
    message = refused(node_state, 'inverse_kinematics', targets=[
        target(T, TIP, 'position', 'shoulder_link')])
    assert message.startswith('no position of shoulder, elbow:')
    assert stamp_of(ask(node_state, 'inverse_kinematics', restarts=0, targets=[
        target(T, TIP, 'position', 'base')])) == 0


# What is refused -------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf
WRONG = [
    ({'frame': 'hand'}, ["'hand'", 'shoulder_link', TIP]),
    ({'frame': ''}, ["''", TIP]),
    ({'kind': 'place'}, ["kind is 'place'", 'pose, position, orientation, axis']),
    ({'kind': ''}, ["kind is ''"]),
    ({'pose': Pose(position=Point(x=NAN))}, ['position', 'nan', 'finite']),
    ({'pose': Pose(position=Point(x=INF))}, ['position', 'inf', 'finite']),
    ({'pose': Pose(orientation=Quaternion(w=1.1))}, ['orientation', 'norm 1.1', 'norm 1']),
    ({'pose': Pose(orientation=Quaternion(w=0.0))}, ['orientation', 'norm 0', 'norm 1']),
    ({'kind': 'position', 'pose': Pose(orientation=Quaternion(x=1.0, w=0.0))},
     ["pose.orientation is given, but a target of kind 'position'", 'pose.position']),
    ({'kind': 'orientation', 'pose': Pose(position=Point(z=0.1))}, ['pose.position is given']),
    ({'kind': 'axis', 'pose': Pose(position=Point(z=0.1))}, ['pose.position is given']),
    ({'axis': Vector3(z=1.0)}, ['axis is given', "'pose'"]),
    ({'direction': Vector3(z=NAN)}, ['direction is given', "'pose'"]),
    ({'kind': 'axis'}, ['axis is of length 0', 'unit vector']),
    ({'kind': 'axis', 'axis': Vector3(z=1.0)}, ['direction is of length 0']),
    ({'kind': 'axis', 'axis': Vector3(z=1.0), 'direction': Vector3(x=0.5)},
     ['direction is of length 0.5']),
    ({'position_weight': 0.0}, ['position_weight', 'positive']),
    ({'rotation_weight': -1.0}, ['rotation_weight', '-1.0', 'positive']),
    ({'position_weight': NAN}, ['position_weight', 'nan']),
    ({'kind': 'position', 'rotation_weight': 2.0}, ['rotation_weight is given'])]


@pytest.mark.parametrize(('fields', 'words'), WRONG, ids=range(len(WRONG)))
def test_a_bad_target_is_refused_by_its_index_and_field(fields, words):
    """With the valid values."""
    s = scene(TWO_JOINTS)
    good = target(s.robot.frame_pose(s.q, TIP), TIP)
    message = refused(s.node_state, 'inverse_kinematics', targets=[
        good, FrameTarget(**{'frame': TIP, 'kind': 'pose', **fields})])
    assert message.startswith('targets[1]: ')
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(('fields', 'words'), [
    ({'targets': []}, ['targets is empty']),
    ({'tolerance': 0.0}, ['tolerance is 0.0', 'positive']),
    ({'tolerance': NAN}, ['tolerance is nan']),
    ({'tolerance': 1e-300}, ['tolerance is 1e-300', '1e-15 to 1e+09']),
    ({'tolerance': 5e-324}, ['tolerance is 5e-324']),
    ({'tolerance': 1.7e308}, ['tolerance is 1.7e+308']),
    ({'restarts': -1}, ['restarts is -1']),
    ({'restarts': 10 ** 6}, ['restarts: 1000000, at most 1000 (service.max_restarts)']),
    ({'joint_names': ['wrist']}, ["'wrist'", 'shoulder, elbow']),
    ({'position': [0.0]}, ['position has 1 entries; expected 2']),
    ({'position': [0.0] * 4}, ['position has 4 entries; expected 2']),
    ({'position': [0.0, NAN]}, ['position[1] is nan'])])
def test_a_bad_request_is_refused_by_its_field(fields, words):
    """With the valid values."""
    s = scene(TWO_JOINTS)
    good = {'targets': [target(s.robot.frame_pose(s.q, TIP), TIP)]}
    message = refused(s.node_state, 'inverse_kinematics', **{**good, **fields})
    assert [word for word in words if word not in message] == [], message


def test_an_unknown_frame_id_is_refused():
    """By the target."""
    s = scene(TWO_JOINTS)
    message = refused(s.node_state, 'inverse_kinematics', targets=[
        target(np.eye(4), TIP, seen_from='camera')])
    assert message.startswith('targets[0]: ') and "'camera'" in message


def test_the_loops_of_a_robot_are_closed_in_the_result():
    """The tip of a five-bar; the reply has all joints, in the order of the request."""
    node_state, robot = node_state_at('five_bar')
    T = np.eye(4)
    T[:3, 3] = 0.1, 0.0, -0.45
    names = ['right_elbow', 'left_shoulder', 'right_shoulder', 'left_elbow']
    reply = ask(node_state, 'inverse_kinematics', joint_names=names, position=[0.0] * 4,
                targets=[target(T, 'tool', 'position')], restarts=0)
    assert reply.solved and reply.joint_names == names
    q = np.array([reply.position[names.index(name)] for name in robot.joint_names])
    assert np.abs(robot.constraint_rows(q, np.zeros(4)).residual).max() < REACHED
    assert np.abs(robot.frame_pose(q, 'tool')[:3, 3] - T[:3, 3]).max() < REACHED


def test_the_pose_of_a_floating_base_is_found_too():
    """Seven numbers in the reply, with a unit quaternion."""
    s = scene(TWO_JOINTS, base='floating')
    T = np.eye(4)
    T[:3, 3] = 3.0, -2.0, 1.0
    reply = ask(s.node_state, 'inverse_kinematics', targets=[target(T, 'base')], restarts=0)
    assert reply.solved and len(reply.position) == 9
    assert np.linalg.norm(reply.position[3:7]) == pytest.approx(1.0)
