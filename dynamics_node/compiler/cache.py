"""Cache object code on disk, so that each kernel is compiled once.

One file per kernel: a digest, a line of JSON, the object code. A file that is truncated, altered or
renamed fails its digest and counts as absent.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from dynamics_node.files import read_file

MAX_BYTES = 256_000_000  # of all files; the least recently used are deleted first


def folder() -> Path:
    """Return the folder: $DYNAMICS_NODE_CACHE, or dynamics_node in the cache of the user."""
    chosen = os.environ.get('DYNAMICS_NODE_CACHE')
    if chosen:
        return Path(chosen)
    return Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'dynamics_node'


def read(name: str) -> tuple[dict, bytes] | None:
    """Return (description, object code) of a file, or None."""
    try:
        path = folder() / name
        digest, description, code = read_file(path, MAX_BYTES).split(b'\n', 2)
        if digest != _digest(name, description, code):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # mark as recently used
        return json.loads(description), code
    except (OSError, ValueError, RuntimeError):  # absent, unreadable, invalid; no home folder
        return None


def _digest(name, description, code):
    """Return a digest of name and content: a file copied to another name is not valid."""
    return hashlib.sha256(b'\n'.join([name.encode(), description, code])).hexdigest().encode()


def write(name: str, description: dict, code: bytes) -> None:
    """Write the file of a kernel; if that fails, the kernel is not cached, and no error raised."""
    line = json.dumps(description).encode()
    content = b'\n'.join([_digest(name, line, code), line, code])
    with contextlib.suppress(OSError, RuntimeError):
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=folder(), suffix='.part')
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content)
            os.replace(temporary, folder() / name)  # atomic
        except OSError:
            os.unlink(temporary)
            raise
        _prune()


def _prune():
    files = sorted(((path.stat().st_mtime, path.stat().st_size, path)
                    for path in folder().iterdir()
                    if path.suffix in ('.kernel', '.part')), reverse=True)
    total = 0
    for _, size, path in files:
        total += size
        if total > MAX_BYTES:
            path.unlink(missing_ok=True)
