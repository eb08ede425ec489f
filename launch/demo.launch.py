"""Start a simulated arm and the node: ros2 launch dynamics_node demo.launch.py

The bundled 7-axis arm, simulated by MuJoCo, and the node that computes its torques.
"""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction, Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

HERE = Path(__file__).parent
ARM_NODE = HERE.parent / 'examples' / 'sim' / 'arm_node.py'
BENT = [0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0]   # [rad] a pose in which gravity needs torques


def generate_launch_description():
    """Start the simulated arm, which publishes robot_description, and the node that controls it."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of the arm and of the node.'),
        DeclareLaunchArgument(
            'command_topic', default_value='effort_controller/commands',
            description='Topic of the effort commands of the simulated arm. The arm needs the '
                        'Python package mujoco: pip install mujoco.'),
        OpaqueFunction(function=start_arm),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(HERE / 'dynamics.launch.py'))),
    ])


def start_arm(context):
    """Start the simulated arm; when its process ends, the launch ends."""
    if find_spec('mujoco') is None:
        raise RuntimeError('this demo simulates the arm with MuJoCo, which is not installed '
                           f'for {sys.executable}: pip install mujoco')
    command_topic = ParameterValue(LaunchConfiguration('command_topic'), value_type=str)
    return [Node(executable=str(ARM_NODE), prefix=shlex.quote(sys.executable), name='simulated_arm',
                 namespace=LaunchConfiguration('namespace'), output='screen', on_exit=Shutdown(),
                 parameters=[{'command_topic': command_topic, 'initial_position': BENT}])]
