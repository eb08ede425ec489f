"""Roll out motions from initial states and torques in the files of a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from dynamics_node.checks import check_callable, check_kind, check_names, choice, positive
from dynamics_node.data.engines import check_engine
from dynamics_node.data.joint_values import check_lists
from dynamics_node.data.resumable_run import Files, WrittenFiles, places_of, run_files
from dynamics_node.data.rollouts_file import (
    QUANTITIES,
    RolloutSettings,
    check_columns,
    rollouts_file,
)
from dynamics_node.data.settings import CODECS, PRECISIONS, metadata_of
from dynamics_node.data.sources import SourceFile
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot

MANIFEST = 'rollouts.json'
COLUMNS = ('q_end', 'v_end')


def rollouts(robot: Robot, files: Files, out: str | os.PathLike, period: float | None = None,
             columns: Sequence[str] = COLUMNS, *, q: str = 'q', v: str | None = 'v',
             torque: str = 'torque', step: float | None = None, engine: str | None = None,
             workers: int | None = None, keep: Sequence[str] | None = None, prefix: str = '',
             precision: str = 'source', compression: str = 'source',
             progress: Callable[[float, str], None] | None = None) -> WrittenFiles:
    """Write a copy of each file with the motion of each row added; return the WrittenFiles.

    A row has the initial state and the torques of a motion, as lists; the motion is that of
    `robot.rollouts`. Files that an earlier run with equal settings has finished are kept: call
    again after a kill.

    :param files: Parquet files: paths, patterns such as 'states/*.parquet', or their folder.
    :param out: folder of the results, Parquet files with the names of the sources.
    :param period: time for which a torque is held [s]; needed for ends and motions.
    :param columns: names to add: q_end, v_end, q_motion, v_motion; acceleration (of the initial
        state under the first torque), acceleration_dq, acceleration_dv, acceleration_dtau.
    :param q, v: columns of the initial state, nq and nv numbers per row; v None: at rest.
    :param torque: column of the torques, T nv numbers per row: those of one period after another.
    :param step: greatest step of the integration [s]; None: one per period.
    :param engine, workers, progress: as in annotate.
    :param keep, prefix, precision, compression: options of the written files, as in annotate.
    :raise DynamicsError: the argument that is invalid; or all files failed; or `out` has results
        of other settings.
    """
    check_kind('robot', robot, Robot)
    if robot.loops.constraints:
        raise DynamicsError('the robot has loops; expected a robot without loop constraints')
    workers = check_engine(engine, workers)
    check_callable('progress', progress)
    choice('precision', precision, PRECISIONS)
    choice('compression', compression, CODECS)
    for name, value in (('prefix', prefix), ('q', q), ('torque', torque)):
        check_kind(name, value, str)
    check_kind('v', v, (str, type(None)))
    names = _columns(columns, period)
    settings = RolloutSettings(
        names, q, v, torque, periods=0, prefix=prefix, precision=precision,
        period=None if period is None else positive('period', period),
        step=None if step is None else positive('step', step),
        keep=None if keep is None else check_names('keep', keep), compression=compression)
    places = places_of(files, out)
    settings = _complete(robot, settings, places.sources[0])
    return run_files(rollouts_file, (robot, settings), places, metadata_of(robot, settings),
                     MANIFEST, engine, workers, progress)


def _columns(columns: Sequence[str], period: float | None) -> tuple[str, ...]:
    names = check_names('columns', columns)
    if not names:
        raise DynamicsError(f'columns is empty; expected some of: {", ".join(QUANTITIES)}')
    for name in names:
        choice('columns', name, QUANTITIES)
        if names.count(name) > 1:
            raise DynamicsError(f"columns has '{name}' twice")
        if QUANTITIES[name].simulated and period is None:
            raise DynamicsError(f'period is None; expected the time for which a torque is held '
                                f'[s], as {name} needs it')
    return names


def _complete(robot: Robot, settings: RolloutSettings, source: str | os.PathLike
              ) -> RolloutSettings:
    """Return the settings with the number of periods of the first row that has torques."""
    opened = SourceFile(source)
    try:
        check_columns(settings, opened.schema)
        batch = next(opened.batches(1000, [settings.torque]), None)
        column = None if batch is None else batch.column(settings.torque).drop_null()
        if column is None or not len(column):
            raise DynamicsError(f"column '{settings.torque}' has no torques in the first rows")
        check_lists(settings.torque, column.type)
        size = len(column[0])
        if size == 0 or size % robot.nv:
            raise DynamicsError(f"column '{settings.torque}' has {size} numbers in a row; expected "
                                f'a multiple of {robot.nv}, the degrees of freedom')
        return replace(settings, periods=size // robot.nv)
    except DynamicsError as error:
        raise DynamicsError(f'{source}: {error}') from error
    finally:
        opened.close()
