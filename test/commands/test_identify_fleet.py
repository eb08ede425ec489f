"""Test the command `identify-fleet`: files, ranking, summaries that are used again, errors."""

import json
import os
import shutil

import pytest
from support.recorded_arm import THREE_JOINTS
from support.recorded_fleet import RecordedFleet

from dynamics_node import Robot
from dynamics_node.commands.main import main
from dynamics_node.identification import recording_files, write_csv


@pytest.fixture(scope='module')
def data(kernels, tmp_path_factory):
    """A folder with the URDF and a recording of each of three arms, in folders of their names."""
    folder, fleet = tmp_path_factory.mktemp('fleet'), RecordedFleet(3)
    (folder / 'robot.urdf').write_text(THREE_JOINTS)
    for k, (name, values) in enumerate(fleet.arms.items()):
        (folder / name).mkdir()
        write_csv(folder / name / 'monday.csv', fleet.recorded(values, k))
    return folder


def run(data, out, *more):
    """Return the exit code for all recordings of the folder."""
    recordings = sorted(map(str, data.glob('arm_*/*.csv')))
    return main(['identify-fleet', str(data / 'robot.urdf'), *recordings, '--out', str(out), *more])


def test_all_files_are_written_and_only_new_recordings_are_read(data, tmp_path, capsys,
                                                                monkeypatch):
    """The same result from summaries as from recordings, to the last bit."""
    out = tmp_path / 'out'
    assert run(data, out) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ['robot', 'recordings', 'deviation', 'change', 'of',
                                               'torque', 'most', 'unusual']
    assert all(name in printed for name in ('arm_00', 'arm_01', 'arm_02', 'report.html'))
    first = json.loads((out / 'report.json').read_text())
    for name in ('common', 'arm_00', 'arm_01', 'arm_02'):
        assert Robot.from_urdf(str(out / name / 'robot.urdf'), compile=False).nv == 3
        assert 'dry_friction' in (out / name / 'friction.yaml').read_text()
    monkeypatch.setattr(recording_files, 'read_csv', None)   # reading one would fail
    assert run(data, out) == 0
    assert json.loads((out / 'report.json').read_text()) == first
    assert len(list(out.glob('summaries/*/*.npz'))) == 3


def test_a_recording_counts_once(data, tmp_path, capsys):
    """Also with other options, and where the file was touched."""
    out, copy = tmp_path / 'out', tmp_path / 'data'
    shutil.copytree(data, copy)
    for more in ((), ('--cutoff', '9')):
        assert run(copy, out, *more) == 0
    os.utime(copy / 'arm_00' / 'monday.csv')
    assert run(copy, out) == 0
    assert len(list(out.glob('summaries/*/*.npz'))) == 3
    assert all(each['recordings'] == 1
               for each in json.loads((out / 'report.json').read_text())['robots'])


def test_a_bad_recording_is_left_out_and_said(data, tmp_path, capsys):
    bad = tmp_path / 'arm_03' / 'bad.csv'
    bad.parent.mkdir()
    bad.write_text('a,b\n1,2\n')
    shutil.copytree(data, tmp_path / 'data')
    assert main(['identify-fleet', str(data / 'robot.urdf'), str(bad),
                 *map(str, sorted(data.glob('arm_*/*.csv'))), '--out', str(tmp_path / 'out')]) == 0
    assert f'warning: {bad} is left out: ' in capsys.readouterr().out


def test_summaries_of_another_model_are_left_out(data, tmp_path, capsys):
    out = tmp_path / 'out'
    assert run(data, out) == 0
    recordings = sorted(map(str, data.glob('arm_*/*.csv')))
    other = tmp_path / 'arm_03'
    shutil.copytree(data / 'arm_00', other)
    assert main(['identify-fleet', str(data / 'robot.urdf'), *recordings[1:], str(
        other / 'monday.csv'), '--out', str(out), '--payload', 'wrist_link=0.1']) == 0
    assert 'warning: 1 summaries in' in capsys.readouterr().out


def test_two_recordings_of_one_name_are_refused(data, tmp_path, capsys):
    shutil.copytree(data, tmp_path / 'data')
    both = [str(folder / 'arm_00' / 'monday.csv') for folder in (data, tmp_path / 'data')]
    assert main(['identify-fleet', str(data / 'robot.urdf'), *both, '--out', str(tmp_path)]) == 2
    assert 'have the same name and folder name' in capsys.readouterr().err


@pytest.mark.parametrize('words, reason', [
    (['missing/arm.csv'], "cannot read 'missing/arm.csv': No such file"),
    ([], 'recordings has 0 robots; the spread of a fleet needs 3'),
    (['common/x.csv'], "lies in a folder named 'common'"),
])
def test_wrong_arguments_are_refused(data, tmp_path, capsys, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    os.mkdir('common')
    assert main(['identify-fleet', str(data / 'robot.urdf'), *words, '--out', 'out']) == 2
    assert reason in capsys.readouterr().err
