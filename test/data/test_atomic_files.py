"""Test files that are written whole or not at all."""

import os

import pytest

from dynamics_node import DynamicsError
from dynamics_node.data.atomic_files import atomic_file, write_atomically


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / 'new' / 'file.txt'
    with atomic_file(path) as partial:
        partial.write_text('one')
        assert not path.exists()
    assert path.read_text() == 'one' and os.listdir(path.parent) == ['file.txt']


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / 'file.txt'
    write_atomically(path, 'before')
    with pytest.raises(KeyError), atomic_file(path) as partial:
        partial.write_text('half')
        raise KeyError
    assert path.read_text() == 'before' and os.listdir(tmp_path) == ['file.txt']


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(DynamicsError, match='cannot write'):
        write_atomically(tmp_path / 'file' / 'inside.txt', 'text')
