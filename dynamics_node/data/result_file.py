"""Write a result file: columns of its source, added columns with units, marks, metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.data.atomic_files import atomic_file
from dynamics_node.data.settings import FOUND, KEY
from dynamics_node.errors import DynamicsError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def number_type(precision: str, kind: pa.DataType) -> np.dtype:
    """Return the type of added numbers; with precision 'source' that of a column of the source."""
    import pyarrow as pa

    if precision != 'source':
        return np.dtype(precision)
    kind = kind.value_type if hasattr(kind, 'value_type') else kind
    return np.dtype('float32' if kind in (pa.float32(), pa.float16()) else 'float64')


def check_names_of(schema: pa.Schema, wanted: Iterable[str], keep: Sequence[str] | None,
                   added: Iterable[str]) -> None:
    """Raise a DynamicsError if a file lacks a wanted column, or would have one twice."""
    missing = [name for name in (*wanted, *(keep or ())) if name not in schema.names]
    if missing:
        raise DynamicsError(f"it has no column '{missing[0]}'; its columns are "
                            f'{", ".join(schema.names)}')
    names = schema.names if keep is None else keep
    repeated = [name for name in keep or () if names.count(name) > 1]
    if repeated:
        raise DynamicsError(f"keep has '{repeated[0]}' twice; expected different columns")
    twice = [name for name in added if name in names]
    if twice:
        raise DynamicsError(f"it has a column '{twice[0]}' already; give a prefix for the names "
                            'of added columns')


def result_schema(schema: pa.Schema, keep: Sequence[str] | None, added: Sequence[pa.Field],
                  metadata: Mapping[str, Any]) -> pa.Schema:
    """Return the schema of a result: kept columns of the source, then the added ones."""
    import pyarrow as pa

    kept = list(schema) if keep is None else [schema.field(name) for name in keep]
    about = {**(schema.metadata or {}), KEY.encode(): json.dumps(metadata)}
    return pa.schema([*kept, *added], metadata=about)


def number_field(name: str, dtype: np.dtype, size: int, about: Mapping[str, str]) -> pa.Field:
    """Return the field of an added column: a number, or a list of them, in each row."""
    import pyarrow as pa

    number = pa.from_numpy_dtype(dtype)
    return pa.field(name, number if size == 1 else pa.list_(number, size), metadata=about)


def marks_field(name: str, marks: Mapping[str, int]) -> pa.Field:
    """Return the field of the column of marks."""
    import pyarrow as pa

    shown = ' '.join(f'{value}={mark}' for mark, value in marks.items())
    return pa.field(name, pa.uint8(), metadata={'marks': shown})


@contextmanager
def result_file(target: Path, schema: pa.Schema, codec: str, source: str, counts: dict[str, int]
                ) -> Iterator[pq.ParquetWriter]:
    """Yield the writer of a file that is written atomically.

    :param codec: codec of its compression.
    :param counts: are written into its metadata when the block ends.
    """
    import pyarrow.parquet as pq

    options = {'compression': codec, 'use_dictionary': _repetitive(schema)}
    with atomic_file(target) as partial, pq.ParquetWriter(partial, schema, **options) as writer:
        yield writer
        size = os.path.getsize(source) if os.path.isfile(source) else 0
        writer.add_key_value_metadata(
            {FOUND: json.dumps({'counts': counts, 'source_bytes': size})})


def write_rows(writer: pq.ParquetWriter, schema: pa.Schema, batch: pa.RecordBatch,
               values: Iterable[np.ndarray], marks: np.ndarray) -> None:
    """Write rows of the source with their added values, (N, size) each, and their marks."""
    import pyarrow as pa

    added = []
    for found in values:
        flat = pa.array(found.reshape(-1))
        added.append(flat if found.shape[1] == 1
                     else pa.FixedSizeListArray.from_arrays(flat, found.shape[1]))
    kept = [batch.column(name) for name in schema.names[:len(schema) - len(added) - 1]]
    table = pa.Table.from_arrays([*kept, *added, pa.array(marks)], schema=schema)
    writer.write_table(table, row_group_size=len(marks))


def _repetitive(schema: pa.Schema) -> list[str]:
    """Return the columns worth a dictionary: not those of floats, which hardly repeat."""
    import pyarrow as pa

    def is_float(kind: pa.DataType) -> bool:
        return pa.types.is_floating(getattr(kind, 'value_type', kind))
    return [field.name for field in schema if not is_float(field.type)]
