"""Read files that a user names: regular files only, bounded in size and time.

A path may name anything: a fifo or a terminal blocks until data arrives, a device acts when opened,
some kernel files block or never end. None of them may block the node.

Not bounded: the time of one system call, for example on a network drive without its server.
"""

import io
import os
import stat
import time
from typing import Any, TypeAlias

from dynamics_node.errors import FileError, FileTooLong

# A file may take PATIENCE + max_bytes / SLOWEST to read.
PATIENCE = 5.0     # [s]
SLOWEST = 10e6     # [bytes/s]

FilePath: TypeAlias = str | bytes | os.PathLike

_KINDS = ((stat.S_ISDIR, 'a directory'), (stat.S_ISFIFO, 'a fifo'), (stat.S_ISSOCK, 'a socket'),
          (stat.S_ISCHR, 'a device'), (stat.S_ISBLK, 'a device'))


def read_file(path: FilePath, max_bytes: int) -> bytes:
    """Return the bytes of a file.

    :raise FileError: it is not a regular file, or longer than max_bytes, or cannot be read.
    """
    with open_file(path, max_bytes) as file:
        return file.read()


def read_text(path: FilePath, max_bytes: int) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    :raise FileError: as read_file, or it is not UTF-8.
    """
    try:
        return read_file(path, max_bytes).decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise FileError(path, f'it is no UTF-8 text (byte {error.start})') from error


def open_file(path: FilePath, max_bytes: int) -> io.BufferedReader:
    """Return a file opened for reading bytes; each read may raise a FileError as in read_file.

    The kind of file is checked before opening, since opening a device may act on it, and again
    afterwards, since the path may name another file by then.
    """
    try:
        _check_kind(path, os.stat(os.fspath(path)))
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            _check_kind(path, found)
            if found.st_size > max_bytes:
                raise _too_long(path, max_bytes)
            return io.BufferedReader(_Bounded(path, handle, max_bytes))
        except BaseException:
            os.close(handle)
            raise
    except FileError:
        raise
    except OSError as error:  # not there, no permission, name too long
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        raise FileError(path, error.strerror or str(error), missing) from error
    except (TypeError, ValueError) as error:  # no path, or with invalid characters
        raise FileError(path, str(error), isinstance(error, ValueError)) from error


def check_file(path: FilePath, max_bytes: int) -> None:
    """Raise the FileError of open_file or its first read, for files that a library will read."""
    with open_file(path, max_bytes) as file:
        file.read(1)


def _check_kind(path: FilePath, found: os.stat_result) -> None:
    for is_kind, kind in _KINDS:
        if is_kind(found.st_mode):
            raise FileError(path, f'it is {kind}; expected a regular file')


def _too_long(path: FilePath, max_bytes: int) -> FileTooLong:
    return FileTooLong(path, f'it is longer than the limit of {max_bytes} bytes')


class _Bounded(io.RawIOBase):
    """A file that raises a FileError when it is too long, or waits for data, or is too slow."""

    def __init__(self, path: FilePath, handle: int, max_bytes: int) -> None:
        super().__init__()
        self._path, self._handle, self._max_bytes = path, handle, max_bytes
        self._count, self._seconds = 0, 0.0   # read so far

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def readinto(self, buffer: Any) -> int:
        begun = time.monotonic()
        try:
            count = os.readv(self._handle, [buffer])
        except BlockingIOError as error:  # a kernel file without data
            raise FileError(self._path, 'it waits for data; expected a regular file') from error
        except OSError as error:
            raise FileError(self._path, error.strerror or str(error)) from error
        self._seconds += time.monotonic() - begun
        self._count += count
        if self._count > self._max_bytes:
            raise _too_long(self._path, self._max_bytes)
        if self._seconds > PATIENCE + self._max_bytes / SLOWEST:
            raise FileError(self._path, f'it is too slow: {self._count} bytes in '
                                        f'{self._seconds:.0f} s')
        return count

    def close(self) -> None:
        if not self.closed:
            os.close(self._handle)
        super().close()
