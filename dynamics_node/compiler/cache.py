"""Cache object code on disk, so that each kernel is compiled once.

Object code is run after loading, so only code that this user has written is read. Folder and files
must be private, see private_folder.py. One file per kernel: a digest, a line of JSON, the object
code. The digest is keyed with a secret that only this user can read: a file that is truncated,
altered, renamed or made by another program fails its digest, and counts as absent.
"""

import hmac
import json
import logging
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path

from dynamics_node.compiler.private_folder import PART, NotPrivate, PrivateFolder, private_folder

MAX_BYTES = 256_000_000  # of all files; the least recently used are deleted first
SECRET, SECRET_BYTES = 'secret', 32


def folder() -> Path:
    """Return the folder: $DYNAMICS_NODE_CACHE, or dynamics_node in the cache of the user."""
    chosen = os.environ.get('DYNAMICS_NODE_CACHE')
    if chosen:
        return Path(chosen)
    return Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'dynamics_node'


def read(name: str) -> tuple[dict, bytes] | None:
    """Return (description, object code) of a file, or None."""
    try:
        with private_folder(folder()) as private:
            digest, description, code = private.read(name, MAX_BYTES).split(b'\n', 2)
            if not hmac.compare_digest(digest, _digest(_secret(private), name, description, code)):
                raise NotPrivate(f'{private.path / name} is damaged, or was not written by this '
                                 'user')
            private.touch(name)
        return json.loads(description), code
    except NotPrivate as error:
        _warn(str(error))
        return None
    except (OSError, ValueError, RuntimeError):  # absent, unreadable, invalid; no home folder
        return None


def write(name: str, description: dict, code: bytes) -> None:
    """Write the file of a kernel; if that fails, the kernel is not cached, and no error raised."""
    line = json.dumps(description).encode()
    try:
        with private_folder(folder(), create=True) as private:
            digest = _digest(_secret_or_new(private), name, line, code)
            private.write(name, b'\n'.join([digest, line, code]))
            _prune(private)
    except NotPrivate as error:
        _warn(str(error))
    except (OSError, RuntimeError):
        pass


def _digest(secret: bytes, name: str, description: bytes, code: bytes) -> bytes:
    """Return a digest of name and content: a file copied to another name is not valid."""
    content = b'\n'.join([name.encode(), description, code])
    return hmac.digest(secret, content, 'sha256').hex().encode()


def _secret(private: PrivateFolder) -> bytes:
    secret = private.read(SECRET, SECRET_BYTES, others=0o077)
    if len(secret) != SECRET_BYTES:
        raise NotPrivate(f'{private.path / SECRET} is damaged; delete it')
    return secret


def _secret_or_new(private: PrivateFolder) -> bytes:
    try:
        return _secret(private)
    except FileNotFoundError:
        private.create(SECRET, secrets.token_bytes(SECRET_BYTES))
        return _secret(private)


@cache
def _warn(reason: str) -> None:
    """Log once why a file or the folder is not used."""
    logging.getLogger(__name__).warning(
        'object code in the cache is not used, and compiled anew: %s', reason)


def _prune(private: PrivateFolder) -> None:
    files = sorted(((found.st_mtime, found.st_size, name) for name, found in private.files()
                    if name.endswith(('.kernel', PART))), reverse=True)
    total = 0
    for _, size, name in files:
        total += size
        if total > MAX_BYTES:
            with suppress(OSError):   # a folder of such a name
                private.remove(name)
