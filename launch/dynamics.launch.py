"""Start the node for one robot: ros2 launch dynamics_node dynamics.launch.py --show-args"""

import shlex
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from dynamics_node.errors import FileError
from dynamics_node.files import check_file
from dynamics_node.ros.launch_arguments import joint_names, joint_numbers

MAX_BYTES = 50_000_000
CONFIG = Path(__file__).parent.parent / 'config' / 'dynamics_node.yaml'
# launch argument -> (parameter, type)
PARAMETERS = {'frame_prefix': ('frame_prefix', str), 'mode': ('torque.mode', str),
              'driver': ('torque.driver', str), 'command_topic': ('torque.command_topic', str),
              'use_sim_time': ('use_sim_time', bool)}
# launch argument -> (parameter, how its text is read)
OF_JOINTS = {'joints': ('torque.joints', joint_names), 'locked': ('locked', joint_numbers)}


def generate_launch_description():
    """Declare the arguments; an empty argument leaves the value of the parameters file."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'robot_description_file', default_value='',
            description='Path of a URDF file, or of a .xacro file if the program xacro is '
                        'installed. Empty: the robot of the topic robot_description, which '
                        'robot_state_publisher publishes.'),
        DeclareLaunchArgument(
            'xacro_arguments', default_value='',
            description="Arguments of the .xacro file, such as 'hand:=true arm_id:=left'."),
        DeclareLaunchArgument(
            'namespace', default_value='',
            description='Namespace of the node, its topics and its services.'),
        DeclareLaunchArgument(
            'frame_prefix', default_value='',
            description='Prefix of the names of frames, as in robot_state_publisher, such as '
                        'left/. Empty: as in the parameters file.'),
        DeclareLaunchArgument(
            'params_file', default_value=str(CONFIG),
            description="Path of the YAML file with the node's parameters."),
        DeclareLaunchArgument(
            'locked', default_value='',
            description="Joints locked at a position, such as 'finger_1=0.02 finger_2=0.02' or "
                        "'{finger_1: 0.02, finger_2: 0.02}'. They are added to the joints of the "
                        'parameters file; of a joint in both, the position of the argument is '
                        'used.'),
        DeclareLaunchArgument(
            'mode', default_value='',
            description='Torque mode: gravity, feedforward, computed_torque, impedance, '
                        'impedance_with_bias, task_space or whole_body. Empty: as in the '
                        'parameters file.'),
        DeclareLaunchArgument(
            'joints', default_value='',
            description='Driven joints in the order of the controller, separated by spaces or '
                        "commas, or a list such as '[joint_1, joint_2]'. Empty: as in the "
                        'parameters file.'),
        DeclareLaunchArgument(
            'driver', default_value='',
            description='Compensation that the driver of the arm adds to a command, see '
                        'docs/torque.md. Empty: as in the parameters file.'),
        DeclareLaunchArgument(
            'command_topic', default_value='',
            description='Topic of the effort commands of the controller, such as '
                        'effort_controller/commands. Empty: as in the parameters file.'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='',
            description='true: use the time of the topic /clock. Empty: as in the parameters '
                        'file.'),
        DeclareLaunchArgument(
            'log_level', default_value='info',
            description='Least severity that is logged: debug, info, warn, error or fatal.'),
        OpaqueFunction(function=start_node),
    ])


def start_node(context):
    """Start the node: it configures and activates itself, unless autostart is false."""
    value = context.launch_configurations
    parameters = {parameter: ParameterValue(LaunchConfiguration(name), value_type=kind)
                  for name, (parameter, kind) in PARAMETERS.items() if value[name]}
    parameters |= {parameter: read(name, value[name])
                   for name, (parameter, read) in OF_JOINTS.items() if value[name]}
    if value['robot_description_file']:
        parameters['robot_description'] = description(
            file_of('robot_description_file', value), value['xacro_arguments'])
    return [Node(
        package='dynamics_node', executable='dynamics_node', name='dynamics_node',
        namespace=LaunchConfiguration('namespace'), output='screen',
        parameters=[file_of('params_file', value), parameters],
        ros_arguments=['--log-level', LaunchConfiguration('log_level')])]


def file_of(argument, value):
    """Return the path of an argument; raise an error if there is no such file."""
    path = Path(value[argument]).expanduser()
    try:
        check_file(path, MAX_BYTES)
    except FileError as error:
        raise RuntimeError(f"argument {argument}: no file '{error.shown}'" if error.missing else
                           f'argument {argument}: {error}') from error
    return str(path)


def description(path, xacro_arguments):
    """Return the parameter robot_description: the path of a URDF, or the output of xacro."""
    if path.endswith('.xacro'):
        path = Command(['xacro ', shlex.quote(path), ' ', xacro_arguments], on_stderr='warn')
    elif xacro_arguments:
        raise RuntimeError(f"argument xacro_arguments: '{path}' is not a .xacro file")
    return ParameterValue(path, value_type=str)
