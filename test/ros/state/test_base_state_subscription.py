"""Test the state of a floating base from odometry, or from a pose and a twist."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from support.remote_node import BEST_EFFORT, RELIABLE, assert_close, joint_state
from support.reply_stamps import stamp_of
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert

IMU = ('<link name="imu"/><joint name="imu_mount" type="fixed"><parent link="base_link"/>'
       '<child link="imu"/><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/></joint></robot>')
TEXT = ARM7.read_text().replace('</robot>', IMU)
STAMP = 5_000_000_000  # [ns]
RNG = np.random.default_rng(0)
POSITION, LINEAR, ANGULAR = RNG.normal(size=(3, 3))
TURN = Rotation.random(random_state=1)
ARM_Q, ARM_V = RNG.normal(size=(2, 7))


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TEXT, base='floating')


def serve(launch, robot, base_state):
    """Return a node with the robot and measured joints, without a base state."""
    node = launch('base:=floating', f'base_state:={base_state}')
    node.describe(TEXT)
    base, *joints = robot.joint_names
    node.publish_until(lambda: node.call('model_report').never_measured == [base],
                       joint_state(STAMP, joints, ARM_Q, ARM_V))
    return node


def pose(message):
    message.position = convert.point(POSITION)
    (message.orientation.x, message.orientation.y, message.orientation.z,
     message.orientation.w) = TURN.as_quat().tolist()


def twist(message):
    message.linear, message.angular = convert.vector3(LINEAR), convert.vector3(ANGULAR)


def assert_base(node, robot, frame):
    """Assert pose and twist of a frame, and the torques of that state."""
    reply = node.call('kinematics', frames=[frame])
    assert_close(convert.xyz(reply.poses[0].position), POSITION, EXACT_MATHS)
    assert_close(Rotation.from_quat(convert.xyzw(reply.poses[0].orientation)).as_matrix(),
                 TURN.as_matrix(), EXACT_MATHS)
    R = TURN.as_matrix()
    assert_close(convert.xyz(reply.twists[0].linear), R @ LINEAR, EXACT_MATHS)
    assert_close(convert.xyz(reply.twists[0].angular), R @ ANGULAR, EXACT_MATHS)
    if frame == 'base_link':
        q = np.concatenate([POSITION, TURN.as_quat(), ARM_Q])
        v = np.concatenate([LINEAR, ANGULAR, ARM_V])
        reply = node.call('inverse_dynamics')
        assert tuple(reply.joint_names) == robot.joint_names
        assert_close(reply.effort, robot.inverse_dynamics(q, v, np.zeros(robot.nv)), EXACT_MATHS)


@pytest.mark.parametrize('qos', [BEST_EFFORT, RELIABLE], ids=['best effort', 'reliable'])
def test_odometry_may_be_of_the_base_or_of_a_link_on_it(launch, robot, qos):
    """Pose and twist of child_frame_id; of a link that is not on the base they are refused."""
    node = serve(launch, robot, 'odometry')
    message = Odometry()
    pose(message.pose.pose)
    twist(message.twist.twist)
    arms = {'joint_names': robot.joint_names[1:], 'position': [0.0] * 7, 'velocity': [0.0] * 7}
    for k, frame in enumerate(('', 'imu', 'base_link')):
        message.header.stamp, message.child_frame_id = convert.time(STAMP + k), frame
        node.publish_until(
            lambda: stamp_of(node.call('kinematics', **arms)) == convert.nanoseconds(
                message.header.stamp),
            message, topic='odom', qos=qos)
        assert_base(node, robot, frame or 'base_link')
    message.header.stamp, message.child_frame_id = convert.time(STAMP + 10), 'link_3'
    refuse(node, "'link_3' is not fixed to the base; valid choices are base_link, imu", message)
    message.child_frame_id = 'base_link'
    message.pose.pose.orientation.x = 5.0
    refuse(node, 'quaternion x y z w of norm 1', message)
    assert_base(node, robot, 'base_link')
    pose(message.pose.pose)
    node.wait_for_diagnostics(
        lambda status: status.level == DiagnosticStatus.OK, 'that all is well again',
        lambda: node.publish(message, topic='odom', qos=qos))
    assert_base(node, robot, 'base_link')


def refuse(node, reason, message):
    """Publish an odometry until the diagnostics have the reason of its refusal."""
    node.wait_for_diagnostics(
        lambda status: status.level == DiagnosticStatus.WARN and reason in status.message, reason,
        lambda: node.publish(message, topic='odom'))


def test_a_pose_and_a_twist_may_be_separate_topics(launch, robot):
    """At rest until a twist has arrived."""
    node = serve(launch, robot, 'pose_and_twist')
    still, moving = PoseStamped(), TwistStamped()
    still.header.stamp = moving.header.stamp = convert.time(STAMP)
    moving.header.frame_id = 'base_link'
    pose(still.pose)
    twist(moving.twist)
    node.publish_until(lambda: node.call('kinematics').success, still, topic='base_pose')
    reply = node.call('kinematics', frames=['base_link'])
    assert_close(convert.xyz(reply.twists[0].linear), np.zeros(3), EXACT_MATHS)

    def moves():
        node.publish(still, topic='base_pose')
        return node.call('kinematics', frames=['base_link']).twists[0].angular.x
    node.publish_until(moves, moving, topic='base_twist')
    assert_base(node, robot, 'base_link')
