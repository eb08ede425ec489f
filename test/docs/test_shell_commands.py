"""Execute the shell commands of README.md, CONTRIBUTING.md, docs/ and examples/.

bash expands each block. The program `dynamics_node` runs in this process, its node as a process of
its own, under the name that the pages give. There is no `ros2` on PyPI: of its commands, services
are called, parameters set and topics published to by this test; launch files, actions and types are
looked up. A block that begins with `# needs: ` is not executed, only looked up.
"""

import ast
import re
import time
from importlib import import_module

import numpy as np
import pytest
import yaml
from support.paths import ROOT
from support.remote_node import LATCHED, PATIENCE, wait_until
from support.shell_blocks import PAGES, other_blocks, shell_blocks
from support.shell_blocks import commands_of as expanded
from support.yaml_messages import fill

from dynamics_node import Robot
from dynamics_node.commands import executable
from dynamics_node.commands.main import COMMANDS, parser_of
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.parameters.declared import declared_name

BLOCKS = shell_blocks()
# Commands that take long: their words are parsed here, and test/commands executes them.
LONG = ('annotate', 'excitation', 'identify', 'report identification', 'rollouts', 'simulate')
TARGETS = re.findall(r'^([\w-]+):', (ROOT / 'Makefile').read_text(), re.M)
MOTION = 'time,' + ','.join(f'position_joint_{k}' for k in range(1, 8)) + '\n' + ''.join(
    f'{t},{",".join([str(0.1 * t)] * 7)}\n' for t in (0.0, 1.0, 2.0))


class PageEnvironment:
    """A folder with the files of the pages, and the node that a page has started last."""

    def __init__(self, launch, folder):
        self.folder, self._launch = folder, launch
        self._words, self.node = None, None
        (folder / 'robot.urdf').write_bytes(ARM7.read_bytes())
        (folder / 'motion.csv').write_text(MOTION)
        (folder / 'excitation.yaml').write_text(yaml.safe_dump({
            'joint_names': ['joint_1'],
            'points': [{'positions': [0.0], 'time_from_start': {'sec': 1, 'nanosec': 0}}]}))

    def start(self, *words):
        """Start the node with the words of a command line, unless it runs with them."""
        if words == self._words:
            return
        if self.node is not None:
            self.node.process.terminate()
            self.node.process.wait(PATIENCE)
            wait_until(lambda: not self.node.client.count_publishers('/dynamics_node/torque'),
                       'the end of the node')
        self._words = words
        self.node = self._launch(namespace='', arguments=words, cwd=self.folder)
        report = wait_until(lambda: (reply := self.node.call('model_report')).success and reply,
                            'the robot')
        zeros = np.zeros(len(report.joint_names))
        robot = Robot.from_urdf(self.folder / f'{self._robot(words)}.urdf', compile=False)
        self.node.measure(robot, time.time_ns(), report.joint_names, zeros, zeros, zeros)

    @staticmethod
    def _robot(words):
        return re.search(r'robot_description:=(\w+)\.urdf', ' '.join(words))[1]


@pytest.fixture(scope='module')
def environment(launch_once, tmp_path_factory):
    return PageEnvironment(launch_once, tmp_path_factory.mktemp('pages'))


@pytest.mark.parametrize('block', BLOCKS, ids=str)
def test_the_commands_of_a_page_work(block, environment, monkeypatch, capsys):
    """Each is executed; those of a marked block are looked up."""
    monkeypatch.chdir(environment.folder)
    commands = expanded(block, environment.folder)
    assert commands, 'no command in this block'
    if not block.marked and commands[0][-1] != '&':
        environment.start('-p', 'robot_description:=robot.urdf')
    for words in commands:
        check(words)
        if not block.marked:
            execute(words, environment, capsys)


def test_blocks_without_a_language_have_no_commands():
    """They would not be executed."""
    words = re.compile(r'^\s*(\$ )?(ros2|dynamics_node|make|python3?|pip|colcon|sudo) ', re.M)
    assert [text for text in other_blocks() if words.search(text)] == []


def test_programs_that_the_pages_name_exist():
    """`make target` and `python file` within a sentence or a table."""
    named = [words.split() for page in PAGES
             for words in re.findall(r'`((?:make|python) [^`]+)`', page.read_text())]
    assert len(named) > 10
    for words in named:
        check(words)


