"""Test that the floating base of the inspector is that of the node, in pose, twist and torques."""

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, Quaternion, TwistStamped
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from support.remote_node import assert_close, joint_state, wait_until
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.live_state import SILENT
from dynamics_node.ros import convert, watched_base
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.watched_base import WatchedBase
from dynamics_node.ros.watched_node import NEWEST, WatchedNode

IMU = ('<link name="imu"/><joint name="imu_mount" type="fixed"><parent link="base_link"/>'
       '<child link="imu"/><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/></joint></robot>')
TEXT = ARM7.read_text().replace('</robot>', IMU)
ROBOT = Robot.from_urdf(TEXT, base='floating', compile=False)
RNG = np.random.default_rng(0)
POSITION, LINEAR, ANGULAR = RNG.normal(size=(3, 3))
TURN = Rotation.random(random_state=1)
ARM_Q, ARM_V = RNG.normal(size=(2, 7))


def fill(pose, twist):
    """Write the pose and the twist of the tests into the fields of messages."""
    pose.position = convert.point(POSITION)
    pose.orientation = Quaternion(**dict(zip('xyzw', TURN.as_quat().tolist())))
    twist.linear, twist.angular = convert.vector3(LINEAR), convert.vector3(ANGULAR)


def odometry(stamp, frame):
    """Return the odometry of a frame."""
    message = Odometry(child_frame_id=frame)
    message.header.stamp = convert.time(stamp)
    fill(message.pose.pose, message.twist.twist)
    return message


def test_pose_and_torques_of_the_page_are_those_of_the_node(launch_once):
    """Odometry of a link on the base, with a prefix, in a namespace; the arm moves too."""
    pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
    from dynamics_node.inspector.live_page import LivePage
    from dynamics_node.inspector.server import open_server
    node = launch_once('base:=floating', 'frame_prefix:=left/')
    node.describe(TEXT)
    watched, server = WatchedNode(node.name), open_server(port=0)
    page = LivePage(server, watched)
    topic = f'{node.namespace}/odom'
    try:
        def shown(words, frame=None):
            """Publish new states of the arm and the base; return what a page with words shows."""
            stamp = time.time_ns()
            node.publish(joint_state(stamp, ROBOT.joint_names[1:], ARM_Q, ARM_V))
            if frame is not None:
                node.publish(odometry(stamp, frame), topic='odom')
            page.update()
            return words in page._status._shown and page._view and json.loads(page._view.record())
        drawn = wait_until(lambda: shown(f'No base state on {topic} yet'), 'the neutral pose')
        assert drawn['position'][:7] == ROBOT.neutral()[:7].tolist()
        wait_until(lambda: shown('', 'left/imu')['velocity'][0]
                   and node.call('kinematics').success, 'the base state')
        record = wait_until(lambda: shown('Torques', 'left/imu'), 'the torques')
        assert 'No base state' not in page._status._shown
        assert_close(record['torque'], node.call('inverse_dynamics').effort, EXACT_MATHS)
        reply = node.call('kinematics', frames=['left/imu', 'left/tool0'])
        assert_close(convert.xyz(reply.poses[0].position), POSITION, EXACT_MATHS)
        T = ROBOT.frame_pose(np.array(record['position']), 'tool0')
        assert_close(T[:3, 3], convert.xyz(reply.poses[1].position), EXACT_MATHS)
        wait_until(lambda: shown('is not fixed to the base', 'left/link_3'),
                   'the refusal')
    finally:
        server.stop()
        watched.close()


class NodeStandIn:
    """What a node is to a WatchedBase: it counts subscriptions, {topic: callback}."""

    def __init__(self):
        self.callbacks = {}

    def create_subscription(self, kind, topic, callback, **_):
        self.callbacks[topic] = callback
        return SimpleNamespace(topic=topic, callback=callback)

    def destroy_subscription(self, subscription):
        del self.callbacks[subscription.topic]


def with_source(base_state):
    """Return parameters of a node with a source of the base state."""
    return SimpleNamespace(node=ModelParameters(base_state=base_state))


@pytest.fixture
def followed():
    node = NodeStandIn()
    return node, WatchedBase(node, '/ns', NEWEST)


def test_a_pose_and_a_twist_may_be_separate_topics(followed):
    node, base = followed
    base.follow(ROBOT.model, with_source('pose_and_twist'))
    assert set(node.callbacks) == {'/ns/base_pose', '/ns/base_twist'}
    pose, twist = PoseStamped(), TwistStamped()
    pose.header.stamp, twist.header.frame_id = convert.time(5), 'base_link'
    fill(pose.pose, twist.twist)
    node.callbacks['/ns/base_pose'](pose)
    assert base.state().v.tolist() == [0.0] * 6
    node.callbacks['/ns/base_twist'](twist)
    found = base.state()
    assert_close(found.q, [*POSITION, *TURN.as_quat(canonical=True)], EXACT_MATHS)
    assert_close(found.v, [*LINEAR, *ANGULAR], EXACT_MATHS)


def test_another_source_begins_without_a_state_and_a_fixed_base_has_none(followed):
    node, base = followed
    base.follow(ROBOT.model, None)
    node.callbacks['/ns/odom'](odometry(5, 'imu'))
    assert base.state().q is not None
    base.follow(ROBOT.with_gravity((0.0, 0.0, -1.6)).model, None)
    assert base.state().q is not None, 'another gravity keeps the base state'
    base.follow(ROBOT.model, with_source('pose_and_twist'))
    assert base.state().q is None and set(node.callbacks) == {'/ns/base_pose', '/ns/base_twist'}
    base.follow(Robot.from_urdf(TEXT, compile=False).model, None)
    assert base.state() is None and node.callbacks == {}


def test_a_stamp_that_is_repeated_is_no_new_state(followed, monkeypatch):
    node, base = followed
    clock = [100.0]
    monkeypatch.setattr(watched_base.time, 'monotonic', lambda: clock[0])
    base.follow(ROBOT.model, None)
    for stamp, arrived in ((5, 100.0), (5, 100.0), (6, 100.0 + 2 * SILENT)):
        node.callbacks['/ns/odom'](odometry(stamp, ''))
        assert base.state().arrived == arrived
        clock[0] += SILENT
