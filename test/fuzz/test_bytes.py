"""Fuzz what reads serialised messages, in this process and on the wire."""

from contextlib import suppress

import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.fuzz import cases, no_hang, rng_of, same_memory
from support.random_texts import damaged_bytes
from support.remote_node import wait_until
from support.standing_robots import FEET, solo12
from support.tiny_robots import TWO_JOINTS
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import DynamicsError
from dynamics_node.msg import Task, TaskReference, WholeBodyReference
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.state.joint_state_bytes import JointStateReader
from dynamics_node.ros.torque.joint_trajectory import checked_points
from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
from dynamics_node.ros.torque.task_message import read_task, task_of
from dynamics_node.ros.torque.whole_body_message import read_whole_body, reference_of

STATE = JointState(name=['shoulder', 'elbow'], position=[0.1, 0.2], velocity=[0.0, 0.0])
TRAJECTORY = JointTrajectory(joint_names=['shoulder', 'elbow'], points=[
    JointTrajectoryPoint(positions=[0.1, 0.2]) for _ in range(3)])
WHOLE_BODY = WholeBodyReference(contacts=[foot.name for foot in FEET], tasks=[
    Task(name='lift', kind='frame', frame='FL_FOOT', axes=['z'], position=[0.0] * 6 + [1.0])])
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
FAST = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


def random_bytes(rng, message):
    """Return the bytes of a message with some changes, or any bytes."""
    return rng.randbytes(rng.choice([0, 3, 4, 12, 100])) if rng.random() < 0.1 else (
        damaged_bytes(rng, serialize_message(message)))


def read_joint_state(data):
    try:
        reader = JointStateReader()
        reader.read(data)
        reader.read(data)
    except Exception as error:   # as JointStateSubscription catches it
        assert not isinstance(error, MemoryError)


@pytest.mark.parametrize(('read', 'message'), [
    (read_joint_state, STATE),
    (lambda data: checked_points(read_trajectory(data)), TRAJECTORY),
    (lambda data: task_of(read_task(data)), TaskReference(frame='elbow_link')),
    (lambda data: reference_of(read_whole_body(data, ''), solo12().with_loops(FEET),
                               TorqueParameters(), 0.0), WHOLE_BODY)],
    ids=['joint state', 'trajectory', 'task', 'whole body'])
def test_any_bytes_are_read_or_refused(read, message):
    """By a DynamicsError, in the torque process too."""
    with same_memory():
        for seed in cases(500):
            with no_hang(), suppress(DynamicsError):
                read(random_bytes(rng_of(seed), message))


# On the wire -------------------------------------------------------------------------------------

def test_no_message_ends_the_node(launch, tmp_path):
    """Damaged messages on all topics; afterwards the node replies, and its log has no bug."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(TWO_JOINTS)
    node = launch(f'robot_description:={urdf}', 'base:=floating')
    state = {'position': [0.0] * 6 + [1.0, 0.1, 0.2], 'velocity': [0.0] * 8}
    before = node.call('inverse_dynamics', **state)
    assert before.success
    messages = {'joint_states': STATE, 'robot_description': String(data=TWO_JOINTS),
                'odom': Odometry(), 'base_pose': PoseStamped(), 'base_twist': TwistStamped(),
                'dynamics_node/reference': TRAJECTORY,
                'dynamics_node/task_reference': TaskReference(),
                'dynamics_node/whole_body_reference': WHOLE_BODY}
    publishers = {topic: node.client.create_publisher(
        type(message), f'{node.namespace}/{topic}',
        LATCHED if topic == 'robot_description' else FAST) for topic, message in messages.items()}
    wait_until(lambda: all(publishers[topic].get_subscription_count() for topic in (
        'joint_states', 'robot_description', 'odom')), 'subscriptions')
    for seed in cases(40):
        rng = rng_of(seed)
        for topic, publisher in publishers.items():
            publisher.publish(random_bytes(rng, messages[topic]))
        node.assert_alive()
    publishers['robot_description'].publish(String(data=TWO_JOINTS))
    wait_until(lambda: node.call('inverse_dynamics', **state).effort == before.effort, 'the robot')
    assert 'Traceback' not in node.process.log()
