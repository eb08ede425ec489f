"""What was measured while the robot moved?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.checks import check_kind, check_names
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.robot.arguments import check_robot


class Recording(NamedTuple):
    """A motion and its torques, ready for a regressor: what `filtering.smooth` returns.

    Each row stands for itself. Rows follow in time, with longer steps where samples were missing.
    Of a robot with loops all states keep them, and tau is what loop_equations.py says: see
    `loop_recording.completed`.
    """

    joint_names: tuple    # of the columns below: the one-axis joints of the robot, in its order
    time: np.ndarray      # (N,) [s]
    q: np.ndarray         # (N, nv) [rad or m]; (N, nq) of a robot with loops
    v: np.ndarray         # (N, nv) [rad/s or m/s]
    a: np.ndarray         # (N, nv) [rad/s^2 or m/s^2]
    tau: np.ndarray       # (N, nv) measured torques [N m or N]

    def rows(self, choice):
        """Return some of the samples: a slice, a mask or indices."""
        return self._replace(time=self.time[choice], q=self.q[choice], v=self.v[choice],
                             a=self.a[choice], tau=self.tau[choice])


class RawRecording(NamedTuple):
    """What a driver said: positions and torques, perhaps velocities. NaN where it said nothing."""

    joint_names: tuple           # of the columns below, in any order, joints of a gripper included
    time: np.ndarray             # (N,) [s], from any origin
    q: np.ndarray                # (N, joints) [rad or m]
    v: np.ndarray | None         # (N, joints), or None where nobody measured them
    tau: np.ndarray              # (N, joints) [N m or N]

    def rows(self, choice):
        """Return some of the samples: a slice, a mask or indices."""
        v = None if self.v is None else self.v[choice]
        return self._replace(time=self.time[choice], q=self.q[choice], v=v, tau=self.tau[choice])

    def joints(self, names):
        """Return the columns of some joints, in the order of their names."""
        columns = [self.joint_names.index(name) for name in names]
        v = None if self.v is None else self.v[:, columns]
        return RawRecording(tuple(names), self.time, self.q[:, columns], v, self.tau[:, columns])


def raw_recording(joint_names, time, q, tau, v=None):
    """Return the RawRecording of some arrays, after a look at their shapes.

    :raise DynamicsError: which argument has what wrong.
    """
    names = check_names('joint_names', joint_names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        raise DynamicsError(f'joint_names has {twice} twice' if twice else 'joint_names is empty')
    time = _numbers('time', time)
    if time.ndim != 1:
        raise DynamicsError(f'time has shape {time.shape}; expected (N,), one number per sample')
    arrays = {'q': q, 'tau': tau} if v is None else {'q': q, 'v': v, 'tau': tau}
    arrays = {name: _numbers(name, value) for name, value in arrays.items()}
    for name, value in arrays.items():
        if value.shape != (time.size, len(names)):
            raise DynamicsError(f'{name} has shape {value.shape}; expected ({time.size}, '
                                f'{len(names)}): a row per sample of time, a column per joint')
    return RawRecording(names, time, arrays['q'], arrays.get('v'), arrays['tau'])


def select_joints(robot, raw):
    """Return the recording with the robot's joints alone, in the robot's order.

    Joints without a motor (`passive` in the list of loops) may be missing where loops say where
    they are; where they were recorded, their effort is zero, whatever was measured.

    :raise DynamicsError: which joints were not recorded, and what was; or which joint of the
        robot has more than one axis.
    """
    check_one_axis(robot)
    check_kind('the recording', raw, (RawRecording, Recording))
    motors = motor_names(robot)
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
    raw = RawRecording(raw.joint_names, raw.time, raw.q, raw.v, raw.tau).joints(names)
    raw.tau[:, [name not in motors for name in names]] = 0.0
    return raw


def motor_names(robot):
    """Return the names of the joints that have a motor: all that the loops do not call passive."""
    return tuple(joint.name for joint in robot.model.joints
                 if joint.kind != 'floating' and joint.name not in robot.loops.passive)


def check_one_axis(robot):
    """Refuse a robot with planar or floating joints: q is a column per joint here.

    With loops there may be some, without a motor: see loop_motion.py.
    """
    joints = check_robot(robot).model.joints
    wide = [joint.name for joint in joints if joint.kind in ('planar', 'floating')]
    if wide and not robot.loops.constraints:
        raise DynamicsError(f'the robot has joints of more than one axis, {wide}: identification '
                            "takes one-axis joints; read the URDF with base='fixed', or lock them")


def _numbers(name, value):
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiubO':  # else text and complex numbers would slip through
            raise TypeError(array.dtype)
        return array.astype(float, copy=False)
    except Exception as error:  # an object may raise anything when NumPy reads it
        raise DynamicsError(f'{name} is {shown(value)}; expected an array of numbers') from error
