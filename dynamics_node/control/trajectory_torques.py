"""Compute the torques of a trajectory, their margins, first saturation and greatest payload."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.checks import check_times, finite, flag
from dynamics_node.control.closed_trajectory import motor_efforts
from dynamics_node.errors import DynamicsError
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

PROBE = 1e3              # [kg] so heavy that rounding is negligible in the difference of torques
LEAST_EFFECT = 1e-9      # [N m/kg] a smaller effect of a payload on a joint is rounding


class TrajectoryTorques(NamedTuple):
    """Torques along a trajectory of N samples, against the effort limits."""

    effort: np.ndarray             # of each sample, (N, nv) [N m or N]
    effort_limit: np.ndarray       # of |effort|, nan = unknown, (nv,)
    peak: np.ndarray               # greatest |effort|, (nv,)
    margin: np.ndarray             # limit - peak: negative = exceeded, nan = unknown, (nv,)
    first_saturated: int           # the dof that first exceeds its limit, -1 = none
    first_saturation_time: float   # [s], nan = never
    greatest_payload: float        # [kg], nan = not requested, inf = no limit binds


def trajectory_torques(robot: Robot, times: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                       effort_limits: ArrayLike | None = None, payload_frame: str = '',
                       payload_com: ArrayLike = (0.0, 0.0, 0.0),
                       closed: bool = False) -> TrajectoryTorques:
    """Return the TrajectoryTorques of a motion: at its samples, not between them.

    The effort is  tau = M a + C v + g + friction.  With an additional point mass m it is
    tau + m d,  d = J' (acceleration of the point - gravity)  for each sample and dof. So the
    greatest payload is  min (limit - sign(d) tau) / |d|  over samples and dofs with a known
    limit. It is 0 where a limit is exceeded already, even if a payload would relieve that joint.

    :param times: (N,), strictly increasing [s].
    :param q, v, a: (N, nq), (N, nv), (N, nv); a single state applies to all samples.
    :param effort_limits: (nv,), positive, nan = unknown [N m or N]; None: those of the URDF,
        one per joint, hence the same for each dof of a planar or floating one.
    :param payload_frame: frame of an additional payload; '': none.
    :param payload_com: position of the point mass in that frame, (3,) [m].
    :param closed: True: efforts of the motors of a robot with loops, for a motion that keeps
        them, as in `closed_trajectory.closed_motion`; False: efforts of the open tree.
    :raise DynamicsError: an argument is invalid; the message names it, the place and what is valid.
    """
    arguments.check_robot(robot)
    times = check_times(times)
    states = _states(robot, times, q, v, a)
    limit = _effort_limit(robot, effort_limits)
    closed = flag('closed', closed)
    effort = _efforts(robot, states, closed)
    peak = np.abs(effort).max(axis=0)
    dof, time = _first_saturation(times, effort, limit)
    payload = np.nan
    if not (isinstance(payload_frame, str) and payload_frame == ''):
        payload = _greatest_payload(
            effort, limit,
            _per_kilogram(robot, states, closed, effort, payload_frame, payload_com))
    return TrajectoryTorques(effort, limit, peak, limit - peak, dof, time, payload)


def _states(robot: Robot, times: np.ndarray, q: ArrayLike, v: ArrayLike, a: ArrayLike
            ) -> list[np.ndarray]:
    """Return q, v, a, one row for each time."""
    states = {name: checks.check_array(name, value, size) for name, value, size in (
        ('q', q, robot.nq), ('v', v, robot.nv), ('a', a, robot.nv))}
    checks.batch_size({'times': times[:, None], **states})
    return [np.broadcast_to(state, (len(times), state.shape[-1])) for state in states.values()]


def _effort_limit(robot: Robot, effort_limits: ArrayLike | None) -> np.ndarray:
    if effort_limits is None:
        return robot.model.max_effort
    limit = np.array(checks.check_floats('effort_limits', effort_limits, robot.nv))
    for k, name in enumerate(robot.dof_names):
        if limit[k] <= 0.0:
            raise DynamicsError(f"effort_limits[{k}], of '{name}', is {limit[k]}; expected a "
                                'positive number, or nan where it is unknown')
    return limit


def _first_saturation(times: np.ndarray, effort: np.ndarray, limit: np.ndarray
                      ) -> tuple[int, float]:
    """Return (dof, time) of the first effort beyond its limit; of several, the worst in ratio."""
    exceeded = np.abs(effort) > limit  # never, where it is unknown
    rows = np.flatnonzero(exceeded.any(axis=1))
    if rows.size == 0:
        return -1, np.nan
    first = rows[0]
    ratio = np.where(exceeded[first], np.abs(effort[first]) / limit, 0.0)
    return int(ratio.argmax()), float(times[first])


def _efforts(robot: Robot, states: Sequence[np.ndarray], closed: bool) -> np.ndarray:
    q, v, a = states
    return motor_efforts(robot, q, v, a) if closed else robot.inverse_dynamics(q, v, a)


def _per_kilogram(robot: Robot, states: Sequence[np.ndarray], closed: bool, effort: np.ndarray,
                  frame: str, com: ArrayLike) -> np.ndarray:
    """Return d, the additional effort per kilogram at the payload's point, (N, nv)."""
    com = finite('payload_com', com, (3,))
    name = 'probe' + ''.join(robot.payloads)  # longer than any other name: replaces none
    loaded = robot.with_payload(name, frame, PROBE, com)
    return (_efforts(loaded, states, closed) - effort) / PROBE


def _greatest_payload(effort: np.ndarray, limit: np.ndarray, d: np.ndarray) -> float:
    if (np.abs(effort) > limit).any():
        return 0.0
    bounded = ~np.isnan(limit) & (np.abs(d) > LEAST_EFFECT)
    room = limit - np.sign(d) * effort
    return float(np.min(room[bounded] / np.abs(d[bounded]), initial=np.inf))