# What can be looked up ---------------------------------------------------------------------------

def check(words):
    """Assert that the files, types, arguments and parameters of a command exist."""
    program, *rest = words
    if program == 'make':
        assert rest[0] in TARGETS, words
    elif program == 'python':
        assert (ROOT / rest[0]).is_file(), words
    elif program == 'dynamics_node' and rest[0] == '--ros-args':
        for value in rest:
            name = value.partition(':=')[0]
            assert ':=' not in value or declared_name(name), f'no parameter {name}'
    elif program == 'dynamics_node':
        parser_of(COMMANDS, 'dynamics_node').parse_args(rest)
    elif program == 'ros2':
        check_ros2(rest)


def check_ros2(words):
    """Assert the same of a command of ros2."""
    verb = ' '.join(words[:2])
    names = [word for word in words[2:] if not word.startswith('-')]
    if verb in ('service call', 'topic pub', 'action send_goal'):
        message_of(verb, *names)
    elif verb == 'interface show':
        interface(names[0])
    elif verb in ('param set', 'param delete'):
        assert names[0] == '/dynamics_node' and declared_name(names[1])
    elif words[0] == 'launch':
        package, file, *arguments = words[1:]
        source = (ROOT / 'launch' / file).read_text()
        included = source + (ROOT / 'launch' / 'dynamics.launch.py').read_text()
        declared = [call.args[0].value for call in ast.walk(ast.parse(included))
                    if isinstance(call, ast.Call)
                    and getattr(call.func, 'id', '') == 'DeclareLaunchArgument']
        assert package == 'dynamics_node'
        assert [each for each in arguments if each.partition(':=')[0] not in declared] == []
    else:
        assert verb.startswith(('topic echo', 'security ')), f'ros2 {verb} is not known here'


def interface(name):
    """Return the class of 'package/kind/Name'."""
    package, kind, name = name.split('/')
    return getattr(import_module(f'{package}.{kind}'), name)


def message_of(verb, name, kind, text='{}'):
    """Return the request, message or goal of a command, filled from its YAML."""
    message_type = interface(kind)
    part = {'service call': 'Request', 'action send_goal': 'Goal'}.get(verb)
    return fill((getattr(message_type, part) if part else message_type)(), yaml.safe_load(text))


# What is executed --------------------------------------------------------------------------------

def execute(words, environment, capsys):
    """Run a command; assert that it succeeds."""
    program, *rest = words
    if rest[-1] == '&':
        assert (program, rest[0]) == ('dynamics_node', '--ros-args')
        environment.start(*rest[1:-1])
    elif program == 'dynamics_node' and not ' '.join(rest).startswith(LONG):
        code = executable.main(rest)
        out, err = capsys.readouterr()
        assert (code, bool(out)) == (0, True), err
    elif program == 'ros2':
        execute_ros2(rest, environment.node)


def execute_ros2(words, node):
    """Do over the wire what a command of ros2 does, under the names that it gives."""
    verb = ' '.join(words[:2])
    names = [word for word in words[2:] if not word.startswith('-')]
    if verb == 'service call':
        client = node.client.create_client(interface(names[1]), names[0])
        wait_until(lambda: client.service_is_ready(), names[0])
        reply = node.reply(client.call_async(message_of(verb, *names)))
        assert reply.success, reply.message
    elif verb == 'topic pub':
        publisher = node.client.create_publisher(interface(names[1]), names[0], LATCHED)
        wait_until(publisher.get_subscription_count, f'a subscription to {names[0]}')
        publisher.publish(message_of(verb, *names))
    elif verb == 'topic echo':
        wait_until(lambda: node.client.count_publishers(names[0]), names[0])
    elif verb in ('param set', 'param delete'):
        value = yaml.safe_load(names[2]) if verb == 'param set' else None
        assert node.set_parameters({names[1]: value}) == ''
    elif verb == 'action send_goal':
        from rclpy.action import get_action_names_and_types
        wait_until(lambda: (names[0], [names[1]]) in get_action_names_and_types(node.client),
                   names[0])
