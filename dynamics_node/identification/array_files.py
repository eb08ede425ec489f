"""Read recordings from archives of NumPy arrays (.npz) and from Parquet files.

An archive has `time` (N,), `q` and `tau` (N, joints), perhaps `v` and `joint_names`; the names of
`column_names.py` are valid, too (`position`, `effort`, ...). Without `joint_names` the columns are
the joints of the robot, in its order. A Parquet file is a table with the names of columns that
`column_names.py` has; it needs the package pyarrow.
"""

import io
import lzma
import os
import struct
import zipfile
import zlib

import numpy as np

from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import read_file
from dynamics_node.identification.column_names import TIMES, WORDS, recording_of_table
from dynamics_node.identification.recording import RawRecording, raw_recording

MAX_BYTES = 4_000_000_000
ARRAYS = 'expected an archive with the arrays time, q, tau and perhaps v and joint_names'
UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError, OSError, EOFError,
              NotImplementedError, RuntimeError, SyntaxError, KeyError, struct.error)
INSTALL = 'reading Parquet files needs the package pyarrow: pip install pyarrow'


def read_npz(path: str | os.PathLike) -> RawRecording:
    """Return the RawRecording of an archive of NumPy arrays.

    :raise DynamicsError: the file is not an archive, or an array is missing.
    """
    content = io.BytesIO(_content(path))
    try:
        with zipfile.ZipFile(content) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                raise DynamicsError(f'{path} has more than {MAX_BYTES} bytes')
        with np.load(content, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except DynamicsError:   # it is a ValueError, too
        raise
    except UNREADABLE as error:
        raise DynamicsError(f'{path} cannot be read: it is not an archive of NumPy arrays, is '
                            f'damaged or encrypted, or has objects; {ARRAYS}') from error
    times = [found[name] for name in TIMES if name in found]
    quantities = {WORDS[name]: array for name, array in found.items() if name in WORDS}
    if not times or not {'position', 'effort'} <= set(quantities):
        raise DynamicsError(f'{path} has no time, no q or no tau; {ARRAYS}')
    names = [str(name) for name in np.ravel(found.get('joint_names', ()))]
    joints = np.atleast_1d(quantities['position']).shape[-1]
    return raw_recording(names or [str(k + 1) for k in range(joints)], times[0],
                         quantities['position'], quantities['effort'], quantities.get('velocity'))


def read_parquet(path: str | os.PathLike) -> RawRecording:
    """Return the RawRecording of a Parquet file; an empty cell is NaN.

    :raise DynamicsError: pyarrow is not installed, or the file is not a table of numbers.
    """
    content = _content(path)
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise DynamicsError(INSTALL) from error
    try:
        table = parquet.read_table(io.BytesIO(content))
        columns = [np.asarray(column.to_numpy(), dtype=float) for column in table.columns]
    except (ArrowException, ValueError, TypeError) as error:
        raise DynamicsError(f'{path} cannot be read: it is no Parquet table of numbers') from error
    if not columns:
        raise DynamicsError(f'{path} is a Parquet table without columns; expected time, positions '
                            'and efforts')
    return recording_of_table(path, table.column_names, np.column_stack(columns))


def _content(path: str | os.PathLike) -> bytes:
    try:
        return read_file(path, MAX_BYTES)
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
