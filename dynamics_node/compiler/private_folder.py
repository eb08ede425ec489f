"""Read and write files in a folder that no other user can change.

A folder or file is private if it belongs to this user and no other user may write to it. This is
checked on the open descriptor, and files are opened relative to the open folder: exchanging a path
between check and use has no effect. Links, fifos and devices are never read.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PART = '.part'   # suffix of a file that is being written
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotPrivate(Exception):
    """A folder or file that another user may have written; the message tells why."""


class PrivateFolder:
    """An open folder; see `private_folder`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle

    def read(self, name: str, max_bytes: int, others: int = 0o022) -> bytes:
        """Return the bytes of a private file.

        :param others: permissions that no other user may have.
        :raise NotPrivate: another user may have written it, or it is not a regular file.
        :raise OSError: it is absent, too long or cannot be read.
        """
        path = self.path / name
        try:
            handle = os.open(name, _READ, dir_fd=self._handle)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise NotPrivate(f'{path} is a link') from error
            raise
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise NotPrivate(f'{path} is not a regular file')
            _check_private(path, found, others)
            if found.st_size > max_bytes:
                raise OSError(errno.EFBIG, f'longer than {max_bytes} bytes', str(path))
            return os.read(handle, found.st_size)
        finally:
            os.close(handle)

    def touch(self, name: str) -> None:
        """Mark a file as recently used."""
        with suppress(OSError):
            os.utime(name, dir_fd=self._handle, follow_symlinks=False)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of mode 0600 atomically; replace what has this name."""
        with self._part(content) as part:
            os.replace(part, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def create(self, name: str, content: bytes) -> None:
        """Write a file of mode 0600 if there is none; of several processes only one writes it.

        The content is on the disk before the file has its name: a power failure never leaves it
        empty.
        """
        with self._part(content, sync=True) as part, suppress(FileExistsError):
            os.link(part, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def files(self) -> list[tuple[str, os.stat_result]]:
        """Return (name, stat) of all that is in the folder; links are not followed."""
        with os.scandir(self._handle) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._handle)

    @contextmanager
    def _part(self, content: bytes, sync: bool = False) -> Iterator[str]:
        """Write a temporary file; it is removed at the end unless it was renamed.

        :param sync: wait until the content is on the disk.
        """
        part = secrets.token_hex(8) + PART
        handle = os.open(part, _MAKE, 0o600, dir_fd=self._handle)
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content)
                if sync:
                    file.flush()
                    os.fsync(handle)
            yield part
        finally:
            self.remove(part)


@contextmanager
def private_folder(path: Path, create: bool = False) -> Iterator[PrivateFolder]:
    """Open a private folder.

    :param create: create it if it is missing, with mode 0700.
    :raise NotPrivate: another user may have written into it, or it is a link.
    :raise OSError: it is absent, or cannot be opened.
    """
    if create:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise NotPrivate(f'{path} is a link') from error
        raise
    try:
        _check_private(path, os.fstat(handle), 0o022)
        yield PrivateFolder(path, handle)
    finally:
        os.close(handle)


def _check_private(path: Path, found: os.stat_result, others: int) -> None:
    if found.st_uid != os.geteuid():
        raise NotPrivate(f'{path} belongs to user {found.st_uid}, not to user {os.geteuid()}')
    if found.st_mode & others:
        raise NotPrivate(f'{path} has mode {stat.S_IMODE(found.st_mode):04o}: other users have '
                         f'access; chmod {"go-w" if others == 0o022 else "go-rwx"} removes it')
