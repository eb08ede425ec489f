"""Test `dynamics_node report`: files in the given folder, refusals in one line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.html_checks import checked
from support.lively_motion import record
from support.nasty_robot import NASTY_URDF

from dynamics_node import Robot
from dynamics_node.commands.main import main
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.recording import raw_recording
from dynamics_node.reports.model_page import model_report_page
from dynamics_node.reports.sampled_motion import sampled_motion
from dynamics_node.reports.trajectory_page import trajectory_report_page

PATIENCE = 60.0  # [s] a deadline for a loaded machine, not a measurement
TRAJECTORY = 'time,position_joint_1,position_joint_2\n0,0,0\n1,0.5,0.2\n2,0.1,0.4\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Everything is written to a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    """Return (exit code, standard output, standard error) of a command line."""
    try:
        code = main(('report', *map(str, words)))
    except SystemExit as leaving:  # so argparse does it
        code = leaving.code
    return code, *capsys.readouterr()


def written(folder, name):
    """Return the checked page and the JSON of a report."""
    return (checked((folder / f'{name}.html').read_text('utf-8')),
            json.loads((folder / f'{name}.json').read_text('utf-8')))


def test_a_model_report_is_written(folder, capsys):
    """Named after the URDF, in the working directory; the path is printed."""
    assert run(capsys, 'model', ARM7) == (0, 'arm7_model.html\narm7_model.json\n', '')
    page, answers = written(folder, 'arm7_model')
    assert answers == model_report_page(Robot.from_urdf(ARM7))[1]
    assert 'arm7.urdf' in page.text


def test_options_of_a_model_report_are_those_of_the_library(folder, capsys):
    """By the same names."""
    code, out, err = run(
        capsys, 'model', ARM7, '--out', 'a.html', '--json', 'b.txt', '--at', 'joint_2=0.5',
        '--payload', 'tool0=2.5,0,0,0.1', '--payload', 'link_3=1', '--gravity=-9.81,0,0',
        '--lock', 'joint_7=0.2', '--floating', '--frame', 'tool0')
    assert (code, out, err) == (0, 'a.html\nb.txt\n', '')
    robot = Robot.from_urdf(ARM7, base='floating', gravity=(-9.81, 0.0, 0.0),
                            locked={'joint_7': 0.2}).with_payload(
        'payload 1', 'tool0', 2.5, (0.0, 0.0, 0.1)).with_payload('payload 2', 'link_3', 1.0)
    q = robot.neutral()
    q[robot.model.joint('joint_2').q] = 0.5
    expected = model_report_page(robot, q, frame='tool0')[1]
    assert json.loads((folder / 'b.txt').read_text()) == expected


def test_a_mechanism_is_drawn_with_closed_loops(folder, capsys):
    """The given joint is where it was set, the others follow."""
    urdf, loops = MECHANISMS['four_bar']
    robot = Robot.from_urdf(urdf, loops=loops)
    joint = robot.joint_names[0]
    assert run(capsys, 'model', urdf, '--loops', loops, '--at', f'{joint}=0.3')[0] == 0
    _, answers = written(folder, 'four_bar_model')
    q = np.array(answers['configuration'])
    assert q[0] == 0.3
    assert np.abs(robot.constraint_rows(q, np.zeros(robot.nv)).residual).max() < 1e-8
    assert answers['loops']['passive'] == list(robot.loops.passive)


def test_a_trajectory_report_is_written(folder, capsys):
    """From a table; joints that it does not name stay at rest."""
    (folder / 'motion.csv').write_text(TRAJECTORY)
    words = ('trajectory', ARM7, 'motion.csv', '--payload-frame', 'tool0', '--check-period', '0.1')
    assert run(capsys, *words) == (0, 'motion_trajectory.html\nmotion_trajectory.json\n', '')
    _, answers = written(folder, 'motion_trajectory')
    robot = Robot.from_urdf(ARM7)
    motion = sampled_motion(robot, ['joint_1', 'joint_2'], [0.0, 1.0, 2.0],
                            [[0.0, 0.0], [0.5, 0.2], [0.1, 0.4]], check_period=0.1)
    assert answers == trajectory_report_page(robot, *motion, payload_frame='tool0')[1]


def test_an_identification_report_is_written(folder, capsys):
    """From a recording; a bar shows the progress."""
    locked = {f'joint_{k}': 0.0 for k in range(3, 8)}
    robot = Robot.from_urdf(ARM7, locked=locked)
    recording = record(robot.with_payload('load', 'link_3', 2.0), samples=1500, rate=50.0)
    write_csv(folder / 'arm.csv', raw_recording(recording.joint_names, recording.time, recording.q,
                                                recording.tau, recording.v))
    words = [word for name in locked for word in ('--lock', f'{name}=0')]
    code, out, err = run(capsys, 'identification', ARM7, 'arm.csv', *words)
    assert (code, out) == (0, 'arm_identification.html\narm_identification.json\n')
    assert '100%' in err and 'Traceback' not in err
    _, answers = written(folder, 'arm_identification')
    assert answers['gain'] > 2.0 and answers['joint_names'] == ['joint_1', 'joint_2']


def test_a_model_of_markup_names_is_read_from_standard_input(folder):
    """In a process of its own."""
    done = subprocess.run([sys.executable, '-m', 'dynamics_node', 'report', 'model', '-'],
                          input=NASTY_URDF, capture_output=True, text=True, timeout=PATIENCE,
                          cwd=folder, env={**os.environ, 'PYTHONPATH': os.pathsep.join(
                              filter(None, sys.path))})
    assert (done.returncode, done.stderr) == (0, '')
    written(folder, 'robot_model')


@pytest.mark.parametrize(('words', 'reason'), [
    ((), 'required: kind'),
    (('robot',), "invalid choice: 'robot'"),
    (('model',), 'required: urdf'),
    (('model', 'nowhere.urdf'), "no file 'nowhere.urdf'"),
    (('model', ARM7, '--at', 'elbow=1'), "'elbow'"),
    (('model', ARM7, '--frame', 'hand'), "'hand'"),
    (('model', ARM7, '--at', 'joint_1=nan'), 'finite'),
    (('model', ARM7, '--at', 'joint_1'), 'not of the form'),
    (('model', ARM7, '--floating', '--at', 'floating_base=1'), 'one coordinate'),
    (('model', ARM7, '--gravity', '0,0'), 'not of the form 0,0,-9.81'),
    (('model', ARM7, '--payload', 'tool0=x'), 'not of the form link=2.5'),
    (('model', ARM7, '--payload', 'tool0=1,2'), 'not of the form link=2.5'),
    (('model', ARM7, '--payload', 'hand=1'), "'hand'"),
    (('model', ARM7, '--payload', 'tool0=-1'), 'mass'),
    (('model', ARM7, '--loops', 'nowhere.yaml'), 'nowhere.yaml'),
    (('model', ARM7, '--out', 'nowhere/a.html'), "cannot write 'nowhere/a.html': No such file"),
    (('model', ARM7, '--out', '.'), 'Is a directory'),
    (('model', ARM7, '--json', '.'), 'Is a directory'),
    (('model', ARM7, '--out', 'a\0b'), 'cannot write'),
    (('model', ARM7, '--out', 'a.json'), "would both be 'a.json'"),
    (('trajectory', ARM7), 'required: trajectory'),
    (('trajectory', ARM7, 'nowhere.csv'), 'nowhere.csv'),
    (('trajectory', ARM7, 'motion.csv', '--payload-frame', 'hand'), "'hand'"),
    (('trajectory', ARM7, 'motion.csv', '--check-period', '-1'), 'check_period'),
    (('trajectory', ARM7, 'motion.csv', '--lock', 'joint_1=0'), "'joint_1'"),
    (('trajectory', ARM7, 'wrong.csv'), 'wrong.csv'),
    (('trajectory', ARM7, 'empty.csv'), 'empty.csv'),
    (('trajectory', ARM7, 'wrong.yaml'), 'wrong.yaml'),
    (('trajectory', ARM7, ARM7), 'arm7.urdf'),
    (('trajectory', ARM7, '.'), ''),
    (('identification', ARM7, 'nowhere.csv'), 'nowhere.csv'),
    (('identification', ARM7, 'wrong.csv'), 'wrong.csv'),
    (('identification', ARM7, 'motion.csv'), 'motion.csv'),
    (('identification', ARM7, 'nowhere.mcap'), 'nowhere.mcap'),
])
def test_refusals_are_one_line(words, reason, folder, capsys):
    """On stderr, with exit code 2, and nothing is written."""
    (folder / 'motion.csv').write_text(TRAJECTORY)
    (folder / 'wrong.csv').write_text('time,position_joint_1\n0,zero\n')
    (folder / 'empty.csv').write_text('')
    (folder / 'wrong.yaml').write_text('points: [1, 2')
    before = set(folder.iterdir())
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, '')
    line, = err.splitlines()
    assert line.startswith('dynamics_node') and reason in line
    assert set(folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason='root may write anywhere')
def test_a_read_only_folder_is_reported(folder, capsys):
    (folder / 'locked').mkdir(mode=0o555)
    code, _, err = run(capsys, 'model', ARM7, '--out', 'locked/a.html')
    assert code == 2 and 'Permission denied' in err


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='needs /dev/full')
def test_a_full_disk_is_reported(capsys):
    code, _, err = run(capsys, 'model', ARM7, '--out', '/dev/full', '--json', 'a.json')
    assert code == 2 and "cannot write '/dev/full': No space left on device" in err
