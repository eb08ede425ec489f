"""Check a trajectory against limits before it becomes the reference."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import LARGEST, flag, positive
from dynamics_node.control.torque_terms import TURN, turning_dofs
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

BLEND_TIME = 0.2       # [s]
MAX_START_ERROR = 0.1  # [rad or m]: removed within BLEND_TIME at 0.9 rad/s and 14 rad/s^2
ROUNDING = 1e-6        # [rad or m]: limits and points are written with about six digits
OVERSHOOT = 1.1        # times the speed limit: a spline exceeds it between points at the limit


class ReferenceLimits(NamedTuple):
    """The limits of all references of a robot, (n,) each; inf or nan where there is none."""

    names: tuple[str, ...]                   # of the joints, for messages
    lower: np.ndarray                        # [rad or m]
    upper: np.ndarray
    max_velocity: np.ndarray                 # [rad/s or m/s]
    turning: np.ndarray                      # indices of the joints that turn without end
    blend_time: float = BLEND_TIME           # [s]
    max_start_error: float = MAX_START_ERROR

    @classmethod
    def of(cls, robot: Robot, blend_time: float = BLEND_TIME,
           max_start_error: float = MAX_START_ERROR, limits: bool = True) -> 'ReferenceLimits':
        """Return the limits of a robot without floating joints.

        :param blend_time: over which one motion fades into the next, and a motion that does not
            end at rest is stopped, above zero [s].
        :param max_start_error: greatest distance between the present reference and the start of a
            trajectory that starts sooner than blend_time; zero or positive, inf for any [rad or m].
        :param limits: whether the URDF's limits of position and velocity apply.
        :raise DynamicsError: an argument is wrong, or there is a floating joint: its quaternion
            cannot be interpolated number by number.
        """
        arguments.check_robot(robot)
        if robot.nq != robot.nv:
            raise DynamicsError('the robot has a floating joint, whose quaternion a joint '
                                'reference cannot interpolate. Mode gravity needs no reference; '
                                '~/task_control moves a floating base')
        if not (isinstance(max_start_error, (int, float)) and (
                0.0 <= max_start_error <= LARGEST or max_start_error == np.inf)):
            raise DynamicsError(f'max_start_error is {shown(max_start_error)}; expected zero, a '
                                'positive number or inf')
        lower, upper, velocity = (_limits(robot) if flag('limits', limits)
                                  else _no_limits(robot.nv))
        return cls(robot.dof_names, lower, upper, velocity, turning_dofs(robot),
                   positive('blend_time', blend_time), float(max_start_error))

    def whole_turns(self, joints: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """Return the whole turns in an offset of joints that turn without end, (k,) [rad]."""
        free = np.isin(joints, self.turning)
        return np.where(free, TURN * np.round(offset / TURN), 0.0)

    def check_start(self, joints: np.ndarray, error: np.ndarray) -> None:
        """Refuse a motion that starts too far from the present reference at that time."""
        k = int(np.abs(error).argmax())
        if abs(error[k]) > self.max_start_error:
            raise DynamicsError(
                f"joint '{self.names[joints[k]]}' would start {error[k]:+.4g} off the present "
                f'reference, more than {self.max_start_error:g}; expected a trajectory that starts '
                f'there, or at least {self.blend_time:g} s before its first point')

    def check_limits(self, joints: np.ndarray,
                     samples: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
        """Refuse a motion beyond the limits; a motion that begins beyond them may return.

        :param samples: in blocks: times from now (T, m), positions and velocities (T, m, k). The
            first time is zero.
        """
        allowed = None
        for times, q, v in samples:
            if allowed is None:
                allowed = self._allowed(joints, q[0], v[0])
            lower, upper, fastest = allowed
            self._refuse('at', joints, times, q, lower, upper)
            self._refuse('moving with', joints, times, v, -fastest, fastest)

    def _allowed(self, joints: np.ndarray, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        """Return the allowed positions and speed of a motion that begins with q, v, (m, k)."""
        fastest = np.fmax(OVERSHOOT * self.max_velocity[joints], np.abs(v[0]))
        fastest[np.isnan(self.max_velocity[joints])] = np.inf
        limits = (np.minimum(self.lower[joints], q[0]) - ROUNDING,
                  np.maximum(self.upper[joints], q[0]) + ROUNDING, fastest)
        return [np.tile(limit, (len(q), 1)) for limit in limits]   # NumPy broadcasts rows slowly

    def _refuse(self, what: str, joints: np.ndarray, times: np.ndarray, values: np.ndarray,
                lower: np.ndarray, upper: np.ndarray) -> None:
        wrong = (values < lower) | (values > upper)
        if wrong.any():
            row, column, k = np.argwhere(wrong)[0]
            raise DynamicsError(f"joint '{self.names[joints[k]]}' would be {what} "
                                f'{values[row, column, k]:.6g} in {times[row, column]:.3g} s; the '
                                f'limits are [{lower[0, k]:.6g}, {upper[0, k]:.6g}]')


def _limits(robot: Robot) -> np.ndarray:
    """Return lower, upper and max_velocity for each degree of freedom, (3, nv)."""
    limits = np.array(_no_limits(robot.nv))
    for joint in robot.model.joints:
        limits[:, joint.v] = [[joint.lower], [joint.upper], [joint.max_velocity]]
    return limits


def _no_limits(nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.full(nv, -np.inf), np.full(nv, np.inf), np.full(nv, np.nan)
