"""Reduce a recording to a small file that holds all that the identification of a fleet needs.

The summary has the R factors of the recording (see sequential_qr.py), some 100 kB for seven axes
whatever the length of the recording: adding a recording to a fleet does not read the others again.
"""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from datetime import datetime, timezone
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.checks import check_kind
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.files import read_file
from dynamics_node.identification.consistent_fit import joint_scales
from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
from dynamics_node.identification.linear_fit import linear_fit, weighted_problem
from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    payload_parameters,
)
from dynamics_node.identification.recording import RawRecording
from dynamics_node.identification.recording_files import read_recording
from dynamics_node.identification.recording_fit import prepare_without_delay
from dynamics_node.identification.sequential_qr import TriangularFactors, merged_factors
from dynamics_node.model.fingerprint import digest, fingerprint
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot

MAX_BYTES = 50_000_000   # of a file
VERSION = 1              # of the format
ARRAYS = ('noise', 'torque', 'scales')
UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
EXPECTED = 'expected a file that `write_summary` has written'


class RecordingSummary(NamedTuple):
    """What the identification of a fleet needs of a recording."""

    model: str                    # hash of the robot and of the parameters that are identified
    factors: TriangularFactors    # of [Y_b, tau] of each joint
    noise: np.ndarray             # (nv,) of independent samples, see noise.Noise.effective
    torque: np.ndarray            # (nv,) RMS [N m or N]
    scales: np.ndarray            # (joint parameters,) see consistent_fit.joint_scales
    begin: float                  # [s] time stamp of the first sample
    duration: float               # [s] that are used
    warnings: tuple[str, ...]
    source: str = ''              # key of the file and the options it was made from, see file_key

    @property
    def date(self) -> str:
        """Date of the recording, in UTC; '' if its time stamps are not dates."""
        first, last = (datetime(year, 1, 1, tzinfo=timezone.utc).timestamp()
                       for year in (2000, 2100))
        if not first < self.begin < last:
            return ''
        return datetime.fromtimestamp(self.begin, timezone.utc).strftime('%Y-%m-%d %H:%M')


def summary_base(robot: Robot) -> BaseParameters:
    """Return the base parameters of the robots of a fleet.

    :raise DynamicsError: the robot has loops or springs.
    """
    check_robot(robot)
    if has_loops(robot) or robot.springs:
        raise DynamicsError('identification of a fleet is for robots without loops and springs; '
                            'identify each robot with `identify`')
    return base_parameters(robot, parameter_layout(robot))


def summarize(robot: Robot, raw: RawRecording, cutoff: float | None = None,
              base: BaseParameters | None = None) -> RecordingSummary:
    """Return the RecordingSummary of a raw recording.

    :param robot: the common model of the fleet; payloads are known.
    :param cutoff: cutoff of the filter on positions [Hz]; None: from the spectrum of the motion.
    :param base: result of summary_base, to compute it once for many recordings.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead.
    """
    base = summary_base(robot) if base is None else base
    prepared = prepare_without_delay(robot, check_kind('raw', raw, RawRecording), cutoff)[0]
    recording = prepared.recording
    if recording.no_effort:
        raise DynamicsError(f'the efforts of {", ".join(recording.no_effort)} are missing; '
                            'identification of a fleet needs those of all joints')
    fit = linear_fit(robot, base, recording, base.values(parameter_values(robot, base.layout)),
                     factor=prepared.factor)
    return RecordingSummary(
        model_hash(robot, base), merged_factors(base, fit.parts), fit.noise.effective,
        np.sqrt(np.mean(recording.tau ** 2, axis=0)), joint_scales(base.layout, recording),
        float(raw.time[0]), prepared.used, prepared.warnings)


def model_hash(robot: Robot, base: BaseParameters) -> str:
    """Return the hash that summaries of one fleet have in common."""
    return digest(fingerprint(robot.model), base.layout.names, base.layout.friction_speed,
                  base.layout.laws, payload_parameters(robot, base.layout).tolist(),
                  tuple(robot.gravity))


def own_problem(base: BaseParameters, summary: RecordingSummary) -> np.ndarray:
    """Return [R, z] of a recording, in units of its noise, (b, b + 1)."""
    return np.column_stack(weighted_problem(base, summary.factors, summary.noise))


# Files -------------------------------------------------------------------------------------------

def summarize_file(robot: Robot, topic: str, cutoff: float | None, source: str,
                   target: str) -> dict[str, Any]:
    """Write the summary of a recording; return {'warnings': texts}.

    :param topic: topic of the joint states in a bag.
    :param source, target: paths of the recording and of the summary.
    """
    key = file_key(source, topic, cutoff)
    summary = summarize(robot, read_recording(source, topic), cutoff)
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    write_summary(target, summary._replace(source=key))
    return {'warnings': list(summary.warnings)}


def file_key(path: str | os.PathLike[str], topic: str, cutoff: float | None) -> str:
    """Return a text that changes with a recording and with the options of its summary."""
    try:
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(os.fspath(path))
                 for name in names] if os.path.isdir(path) else [os.fspath(path)]
        found = [os.stat(each) for each in sorted(paths)]
    except OSError as error:
        raise DynamicsError(f"cannot read '{os.fspath(path)}': {error.strerror}") from error
    return digest([(each.st_size, each.st_mtime_ns) for each in found], topic, cutoff)


def write_summary(path: str | os.PathLike[str], summary: RecordingSummary) -> None:
    """Write a summary as .npz; an interruption leaves no incomplete file."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {
        'version': VERSION, 'model': summary.model, 'samples': summary.factors.samples,
        'begin': summary.begin, 'duration': summary.duration,
        'warnings': np.array(summary.warnings, dtype=str), 'source': summary.source,
        **{name: getattr(summary, name) for name in ARRAYS},
        **{f'R{k}': R for k, R in enumerate(summary.factors.R)}}
    np.savez_compressed(buffer, **arrays)
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(buffer.getvalue())
        os.replace(file.name, path)
    except OSError as error:
        raise DynamicsError(f"cannot write '{os.fspath(path)}': {error.strerror}") from error


def read_summary(path: str | os.PathLike[str]) -> RecordingSummary:
    """Return the summary in a file of `write_summary`."""
    data = read_file(path, MAX_BYTES)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            if int(found['version']) != VERSION:
                raise DynamicsError(f'{path} has version {shown(int(found["version"]))} of the '
                                    f'format; expected {VERSION}: remove it, it is made again')
            R = tuple(found[f'R{k}'] for k in range(len(found['noise'])))
            noise, torque, scales = (found[name] for name in ARRAYS)
            if not all(np.isfinite(each).all() for each in (*R, noise, torque, scales)):
                raise DynamicsError(f'{path} has numbers that are not finite; {EXPECTED}')
            return RecordingSummary(
                str(found['model']), TriangularFactors(R, int(found['samples'])), noise, torque,
                scales, float(found['begin']), float(found['duration']),
                tuple(map(str, found['warnings'])), str(found['source']))
    except DynamicsError:   # it is a ValueError, too
        raise
    except UNREADABLE as error:
        raise DynamicsError(f'{path} cannot be read; {EXPECTED}') from error
