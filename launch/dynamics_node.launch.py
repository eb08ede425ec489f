"""ros2 launch dynamics_node dynamics_node.launch.py urdf:=/path/to/robot.urdf"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from dynamics_node.robots import ARM7


def generate_launch_description():
    """Start the node with the robot of a URDF file, by default the bundled 7-axis arm."""
    config = Path(get_package_share_directory('dynamics_node')) / 'config' / 'dynamics_node.yaml'
    return LaunchDescription([
        DeclareLaunchArgument('urdf', default_value=str(ARM7),
                              description='path of the URDF file'),
        DeclareLaunchArgument('namespace', default_value='', description='of the node'),
        Node(package='dynamics_node', executable='dynamics_node', name='dynamics_node',
             namespace=LaunchConfiguration('namespace'), output='screen',
             parameters=[str(config), {'robot_description': LaunchConfiguration('urdf')}]),
    ])
