"""Roll out the motions of one file: a row has the initial state and the torques of a motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dynamics_node.data.joint_values import list_values
from dynamics_node.data.result_file import (
    check_names_of,
    marks_field,
    number_field,
    number_type,
    result_file,
    result_schema,
    write_rows,
)
from dynamics_node.data.settings import metadata_of
from dynamics_node.data.sources import SourceFile
from dynamics_node.errors import DynamicsError, NotFinite
from dynamics_node.kernels.result_types import ForwardDynamicsDerivatives
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.robot.dispatch import WORTH_WAITING
from dynamics_node.robot.robot import Robot
from dynamics_node.simulation.equations_of_motion import Diverges
from dynamics_node.simulation.held_torques import Rollouts

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {'no_state': 1, 'no_torque': 2, 'diverged': 4}
MARKS_COLUMN = 'rollout_marks'
MOST_ROWS = 65_536      # of a window
MOST_NUMBERS = 4_000_000   # of a window's torques and motions: 32 MB


@dataclass(frozen=True)
class RolloutSettings:
    """What is computed for each row; equal settings give equal files."""

    columns: tuple[str, ...]     # keys of QUANTITIES
    q: str                       # column of positions
    v: str | None                # of velocities; None: all motions begin at rest
    torque: str                  # of the torques of all periods
    periods: int                 # of the torques
    period: float | None = None  # [s]; None if no motion is needed
    step: float | None = None    # greatest step of the integration [s]; None: one per period
    keep: tuple[str, ...] | None = None   # columns of the source that are written; None: all
    prefix: str = ''             # of the names of added columns
    precision: str = 'source'
    compression: str = 'source'


class Starts:
    """Initial states and torques of N motions, and what follows from them."""

    def __init__(self, robot: Robot, settings: RolloutSettings, q: np.ndarray, v: np.ndarray,
                 torque: np.ndarray):
        """Take finite states (N, nq), (N, nv) and torques (N, T, nv)."""
        self.robot, self.settings, self.q, self.v, self.torque = robot, settings, q, v, torque

    @cached_property
    def motions(self) -> Rollouts:
        """The motions; only their ends if no column needs more."""
        settings = self.settings
        assert settings.period is not None, 'columns of motions are refused without a period'
        whole = any(QUANTITIES[name].motion for name in settings.columns)
        return self.robot.rollouts(self.q, self.v, self.torque, settings.period,
                                   step=settings.step, only_end=not whole)

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Acceleration of the initial states under the first torques."""
        return self.robot.forward_dynamics(self.q, self.v, self.torque[:, 0].copy())

    @cached_property
    def derivatives(self) -> ForwardDynamicsDerivatives:
        """Derivatives of these accelerations."""
        return self.robot.forward_dynamics_derivatives(self.q, self.v, self.torque[:, 0].copy())


class RolloutQuantity(NamedTuple):
    """A quantity that can be added to each row."""

    unit: str
    compute: Callable[[Starts], np.ndarray]   # -> (N, ...)
    size: Callable[[Robot, int], int]         # values per row, of a robot and a number of periods
    simulated: bool = False                   # needs the period
    motion: bool = False                      # of all periods, not only of the end


def _square(robot: Robot, periods: int) -> int:
    return robot.nv ** 2


QUANTITIES = {
    'q_end': RolloutQuantity('rad or m', lambda it: it.motions.q[:, -1],
                             lambda robot, periods: robot.nq, simulated=True),
    'v_end': RolloutQuantity('rad/s or m/s', lambda it: it.motions.v[:, -1],
                             lambda robot, periods: robot.nv, simulated=True),
    'q_motion': RolloutQuantity('rad or m', lambda it: it.motions.q,
                                lambda robot, periods: (periods + 1) * robot.nq, True, True),
    'v_motion': RolloutQuantity('rad/s or m/s', lambda it: it.motions.v,
                                lambda robot, periods: (periods + 1) * robot.nv, True, True),
    'acceleration': RolloutQuantity('rad/s^2 or m/s^2', lambda it: it.acceleration,
                                    lambda robot, periods: robot.nv),
    'acceleration_dq': RolloutQuantity('1/s^2, rad/(m s^2) or m/(rad s^2)',
                                       lambda it: it.derivatives.dq, _square),
    'acceleration_dv': RolloutQuantity('1/s, rad/(m s) or m/(rad s)',
                                       lambda it: it.derivatives.dv, _square),
    'acceleration_dtau': RolloutQuantity('1/(kg m^2), 1/kg or 1/(kg m)',
                                         lambda it: it.derivatives.dtau, _square),
}


def rollouts_file(robot: Robot, settings: RolloutSettings, source: str, target: str
                  ) -> dict[str, Any]:
    """Write the copy of a file with the results of its rows; return its counts: rows, marks.

    :param source, target: paths; this may run on another machine that has both.
    """
    opened = SourceFile(source)
    try:
        return _roll_out(robot, settings, opened, source, Path(target))
    except DynamicsError as error:
        raise DynamicsError(f'{source}: {error}') from error
    finally:
        opened.close()


