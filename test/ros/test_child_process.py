"""Test that no process of the node imports modules of the current directory."""

import os
import subprocess
import sys

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
