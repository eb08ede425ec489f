"""Find joints whose torque residual indicates a coupling with another joint.

Friction of a motor that moves with two joints acts on both, with the sign of the sum of their
velocities: see coupled_motors.py. A model with friction of joints alone leaves a residual that
follows the sign of the velocity of the other joint. Link dynamics have no such term.
"""

import numpy as np

from dynamics_node.identification.friction_law import smoothed_sign
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.noise import correlation_time
from dynamics_node.identification.parameters import joint_columns
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import residuals
from dynamics_node.robot.robot import Robot

SAMPLES = 50_000     # at most, from the middle of the recording
BLOCK = 0.05         # [s] residuals are averaged over it, since their noise is fast
MIN_BLOCKS = 50
EXPLAINED = 0.3      # share of the squared residual that another joint's sign must explain
SIGNIFICANT = 4.0    # standard deviations of its coefficient


def coupling_warnings(robot: Robot, base: BaseParameters, recording: Recording,
                      values: np.ndarray) -> tuple[str, ...]:
    """Return a warning for each pair of joints that seem to be coupled.

    :param values: (b,) base parameters of the unconstrained fit. With loops nothing is checked.
    """
    found = [] if base.loops is not None else coupled_pairs(robot, base, recording, values)
    return tuple(f'{joint} and {other} seem to be coupled by a gear: the torque residual of '
                 f'{joint} follows the sign of the velocity of {other}. Give the transmission: '
                 'else friction and armature of both are wrong' for joint, other in found)


def coupled_pairs(robot: Robot, base: BaseParameters, recording: Recording,
                  values: np.ndarray) -> list[tuple[str, str]]:
    """Return pairs of (joint, the other joint whose sign explains its residual best), each once."""
    first = max(0, len(recording.time) - SAMPLES) // 2
    some = recording.rows(slice(first, first + SAMPLES))
    size = max(1, round(BLOCK / float(np.median(np.diff(some.time)))))
    if len(some.time) < MIN_BLOCKS * size:
        return []
    (left,) = residuals(robot, base, some, values)
    left, signs = _means(left, size), _means(
        smoothed_sign(base.layout.friction_speed, some.v), size)
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for row, j in enumerate(np.arange(robot.nv)[base.rows]):
        joint = robot.dof_names[j]
        own = _means(joint_columns(base.layout._replace(load=None), j, some.v[:, j],
                                   some.a[:, j]), size)
        shares = [0.0 if k == j else _explained(own, left[:, row], signs[:, k])
                  for k in range(robot.nv)]
        if max(shares) > EXPLAINED:
            other = robot.dof_names[int(np.argmax(shares))]
            pairs.setdefault(frozenset((joint, other)), (joint, other))
    return list(pairs.values())


def _means(x: np.ndarray, size: int) -> np.ndarray:
    """Return the means over blocks of `size` rows."""
    count = len(x) // size
    return x[:count * size].reshape(count, size, -1).mean(axis=1)


def _explained(own: np.ndarray, left: np.ndarray, sign: np.ndarray) -> float:
    """Return the share of the squared residual that `sign` explains, 0 if not significant."""
    Q = np.linalg.qr(own)[0]
    left, sign = left - Q @ (Q.T @ left), sign - Q @ (Q.T @ sign)
    squares = sign @ sign
    if not squares > 0.0 or not left @ left > 0.0:
        return 0.0
    coefficient = sign @ left / squares
    rest = left - coefficient * sign
    sigma = np.sqrt(np.mean(rest ** 2) * correlation_time(rest) / squares)
    share = 1.0 - rest @ rest / (left @ left)
    return share if abs(coefficient) > SIGNIFICANT * sigma else 0.0
