"""Find joints whose friction or torque offset changes during a recording.

A gear that warms up loses friction: the residual of a fit with constant friction then follows the
friction of the joint, more at the beginning and less at the end. An offset that changes is that of
a sensor or a cable. The change is taken as linear in time, or as e^(-t / T) with T of a grid;
whichever explains more is named.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.friction_law import smoothed_sign
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.noise import correlation_time
from dynamics_node.identification.parameters import joint_columns
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import residuals
from dynamics_node.robot.robot import Robot

SAMPLES = 20_000       # at most, evenly over the recording
MIN_DURATION = 30.0    # [s] in less time, no joint changes its temperature much
TIME_CONSTANTS = (0.1, 0.2, 0.4)   # of the duration; slower ones look linear
EXPLAINED = 0.2        # share of the squared residual that the drift must explain
SIGNIFICANT = 20.0     # F statistic, of independent samples
FRICTION, OFFSET = 'friction', 'torque offset'


class Drift(NamedTuple):
    """A change over a recording."""

    joint: str
    of: str                        # FRICTION or OFFSET
    change: float                  # end minus beginning, at the RMS speed of the joint [N m or N]
    time_constant: float | None    # [s]; None: linear in time
    share: float                   # of the squared residual that it explains


def drift_warnings(robot: Robot, base: BaseParameters, recording: Recording,
                   values: np.ndarray) -> tuple[str, ...]:
    """Return a warning for each joint that drifts.

    :param values: (b,) base parameters of the unconstrained fit. With loops nothing is checked.
    """
    found = [] if base.loops is not None else drifts(robot, base, recording, values)
    duration = float(recording.time[-1] - recording.time[0])
    return tuple(_text(drift, duration) for drift in found)


def _text(drift: Drift, duration: float) -> str:
    how = ('steadily' if drift.time_constant is None else
           f'with a time constant of about {drift.time_constant:.2g} s')
    why = ('as with a joint that warms up or cools: record it in the state in which it works'
           if drift.of == FRICTION else 'as with a sensor or a cable')
    return (f'the {drift.of} of {drift.joint} changes by {drift.change:+.2g} N m or N within '
            f'{duration:.3g} s, {how}, which explains {drift.share:.0%} of its squared residual: '
            f'{why}')


def drifts(robot: Robot, base: BaseParameters, recording: Recording,
           values: np.ndarray) -> list[Drift]:
    """Return the Drifts of a robot without loops."""
    some = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    duration = float(some.time[-1] - some.time[0])
    if duration < MIN_DURATION:
        return []
    (left,) = residuals(robot, base, some, values)
    share = (some.time - some.time[0]) / duration
    shapes: dict[float | None, np.ndarray] = {None: share}
    shapes.update((T * duration, np.exp(-share / T)) for T in TIME_CONSTANTS)
    found = []
    for row, k in enumerate(np.arange(robot.nv)[base.rows]):
        joint, v = robot.dof_names[k], some.v[:, k]
        own = joint_columns(base.layout._replace(load=None), k, v, some.a[:, k])
        sign = smoothed_sign(base.layout.laws[k].friction_speed, v)
        speed = float(np.sqrt(np.mean(v ** 2)))
        best = max((_fitted(joint, of, T, g, columns, sizes, own, left[:, row])
                    for T, g in shapes.items() for of, columns, sizes in (
                        (FRICTION, (sign, v), (1.0, speed)), (OFFSET, (np.ones_like(v),), (1.0,)))),
                   key=lambda drift: drift.share)
        if best.share > EXPLAINED:
            found.append(best)
    return found


def _fitted(joint: str, of: str, T: float | None, g: np.ndarray, columns: Sequence[np.ndarray],
            sizes: Sequence[float], own: np.ndarray, left: np.ndarray) -> Drift:
    """Return the Drift of one shape g(t), of share zero if it is not significant.

    :param columns: what the drift multiplies; sizes: their values at the RMS speed.
    """
    Q = np.linalg.qr(own)[0]
    A = np.stack([g * column for column in columns], axis=-1)
    A, left = A - Q @ (Q.T @ A), left - Q @ (Q.T @ left)
    x, *_ = np.linalg.lstsq(A, left, rcond=None)
    rest = left - A @ x
    squares = left @ left
    share = 1.0 - rest @ rest / squares if squares > 0.0 else 0.0
    free = len(left) / correlation_time(rest) - len(x) - own.shape[1]
    significant = free > 0.0 and share * free > SIGNIFICANT * len(x) * (1.0 - share)
    change = float(np.dot(x, sizes) * (g[-1] - g[0]))
    return Drift(joint, of, change, T, float(share) if significant else 0.0)
