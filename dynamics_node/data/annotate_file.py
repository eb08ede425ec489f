"""Annotate one file of a data set: read in windows of rows, compute, write atomically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from dynamics_node.data.column_mapping import ColumnMapping
from dynamics_node.data.joint_values import (
    episodes_of,
    first_stamp,
    joint_values,
    times_of,
)
from dynamics_node.data.motion import MARKS, MEMORY, filtered_motion, invalid_positions
from dynamics_node.data.quantities import QUANTITIES, AddedColumn, RowQuantities, added_columns
from dynamics_node.data.result_file import (
    check_names_of,
    marks_field,
    number_field,
    number_type,
    result_file,
    result_schema,
    write_rows,
)
from dynamics_node.data.settings import MARKS_COLUMN, AnnotationSettings, metadata_of
from dynamics_node.data.sources import SourceFile
from dynamics_node.errors import DynamicsError
from dynamics_node.observer.effort_meaning import Meaning, meaning_of
from dynamics_node.robot.dispatch import WORTH_WAITING
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 65_536      # of a window
BLOCK = 2048       # rows of a call of the robot: its results stay in the cache of a core
KEPT = 31_000_000  # [B] arrays up to this size are kept for the next ones when they are freed
BEYOND = 1e-6      # [rad or m] beyond a joint limit: rounding to float32


class MeasuredRows(NamedTuple):
    """Measurements of some rows."""

    batch: pa.RecordBatch | None
    q: np.ndarray              # (N, nv) [rad or m]
    effort: np.ndarray | None  # (N, nv), as recorded
    time: np.ndarray           # (N,) [s]
    episode: np.ndarray        # (N,)

    def ends(self, rows: slice) -> MeasuredRows:
        """Return some of the rows, without their batch."""
        return MeasuredRows(None, self.q[rows], None, self.time[rows], self.episode[rows])


# rows before the window, those of the window, rows after it
Window: TypeAlias = tuple[MeasuredRows, MeasuredRows, MeasuredRows]


def annotate_file(robot: Robot, settings: AnnotationSettings, source: str, target: str
                  ) -> dict[str, Any]:
    """Write the annotated copy of a file; return its counts: rows, episodes, marks.

    :param source, target: paths; this may run on another machine that has both.
    """
    opened = SourceFile(source, settings.topic)
    try:
        return _annotate(robot, settings, opened, source, Path(target))
    except DynamicsError as error:
        raise DynamicsError(f'{source}: {error}') from error
    finally:
        opened.close()


def _annotate(robot: Robot, settings: AnnotationSettings, opened: SourceFile, source: str,
              target: Path) -> dict[str, int]:
    check_columns(settings, opened.schema)
    added = added_columns(robot, settings.columns)
    dtype = number_type(settings.precision,
                        opened.schema.field(settings.mapping.position.columns[0]).type)
    schema = _schema(robot, settings, opened.schema, added, dtype)
    codec = opened.codec if settings.compression == 'source' else settings.compression
    meaning = None
    if any(column.quantity.effort for column in added):
        meaning = meaning_of(robot, settings.mapping.meaning, settings.mapping.torque_constants)
    _await_kernels(robot, added, meaning)
    _keep_freed_memory()
    counts = {'rows': 0, 'episodes': 0, 'marked': 0, **dict.fromkeys(MARKS, 0)}
    last = None
    with result_file(target, schema, codec, source, counts) as writer:
        for before, own, after in _windows(robot, settings, opened):
            values, marks = _computed(robot, settings, added, meaning, (before, own, after), dtype)
            write_rows(writer, schema, own.batch, values.values(), marks)
            _count(counts, marks, own.episode, last)
            last = own.episode[-1]
    return counts


def check_columns(settings: AnnotationSettings, schema: pa.Schema) -> None:
    """Raise a DynamicsError if a file lacks a column, or has one that would be added."""
    check_names_of(schema, settings.mapping.columns, settings.keep,
                   [settings.prefix + name for name in (*settings.columns, MARKS_COLUMN)])


def _schema(robot: Robot, settings: AnnotationSettings, schema: pa.Schema,
            added: Sequence[AddedColumn], dtype: np.dtype) -> pa.Schema:
    metadata = metadata_of(robot, settings)
    fields = []
    for column in added:
        about = {'unit': column.quantity.unit, 'model': metadata['model']}
        if column.quantity.size is None:
            about['joints'] = ' '.join(robot.joint_names)
        fields.append(number_field(settings.prefix + column.name, dtype, column.size, about))
    fields.append(marks_field(settings.prefix + MARKS_COLUMN, MARKS))
    return result_schema(schema, settings.keep, fields, metadata)


def _windows(robot: Robot, settings: AnnotationSettings, opened: SourceFile) -> Iterator[Window]:
    """Yield (rows before the window, rows of the window, rows after it) for each window of a file.

    The filter also needs `margin_rows` rows on both sides; rows farther away have no effect.
    """
    margin = margin_rows(settings, opened)
    found = _measured(robot, settings, opened.batches(max(ROWS, 4 * margin)))
    own = next(found, None)
    if own is None:
        return
    before = own.ends(slice(0, 0))
    while own is not None:
        after = next(found, None)
        yield before, own, own.ends(slice(0, 0)) if after is None else after.ends(slice(margin))
        before = own.ends(slice(max(0, len(own.time) - margin), None))
        own = after


def margin_rows(settings: AnnotationSettings, opened: SourceFile) -> int:
    """Return the number of rows beside a window that its filter needs, 0 without a filter."""
    if settings.cutoff is None:
        return 0
    rate = settings.mapping.rate
    if rate is None:
        rate = 1.0 / usual_step(settings.mapping, opened)
    return int(np.ceil(MEMORY * rate / settings.cutoff)) + 8


def usual_step(mapping: ColumnMapping, opened: SourceFile) -> float:
    """Return the median step of time in the first rows of a file [s]."""
    named = [name for name in (mapping.time, mapping.episode) if name is not None]
    batch = next(opened.batches(ROWS, named), None)
    if batch is None:
        return 1.0
    steps = np.diff(times_of(mapping, batch, 0, first_stamp(mapping, batch)))
    steps = steps[steps > 0.0]   # false for NaN
    if not len(steps):
        raise DynamicsError(f"the times in column '{mapping.time}' do not increase")
    return float(np.median(steps))


def _measured(robot: Robot, settings: AnnotationSettings, batches: Iterable[pa.RecordBatch]
              ) -> Iterator[MeasuredRows]:
    mapping, first, origin = settings.mapping, 0, None
    effort = mapping.effort if _needs_effort(settings) else None
    for batch in batches:
        n = batch.num_rows
        q = joint_values(robot, mapping.position, batch)
        measured = None if effort is None else joint_values(robot, effort, batch)
        time = episode = np.zeros(n)
        if settings.cutoff is not None:
            origin = first_stamp(mapping, batch) if origin is None else origin
            time = times_of(mapping, batch, first, origin)
        episode = episodes_of(mapping, batch)
        yield MeasuredRows(batch, q, measured, time, episode)
        first += n


def _needs_effort(settings: AnnotationSettings) -> bool:
    return any(QUANTITIES[name].effort for name in settings.columns if name in QUANTITIES)


def _computed(robot: Robot, settings: AnnotationSettings, added: Sequence[AddedColumn],
              meaning: Meaning | None, window: Window, dtype: np.dtype
              ) -> tuple[dict[AddedColumn, np.ndarray], np.ndarray]:
    """Return ({column: values of the rows, of the type to be written}, their marks)."""
    before, own, _ = window
    n = len(own.time)
    rows = slice(len(before.time), len(before.time) + n)
    bad = invalid_positions(own.q)
    marks = np.where(bad, MARKS['no_position'], 0).astype(np.uint8)
    marks[_outside(robot, own.q)] |= MARKS['outside_limits']
    states = {'recorded': (bad, own.q)}
    unknown = absent = np.zeros(n, dtype=bool)
    if settings.cutoff is not None:
        motion = filtered_motion(_joined(window, 'time'), _joined(window, 'q'),
                                 _joined(window, 'episode'), settings.cutoff, settings.mapping.rate)
        marks |= motion.marks[rows]
        unknown = np.isnan(motion.v[rows, 0])
        states |= {name: (unknown, x[rows]) for name, x in zip(('q', 'v', 'a'), motion[:3])}
    if own.effort is not None:
        absent = ~np.isfinite(own.effort).all(axis=1)
        marks[absent] |= MARKS['no_effort']
        states['effort'] = absent, own.effort
    values = {column: np.empty((n, column.size), dtype) for column in added}
    for first in range(0, n, BLOCK):
        block = slice(first, first + BLOCK)
        arrays: dict[str, Any] = {name: _zero_where(lost[block], x[block])
                                  for name, (lost, x) in states.items()}
        found = RowQuantities(robot, **arrays, meaning=meaning)
        for column, result in values.items():
            result[block] = column.values(found)
    for column, result in values.items():
        lost = bad if not column.quantity.filtered else unknown
        if column.quantity.effort:
            lost = unknown | absent
        if lost.any():
            result[lost] = np.nan
    return values, marks


def _await_kernels(robot: Robot, added: Sequence[AddedColumn], meaning: Meaning | None) -> None:
    """Wait for kernels, by computing many rows: results of NumPy would differ in the last bits."""
    q = np.zeros((WORTH_WAITING, robot.nv))
    rows = RowQuantities(robot, q, q, q, q, q, meaning)
    for column in added:
        column.values(rows)


def _keep_freed_memory() -> None:
    """Let the C library keep freed arrays for the next ones, which saves a third of the time.

    Otherwise it returns large arrays to the system, and new ones get their pages one by one. glibc
    adapts: it keeps arrays up to the size of one that was freed (M_MMAP_THRESHOLD in mallopt(3)).
    """
    np.empty(KEPT, dtype=np.uint8)   # is freed at once


def _joined(window: Window, name: str) -> np.ndarray:
    parts = [getattr(each, name) for each in window]
    return np.concatenate([x.T for x in parts], axis=-1).T   # memory stays column by column


def _zero_where(bad: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return rows in one piece of memory, zero where they are bad."""
    if bad.any():
        x = np.where(bad[:, None], 0.0, x)
    return np.ascontiguousarray(x)


def _outside(robot: Robot, q: np.ndarray) -> np.ndarray:
    joints = [robot.model.joint(name) for name in robot.joint_names]
    low = np.array([joint.lower for joint in joints]) - BEYOND
    high = np.array([joint.upper for joint in joints]) + BEYOND
    return np.any((q < low) | (q > high), axis=1)   # NaN is marked already


def _count(counts: dict[str, int], marks: np.ndarray, episode: np.ndarray, last: int | None
           ) -> None:
    counts['rows'] += len(marks)
    counts['episodes'] += int((episode[1:] != episode[:-1]).sum()) + int(
        last is None or episode[0] != last)
    counts['marked'] += int((marks > 0).sum())
    for name, bit in MARKS.items():
        counts[name] += int(np.count_nonzero(marks & bit))
