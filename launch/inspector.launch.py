"""Show a running node in the browser: ros2 launch dynamics_node inspector.launch.py --show-args"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration

OPTIONS = ('node', 'host', 'port')   # of the command, with the same names


def generate_launch_description():
    """Start the inspector; it needs the Python package viser."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'node', default_value='dynamics_node',
            description='Name of the dynamics node, with its namespace.'),
        DeclareLaunchArgument(
            'host', default_value='127.0.0.1',
            description='Address to listen on: this machine alone. 0.0.0.0: every computer that '
                        'reaches this one sees the page.'),
        DeclareLaunchArgument(
            'port', default_value='8080',
            description='Port of the page; the next free one if it is taken.'),
        DeclareLaunchArgument(
            'allow_control', default_value='false', choices=['true', 'false'],
            description='true: the page can enable and disable torques, attach payloads, set '
                        'gains, send the trajectory and identify, by typing the printed code.'),
        DeclareLaunchArgument(
            'trajectory', default_value='',
            description='File of a trajectory that the page may send, with allow_control; empty: '
                        'none.'),
        OpaqueFunction(function=start_inspector),
    ])


def start_inspector(context):
    """Return the process of `dynamics_node inspect-live`."""
    words = [word for name in OPTIONS
             for word in (f'--{name}', LaunchConfiguration(name).perform(context))]
    allowed = LaunchConfiguration('allow_control').perform(context) == 'true'
    trajectory = LaunchConfiguration('trajectory').perform(context)
    return [ExecuteProcess(output='screen', cmd=[
        'ros2', 'run', 'dynamics_node', 'dynamics_node', 'inspect-live', *words,
        *(['--allow-control'] if allowed else []),
        *(['--trajectory', trajectory] if trajectory else [])])]
