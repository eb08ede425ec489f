"""Read numbers of joints from columns of Arrow arrays, in SI units and the robot's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.data.column_mapping import SECONDS, ColumnMapping, JointColumns
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import pyarrow as pa

DEGREE, MILLIMETRE = np.pi / 180.0, 1e-3


def joint_values(robot: Robot, mapping: JointColumns, batch: pa.RecordBatch) -> np.ndarray:
    """Return the values of all joints, (N, nv), NaN where there is none.

    :raise DynamicsError: a column does not have as many numbers per row as the mapping.
    """
    if mapping.is_list:
        entries = list_values(mapping.columns[0], batch.column(mapping.columns[0]),
                              len(mapping.joints))
    else:
        entries = np.column_stack([numbers_of(name, batch.column(name))
                                   for name in mapping.columns])
    order = [mapping.joints.index(name) if name in mapping.joints else None
             for name in robot.joint_names]
    scale, offset = _conversion(robot, mapping)
    out = np.full((len(robot.joint_names), batch.num_rows), np.nan)   # column by column: the filter
    for k, entry in enumerate(order):
        if entry is not None:
            np.multiply(entries[:, entry], scale[k], out=out[k])
            if offset[k]:
                out[k] += offset[k]
    return out.T


def _conversion(robot: Robot, mapping: JointColumns) -> tuple[np.ndarray, np.ndarray]:
    """Return (scale, offset), (nv,) each, from entries to SI units."""
    scale, offset = np.ones(len(robot.joint_names)), np.zeros(len(robot.joint_names))
    for k, name in enumerate(robot.joint_names):
        joint = robot.model.joint(name)
        if mapping.unit == 'deg':
            scale[k] = MILLIMETRE if joint.kind == 'prismatic' else DEGREE
        elif mapping.unit == 'normalised':
            low, high = mapping.range
            if not np.isfinite(joint.upper - joint.lower):
                raise DynamicsError(f"position: unit is normalised, but joint '{name}' has no "
                                    'limits in the model; expected rad or deg')
            scale[k] = (joint.upper - joint.lower) / (high - low)
            offset[k] = joint.lower - scale[k] * low
        factor = mapping.scale.get(name, 1.0)
        scale[k], offset[k] = factor * scale[k], factor * offset[k] + mapping.offset.get(name, 0.0)
    return scale, offset


def check_lists(name: str, kind: pa.DataType, width: str = '') -> None:
    """Raise a DynamicsError if the rows of a column are not lists.

    :param width: for the message, how many numbers are expected.
    """
    import pyarrow as pa

    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)):
        raise DynamicsError(f"column '{name}' has values of type {kind}; expected a list of "
                            f'{width}numbers in each row')


def list_values(name: str, column: pa.Array, width: int) -> np.ndarray:
    """Return the numbers of a column of lists, (N, width); NaN for a row without a list.

    Without missing values this is a view of Arrow's memory.
    """
    check_lists(name, column.type, f'{width} ')
    lengths = column.value_lengths()
    sizes = np.unique(lengths.drop_null().to_numpy(zero_copy_only=False))
    if len(sizes) and sizes.tolist() != [width]:
        raise DynamicsError(f"column '{name}' has lists of {', '.join(map(str, sizes))} numbers; "
                            f'expected {width}')
    values = numbers_of(name, column.flatten()).reshape(-1, width)
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        out = np.full((len(column), width), np.nan)
        out[~missing] = values
        return out
    return values


def numbers_of(name: str, column: pa.Array) -> np.ndarray:
    """Return a column of numbers, (N,); an empty cell is NaN."""
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise DynamicsError(f"column '{name}' has values of type {column.type}; expected numbers")
    return column.to_numpy(zero_copy_only=False)


def times_of(mapping: ColumnMapping, batch: pa.RecordBatch, first_row: int, origin: int = 0
             ) -> np.ndarray:
    """Return the time of each row, (N,) [s], NaN where there is none.

    :param first_row: its number in the file, for a mapping with a rate and no column of times.
    :param origin: subtracted from integer times before they are rounded to floats.
    """
    import pyarrow as pa

    if mapping.time is None:
        if mapping.rate is None:
            raise DynamicsError('the mapping has neither time nor rate')
        return (first_row + np.arange(batch.num_rows)) / mapping.rate
    column = batch.column(mapping.time)
    unit = SECONDS[mapping.time_unit]
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        unit = SECONDS[column.type.unit]
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type):
        missing = column.is_null().to_numpy(zero_copy_only=False)
        whole = column.fill_null(origin).to_numpy(zero_copy_only=False).astype(np.int64) - origin
        return np.where(missing, np.nan, whole * unit)
    return numbers_of(mapping.time, column).astype(float) * unit


def first_stamp(mapping: ColumnMapping, batch: pa.RecordBatch) -> int:
    """Return the first integer time of a file, 0 if times are floats: see `times_of`."""
    import pyarrow as pa

    if mapping.time is None:
        return 0
    column = batch.column(mapping.time).drop_null()
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        column = column.cast(pa.int64())
    return int(column[0].as_py()) if len(column) and pa.types.is_integer(column.type) else 0


def episodes_of(mapping: ColumnMapping, batch: pa.RecordBatch) -> np.ndarray:
    """Return a number for each row, (N,), which differs between episodes."""
    if mapping.episode is None:
        return np.zeros(batch.num_rows, dtype=np.int64)
    column = batch.column(mapping.episode)
    try:
        return np.nan_to_num(numbers_of(mapping.episode, column), nan=-1.0)
    except DynamicsError:
        raise DynamicsError(f"episode: column '{mapping.episode}' has values of type "
                            f'{column.type}; expected whole numbers') from None
