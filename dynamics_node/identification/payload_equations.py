"""Build the linear equations of a payload and of model errors from recordings."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import body_inertia_rates
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.consistent_fit import parameter_prior
from dynamics_node.identification.decimation import decimate, segments
from dynamics_node.identification.linear_fit import ROUNDING
from dynamics_node.identification.loop_equations import has_loops, project
from dynamics_node.identification.loop_recording import complete_recording, velocity_signs
from dynamics_node.identification.parameters import (
    ParameterLayout,
    parameter_layout,
    parameter_regressor,
    parameter_values,
)
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import RawRecording, Recording
from dynamics_node.identification.robot_fit import checked
from dynamics_node.identification.static_poses import StaticPoses, select_pose_joints
from dynamics_node.robot.robot import Robot

BELIEF = 0.3            # relative standard deviation of link inertias in the prior
MIN_DURATION = 2.0      # [s] of motion
CHUNK = 10_000          # samples per regressor: 55 MB of seven axes
MIN_POSES = 3
ROUNDING_SHARE = 1e-10  # of the torque of a load in the open tree: less is rounding
MAX_SAMPLES = 20_000    # that are fitted; of more, every n-th


class PayloadRows(NamedTuple):
    """The equations A (d, six of inertia, mass, moment) = y, rows ordered by sample, then joint.

    The joints are all of the robot's; with loops the independent ones, see loop_equations.py.
    """

    A: np.ndarray          # (samples joints, unknowns)
    y: np.ndarray          # (samples joints,) torque residual of the model
    prior: np.ndarray      # (k, unknowns + 1) rows [A, y] of the prior, in standard deviations
    joint_names: tuple[str, ...]
    samples: int           # with the load; they come first
    down: np.ndarray       # (samples, 3) gravity in the axes of the frame
    static: bool
    floor: np.ndarray      # (joints,) least noise; static poses without approach: dry friction
    friction_unknown: bool


class _Samples(NamedTuple):
    """A recording of either kind."""

    recording: Recording
    approach: np.ndarray | None    # (N, nv)
    factor: int
    warnings: tuple[str, ...]
    loops: LoopMotion | None


def payload_rows(robot: Robot, recording: RawRecording | Recording | StaticPoses, frame: str,
                 unloaded: RawRecording | Recording | StaticPoses | None = None,
                 cutoff: float | None = None) -> tuple[PayloadRows, tuple[str, ...]]:
    """Return (PayloadRows, warnings)."""
    loaded = _samples(robot, recording, cutoff)
    static = isinstance(recording, StaticPoses)
    layout = parameter_layout(robot)
    free = _free(layout, static, loaded, unloaded is not None)
    A, y = _equations(robot, layout, loaded, frame, free)
    warnings, samples = list(loaded.warnings), len(y)
    if unloaded is not None:
        if isinstance(unloaded, StaticPoses) is not static:
            raise DynamicsError('unloaded must be of the kind of the loaded recording: a motion, '
                                'or static poses')
        bare = _samples(robot, unloaded, cutoff)
        B, w = _equations(robot, layout, bare, frame, free, loaded=False)
        A, y = np.concatenate([A, B]), np.concatenate([y, w])
        warnings += [f'unloaded: {text}' for text in bare.warnings]
    q, loops = loaded.recording.q, loaded.loops
    poses = robot.frame_pose(q[::1 + len(q) // 1000], frame)
    prior = parameter_prior(layout, parameter_values(robot, layout), loaded.recording,
                            BELIEF ** -2.0, loops)
    belief = prior.A[free][:, free]   # prior of d = 0; the load has no prior
    prior_rows = np.hstack([belief, np.zeros((len(belief), 11))])
    unknown = static and loaded.approach is None
    names = robot.joint_names if loops is None else loops.names
    floor = np.full(len(names), ROUNDING * max(1.0, np.abs(loaded.recording.tau).max()))
    if unknown:  # uniform between -f and f
        floor = np.maximum(floor, _dry_friction(robot, loops, q) / np.sqrt(3.0))
    found = PayloadRows(A.reshape(-1, A.shape[-1]), y.ravel(), prior_rows, names, samples,
                        robot.gravity @ poses[:, :3, :3], static, floor, unknown)
    return found, tuple(warnings)


def _dry_friction(robot: Robot, loops: LoopMotion | None, q: np.ndarray) -> np.ndarray:
    """Return the dry friction in each row of torques, the RMS sum of all joints, (rows,)."""
    if loops is None:
        return robot.model.friction
    moves = np.mean(loops.transmission(q).N ** 2, axis=0)   # (nv, rows)
    return np.sqrt(robot.model.friction ** 2 @ moves)


def _samples(robot: Robot, given: RawRecording | Recording | StaticPoses, cutoff: float | None
             ) -> _Samples:
    """Return the recording, checked, in the order of the robot."""
    if isinstance(given, StaticPoses):
        return _pose_samples(robot, select_pose_joints(robot, given))
    if isinstance(given, RawRecording):
        prepared = prepare(robot, given, cutoff, min_duration=MIN_DURATION, all_move=False)
        return _Samples(prepared.recording, None, prepared.factor, prepared.warnings,
                        prepared.loops)
    if not isinstance(given, Recording):
        raise DynamicsError(f'recording is {type(given).__name__}; expected a RawRecording, a '
                            'Recording or StaticPoses')
    if has_loops(robot):
        given, _, loops, warnings = complete_recording(robot, checked(robot, given))
        return _Samples(given.rows(slice(None, None, 1 + len(given.time) // MAX_SAMPLES)), None, 1,
                        warnings, loops)
    if tuple(given.joint_names) != robot.joint_names:
        raise DynamicsError(f'the recording is of {list(given.joint_names)}; expected the joints '
                            f'of the robot in its order, {list(robot.joint_names)}: see prepare')
    for key in ('q', 'v', 'a', 'tau'):
        array = getattr(given, key)
        if np.shape(array) != (len(given.time), robot.nv) or not np.isfinite(array).all():
            raise DynamicsError(f'{key} of the recording must be ({len(given.time)}, {robot.nv}) '
                                'finite numbers')
    return _Samples(given.rows(slice(None, None, 1 + len(given.time) // MAX_SAMPLES)), None, 1, (),
                    None)


def _pose_samples(robot: Robot, poses: StaticPoses) -> _Samples:
    if len(poses.q) < MIN_POSES:
        raise DynamicsError(f'{len(poses.q)} poses are too few; record {MIN_POSES} or more '
                            'with different directions of gravity in the frame')
    rest = np.zeros_like(poses.q)
    recording = Recording(tuple(poses.joint_names), np.arange(len(rest), dtype=float), poses.q,
                          rest, rest, poses.tau)
    if not has_loops(robot):
        return _Samples(recording, poses.approach, 1, (), None)
    done = complete_recording(robot, recording)
    if done.kept.sum() < MIN_POSES:
        raise DynamicsError(f'{MIN_POSES} poses or more are needed; {done.warnings[0]}')
    approach = poses.approach
    if approach is not None:
        columns = dict(zip(poses.joint_names, approach[done.kept].T))
        approach = velocity_signs(done.loops, done.recording.q, columns)
    return _Samples(done.recording, approach, 1, done.warnings, done.loops)


def _free(layout: ParameterLayout, static: bool, loaded: _Samples, unloaded: bool) -> np.ndarray:
    """Return the mask of the model parameters that are fitted, (size,)."""
    free = np.full(layout.size, unloaded)
    if static:
        free[layout.inertial:] = False
        free[layout.each('offset')] = unloaded
        free[layout.each('coulomb')] = loaded.approach is not None
    else:
        for kind in ('viscous', 'coulomb', 'offset'):
            free[layout.each(kind)] = True
    return free & ~layout.known


def _equations(robot: Robot, layout: ParameterLayout, samples: _Samples, frame: str,
               free: np.ndarray, loaded: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, y) of a recording, (M, rows, unknowns) and (M, rows)."""
    body = robot.model.frame(frame).body
    to_body = np.array([body_inertia_rates(robot.model, {frame: unit})[body]
                        for unit in np.eye(10)]).T[:, np.r_[4:10, 0:4]]
    recording, found, largest = samples.recording, [], np.zeros(10)
    for part in segments(recording.time):
        for start in range(part.start, part.stop, CHUNK):
            at = slice(start, min(start + CHUNK, part.stop))
            q, v, a = recording.q[at], recording.v[at], recording.a[at]
            Y = parameter_regressor(robot, layout, q, v, a)
            if samples.approach is not None:
                joints = np.array(layout.dofs)
                columns = np.arange(layout.size)[layout.each('coulomb')]
                Y[:, joints, columns] = samples.approach[at][:, joints]
            load = Y[..., layout.of_body(body)] @ to_body if loaded else np.zeros((*v.shape, 10))
            largest = np.maximum(largest, np.abs(load).max(axis=(0, 1), initial=0.0))
            left = recording.tau[at] - robot.inverse_dynamics(q, v, a)
            rows = np.concatenate([Y[..., free], load, left[..., None]], axis=-1)
            found.append(decimate(project(samples.loops, q, rows), samples.factor))
    rows = np.concatenate(found)
    if len(rows) < MIN_POSES:
        raise DynamicsError('the recording is in pieces too short to filter; record without gaps')
    if samples.loops is not None:   # directions that the loops block are zero, not rounding
        of_load = rows[..., -11:-1]
        of_load[..., np.abs(of_load).max(axis=(0, 1)) < ROUNDING_SHARE * largest] = 0.0
    return rows[..., :-1], rows[..., -1]