def _roll_out(robot: Robot, settings: RolloutSettings, opened: SourceFile, source: str,
              target: Path) -> dict[str, Any]:
    check_columns(settings, opened.schema)
    dtype = number_type(settings.precision, opened.schema.field(settings.q).type)
    sizes = [QUANTITIES[name].size(robot, settings.periods) for name in settings.columns]
    schema = _schema(robot, settings, opened.schema, sizes, dtype)
    codec = opened.codec if settings.compression == 'source' else settings.compression
    _await_kernels(robot, settings)
    counts = {'rows': 0, 'marked': 0, **dict.fromkeys(MARKS, 0)}
    numbers = (settings.periods + 1) * (robot.nq + 2 * robot.nv) + sum(sizes)
    rows = max(1, min(MOST_ROWS, MOST_NUMBERS // numbers))
    with result_file(target, schema, codec, source, counts) as writer:
        for batch in opened.batches(rows):
            values, marks = _computed(robot, settings, batch, sizes, dtype)
            write_rows(writer, schema, batch, values, marks)
            counts['rows'] += len(marks)
            counts['marked'] += int((marks > 0).sum())
            for name, bit in MARKS.items():
                counts[name] += int(np.count_nonzero(marks & bit))
    return counts


def check_columns(settings: RolloutSettings, schema: pa.Schema) -> None:
    """Raise a DynamicsError if a file lacks a column, or has one that would be added."""
    wanted = [name for name in (settings.q, settings.v, settings.torque) if name is not None]
    check_names_of(schema, wanted, settings.keep,
                   [settings.prefix + name for name in (*settings.columns, MARKS_COLUMN)])


def _schema(robot: Robot, settings: RolloutSettings, schema: pa.Schema, sizes: Sequence[int],
            dtype: np.dtype) -> pa.Schema:
    metadata = metadata_of(robot, settings)
    fields = [number_field(settings.prefix + name, dtype, size, {
        'unit': QUANTITIES[name].unit, 'model': metadata['model'],
        'joints': ' '.join(robot.joint_names)}) for name, size in zip(settings.columns, sizes)]
    fields.append(marks_field(settings.prefix + MARKS_COLUMN, MARKS))
    return result_schema(schema, settings.keep, fields, metadata)


def _computed(robot: Robot, settings: RolloutSettings, batch: pa.RecordBatch, sizes: Sequence[int],
              dtype: np.dtype) -> tuple[list[np.ndarray], np.ndarray]:
    """Return ([values of each column, (N, size)], marks) of a batch.

    Numbers that are finite, but not in a shorter type, are marked too.
    """
    q, v, torque = _read(robot, settings, batch)
    bad = ~np.isfinite(q).all(axis=1) | ~np.isfinite(v).all(axis=1) | _not_unit(robot, q)
    lost = ~np.isfinite(torque).all(axis=(1, 2))
    marks = np.where(bad, MARKS['no_state'], 0).astype(np.uint8)
    marks[lost] |= MARKS['no_torque']
    if marks.any():
        q, v, torque = q.copy(), v.copy(), torque.copy()
        q[bad], v[bad], torque[lost] = robot.neutral(), 0.0, 0.0
    starts = Starts(robot, settings, q, v, torque)
    found = _results(starts)
    with np.errstate(over='ignore'):
        values = [x.reshape(len(marks), size).astype(dtype) for x, size in zip(found, sizes)]
    diverged = ~np.all([np.isfinite(x).all(axis=1) for x in values], axis=0)
    marks[diverged & (marks == 0)] |= MARKS['diverged']
    for x in values:
        x[marks > 0] = np.nan
    return values, marks


def _results(starts: Starts) -> list[np.ndarray]:
    """Return the values of each column, NaN for rows of motions that diverge or of large numbers.

    One such row makes the calculation of all rows fail; bisection finds it.
    """
    n = len(starts.q)
    try:
        return [np.array(QUANTITIES[name].compute(starts)).reshape(n, -1)
                for name in starts.settings.columns]
    except (Diverges, NotFinite):
        if n == 1:
            robot, settings = starts.robot, starts.settings
            return [np.full((1, QUANTITIES[name].size(robot, settings.periods)), np.nan)
                    for name in settings.columns]
    halves = [_results(Starts(starts.robot, starts.settings, starts.q[rows], starts.v[rows],
                              starts.torque[rows])) for rows in (slice(n // 2), slice(n // 2, n))]
    return [np.concatenate(parts) for parts in zip(*halves)]


def _read(robot: Robot, settings: RolloutSettings, batch: pa.RecordBatch
          ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def read(name: str, width: int) -> np.ndarray:
        return np.array(list_values(name, batch.column(name), width), dtype=float)
    q = read(settings.q, robot.nq)
    v = np.zeros((len(q), robot.nv)) if settings.v is None else read(settings.v, robot.nv)
    torque = read(settings.torque, settings.periods * robot.nv)
    return q, v, torque.reshape(-1, settings.periods, robot.nv)


def _not_unit(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return a mask of the rows with a quaternion whose norm is not 1."""
    found = np.zeros(len(q), dtype=bool)
    for joint in robot.model.joints:
        if joint.kind == 'floating':
            norm = np.linalg.norm(q[:, joint.q.start + 3:joint.q.stop], axis=1)
            found |= ~(np.abs(norm - 1.0) < UNIT_QUATERNION)
    return found


def _await_kernels(robot: Robot, settings: RolloutSettings) -> None:
    """Wait for kernels, by computing many rows: results of NumPy would differ in the last bits."""
    q = np.tile(robot.neutral(), (WORTH_WAITING, 1))
    v = np.zeros((WORTH_WAITING, robot.nv))
    torque = np.zeros((WORTH_WAITING, settings.periods, robot.nv))
    starts = Starts(robot, settings, q, v, torque)
    for name in settings.columns:
        if not QUANTITIES[name].simulated:   # rollouts wait by themselves
            QUANTITIES[name].compute(starts)
