"""The node: holds the robot of its `robot_description` parameter and serves `~/model_report`."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.task import Future

from dynamics_node.errors import DynamicsError
from dynamics_node.robot import Robot
from dynamics_node.ros import handlers
from dynamics_node.srv import ModelReport


def main():
    """Run the node until it is told to stop."""
    rclpy.init()
    node = rclpy.create_node('dynamics_node')
    try:
        robot = load_robot(node)
        node.create_service(ModelReport, '~/model_report',
                            lambda _, response: handlers.model_report(robot, response))
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):  # SIGINT, SIGTERM
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def load_robot(node):
    """Return the Robot of the parameter, or the reason why there is none."""
    source = node.declare_parameter('robot_description', '').value
    if not source:
        reason = "no robot: set the parameter 'robot_description' to a URDF text or file"
    else:
        try:
            robot = Robot.from_urdf(source)
            node.get_logger().info(f'holding {robot!r}')
            return robot
        except DynamicsError as error:
            reason = f"no robot, the parameter 'robot_description' was refused: {error}"
    node.get_logger().error(reason)
    return reason


def spin(node):
    """Serve until shutdown."""
    executor = EventsExecutor()
    executor.add_node(node)
    forever = Future()
    while rclpy.ok():
        # Without a finite timeout the executor of the PyPI wheels burns a core and serves nobody:
        # its infinite deadline overflows.
        executor.spin_until_future_complete(forever, timeout_sec=3600.0)


if __name__ == '__main__':
    main()
