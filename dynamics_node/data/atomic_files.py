"""Write files atomically: under a temporary name, then renamed.

After a kill or a loss of power there is either the complete file or none under its name; a
temporary file that is left over is replaced by the next attempt.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dynamics_node.errors import LONGEST_PATH, DynamicsError, shortened

PARTIAL = '.partial'   # ending of a file that is being written


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield the temporary path to write to; rename it when the block ends without an error.

    :raise DynamicsError: the folder cannot be written into.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        _sync(partial)
        os.replace(partial, path)
        _sync(path.parent)   # the name itself
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError):
            raise DynamicsError(f"cannot write '{shortened(str(path), LONGEST_PATH)}': "
                                f'{error.strerror or error}') from error
        raise


def write_atomically(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_file(path) as partial:
        partial.write_text(text, encoding='utf-8')


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
