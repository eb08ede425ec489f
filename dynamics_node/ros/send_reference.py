"""Send the points of a trajectory to the topic `~/reference` of a node in another process."""

import time

import rclpy
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.ros import convert

POLL = 0.02   # [s] between two looks for the node


def send_reference(points: TimedPoints, node_name: str, timeout: float) -> str:
    """Publish a trajectory that starts now; return the name of the topic.

    :param timeout: longest time to wait for the node, and for it to have the message [s].
    :raise TimeoutError: no node subscribes to the topic, or it has not acknowledged the message.
    """
    rclpy.init(args=[])
    try:
        node = rclpy.create_node('dynamics_node_follow')
        publisher = node.create_publisher(JointTrajectory, f'{node_name}/reference', 1)
        deadline = time.monotonic() + timeout
        while not publisher.get_subscription_count():
            if time.monotonic() > deadline:
                raise TimeoutError(f'no node subscribes to {publisher.topic_name} after '
                                   f'{timeout:g} s; is the node running, and is its name right?')
            time.sleep(POLL)
        publisher.publish(trajectory_of(points))
        if not publisher.wait_for_all_acked(Duration(seconds=timeout)):
            raise TimeoutError(f'{publisher.topic_name} was not received within {timeout:g} s')
        return publisher.topic_name
    finally:
        rclpy.try_shutdown()


def trajectory_of(points: TimedPoints) -> JointTrajectory:
    """Return the message of a trajectory; its stamp is zero, which means now."""
    message = JointTrajectory(joint_names=list(points.joint_names))
    for k, seconds in enumerate(points.times):
        point = JointTrajectoryPoint(positions=convert.floats(points.positions[k]))
        if points.velocities is not None:
            point.velocities = convert.floats(points.velocities[k])
        if points.accelerations is not None:
            point.accelerations = convert.floats(points.accelerations[k])
        point.time_from_start = Duration(seconds=float(seconds)).to_msg()
        message.points.append(point)
    return message
