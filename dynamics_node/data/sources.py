"""Open the files of a data set: Parquet, and the recordings that `identification` reads.

Parquet files are read in batches of rows, so that memory does not grow with their size. Recordings
(CSV, .npz, ROS 2 bags) are read as a whole, and have the columns `time`, `position_<joint>`,
`velocity_<joint>`, `effort_<joint>`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynamics_node.data.default_mapping import INFO
from dynamics_node.errors import DynamicsError, FileError, shown
from dynamics_node.files import check_file
from dynamics_node.identification.recording_files import TABLES, TOPIC, read_recording

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES = 10 ** 13
BAGS = ('.mcap', '.db3', '.npz', *TABLES)
CODEC = 'snappy'   # of a source that is no Parquet file
INSTALL = 'data sets need the package pyarrow: pip install pyarrow'


class SourceFile:
    """An open file of a data set.

    :ivar schema: of its columns.
    :ivar rows: their number.
    :ivar codec: of its compression.
    """

    def __init__(self, path: str | os.PathLike, topic: str = TOPIC):
        """Open a file.

        :param topic: topic of the joint states in a bag.
        :raise DynamicsError: the file cannot be read.
        """
        self._file: Any = None
        self._table: Any = None
        if str(path).lower().endswith('.parquet'):
            self._file = _open_parquet(path)
            self.schema: pa.Schema = self._file.schema_arrow
            self.rows: int = self._file.metadata.num_rows
            self.codec = _codec(self._file)
        else:
            self._table = _table(path, topic)
            self.schema, self.rows, self.codec = self._table.schema, self._table.num_rows, CODEC

    def batches(self, rows: int, columns: Sequence[str] | None = None
                ) -> Iterator[pa.RecordBatch]:
        """Yield batches of at least so many rows, but for the last one.

        :param columns: to be read; None: all.
        :raise DynamicsError: the file is damaged.
        """
        import pyarrow as pa

        columns = None if columns is None else list(columns)
        if self._file is None:
            table = self._table if columns is None else self._table.select(columns)
            found: Iterable[pa.RecordBatch] = table.to_batches(max_chunksize=rows)
        else:
            found = self._file.iter_batches(rows, columns=columns, use_threads=False)
        try:
            yield from _at_least(found, rows)
        except (pa.ArrowException, OSError) as error:
            raise DynamicsError(f'the file is damaged: {error}') from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _at_least(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Join batches until they have enough rows; those that have are passed on without a copy."""
    import pyarrow as pa

    held, count = [], 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield held[0] if len(held) == 1 else pa.concat_batches(held)
            held, count = [], 0
    if count:
        yield held[0] if len(held) == 1 else pa.concat_batches(held)


def _open_parquet(path: str | os.PathLike) -> Any:
    try:
        check_file(path, MAX_BYTES)
        from pyarrow import ArrowException, parquet
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
    except ImportError as error:
        raise DynamicsError(INSTALL) from error
    try:
        return parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise DynamicsError(f'{path} cannot be read: it is no Parquet file, or damaged') from error


def _codec(file: Any) -> str:
    if not file.metadata.num_row_groups or not file.metadata.num_columns:
        return CODEC
    name = file.metadata.row_group(0).column(0).compression.lower()
    return 'none' if name == 'uncompressed' else name


def _table(path: str | os.PathLike, topic: str) -> pa.Table:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DynamicsError(INSTALL) from error
    raw = read_recording(path, topic)
    columns = {'time': raw.time}
    for word, values in (('position', raw.q), ('velocity', raw.v), ('effort', raw.tau)):
        if values is not None:
            columns |= {f'{word}_{name}': x for name, x in zip(raw.joint_names, values.T)}
    return pa.table({name: x.copy() for name, x in columns.items()})


def files_of(names: str | os.PathLike | Sequence[str | os.PathLike],
             out: Path | None = None) -> tuple[Path, ...]:
    """Return the files of paths, of patterns such as 'data/*.parquet' and of data set folders.

    A folder is a data set of LeRobot (with meta/info.json) or a ROS 2 bag (with metadata.yaml).

    :param out: folder of results: where a folder or pattern has other files, those are not sources.
    :raise DynamicsError: there is no such file, or none at all.
    """
    if isinstance(names, (str, os.PathLike)):
        names = [names]
    if not isinstance(names, Sequence) or not names or not all(
            isinstance(each, (str, os.PathLike)) for each in names):
        raise DynamicsError(f'files is {shown(names)}; expected paths, or patterns such as '
                            "'data/*.parquet'")
    try:
        found = [path for name in names for path in _files(name, out)]
    except DynamicsError:
        raise
    except Exception as error:   # a name that is too long; a path object may raise anything
        raise DynamicsError(f'files is {shown(names)}, which cannot be found: {error}') from error
    return tuple(dict.fromkeys(found))


def _files(name: Any, out: Path | None) -> Sequence[Path]:
    path = Path(name)
    if path.is_dir() and (path / INFO).is_file():
        found = sorted(path.glob('data/**/*.parquet'))
    elif path.is_dir() and not (path / 'metadata.yaml').is_file():
        found = sorted(each for each in path.rglob('*')
                       if each.name.lower().endswith(('.parquet', *BAGS)))
    elif path.exists():
        found = [path]
    else:
        found = [Path(each) for each in sorted(glob.glob(os.fspath(name), recursive=True))]
    if out is not None:   # results inside the folder of the sources; if all are inside, none is
        results = os.path.join(os.path.abspath(out), '')
        found = [each for each in found
                 if not os.path.abspath(each).startswith(results)] or found
    if not found:
        raise DynamicsError(f"there is no file '{os.fspath(name)}'")
    return found
