"""Test `dynamics_node inspect`: the report as text and JSON, without ROS."""

import argparse
import io
import json
import os
import signal
import subprocess
import sys

import pytest

from dynamics_node import ModelError, Robot
from dynamics_node.commands.inspect import add_parser, inspect_urdf
from dynamics_node.commands.main import main
from dynamics_node.example_robots import ARM7

PATIENCE = 60.0  # [s] a deadline for a loaded machine, not a measurement
COMMAND = (sys.executable, '-m', 'dynamics_node')
BAD = """<robot name="bad"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="-1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def run(*words, **options):
    """Return the finished process of a command line."""
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=PATIENCE,
                          **options)


def refused(result):
    """Return the one line that says why."""
    assert (result.returncode, result.stdout) == (2, '')
    line, = result.stderr.splitlines()
    assert line.startswith('dynamics_node')
    return line


# The function --------------------------------------------------------------------------------

def test_text_is_the_report():
    """Nothing added."""
    assert inspect_urdf(ARM7) == str(Robot.from_urdf(ARM7).report())


def test_json_is_the_report():
    """The same as of ModelReport.as_dict."""
    assert json.loads(inspect_urdf(ARM7.read_text(), as_json=True)) == (
        Robot.from_urdf(ARM7).report().as_dict())


def test_base_and_locked_joints_are_those_of_from_urdf():
    """As Robot.from_urdf takes them."""
    told = json.loads(inspect_urdf(ARM7, True, base='floating', locked={'joint_3': 0.5}))
    assert (told['base'], told['nv']) == ('floating', 12)


def test_refusals_are_raised():
    """The message names the argument."""
    with pytest.raises(ModelError, match='no file'):
        inspect_urdf('nowhere.urdf')


# The command ---------------------------------------------------------------------------------

def test_a_file_is_inspected():
    """The report on the standard output, nothing on the other."""
    result = run('inspect', str(ARM7))
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == inspect_urdf(ARM7) + '\n'


def test_standard_input_is_read_with_options():
    """As in `xacro robot.urdf.xacro | dynamics_node inspect -`."""
    result = run('inspect', '-', '--json', '--floating', '--lock', 'joint_3=0.5', '--lock',
                 'joint_4=-1e-1', input=ARM7.read_text())
    assert result.returncode == 0
    assert result.stdout == inspect_urdf(
        ARM7, True, 'floating', {'joint_3': 0.5, 'joint_4': -0.1}) + '\n'


def test_an_error_in_the_report_is_the_exit_code():
    """A build can stop there; also with JSON."""
    for option in ('--json', '--floating'):
        result = run('inspect', '-', option, input=BAD)
        assert result.returncode == 1
        assert 'not positive definite' in result.stdout and result.stderr == ''


@pytest.fixture
def without_ros(tmp_path):
    """The environment of a Python without ROS."""
    (tmp_path / 'rclpy.py').write_text('raise ImportError("no ROS here")')
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    return {**os.environ, 'PYTHONPATH': path}


def test_inspect_works_without_ros(without_ros):
    """In a Python without ROS."""
    result = run('inspect', str(ARM7), env=without_ros)
    assert (result.returncode, result.stderr) == (0, '')


@pytest.mark.parametrize(('words', 'subject'), [
    (('call', 'report'), "the command 'call'"), ((), 'the node'),
    (('--ros-args', '-p', 'robot_description:=robot.urdf'), 'the node')], ids=str)
def test_what_needs_ros_says_so_where_there_is_none(without_ros, words, subject):
    """And how to install it."""
    line = refused(run(*words, env=without_ros))
    assert line.startswith(f'dynamics_node: {subject} needs ROS 2, and this installation has none')
    assert 'no ROS here' in line and 'README.md' in line


def test_a_word_that_is_no_command_does_not_start_the_node():
    """A command that was mistyped."""
    assert "invalid choice: 'inspct'" in refused(run('inspct', str(ARM7)))


@pytest.mark.parametrize(('words', 'reason'), [
    ((), 'required: command'),
    (('dissect',), "invalid choice: 'dissect'"),
    (('inspect',), 'required: urdf'),
    (('inspect', 'nowhere.urdf'), "no file 'nowhere.urdf'"),
    (('inspect', '/'), 'is a directory'),
    (('inspect', str(ARM7), '--yaml'), 'unrecognized arguments: --yaml'),
    (('inspect', str(ARM7), '--lock', 'joint_3'), "'joint_3' is not of the form joint=0.1"),
    (('inspect', str(ARM7), '--lock', '=1'), "'=1' is not of the form joint=0.1"),
    (('inspect', str(ARM7), '--lock', 'joint_3=left'), 'not of the form'),
    (('inspect', str(ARM7), '--lock', 'elbow=1'), "'elbow'; the robot has: joint_1"),
    (('inspect', str(ARM7), '--lock', 'joint_3=nan'), "locked['joint_3'] is"),
])
def test_refusals_are_one_line(words, reason, capsys):
    """On stderr, with exit code 2."""
    try:
        code = main(words)
    except SystemExit as leaving:  # so argparse does it
        code = leaving.code
    output = capsys.readouterr()
    assert reason in refused(subprocess.CompletedProcess(words, code, output.out, output.err))


@pytest.mark.parametrize('text', ['', '<robot', '<robot name="a">\n<link\n/></robot>', '\x00\x01'])
def test_bad_text_on_standard_input_is_refused_in_one_line(text, capsys, monkeypatch):
    """Also the output of a xacro that failed."""
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(text.encode())))
    code, output = main(('inspect', '-')), capsys.readouterr()
    refused(subprocess.CompletedProcess((), code, output.out, output.err))


def test_help_shows_examples():
    """For the program and for the command."""
    assert 'inspect' in run('--help').stdout
    told = run('inspect', '--help')
    assert told.returncode == 0
    for word in ('--json', '--floating', '--lock', 'exit code', 'xacro'):
        assert word in told.stdout


@pytest.mark.parametrize('words', [('inspect', str(ARM7)), ('inspect', str(ARM7), '--json'),
                                   ('inspect', '--help')], ids=' '.join)
def test_a_reader_that_leaves_early_is_no_error(words):
    """Such as `| head`."""
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run([*COMMAND, *words], stdout=write, stderr=subprocess.PIPE, text=True,
                            timeout=PATIENCE)
    os.close(write)
    assert result.stderr == ''
    assert result.returncode in (0, 141)


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='needs /dev/full')
def test_a_full_disk_is_reported():
    """In one line."""
    with open('/dev/full', 'w') as full:
        result = subprocess.run([*COMMAND, 'inspect', str(ARM7)], stdout=full, text=True,
                                stderr=subprocess.PIPE, timeout=PATIENCE)
    assert result.returncode == 2
    assert result.stderr == 'dynamics_node: No space left on device\n'


@pytest.mark.parametrize('closed', ['>&-', '2>&-', '<&-'])
def test_a_closed_stream_is_no_error(closed):
    """Without a standard input '-' is refused."""
    source = '-' if closed == '<&-' else str(ARM7)
    result = subprocess.run(['sh', '-c', f'"$@" {closed}', 'sh', *COMMAND, 'inspect', source],
                            capture_output=True, text=True, timeout=PATIENCE)
    assert 'Traceback' not in result.stderr
    assert result.returncode == (2 if closed == '<&-' else 0)


def test_characters_that_the_terminal_lacks_are_escaped():
    """Names may be in any script."""
    text = '<robot name="caf\u00e9"><link name="\u624b"/></robot>'
    for encoding, name in (('ascii', 'caf\\xe9'), ('utf-8', 'caf\u00e9')):
        result = subprocess.run(
            [*COMMAND, 'inspect', '-'], input=text.encode(), capture_output=True, timeout=PATIENCE,
            env={**os.environ, 'PYTHONIOENCODING': encoding})
        assert (result.returncode, result.stderr) == (0, b'')
        assert name in result.stdout.decode(encoding)


def test_an_interrupt_exits_without_traceback(capsys):
    """Ctrl-C, for example while it waits for the standard input."""
    def add_endless(subparsers):
        def endless(_):
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                pass
        subparsers.add_parser('endless').set_defaults(run=endless)
    assert main(['endless'], [add_endless]) == 130
    assert capsys.readouterr() == ('', '')


def test_another_package_may_add_commands(capsys):
    """The same parser, the same refusals."""
    def add_echo(subparsers):
        parser = subparsers.add_parser('echo')
        parser.add_argument('word')
        parser.set_defaults(run=lambda arguments: sys.stdout.write(arguments.word) and 7)
    commands = (add_parser, add_echo)
    assert main(['echo', 'hello'], commands, prog='dn') == 7
    assert capsys.readouterr().out == 'hello'
    assert main(['inspect', str(ARM7)], commands, prog='dn') == 0
    assert main(['inspect', 'nowhere.urdf'], commands, prog='dn') == 2
    assert capsys.readouterr().err.startswith("dn: no file 'nowhere.urdf'")


def test_add_parser_takes_any_parser():
    """Of argparse."""
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    arguments = parser.parse_args(['inspect', 'a.urdf', '--lock', 'a=b=2'])
    assert (arguments.urdf, arguments.lock) == ('a.urdf', [('a=b', 2.0)])
