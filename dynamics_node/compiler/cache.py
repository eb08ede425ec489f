"""Object code on disk, so that a robot is compiled once.

One file per kernel: a digest, a line of JSON, the object code. A file that is short, altered or
foreign fails its digest and counts as absent.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from dynamics_node.files import read_file

MAX_BYTES = 256_000_000  # of all files; the longest unused go first


def folder():
    """Return where kernels are kept: $DYNAMICS_NODE_CACHE, or dynamics_node in the user's cache."""
    chosen = os.environ.get('DYNAMICS_NODE_CACHE')
    if chosen:
        return Path(chosen)
    return Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'dynamics_node'


def read(name):
    """Return (about, object code), or None."""
    try:
        path = folder() / name
        digest, about, code = read_file(path, MAX_BYTES).split(b'\n', 2)
        if digest != _digest(name, about, code):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return json.loads(about), code
    except (OSError, ValueError, RuntimeError):  # not there, not readable, not ours; no home
        return None


def _digest(name, about, code):
    """Return a digest of all there is, the name too: a file copied to another name is foreign."""
    return hashlib.sha256(b'\n'.join([name.encode(), about, code])).hexdigest().encode()


def write(name, about, code):
    """Keep a kernel; a full or read-only disk is no reason to fail."""
    about = json.dumps(about).encode()
    content = b'\n'.join([_digest(name, about, code), about, code])
    with contextlib.suppress(OSError, RuntimeError):
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=folder(), suffix='.part')
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content)
            os.replace(temporary, folder() / name)  # whole or not at all
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
