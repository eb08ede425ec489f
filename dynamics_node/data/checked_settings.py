"""Check the arguments of an annotation with its first file, and complete the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynamics_node.checks import positive
from dynamics_node.data.annotate_file import ROWS, check_columns, usual_step
from dynamics_node.data.column_mapping import ColumnMapping, read_mapping
from dynamics_node.data.default_mapping import default_mapping
from dynamics_node.data.joint_values import episodes_of, first_stamp, joint_values, times_of
from dynamics_node.data.motion import invalid_positions
from dynamics_node.data.quantities import AddedColumn, added_columns
from dynamics_node.data.settings import AnnotationSettings
from dynamics_node.data.sources import SourceFile
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.cutoff import HIGHEST, cutoff_of
from dynamics_node.identification.motion_unit_checks import position_unit, time_unit
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.robot.robot import Robot

EPISODES = 5       # whose spectra determine the cutoff; the middle one of their cutoffs is used
FEWEST_ROWS = 100  # of such an episode
USUAL = (2.0, 98.0)   # percentiles of positions, so that a few bad rows have no effect
ROOM = 0.1         # of the range between the limits: a zero offset may exceed them a little

MappingSource = ColumnMapping | str | os.PathLike | Mapping | None


def checked_settings(robot: Robot, source: str | os.PathLike, columns: Sequence[str],
                     mapping: MappingSource, cutoff: float | None, effort_meaning: str | None,
                     topic: str = TOPIC, **others: Any) -> AnnotationSettings:
    """Return the settings, complete with columns, mapping and cutoff.

    :param source: the first file of the data set.
    :param others: other fields of AnnotationSettings.
    :raise DynamicsError: names the argument, or the column of the file.
    """
    check_one_axis(robot)
    if robot.loops.constraints:
        raise DynamicsError('the robot has loops; expected a robot without loop constraints')
    added = added_columns(robot, columns)
    opened = SourceFile(source, topic)
    try:
        found = _mapping(robot, source, mapping, opened)
        if effort_meaning is not None:
            found = replace(found, meaning=effort_meaning)
        settings = AnnotationSettings(tuple(columns), found, topic=topic, **others)
        check_columns(settings, opened.schema)
        _check_effort(robot, found, [column for column in added if column.quantity.effort])
        _check_units(robot, found, opened)
        cutoff = None if cutoff is None else positive('cutoff', cutoff)
        if any(column.quantity.filtered for column in added):
            cutoff = _cutoff(robot, found, opened, cutoff)
            return replace(settings, cutoff=cutoff)
        return settings
    except DynamicsError as error:
        raise DynamicsError(f'{source}: {error}') from error
    finally:
        opened.close()


def _mapping(robot: Robot, source: str | os.PathLike, mapping: MappingSource, opened: SourceFile
             ) -> ColumnMapping:
    if mapping is None:
        return default_mapping(robot, source, opened.schema.names)
    return mapping if isinstance(mapping, ColumnMapping) else read_mapping(robot, mapping)


def _check_effort(robot: Robot, mapping: ColumnMapping, columns: Sequence[AddedColumn]) -> None:
    """Refuse columns that need the measured effort if the mapping does not give it."""
    if not columns:
        return
    first = columns[0].name
    if mapping.effort is None:
        raise DynamicsError(f'{first} needs the measured effort; name its columns in the '
                            'mapping, effort: {column: NAME}')
    missing = [name for name in robot.joint_names if name not in mapping.effort.joints]
    if missing:
        raise DynamicsError(f'{first} needs the effort of every joint; effort: joints '
                            f'lacks {", ".join(missing)}')
    meaning = meaning_of(robot, mapping.meaning, mapping.torque_constants)
    for column in columns:
        if column.quantity.motor and not meaning.motor_side:
            raise DynamicsError(f"{column.name} needs the torque of the motors, and the effort is "
                                f"measured behind the gears ('{mapping.meaning}')")


def _check_units(robot: Robot, mapping: ColumnMapping, opened: SourceFile) -> None:
    """Refuse positions that seem to be in another unit than the mapping says."""
    batch = next(opened.batches(ROWS, mapping.position.columns), None)
    if batch is None:
        return
    q = joint_values(robot, mapping.position, batch)
    q = q[~invalid_positions(q)]
    for joint, x in zip(map(robot.model.joint, robot.joint_names), q.T):
        if len(x) and np.isfinite(joint.upper - joint.lower):
            low, high = np.percentile(x, USUAL)
            unit = position_unit(joint, x[(x >= low) & (x <= high)],
                                 ROOM * (joint.upper - joint.lower))
            if unit:
                raise DynamicsError(
                    f"joint '{joint.name}' goes from {low:.4g} to {high:.4g}, "
                    f'its limits are {joint.lower:.4g} and {joint.upper:.4g}: it seems to be in '
                    f'{unit}; give a mapping file with position: unit')


def _cutoff(robot: Robot, mapping: ColumnMapping, opened: SourceFile, cutoff: float | None
            ) -> float:
    """Return the given cutoff, or the one for the motion of the first episodes [Hz]."""
    if mapping.time is None and mapping.rate is None:
        raise DynamicsError('derivatives need the time of each row; name its column in the '
                            'mapping, time: {column: NAME}, or give rate: HZ')
    step = 1.0 / mapping.rate if mapping.rate is not None else usual_step(mapping, opened)
    unit = time_unit(step)
    if unit and mapping.rate is None:
        raise DynamicsError(f'rows are {step:.4g} s apart: time seems to be in {unit}; give a '
                            'mapping file with time: {column: NAME, unit: ...}')
    if cutoff is None:
        cutoff = _cutoff_of_first(robot, mapping, opened, step)
    if cutoff * step > HIGHEST:
        raise DynamicsError(f'cutoff is {cutoff:g} Hz; expected at most {HIGHEST / step:.4g}, '
                            f'{HIGHEST:g} of the sampling rate')
    return cutoff


def _cutoff_of_first(robot: Robot, mapping: ColumnMapping, opened: SourceFile, step: float
                     ) -> float:
    found: list[float] = []
    batch = next(opened.batches(ROWS, mapping.columns), None)
    if batch is not None:
        q = joint_values(robot, mapping.position, batch)
        time = times_of(mapping, batch, 0, first_stamp(mapping, batch))
        if mapping.rate is not None:
            time = np.round(time * mapping.rate) / mapping.rate
        episode = episodes_of(mapping, batch)
        bounds = np.flatnonzero(np.concatenate([[True], episode[1:] != episode[:-1], [True]]))
        for first, stop in zip(bounds[:-1], bounds[1:]):
            rows = np.arange(first, stop)
            rows = rows[~invalid_positions(q[rows]) & np.isfinite(time[rows])]
            rows = rows[np.append(True, np.diff(np.maximum.accumulate(time[rows])) > 0.0)
                        ] if len(rows) else rows
            if len(rows) >= FEWEST_ROWS and len(found) < EPISODES:
                found.append(cutoff_of(time[rows], q[rows]))
    if not found:
        raise DynamicsError(f'no episode in the first {ROWS} rows has {FEWEST_ROWS} rows, from '
                            'which a cutoff of the filter could be found; give cutoff in Hz')
    return float(np.median(found))
