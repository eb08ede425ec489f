"""Test ~/differential_kinematics: the results of Robot.joint_velocities, by the library's rules."""

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, node_state_of, refused, scene
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS, PRIORITY

from dynamics_node import FrameMotion, Target, Tracking
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import FrameTarget, MotionTask
from dynamics_node.ros import convert
from dynamics_node.ros.client_messages import motion_messages


@pytest.fixture(scope='module')
def arm():
    return scene(ARM7.read_text())


def twist_of(message):
    return [*convert.xyz(message.linear), *convert.xyz(message.angular)]


def solved(s, tasks, **fields):
    return ask(s.node_state, 'differential_kinematics', tasks=motion_messages(tasks), **fields)


def test_numbers_are_those_of_the_robot(arm):
    """Priorities, weights, a preferred velocity, damping, tracking, a contact; any order."""
    s, rng = arm, np.random.default_rng(1)
    names = ['joint_6', 'joint_2', 'joint_3']
    order = s.of(s.reply_order(names), np.arange(7))
    tasks = [[Tracking(Target('tool0', position=(0.3, 0.1, 0.5)), (0.1, 0.0, 0.2),
                       position_gain=3.0)],
             [FrameMotion('link_4', angular=(0.1, 0.2, 0.3)),
              FrameMotion('link_6', linear=(0.1, 0.0, 0.0), weight=2.0)]]
    weights, preferred = rng.uniform(1.0, 2.0, 3), rng.normal(size=3)
    contacts = '[{name: rest, kind: point_contact, frame: link_2}]'
    full_weights = s.put(names, _whole(s, names, weights), np.ones(7))
    wanted = s.put(names, _whole(s, names, preferred), np.zeros(7))
    for more, options in (({}, {}), ({'damping': 0.1}, {'damping': 0.1})):
        reply = solved(s, tasks, joint_names=names, joint_weights=weights.tolist(),
                       preferred_velocity=preferred.tolist(), constraints_yaml=contacts, **more)
        v = s.robot.joint_velocities(s.q, tasks, contacts=[
            {'name': 'rest', 'kind': 'point_contact', 'frame': 'link_2'}], weights=full_weights,
            preferred=wanted, **options)
        assert relative(reply.velocity, v[order]) < EXACT_MATHS
        for message, frame in zip(reply.twists, ('tool0', 'link_4', 'link_6')):
            assert relative(twist_of(message), s.robot.frame_twist(s.q, v, frame)) < EXACT_MATHS


def _whole(s, names, values):
    """Return a vector of all joints with the values of some; zero elsewhere."""
    whole = np.zeros(s.robot.nv)
    for name, value in zip(names, values):
        whole[s.robot.model.joint(name).v] = value
    return whole


def test_a_lower_task_does_not_disturb_a_higher_one(arm):
    """The tool has its velocity exactly, whatever the second level wants."""
    first = FrameMotion('tool0', (0.1, -0.2, 0.05), (0.3, 0.0, 0.1))
    for second in ((1.0, 0.0, 0.0), (0.0, -3.0, 2.0)):
        reply = solved(arm, [[first], [FrameMotion('link_4', second)]])
        assert relative(twist_of(reply.twists[0]), [0.1, -0.2, 0.05, 0.3, 0.0, 0.1]) < PRIORITY


def test_a_target_in_the_frame_of_a_link_is_tracked_there(arm):
    """The pose of a moving link is that of the request's position."""
    pose = arm.robot.frame_pose(arm.q, 'link_3')
    place = pose[:3, :3] @ [0.1, 0.2, 0.3] + pose[:3, 3]
    message = FrameTarget(frame='tool0', kind='position')
    message.header.frame_id, message.pose.position = 'link_3', convert.point((0.1, 0.2, 0.3))
    reply = ask(arm.node_state, 'differential_kinematics',
                tasks=[MotionTask(kind='tracking', target=message)])
    want = arm.robot.joint_velocities(arm.q, Tracking(Target('tool0', position=place)))
    assert relative(reply.velocity, want) < EXACT_MATHS


def task(**fields):
    return MotionTask(**{'kind': 'velocity', 'frame': 'elbow_link', **fields})


def moving(**fields):
    message = task(**fields)
    message.twist.linear.x = 1.0
    return message


BAD = {
    'tasks is empty; expected at least one': {'tasks': []},
    "tasks[1]: kind is 'fast'; expected one of: velocity, tracking": {
        'tasks': [task(), task(kind='fast')]},
    'tasks[0]: level is 0; expected 1 or more': {'tasks': [task(level=0)]},
    "tasks[0]: parts has 'x'; expected some of: linear, angular": {'tasks': [task(parts=['x'])]},
    'tasks[0]: twist.linear is given, but parts leaves it out': {
        'tasks': [moving(parts=['angular'])]},
    "tasks[0]: position_gain is given, but kind 'velocity' does not read it, only tracking": {
        'tasks': [task(position_gain=2.0)]},
    "tasks[0]: frame is given, but kind 'tracking' does not read it, only velocity": {
        'tasks': [task(kind='tracking')]},
    "tasks[0]: no frame 'hand'": {'tasks': [task(frame='hand')]},
    'tasks[0]: weight is 0': {'tasks': [task(weight=0.0)]},
    'joint_weights: every one must be above zero': {'joint_weights': [1.0, 0.0]},
    'joint_weights[1] is nan; every entry must be finite': {'joint_weights': [1.0, np.nan]},
    'preferred_velocity has 3 entries; expected 2': {'preferred_velocity': [1.0] * 3},
    'damping is -1': {'damping': -1.0},
    'constraints_yaml: ': {'constraints_yaml': '[{name: a}]'},
}


@pytest.mark.parametrize('words', BAD)
def test_bad_requests_are_refused_by_name(words):
    node_state = scene(TWO_JOINTS).node_state
    assert words in refused(node_state, 'differential_kinematics', **{'tasks': [task()],
                                                                      **BAD[words]})


def test_positions_that_were_never_measured_are_asked_for():
    """A velocity is not: the request has none."""
    node_state = node_state_of(TWO_JOINTS)
    assert 'position' in refused(node_state, 'differential_kinematics', tasks=[task()])
    ask(node_state, 'differential_kinematics', tasks=[task()], position=[0.1, 0.2])
