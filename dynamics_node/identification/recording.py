"""Define recordings of motions: raw from a driver, and filtered for identification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_kind, check_names, floats
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot

PAUSE = 5.0   # [s] between two samples: a longer time is a pause between recordings, not a gap


class Recording(NamedTuple):
    """A filtered motion and its torques, as `filtering.smooth` returns it.

    Rows are in the order of time, with longer steps where samples are missing. With loops all
    states satisfy the loop constraints, and tau is that of loop_equations.py: see
    `loop_recording.complete_recording`.
    """

    joint_names: tuple[str, ...]   # of the columns: the one-axis joints of the robot, in its order
    time: np.ndarray      # (N,) [s]
    q: np.ndarray         # (N, nv) [rad or m]; (N, nq) of a robot with loops
    v: np.ndarray         # (N, nv) [rad/s or m/s]
    a: np.ndarray         # (N, nv) [rad/s^2 or m/s^2]
    tau: np.ndarray       # (N, nv) measured torques [N m or N]
    no_effort: tuple[str, ...] = ()   # joints whose tau is unknown, 0 here, and not used

    @property
    def with_effort(self) -> np.ndarray:
        """Indices of the columns whose tau is used."""
        return np.flatnonzero([name not in self.no_effort for name in self.joint_names])

    def rows(self, index: slice | np.ndarray) -> Recording:
        """Return some of the samples: a slice, a mask or indices."""
        return self._replace(time=self.time[index], q=self.q[index], v=self.v[index],
                             a=self.a[index], tau=self.tau[index])


class RawRecording(NamedTuple):
    """Positions, torques and perhaps velocities from a driver; NaN where it has no value."""

    joint_names: tuple[str, ...]   # of the columns, in any order, joints of a gripper included
    time: np.ndarray             # (N,) [s], from any origin
    q: np.ndarray                # (N, joints) [rad or m]
    v: np.ndarray | None         # (N, joints) [rad/s or m/s], or None if not measured
    tau: np.ndarray              # (N, joints) [N m or N]
    currents: tuple[str, ...] = ()   # joints whose tau is a current [A]: see motor_side.py
    notes: tuple[str, ...] = ()      # what was left out when a file was read
    no_effort: tuple[str, ...] = ()  # joints whose tau is unknown: see `without_missing_efforts`

    def rows(self, index: slice | np.ndarray) -> RawRecording:
        """Return some of the samples: a slice, a mask or indices."""
        v = None if self.v is None else self.v[index]
        return self._replace(time=self.time[index], q=self.q[index], v=v, tau=self.tau[index])

    def joints(self, names: Sequence[str]) -> RawRecording:
        """Return the columns of some joints, in the order of `names`."""
        columns = [self.joint_names.index(name) for name in names]
        v = None if self.v is None else self.v[:, columns]
        return self._replace(joint_names=tuple(names), q=self.q[:, columns], v=v,
                             tau=self.tau[:, columns],
                             currents=tuple(name for name in self.currents if name in names),
                             no_effort=tuple(n for n in self.no_effort if n in names))


def raw_recording(joint_names: Sequence[str], time: ArrayLike, q: ArrayLike, tau: ArrayLike,
                  v: ArrayLike | None = None) -> RawRecording:
    """Return the RawRecording of arrays, after a check of their shapes.

    :param time: (N,) [s]; q, tau, v: (N, joints), in SI units.
    :raise DynamicsError: names the argument and the expected shape.
    """
    names = check_names('joint_names', joint_names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        raise DynamicsError(f'joint_names has {twice} twice' if twice else 'joint_names is empty')
    stamps = floats('time', time)
    if stamps.ndim != 1:
        raise DynamicsError(f'time has shape {stamps.shape}; expected (N,), one number per sample')
    given = {'q': q, 'tau': tau} if v is None else {'q': q, 'v': v, 'tau': tau}
    arrays = {name: floats(name, value) for name, value in given.items()}
    for name, value in arrays.items():
        if value.shape != (stamps.size, len(names)):
            raise DynamicsError(f'{name} has shape {value.shape}; expected ({stamps.size}, '
                                f'{len(names)}): a row per sample of time, a column per joint')
    return RawRecording(names, stamps, arrays['q'], arrays.get('v'), arrays['tau'])


def recorded_steps(time: np.ndarray) -> np.ndarray:
    """Return the times between samples, without pauses between recordings, (steps,) [s]."""
    steps = np.diff(time)
    return steps[steps < PAUSE]


def select_joints(robot: Robot, raw: RawRecording | Recording) -> RawRecording:
    """Return the recording with only the joints of the robot, in its order.

    With loops, joints without a motor (`passive` in the list of loops) may be missing; if recorded,
    their effort is set to zero.

    :raise DynamicsError: joints of the robot are missing, or a joint has more than one axis.
    """
    check_one_axis(robot)
    check_kind('the recording', raw, (RawRecording, Recording))
    motors = motor_names(robot)
    if isinstance(raw, Recording):
        raw = RawRecording(raw.joint_names, raw.time, raw.q, raw.v, raw.tau,
                           no_effort=raw.no_effort)
    raw = named_joints(robot, raw)
    missing = [name for name in (motors if robot.loops.constraints else robot.joint_names)
               if name not in raw.joint_names]
    if missing:
        raise DynamicsError(
            f'the recording lacks the joints {missing} of the robot; it has '
            f'{list(raw.joint_names)}. Record them too, or lock them when the URDF is read')
    measured = {name for name, q in zip(raw.joint_names, np.asarray(raw.q).T)
                if name in motors or not robot.loops.constraints or np.isfinite(q).any()}
    names = tuple(joint.name for joint in robot.model.joints
                  if joint.name in measured and joint.kind not in ('planar', 'floating'))
    raw = raw.joints(names)
    raw.tau[:, [name not in motors for name in names]] = 0.0
    return raw._replace(currents=tuple(name for name in raw.currents if name in motors))


def without_missing_efforts(robot: Robot, raw: RawRecording) -> RawRecording:
    """Return the recording with the joints without any effort in `no_effort`, and their tau zero.

    Their motion is used, their equations are not. With loops, or if no joint has an effort, the
    recording is returned as it is.
    """
    never = ~np.isfinite(raw.tau).any(axis=0)
    if any(robot.loops) or never.all() or not never.any():
        return raw
    return raw._replace(tau=np.where(never, 0.0, raw.tau), no_effort=tuple(
        name for name, missing in zip(raw.joint_names, never) if missing))


def without_springs(robot: Robot, recording: Recording) -> Recording:
    """Return the recording of a robot without loops, the torques of its springs subtracted."""
    if not robot.springs:
        return recording
    return recording._replace(
        tau=recording.tau - robot.spring_torque(recording.q, recording.v))


def named_joints(robot: Robot, raw: RawRecording) -> RawRecording:
    """Return the recording with names for numbered joints (columns q1, q2, ...).

    They are the motors of the robot, in its order, if there are as many.
    """
    motors = motor_names(robot)
    numbers = [int(name) for name in raw.joint_names if name.isdecimal()]
    if len(numbers) < len(raw.joint_names) or sorted(numbers) not in (
            list(range(len(motors))), list(range(1, len(motors) + 1))):
        return raw
    named = raw.joints([raw.joint_names[k] for k in np.argsort(numbers)])
    names = dict(zip(named.joint_names, motors))
    return named._replace(joint_names=motors, currents=tuple(names[n] for n in raw.currents))


def motor_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of the joints with a motor: all that are not declared as passive."""
    return tuple(joint.name for joint in robot.model.joints
                 if joint.kind != 'floating' and joint.name not in robot.loops.passive)


def check_one_axis(robot: Robot) -> None:
    """Refuse a robot with planar or floating joints: a recording has one column per joint.

    With loops they are permitted if they have no motor: see loop_motion.py.
    """
    joints = check_robot(robot).model.joints
    wide = [joint.name for joint in joints if joint.kind in ('planar', 'floating')]
    if wide and not robot.loops.constraints:
        raise DynamicsError(f'the robot has joints of more than one axis, {wide}, but recordings '
                            "have one column per joint; read the URDF with base='fixed', or lock "
                            'them')
