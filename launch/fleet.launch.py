"""Start the nodes of several robots: ros2 launch dynamics_node fleet.launch.py --show-args"""

import math
from pathlib import Path

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    TimerAction,
)
from launch.launch_description_sources import (
    PythonLaunchDescriptionSource,
    get_launch_description_from_python_launch_file,
)
from launch.substitutions import LaunchConfiguration

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.fleet_file import read_fleet

ONE_ROBOT = str(Path(__file__).parent / 'dynamics.launch.py')


def generate_launch_description():
    """Start a node for each robot of the fleet file, in the namespace that is its name."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'fleet_file',
            description='Path of a YAML file with the robots of this machine and the arguments of '
                        'dynamics.launch.py for each, see docs/fleets.md.'),
        DeclareLaunchArgument(
            'start_interval', default_value='2.5',
            description='Time between the starts of two robots [s]. All at once, the processes of '
                        'a large fleet take the CPU from each other until some give up.'),
        OpaqueFunction(function=start_robots),
    ])


def start_robots(context):
    """Include dynamics.launch.py once for each robot, each with arguments of its own."""
    one_robot = get_launch_description_from_python_launch_file(ONE_ROBOT)
    arguments = [each.name for each in one_robot.get_launch_arguments()]
    try:
        fleet = read_fleet(LaunchConfiguration('fleet_file').perform(context), arguments)
    except DynamicsError as error:
        raise RuntimeError(f'argument fleet_file: {error}') from error
    interval = interval_of(LaunchConfiguration('start_interval').perform(context))
    starts = [GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource(ONE_ROBOT),
        launch_arguments={**own, 'namespace': namespace}.items())])
        for namespace, own in fleet.items()]
    return [start if k * interval == 0.0 else TimerAction(period=k * interval, actions=[start])
            for k, start in enumerate(starts)]


def interval_of(text):
    """Return the argument start_interval [s]; raise an error if it is not a time."""
    try:
        interval = float(text)
    except ValueError:
        interval = math.nan
    if not 0.0 <= interval < math.inf:
        raise RuntimeError(f"argument start_interval: '{text}' is not a time; expected seconds, 0 "
                           'or more, such as 2.5')
    return interval
