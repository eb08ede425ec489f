"""Compute dynamics inside your own node: without services or a second process.

Publishes the gravity torque of every joint state, on the topic `gravity_torque`.

    python examples/robot_in_your_node.py --ros-args -p urdf:=arm.urdf
"""

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.spin import spin


class GravityTorques(Node):
    """Joint states in, gravity torques out."""

    def __init__(self):
        super().__init__('gravity_torques')
        self.robot = Robot.from_urdf(self.declare_parameter('urdf', str(ARM7)).value)
        self.publisher = self.create_publisher(JointState, 'gravity_torque', 10)
        self.create_subscription(JointState, 'joint_states', self.on_state, qos_profile_sensor_data)

    def on_state(self, state):
        """Answer one joint state; joints are found by name, never by their place in the message."""
        position = dict(zip(state.name, state.position))
        try:
            q = np.array([position[name] for name in self.robot.joint_names])
        except KeyError as missing:
            self.get_logger().warning(f'no position of joint {missing}', throttle_duration_sec=5.0)
            return
        tau = self.robot.gravity_torque(q)
        self.publisher.publish(JointState(header=state.header, name=list(self.robot.joint_names),
                                          effort=tau.tolist()))


def main():
    rclpy.init()
    node = GravityTorques()
    try:
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
