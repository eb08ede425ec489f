"""Test that damaged archives of arrays and empty Parquet files are refused with a reason."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.identification import array_files
from dynamics_node.identification.recording_files import read_recording


def test_damaged_archives_are_refused(tmp_path):
    """Each byte in turn: a recording, or a reason."""
    arrays = {'time': np.arange(4.0), 'q': np.ones((4, 1)), 'tau': np.ones((4, 1))}
    np.savez_compressed(tmp_path / 'x.npz', **arrays)
    content = (tmp_path / 'x.npz').read_bytes()
    refused = 0
    for k in range(len(content)):
        damaged = bytearray(content)
        damaged[k] ^= 0xff
        (tmp_path / 'y.npz').write_bytes(damaged)
        try:
            read_recording(tmp_path / 'y.npz')
        except DynamicsError:
            refused += 1
    assert refused > 0.5 * len(content)


def test_an_archive_that_is_too_large_is_refused_with_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, 'MAX_BYTES', 1000)
    np.savez_compressed(tmp_path / 'x.npz', time=np.zeros(1000), q=np.zeros((1000, 1)),
                        tau=np.zeros((1000, 1)))
    assert (tmp_path / 'x.npz').stat().st_size < 1000
    with pytest.raises(DynamicsError, match='has more than 1000 bytes'):
        read_recording(tmp_path / 'x.npz')


def test_an_encrypted_archive_is_refused(tmp_path):
    """The flag of each entry says so."""
    np.savez(tmp_path / 'x.npz', time=np.arange(2.0), q=np.ones((2, 1)), tau=np.ones((2, 1)))
    content = bytearray((tmp_path / 'x.npz').read_bytes())
    for head, place in ((b'PK\x03\x04', 6), (b'PK\x01\x02', 8)):
        at = content.find(head)
        while at >= 0:
            content[at + place] |= 1
            at = content.find(head, at + 4)
    (tmp_path / 'x.npz').write_bytes(content)
    with pytest.raises(DynamicsError, match='is damaged or encrypted'):
        read_recording(tmp_path / 'x.npz')


def test_one_joint_name_needs_no_list(tmp_path):
    """An array without dimensions is one name."""
    q = np.ones((2, 1))
    np.savez(tmp_path / 'x.npz', time=np.arange(2.0), q=q, tau=q, joint_names='elbow')
    assert read_recording(tmp_path / 'x.npz').joint_names == ('elbow',)
    np.savez(tmp_path / 'y.npz', time=np.arange(2.0), q=1.0, tau=1.0)
    with pytest.raises(DynamicsError, match='expected'):
        read_recording(tmp_path / 'y.npz')


def test_a_parquet_file_without_columns_is_refused(tmp_path, monkeypatch):
    """By a stand-in for pyarrow, which need not be installed."""
    pyarrow = ModuleType('pyarrow')
    pyarrow.ArrowException = OSError
    pyarrow.parquet = SimpleNamespace(
        read_table=lambda _: SimpleNamespace(columns=[], column_names=[]))
    monkeypatch.setitem(sys.modules, 'pyarrow', pyarrow)
    (tmp_path / 'x.parquet').write_bytes(b'PAR1')
    with pytest.raises(DynamicsError, match='a Parquet table without columns'):
        read_recording(tmp_path / 'x.parquet')
