"""Test reading of user files: regular ones are read, bounded; all others are refused at once."""

import contextlib
import os
import pickle
import socket
import threading

import pytest

from dynamics_node import files
from dynamics_node.errors import DynamicsError, FileError, FileTooLong
from dynamics_node.files import check_file, open_file, read_file, read_text

LIMIT = 1000
AT_ONCE = 5.0   # [s] a deadline for a loaded machine


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'\xef\xbb\xbfgr\xc3\xbcn\n')
    return path


def refusal(read, *arguments):
    """Return why a file is not read; a read that waits for data fails the test."""
    found = []

    def attempt():
        with pytest.raises(FileError) as error:
            read(*arguments)
        found.append(error.value)
    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(AT_ONCE)
    assert found, f'{read.__name__} is still waiting for {arguments[0]}'
    return found[0]


def test_a_regular_file_is_read(file):
    assert read_file(file, LIMIT) == file.read_bytes() == read_file(str(file), LIMIT)
    assert read_text(file, LIMIT) == 'grün\n'
    with open_file(file, LIMIT) as opened:
        assert opened.readline() == file.read_bytes()
    assert check_file(file, LIMIT) is None


def test_a_link_to_a_regular_file_is_read(file, tmp_path):
    (tmp_path / 'link').symlink_to(file)
    assert read_text(tmp_path / 'link', LIMIT) == 'grün\n'


@pytest.mark.parametrize('read', [read_file, read_text, open_file, check_file])
@pytest.mark.parametrize('kind', ['fifo', 'socket', 'device', 'directory', 'endless'])
def test_a_file_that_is_not_regular_is_refused_at_once(tmp_path, read, kind):
    """The fifo has no writer, and the terminal no input."""
    path = tmp_path / 'it'
    if kind == 'fifo':
        os.mkfifo(path)
    elif kind == 'socket':
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    elif kind == 'directory':
        path.mkdir()
    else:
        terminal, other = os.openpty()
        path.symlink_to('/dev/zero' if kind == 'endless' else os.ttyname(other))
    error = refusal(read, path, LIMIT)
    assert {'endless': 'device'}.get(kind, kind) in error.reason
    assert 'expected a regular file' in str(error) and str(path) in str(error)
    assert not error.missing


def test_a_file_that_becomes_a_fifo_while_it_is_opened_is_refused(file, monkeypatch):
    """The opened file is checked."""
    opened = os.open

    def swapped(path, *flags, **options):
        os.remove(path)
        os.mkfifo(path)
        return opened(path, *flags, **options)
    monkeypatch.setattr(files.os, 'open', swapped)
    assert 'fifo' in refusal(read_file, file, LIMIT).reason


def test_a_device_is_not_opened(monkeypatch):
    """A watchdog device would start to count."""
    monkeypatch.setattr(files.os, 'open', lambda *_: pytest.fail('was opened'))
    assert 'device' in refusal(read_file, '/dev/null', LIMIT).reason


def test_a_blocking_file_of_the_kernel_is_refused(file, monkeypatch):
    """Such as /proc/kmsg, which only root may read: regular by its mode."""
    def waits(*_):
        raise BlockingIOError
    monkeypatch.setattr(files.os, 'readv', waits)
    for read in (read_file, check_file):
        assert 'waits for data' in refusal(read, file, LIMIT).reason


@pytest.mark.skipif(not os.access('/proc/kmsg', os.R_OK), reason='only root reads the kernel log')
def test_reading_the_kernel_log_does_not_block():
    """The first read may still find messages in it, but it comes to an end."""
    for _ in range(2):
        error = refusal(read_file, '/proc/kmsg', 10_000_000)
    assert 'waits for data' in error.reason or 'permitted' in error.reason


def test_a_long_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / 'long'
    with path.open('wb') as sparse:
        sparse.truncate(2 ** 40)
    monkeypatch.setattr(files.os, 'readv', lambda *_: pytest.fail('was read'))
    error = refusal(read_file, path, LIMIT)
    assert isinstance(error, FileTooLong) and 'limit of 1000 bytes' in str(error)


def test_the_limit_is_the_last_length_that_is_read(tmp_path):
    (tmp_path / 'a').write_bytes(b'x' * LIMIT)
    assert len(read_file(tmp_path / 'a', LIMIT)) == LIMIT
    with pytest.raises(FileTooLong):
        read_file(tmp_path / 'a', LIMIT - 1)


def test_a_file_that_hides_its_length_is_read_no_further_than_the_limit():
    """Those of /proc say that they are empty."""
    assert os.stat('/proc/self/maps').st_size == 0
    assert len(read_file('/proc/self/maps', 10_000_000)) > LIMIT
    assert isinstance(refusal(read_file, '/proc/self/maps', LIMIT), FileTooLong)


def test_a_slow_file_is_refused(file, monkeypatch):
    monkeypatch.setattr(files, 'PATIENCE', -1.0)
    assert 'too slow' in refusal(read_file, file, LIMIT).reason


@pytest.mark.parametrize(('path', 'reason', 'missing'), [
    ('/no/such/file', 'No such file', True), ('/dev/null/x', 'Not a directory', True),
    ('x' * 100_000, 'too long', False), ('a/' * 100_000, 'too long', False),
    ('a\0b', 'null', True), ('\ud800', 'surrogates', True), (b'/no/such', 'No such file', True),
    (7, 'int', False), (None, 'NoneType', False)], ids=lambda value: repr(value)[:20])
def test_paths_that_do_not_exist_are_refused(path, reason, missing):
    """In a short message."""
    error = refusal(read_file, path, LIMIT)
    assert reason in error.reason and error.missing is missing
    assert len(str(error)) < 400


def test_files_that_are_no_text_are_refused(file):
    file.write_bytes(b'abc\xff')
    assert 'no UTF-8 text (byte 3)' in refusal(read_text, file, LIMIT).reason


def test_no_file_stays_open(file):
    """After a read and after a refusal."""
    before = len(os.listdir('/proc/self/fd'))
    for limit in (LIMIT, 1):
        for read in (read_file, check_file):
            with contextlib.suppress(FileError):
                read(file, limit)
    assert len(os.listdir('/proc/self/fd')) == before


def test_the_error_can_be_pickled():
    """From the process that identifies to the node."""
    for kind in (FileError, FileTooLong):
        error = kind('/a', 'why', True)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.missing) == (kind, str(error), True)
        assert isinstance(again, DynamicsError)
