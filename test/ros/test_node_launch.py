"""Test the launch files: their arguments, and start and stop of the node.

`launch_ros` is not on PyPI: where it is not importable, what needs it is skipped.
"""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.paths import ROOT

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

LAUNCH = ROOT / 'launch'
NAMES = ('dynamics', 'demo', 'fleet', 'inspector')
REQUIRED = ('fleet_file',)   # arguments without a default
PATIENCE = 60.0  # [s] a deadline for a loaded machine, not a measurement
RUN = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService(noninteractive=True)  # a signal to this process is passed on
service.include_launch_description(IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]),
    launch_arguments=[argument.split(':=', 1) for argument in sys.argv[2:]]))
sys.exit(service.run())
"""


def path_of(name):
    return LAUNCH / f'{name}.launch.py'


def declared(name):
    """Return the arguments a launch file declares, as its source says."""
    calls = [node for node in ast.walk(ast.parse(path_of(name).read_text()))
             if isinstance(node, ast.Call)]
    return [call.args[0].value for call in calls
            if getattr(call.func, 'id', '') == 'DeclareLaunchArgument']


# Without launch_ros ------------------------------------------------------------------------------

@pytest.mark.parametrize('name', NAMES)
def test_every_launch_file_compiles(name):
    """On the installed Python."""
    compile(path_of(name).read_text(), path_of(name), 'exec')


def test_every_launch_file_is_tested():
    """New ones too."""
    assert {path.name for path in LAUNCH.iterdir() if path.is_file()} == {
        path_of(name).name for name in NAMES}


@pytest.mark.parametrize('name', NAMES)
def test_the_readme_has_the_file_and_a_row_for_every_argument(name):
    """Every argument is documented."""
    text = (ROOT / 'README.md').read_text()
    assert path_of(name).name in text
    assert [argument for argument in declared(name) if f'| `{argument}` |' not in text] == []


def assigned(name, variable):
    """Return the syntax tree of the value of a variable of a launch file."""
    return next(node.value for node in ast.parse(path_of(name).read_text()).body
                if isinstance(node, ast.Assign) and node.targets[0].id == variable)


def test_every_argument_of_a_parameter_names_a_parameter_of_the_node():
    """With its type."""
    from dynamics_node.ros.parameters.declared import DECLARED
    table = assigned('dynamics', 'PARAMETERS')
    arguments = {key.value: [each.value if isinstance(each, ast.Constant) else each.id
                             for each in value.elts]
                 for key, value in zip(table.keys, table.values)}
    assert set(arguments) <= set(declared('dynamics'))
    assert arguments.pop('use_sim_time') == ['use_sim_time', 'bool']
    assert {name: type(DECLARED[parameter].default).__name__
            for name, (parameter, _) in arguments.items()} == {
        name: kind for name, (_, kind) in arguments.items()}
    of_joints = {ast.literal_eval(key): ast.literal_eval(value.elts[0]) for key, value in zip(
        *(lambda table: (table.keys, table.values))(assigned('dynamics', 'OF_JOINTS')))}
    assert set(of_joints) <= set(declared('dynamics')) and set(of_joints.values()) <= set(DECLARED)


def test_the_argument_mode_describes_every_mode():
    """A new mode too."""
    from dynamics_node.ros.parameters.declared import DECLARED
    text = next(ast.literal_eval(keyword.value) for call in ast.walk(ast.parse(
        path_of('dynamics').read_text())) if isinstance(call, ast.Call)
        and call.args and getattr(call.args[0], 'value', '') == 'mode'
        for keyword in call.keywords if keyword.arg == 'description')
    named = set(re.findall(r'\w+', text))
    assert set(DECLARED['torque.mode'].metadata['one_of']) <= named


def test_the_demo_starts_in_a_pose_that_needs_torques():
    """Within the limits of the joints, and not upright, where gravity needs none."""
    robot = Robot.from_urdf(ARM7)
    q = ast.literal_eval(assigned('demo', 'BENT'))
    assert all(joint.lower < angle < joint.upper for joint, angle in zip(robot.model.joints, q))
    assert abs(robot.gravity_torque(q)).max() > 10.0   # [N m]


# With launch_ros ---------------------------------------------------------------------------------

@pytest.fixture
def launch_ros(ros_environment):
    return pytest.importorskip(
        'launch_ros', reason='launch_ros is not importable here (not on PyPI): '
        'the launch files are not run by this test')


@pytest.fixture
def load(launch_ros):
    """Return a function: name of a launch file -> LaunchDescription and its module."""
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    from launch.launch_description_sources.python_launch_file_utilities import (
        load_python_launch_file_as_module,
    )
    return lambda name: (get_launch_description_from_python_launch_file(str(path_of(name))),
                         load_python_launch_file_as_module(str(path_of(name))))


@pytest.fixture
def start_launch(launch_ros, tmp_path):
    """Return a function that runs a launch file like `ros2 launch`; all are stopped at the end."""
    started = []

    def start(name, *arguments):
        log = (tmp_path / f'launch{len(started)}.log').open('wb')
        process = subprocess.Popen(
            [sys.executable, '-c', RUN, path_of(name), *arguments], stdout=log, stderr=log,
            stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, 'ROS_LOG_DIR': str(tmp_path / 'ros_log')})
        started.append((process, log))
        process.log = lambda: Path(log.name).read_text()
        return process
    yield start
    for process, log in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def ask(client, process, node, good=lambda reply: True):
    """Return the model report of the node, as soon as it is valid."""
    from dynamics_node.srv import ModelReport
    service = client.create_client(ModelReport, f'{node}/model_report')
    deadline = time.monotonic() + PATIENCE
    reply = None
    while reply is None or not good(reply):
        assert process.poll() is None, process.log()
        assert time.monotonic() < deadline, f'{reply}\n{process.log()}'
        if service.wait_for_service(0.1):
            reply = service.call(ModelReport.Request(), PATIENCE)
    return reply


@pytest.mark.parametrize('name', NAMES)
def test_every_argument_has_a_description_and_a_default_that_resolves(load, name):
    """`ros2 launch --show-args` is the manual; a fleet alone needs an argument."""
    from launch import LaunchContext
    from launch.utilities import perform_substitutions
    description, _ = load(name)
    arguments = {each.name: each for each in description.get_launch_arguments()}
    assert set(declared(name)) <= set(arguments)
    for argument in arguments.values():
        assert argument.description not in ('', 'no description given'), argument.name
        if argument.name not in REQUIRED:
            perform_substitutions(LaunchContext(), argument.default_value)
    if name in ('dynamics', 'demo'):
        config = perform_substitutions(LaunchContext(), arguments['params_file'].default_value)
        assert Path(config).samefile(ROOT / 'config' / 'dynamics_node.yaml')


def test_the_node_starts_with_its_arguments_and_stops_on_request(client, start_launch, tmp_path):
    """Namespace, parameters file, description and parameters arrive; Ctrl-C: exit code 0."""
    from rcl_interfaces.srv import GetParameters
    params = tmp_path / 'params.yaml'
    params.write_text('/**/dynamics_node:\n  ros__parameters:\n'
                      '    robot_description: ""\n    gravity: [0.0, 0.0, -1.62]\n')
    process = start_launch('dynamics', f'robot_description_file:={ARM7}', 'namespace:=left',
                           f'params_file:={params}', 'command_topic:=on', 'use_sim_time:=True',
                           'frame_prefix:=left/', 'mode:=feedforward', 'driver:=without_gravity',
                           'locked:=joint_6=0.1 joint_7=0.2', 'joints:=joint_2 joint_1')
    reply = ask(client, process, '/left/dynamics_node')
    assert (reply.success, reply.message, reply.robot) == (True, '', 'arm7')
    assert reply.gravity.z == -1.62
    assert 'left/tool0' in reply.frame_names and len(reply.joint_names) == 5
    parameters = client.create_client(GetParameters, '/left/dynamics_node/get_parameters')
    assert parameters.wait_for_service(PATIENCE)
    names = ['torque.command_topic', 'torque.mode', 'torque.driver', 'torque.joints',
             'locked.joint_6', 'use_sim_time']
    *texts, joints, locked, sim_time = parameters.call(
        GetParameters.Request(names=names), PATIENCE).values
    assert sim_time.bool_value
    assert joints.string_array_value == ['joint_2', 'joint_1'] and locked.double_value == 0.1
    assert [each.string_value for each in texts] == [
        'on',   # a word that YAML would take for true
        'feedforward', 'without_gravity']
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, process.log()
    assert 'process has finished cleanly' in process.log()
    assert 'Traceback' not in process.log()


def test_without_a_file_the_description_comes_from_its_topic(client, start_launch):
    """As robot_state_publisher in the same namespace does."""
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String
    process = start_launch('dynamics', 'namespace:=/a/b')
    assert 'no robot yet' in ask(client, process, '/a/b/dynamics_node').message
    publisher = client.create_publisher(
        String, '/a/b/robot_description',
        QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    publisher.publish(String(data=ARM7.read_text()))
    reply = ask(client, process, '/a/b/dynamics_node', lambda reply: reply.success)
    assert reply.robot == 'arm7'


def test_a_fleet_has_a_node_in_each_namespace(client, start_launch, tmp_path):
    """With arguments of its own."""
    file = tmp_path / 'fleet.yaml'
    file.write_text(f'defaults: {{robot_description_file: {ARM7}}}\n'
                    "robots: {arm_1: {}, arm_2: {locked: 'joint_7=0.1'}}\n")
    process = start_launch('fleet', f'fleet_file:={file}', 'start_interval:=0.5')
    for name, joints in (('arm_1', 7), ('arm_2', 6)):
        reply = ask(client, process, f'/{name}/dynamics_node')
        assert len(reply.joint_names) == joints


def test_robots_of_a_fleet_start_one_after_the_other(load, tmp_path):
    """The second one after the interval; with 0 all at once; no other text is a time."""
    from launch import LaunchContext
    from launch.actions import TimerAction
    file = tmp_path / 'fleet.yaml'
    file.write_text('robots: {arm_1: {}, arm_2: {}, arm_3: {}}\n')
    _, module = load('fleet')
    context = LaunchContext()
    context.launch_configurations['fleet_file'] = str(file)
    for text, wanted in (('1.5', [1.5, 3.0]), ('0', [])):
        context.launch_configurations['start_interval'] = text
        started = module.start_robots(context)
        assert len(started) == 3
        assert [each.period for each in started if isinstance(each, TimerAction)] == wanted
    for text in ('soon', '-1', 'nan', 'inf', ''):
        context.launch_configurations['start_interval'] = text
        with pytest.raises(RuntimeError, match='argument start_interval'):
            module.start_robots(context)


@pytest.mark.parametrize(('argument', 'reason'), [
    ('params_file:=/no/such.yaml', "argument params_file: no file '/no/such.yaml'"),
    ('robot_description_file:=/no/such.urdf', 'argument robot_description_file: no file'),
    ('use_sim_time:=perhaps', "'perhaps'"),
    (f'robot_description_file:={ARM7} xacro_arguments:=hand:=true',
     f"argument xacro_arguments: '{ARM7}' is not a .xacro file"),
])
def test_a_wrong_argument_ends_the_launch_with_the_reason(start_launch, argument, reason):
    """No node starts with other parameters."""
    process = start_launch('dynamics', *argument.split())
    assert process.wait(PATIENCE) == 1
    assert reason in process.log()
    assert 'process started' not in process.log()


@pytest.mark.parametrize('installed', [True, False])
def test_a_xacro_file_is_expanded_if_xacro_is_installed(
        client, start_launch, tmp_path, monkeypatch, installed):
    """The description is what the program prints; without it, its name is in the message."""
    description = tmp_path / 'my arm.urdf.xacro'
    description.write_bytes(ARM7.read_bytes())
    if installed:  # stands in for it: prints the file it is given, with these arguments
        program = tmp_path / 'xacro'
        program.write_text('#!/bin/sh\n[ "$2 $3" = "hand:=true arm_id:=left" ] && exec cat "$1"\n')
        program.chmod(0o755)
        monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)
    else:
        monkeypatch.setenv('PATH', str(tmp_path))
    process = start_launch('dynamics', f'robot_description_file:={description}',
                           'xacro_arguments:=hand:=true arm_id:=left')
    if installed:
        assert ask(client, process, '/dynamics_node').robot == 'arm7'
    else:
        assert process.wait(PATIENCE) == 1
        assert "No such file or directory: 'xacro'" in process.log()


def test_the_demo_says_that_it_needs_mujoco(load, monkeypatch):
    """Before a process starts."""
    _, module = load('demo')
    monkeypatch.setattr(module, 'find_spec', lambda name: None)
    with pytest.raises(RuntimeError, match='pip install mujoco'):
        module.start_arm(None)


def test_the_demo_starts_an_arm_that_the_node_measures(client, start_launch):
    """Every joint of the bundled arm is measured, in a pose that needs torques."""
    from dynamics_node.srv import InverseDynamics
    pytest.importorskip('mujoco', reason='the arm of the demo is simulated by mujoco')
    process = start_launch('demo', 'namespace:=demo')
    reply = ask(client, process, '/demo/dynamics_node',
                lambda reply: reply.success and not reply.never_measured)
    assert reply.robot == 'arm7'
    inverse = client.create_client(InverseDynamics, '/demo/dynamics_node/inverse_dynamics')
    assert inverse.wait_for_service(PATIENCE)
    assert max(map(abs, inverse.call(InverseDynamics.Request(), PATIENCE).effort)) > 10.0   # [N m]
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, process.log()
    assert process.log().count('process has finished cleanly') == 2, process.log()
