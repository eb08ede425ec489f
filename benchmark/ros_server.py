"""Run the measured node with an additional empty service; or only that service; or a relay.

python benchmark/ros_server.py [--bare | --relay] --ros-args -p robot_description:=robot.urdf
"""

import sys
from array import array

import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from dynamics_node.ros.node import DynamicsNode
from dynamics_node.ros.spin import spin
from dynamics_node.ros.state.joint_state_bytes import JointStateReader
from dynamics_node.ros.topic_qos import STATES


def main():
    rclpy.init()
    if '--relay' in sys.argv:
        node = relay()
    elif '--bare' in sys.argv:
        node = rclpy.create_node('bare')
        node.create_service(Trigger, '~/empty', empty)
    else:
        node = DynamicsNode()
        node.create_service(Trigger, '~/empty', empty)
        node.bring_up()
    try:
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def relay():
    """Return a node that publishes a command for each joint state, as our node does."""
    node = rclpy.create_node('relay')
    publisher = node.create_publisher(Float64MultiArray, '/relay/commands', 1)
    reader, message = JointStateReader(), Float64MultiArray()

    def relay_state(data):
        message.data = array('d', reader.read(data).effort)
        publisher.publish(message)
    node.create_subscription(JointState, '/relayed_states', relay_state, STATES, raw=True)
    return node


def empty(request, response):
    response.success = True
    return response


if __name__ == '__main__':
    main()
