"""The node to be measured, with an empty service beside its own; or that service alone.

python benchmark/ros_server.py [--bare] --ros-args -p robot_description:=robot.urdf
"""

import sys

import rclpy
from rclpy.executors import ExternalShutdownException
from std_srvs.srv import Trigger

from dynamics_node.ros.node import DynamicsNode
from dynamics_node.ros.spin import spin


def main():
    bare = '--bare' in sys.argv
    rclpy.init()
    node = rclpy.create_node('bare') if bare else DynamicsNode()
    node.create_service(Trigger, '~/empty', empty)
    if not bare:
        node.bring_up()
    try:
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def empty(request, response):
    response.success = True
    return response


if __name__ == '__main__':
    main()
