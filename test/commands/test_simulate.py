"""Test `dynamics_node simulate`: the table is the motion of the library; refusals in one line."""

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.commands.main import main
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.identification import read_csv


def simulate(*words):
    return main(('simulate', *map(str, words)))


def test_the_table_is_the_motion(tmp_path, capsys, compiler_on):
    page = tmp_path / 'motion.csv'
    assert simulate(ARM7, '--time', 0.2, '--rate', 50, '--out', page, '--start', 'joint_2=0.5',
                    '--torque', 'joint_4=3') == 0
    assert capsys.readouterr().out == f'{page}\n'
    robot = Robot.from_urdf(ARM7)
    q, tau = robot.neutral(), np.zeros(7)
    q[1], tau[3] = 0.5, 3.0
    wanted = robot.simulate(q, np.zeros(7), tau, np.linspace(0.0, 0.2, 11), method='radau')
    found = read_csv(page)
    np.testing.assert_array_equal(found.time, wanted.time)
    for name in ('q', 'v', 'tau'):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)


def test_loops_are_kept(tmp_path):
    page, mechanism = tmp_path / 'motion.csv', MECHANISMS['four_bar']
    assert simulate(mechanism.urdf, '--loops', mechanism.loops, '--time', 0.1, '--out', page) == 0
    robot, found = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops), read_csv(page)
    assert np.abs(robot.constraint_rows(found.q, found.v).residual).max() < 1e-6


def test_springs_act(tmp_path, capsys):
    """Those of a YAML file; a wrong one is refused by name."""
    page, file = tmp_path / 'motion.csv', tmp_path / 'springs.yaml'
    file.write_text('springs: [{name: coil, stiffness: 50, damping: 4, joint: joint_2}]')
    words = ARM7, '--time', 0.02, '--rate', 100, '--start', 'joint_2=0.5', '--out', page
    assert simulate(*words, '--springs', file) == 0
    robot = Robot.from_urdf(ARM7, compile=False).with_springs(file)
    wanted = robot.simulate(read_csv(page).q[0], np.zeros(7), np.zeros(7),
                            np.linspace(0.0, 0.02, 3), method='radau')
    np.testing.assert_allclose(read_csv(page).q, wanted.q, atol=1e-9)
    file.write_text('springs: [{name: coil, joint: elbow}]')
    capsys.readouterr()
    assert simulate(*words, '--springs', file) == 2
    assert "spring 'coil': joint: no joint 'elbow'" in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'message'), [
    (('--time', '-1'), '--time is -1.0'), (('--time', '1', '--rate', '0'), '--rate is 0.0'),
    (('--time', '1e10'), '--time 1e+10 and --rate 100 give 1e+12 rows; expected at most 1000000'),
    (('--time', '1', '--method', 'euler'), "method is 'euler'"),
    (('--time', '1', '--start', 'elbow=1'), "'elbow'"),
    (('--time', '1', '--method', 'rk4'), 'step is 0.001 s; friction')])
def test_refusals_are_one_line(words, message, tmp_path, capsys):
    assert simulate(ARM7, '--out', tmp_path / 'motion.csv', *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count('\n') == 1
    assert not (tmp_path / 'motion.csv').exists()
