"""Test `dynamics_node rollouts`: files and summary; refusals in one line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dynamics_node.commands.main import main
from dynamics_node.data.rollouts_file import QUANTITIES
from dynamics_node.data.settings import CODECS
from dynamics_node.example_robots import ARM7

LOCKED = [word for k in range(3, 8) for word in ('--lock', f'joint_{k}=0.3')]


@pytest.fixture
def source(compiler_on, tmp_path):
    """Ten motions of three periods, one of them without a position."""
    q = np.linspace(0.0, 1.0, 20).reshape(10, 2)
    q[4] = np.nan
    path = tmp_path / 'states.parquet'
    pq.write_table(pa.table({'q': [*q], 'torque': [*np.ones((10, 6))]}), path)
    return path


def run(source, *words):
    return main(('rollouts', str(ARM7), *LOCKED, str(source), *map(str, words)))


def test_files_are_written_and_counted(source, tmp_path, capsys):
    words = ('--at-rest', '--period', 0.0004, '--out', tmp_path / 'out')
    assert run(source, *words) == 0
    shown, progress = capsys.readouterr()
    assert shown == ('10 rows in 1 files, 0 of them finished before; 1 rows are marked\n'
                     '  no_state: 1\n')
    assert '100%  1 of 1 files' in progress
    assert pq.read_schema(tmp_path / 'out' / 'states.parquet').names == [
        'q', 'torque', 'q_end', 'v_end', 'rollout_marks']
    assert run(source, *words) == 0
    assert '1 of them finished before' in capsys.readouterr().out


def test_a_file_that_fails_is_named(source, tmp_path, capsys):
    """It can be read: its lists are those of another robot."""
    other = tmp_path / 'zz.parquet'
    pq.write_table(pa.table({'q': [*np.ones((10, 3))], 'torque': [*np.ones((10, 6))]}), other)
    words = ('--at-rest', '--period', 0.0004, '--out', tmp_path / 'out')
    assert run(source, other, *words) == 1
    shown = capsys.readouterr().out
    assert shown.startswith(f"failed: {other}: column 'q' has lists of 3 numbers; expected 2\n")
    assert '10 rows in 1 files' in shown


def test_the_help_names_every_codec_and_column(capsys):
    with pytest.raises(SystemExit):
        main(('rollouts', '--help'))
    shown = capsys.readouterr().out
    assert [name for name in (*CODECS, *QUANTITIES) if name not in shown] == []


@pytest.mark.parametrize(('words', 'reason'), [
    (('--at-rest',), 'period is None'), (('--period', '0.1'), "no column 'v'"),
    (('--at-rest', '--columns', 'mass'), 'q_motion'), (('--engine', 'spark'), 'engine is')])
def test_refusals_are_one_line(source, tmp_path, capsys, words, reason):
    assert run(source, '--out', tmp_path / 'out', *words) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count('\n') == 1
