"""Test files of data sets: patterns, batches of rows, recordings, damaged files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.recorded_bags import write_bag

from dynamics_node import DynamicsError
from dynamics_node.data.sources import SourceFile, files_of
from dynamics_node.identification import raw_recording, write_csv


def test_patterns_folders_and_paths(data_set, tmp_path):
    files = sorted((data_set / 'data' / 'chunk-000').glob('*.parquet'))
    assert len(files) == 3
    assert files_of(data_set) == tuple(files)
    assert files_of(str(data_set / 'data' / '*' / '*.parquet')) == tuple(files)
    assert files_of([files[1], files[0], files[1]]) == (files[1], files[0])
    assert files_of(data_set / 'data') == tuple(files)
    assert files_of(data_set / 'data', data_set) == tuple(files)
    assert files_of([data_set, files[0]], files[0].parent) == tuple(files)


@pytest.mark.parametrize('names', [[], 'no/such/*.parquet', 3, [None]])
def test_no_file(names):
    with pytest.raises(DynamicsError, match='files is|there is no file'):
        files_of(names)


@pytest.mark.parametrize('row_group', [7, 100, 1000])
def test_batches_have_the_same_rows_whatever_the_row_groups(tmp_path, row_group):
    """At least as many rows as asked for, but the last one; in their order."""
    path = tmp_path / 'a.parquet'
    pq.write_table(pa.table({'x': np.arange(1000)}), path, row_group_size=row_group)
    batches = list(SourceFile(path).batches(128))
    assert all(batch.num_rows >= 128 for batch in batches[:-1])
    assert np.concatenate([batch['x'].to_numpy() for batch in batches]).tolist() == [*range(1000)]


def test_recordings_have_columns_by_joint(tmp_path):
    """A CSV file and a bag of the same motion."""
    time = np.arange(20) / 50.0
    q, tau = np.outer(time, [1.0, 2.0]), np.ones((20, 2))
    write_csv(tmp_path / 'a.csv', raw_recording(('a', 'b'), time, q, tau))
    write_bag(tmp_path / 'bag', [(t, ['a', 'b'], x, [], y) for t, x, y in zip(time, q, tau)])
    for path in (tmp_path / 'a.csv', tmp_path / 'bag'):
        opened = SourceFile(path)
        assert opened.schema.names == ['time', 'position_a', 'position_b', 'effort_a', 'effort_b']
        batches = list(opened.batches(8))
        found = np.concatenate([batch['position_b'].to_numpy() for batch in batches])
        assert found == pytest.approx(q[:, 1], abs=1e-9) and opened.rows == 20
    assert files_of(tmp_path / 'bag') == (tmp_path / 'bag',)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / 'a.parquet'
    path.write_bytes(b'PAR1 and no more')
    with pytest.raises(DynamicsError, match=r'a\.parquet cannot be read'):
        SourceFile(path)
    with pytest.raises(DynamicsError, match='cannot be read'):
        SourceFile(tmp_path / 'none.parquet')
    pq.write_table(pa.table({'x': np.random.default_rng(0).normal(size=5000)}), path)
    content = bytearray(path.read_bytes())
    content[4:20_000] = bytes(19_996)
    path.write_bytes(content)
    with pytest.raises(DynamicsError, match='damaged'):
        list(SourceFile(path).batches(100))
