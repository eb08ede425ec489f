"""Test `dynamics_node annotate`: files, report and summary; refusals in one line."""

import json

import pyarrow.parquet as pq
import pytest
from support.html_checks import Page
from support.robot_data_sets import two_joint_arm, write_data_set

from dynamics_node.commands.main import main
from dynamics_node.example_robots import ARM7

LOCKED = [word for k in range(3, 8) for word in ('--lock', f'joint_{k}=0.3')]


@pytest.fixture
def data_set(compiler_on, tmp_path):
    return write_data_set(tmp_path / 'set', two_joint_arm())


def annotate(data_set, *words):
    return main(('annotate', str(ARM7), *LOCKED, str(data_set), *map(str, words)))


def test_files_and_report_are_written(data_set, tmp_path, capsys):
    out = tmp_path / 'out'
    words = ('--columns', 'gravity', 'external_torque', 'pose:tool0', '--out', out,
             '--effort-meaning', 'motor_torque', '--cutoff', 2.5)
    assert annotate(data_set, *words) == 0
    shown, progress = capsys.readouterr()
    assert shown.startswith('1800 rows of 3 episodes in 3 files, 0 of them finished before')
    assert '100%  3 of 3 files' in progress   # lines: the standard error is no terminal
    assert 'external_torque' in pq.read_schema(next(out.rglob('*.parquet'))).names
    Page((out / 'report.html').read_text())
    numbers = json.loads((out / 'report.json').read_text())
    assert numbers['counts']['rows'] == 1800 and numbers['settings']['cutoff'] == 2.5
    assert annotate(data_set, *words) == 0
    assert '3 of them finished before' in capsys.readouterr().out


def test_a_damaged_file_is_named(data_set, tmp_path, capsys):
    """The other files are written; the exit code says that one is missing."""
    file = next(data_set.rglob('episode_000001.parquet'))
    file.write_bytes(b'nothing')
    assert annotate(data_set, '--columns', 'gravity', '--out', tmp_path / 'out') == 1
    shown = capsys.readouterr().out
    assert shown.startswith('failed: ') and 'episode_000001' in shown
    assert '1300 rows of 2 episodes' in shown


@pytest.mark.parametrize(('words', 'reason'), [
    (('--columns', 'mass'), "columns has 'mass'"),
    (('--columns', 'external_torque'), 'effort_meaning is unknown'),
    (('--columns', 'gravity', '--mapping', 'none.yaml'), 'none.yaml'),
    (('--columns', 'gravity', '--engine', 'spark'), "engine is 'spark'")])
def test_refusals_are_one_line(data_set, tmp_path, capsys, words, reason):
    assert annotate(data_set, '--out', tmp_path / 'out', *words) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count('\n') == 1
