"""Test the executable as a user runs it: `inspect`, `call`, and refusals in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ament_index_python import get_package_prefix
from support.remote_node import PATIENCE, assert_close
from support.tolerances import EXACT_MATHS

from dynamics_node.commands import executable
from dynamics_node.commands.call import QUESTIONS
from dynamics_node.example_robots import ARM7

pytestmark = pytest.mark.long

EXECUTABLE = Path(get_package_prefix('dynamics_node'), 'lib/dynamics_node/dynamics_node')
SHOWN = 1e-5   # tables have six digits
NEEDS = {'operational_space': ['--frame', 'tool0'],
         'inverse_kinematics': ['--frame', 'tool0', '--pose', '0.3,0.1,0.6'],
         'support': ['--frame', 'tool0'],
         'soft_forces': ['--contacts', 'soft_contacts: [{name: tip, frame: tool0, stiffness: 9}]']}


def run(*words):
    """Return the finished process."""
    return subprocess.run([sys.executable, EXECUTABLE, *words], capture_output=True, text=True,
                          timeout=PATIENCE, env=os.environ)


def call(arm, *words):
    return run('call', *words, '--node', arm.node.name, '--timeout', str(PATIENCE))


def called_here(arm, capsys, *words):
    """Return what `call` prints in this process: starting one takes longer than the call."""
    assert executable.main(
        ('call', *words, '--node', arm.node.name, '--timeout', str(PATIENCE))) == 0
    out, err = capsys.readouterr()
    assert err == ''
    return out


def test_inspect_needs_no_node():
    """A table to read, JSON for programs."""
    done = run('inspect', str(ARM7))
    assert (done.returncode, done.stderr) == (0, '')
    assert "robot 'arm7'" in done.stdout
    assert json.loads(run('inspect', str(ARM7), '--json').stdout)['name'] == 'arm7'


def test_report_needs_no_node(tmp_path):
    """The same command as in an installation without ROS."""
    done = run('report', 'model', str(ARM7), '--out', str(tmp_path / 'a.html'))
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout == f'{tmp_path}/a.html\n{tmp_path}/a.json\n'
    assert json.loads((tmp_path / 'a.json').read_text())['report']['name'] == 'arm7'


def test_call_inverse_prints_a_table(arm):
    """One line per joint; values that are not given are the measured ones."""
    done = call(arm, 'inverse', '--acceleration', 'joint_2=1.5', '--joint', 'joint_2=0.25',
                '--velocity', 'joint_2=0')
    assert done.returncode == 0, done.stderr
    q, v, a = arm.q.copy(), arm.v.copy(), np.zeros(7)
    q[1], v[1], a[1] = 0.25, 0.0, 1.5
    expected = dict(zip(arm.robot.joint_names, arm.robot.inverse_dynamics(q, v, a)))
    lines = [line.split() for line in done.stdout.splitlines()]
    shown = {words[0]: float(words[1]) for words in lines if words[0] in expected}
    assert list(shown)[0] == 'joint_2'
    assert_close([shown[name] for name in expected], list(expected.values()), SHOWN)


@pytest.mark.parametrize('question', QUESTIONS)
def test_every_service_replies_as_table_and_as_json(arm, question, capsys):
    """In this process: starting one takes longer than the call."""
    words = ('call', question, *NEEDS.get(question, ()), '--node', arm.node.name,
             '--timeout', str(PATIENCE))
    assert executable.main(words) == 0
    table = capsys.readouterr()
    assert (bool(table.out), table.err) == (True, '')
    assert executable.main((*words, '--json')) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_json_has_every_digit(arm, capsys):
    """With a wrench, given at and in the axes of the link."""
    F = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    out = called_here(arm, capsys, 'inverse', '--json',
                      '--wrench', f'tool0={",".join(map(repr, F))}')
    expected = arm.robot.inverse_dynamics(arm.q, arm.v, np.zeros(7), {'tool0': F})
    assert_close(json.loads(out)['effort'], expected, EXACT_MATHS)


def test_matrices_are_printed_in_shape(arm, capsys):
    """The derivatives of a named kernel, the linear model of one step."""
    zeros = np.zeros(7)
    fields = json.loads(called_here(arm, capsys, 'inverse_derivatives', '--json'))
    want = arm.robot.inverse_dynamics_derivatives(arm.q, arm.v, zeros)
    assert np.shape(fields['by_position']) == (7, 7)
    assert_close(fields['by_position'], want.dq, EXACT_MATHS)
    fields = json.loads(called_here(arm, capsys, 'linearization', '--step', '0.01', '--json'))
    want = arm.robot.linearize(arm.q, arm.v, arm.tau, 0.01)
    assert np.shape(fields['input_matrix']) == (14, 7)
    assert_close(fields['state_matrix'], want.A, EXACT_MATHS)


@pytest.mark.parametrize(('words', 'said'), [
    (['linearization', '--step', '-1'], 'step is -1.0; expected zero'),
    (['terms', '--step', '0.1'], '--step is not an option of terms'),
    (['inverse', '--joint', 'elbow=1', '--velocity', 'elbow=0'], "no moving joint 'elbow'"),
    (['inverse', '--joint', 'joint_1'], "--joint has 'joint_1'; expected joint=number"),
    (['inverse', '--effort', 'joint_1=1'], '--effort is not an option of inverse'),
    (['inverse', '--wrench', 'tool0=1,2'], 'expected link=fx,fy,fz,tx,ty,tz'),
    (['kinematics', '--frame', 'hand'], "no frame 'hand'"),
    (['nonsense'], 'invalid choice'),
])
def test_a_refusal_is_one_line_and_an_exit_code(arm, words, said, capsys):
    """No traceback, from the node or from the command. In this process, as above."""
    words = ('call', *words, '--node', arm.node.name, '--timeout', str(PATIENCE))
    try:
        code = executable.main(words)
    except SystemExit as end:   # of the parser of arguments
        code = end.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, '')
    assert said in err
    assert len(err.splitlines()) == 1


def test_the_exit_code_of_the_process_is_that_of_the_command(arm):
    done = call(arm, 'kinematics', '--frame', 'hand')
    assert (done.returncode, done.stdout) == (2, '')
    assert "no frame 'hand'" in done.stderr
    lines = done.stderr.splitlines()   # the middleware of Kilted warns of a setting of the tests
    assert len([line for line in lines if 'rmw_fastrtps' not in line]) == 1


def test_a_missing_node_is_reported(ros_environment):
    """The message says what to check."""
    done = run('call', 'report', '--node', 'nobody', '--timeout', '0.2')
    assert done.returncode == 2
    assert 'is the node running' in done.stderr


def test_help_describes_the_node():
    """The executable runs it without a command."""
    done = run('--help')
    assert done.returncode == 0
    assert 'inspect' in done.stdout
    assert 'call' in done.stdout
    assert '--ros-args' in done.stdout
