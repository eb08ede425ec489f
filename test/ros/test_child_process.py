"""Test how processes of the node start and end: nothing of the current directory is imported."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from support.recorded_arm import THREE_JOINTS
from support.remote_node import wait_until

from dynamics_node.action import Identify
from dynamics_node.ros.child_process import start_python, wait_for_end

PLANTED = ('dynamics_node', 'numpy', 'rclpy', 'yaml', 'lxml', 'llvmlite', 'socket', 'queue',
           'sitecustomize', 'usercustomize')
PROBE = """
import sys

def main():
    import numpy, socket, yaml
    print(*sys.argv[1:], sys.path.count(''))
"""


@pytest.fixture
def planted(tmp_path):
    """A folder with modules that write a file when they are imported."""
    folder = tmp_path / 'current'
    folder.mkdir()
    for name in PLANTED:
        (folder / f'{name}.py').write_text(
            f'open({str(folder / "imported")!r}, "a").write({name!r})')
    yield folder
    assert not (folder / 'imported').exists(), (folder / 'imported').read_text()


def test_the_planted_modules_are_found_by_other_programs(planted):
    """So the other tests can fail."""
    for environment in ({}, {'PYTHONPATH': os.pathsep + os.environ['PYTHONPATH']}):
        subprocess.run([sys.executable, '-c', 'import numpy'], cwd=planted, check=True,
                       env={**os.environ, **environment})
        said = (planted / 'imported').read_text()
        assert 'numpy' in said and ('sitecustomize' in said) is bool(environment)
        (planted / 'imported').unlink()


@pytest.mark.parametrize('entries', ['{0}', ':{0}', '{0}:', '{0}::'])
def test_a_child_imports_nothing_of_the_current_directory(planted, tmp_path, monkeypatch, entries):
    """Nor by an empty entry of PYTHONPATH; the other entries are kept."""
    (tmp_path / 'probe.py').write_text(PROBE)
    monkeypatch.setenv('PYTHONPATH', entries.format(f'{tmp_path}:{os.environ["PYTHONPATH"]}'))
    monkeypatch.chdir(planted)
    child = start_python('probe', ['word'], stdout=subprocess.PIPE, text=True)
    assert child.stdout.read() == 'word 0\n'
    assert wait_for_end(child) == 'exited with 0'
    child.stdout.close()


def test_the_node_and_its_processes_import_nothing_of_the_current_directory(planted, launch):
    """The node, its torque process, a worker for long requests and one for identification."""
    node = launch(f'robot_description:={THREE_JOINTS}', cwd=planted)
    assert node.call('self_test', samples=100).success
    node.identify = ActionClient(node.client, Identify, f'{node.name}/identify')
    wait_until(node.identify.server_is_ready, 'the action')
    goal = node.reply(node.spun(lambda: node.identify.send_goal_async(
        Identify.Goal(recording='nothing.csv'))))
    reply = node.reply(node.spun(goal.get_result_async), 'a result')
    assert reply.status == GoalStatus.STATUS_ABORTED
    assert 'nothing.csv' in reply.result.message
    assert 'Traceback' not in node.process.log()


@pytest.mark.parametrize('unread', [False, True])
def test_a_process_that_hangs_at_its_end_is_ended(tmp_path, unread):
    """Also if the interpreter is held, and if the log is a pipe that is full."""
    reader, writer = os.pipe()
    if unread:
        os.set_blocking(writer, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(1 << 12))
        os.set_blocking(writer, True)
    process = subprocess.Popen(
        [sys.executable, '-c', 'import ctypes\n'
         'from dynamics_node.ros.child_process import exit_after\n'
         'exit_after(0.1)\n'
         'ctypes.PyDLL(None).sleep(3600)'], cwd=tmp_path, stderr=writer)
    os.close(writer)
    try:
        assert process.wait(60.0) == 1
        with os.fdopen(reader, errors='replace') as log:
            assert unread or 'Timeout' in log.read()
    finally:
        process.kill()


# A thread that never ends, as one that compiles a kernel; text that is still in a buffer.
EXIT = """
import atexit, threading, time
from dynamics_node.ros.child_process import exit_now
atexit.register(print, 'destructor')
threading.Thread(target=time.sleep, args=[3600.0]).start()
print('last line', end='')
exit_now(3)
"""
BUFFERED = {**os.environ, 'PYTHONUNBUFFERED': ''}


def test_a_process_that_exits_at_once_writes_what_it_has_and_runs_no_destructor(tmp_path):
    done = subprocess.run([sys.executable, '-c', EXIT], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60.0, env=BUFFERED)
    assert (done.stdout, done.stderr, done.returncode) == ('last line', '', 3)


def test_a_process_exits_at_once_without_a_reader(tmp_path):
    """As after the terminal was closed."""
    process = subprocess.Popen([sys.executable, '-c', EXIT], cwd=tmp_path, stdout=subprocess.PIPE,
                               env=BUFFERED)
    process.stdout.close()
    assert process.wait(60.0) == 3


def test_a_process_exits_at_once_without_output(tmp_path):
    """As one that was started with its output closed."""
    done = subprocess.run(['sh', '-c', 'exec "$0" -c "$1" >&-', sys.executable, EXIT], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60.0)
    assert (done.stderr, done.returncode) == ('', 3)


def test_processes_have_names(launch):
    """In `ps -e`: which one has which task."""
    node = launch(f'robot_description:={THREE_JOINTS}', through=('env',))
    assert node.call('model_report').success
    children = Path(f'/proc/{node.process.pid}/task/{node.process.pid}/children').read_text()
    names = [Path(f'/proc/{each}/comm').read_text().strip() for each in children.split()]
    assert names == ['dynamics_torque', 'dynamics_watch']
