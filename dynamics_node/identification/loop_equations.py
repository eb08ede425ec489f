r"""Project the identification equations of a robot with closed loops onto its motions.

The equation of the tree contains the unmeasured forces in the loops:

    Y pi = tau + A' lambda.

They do no work on motions v = N v_I that satisfy the loop constraints, A N = 0, and cancel:

    N' Y pi = N' tau,

one equation per independent joint (see loop_motion.py), in the unit of its torque. Passive joints
add nothing to the right side and need no measured effort; their friction and the inertia of their
links are on the left. With more motors than degrees of freedom some motors are dependent joints,
and only sums of torques are used.

A Recording of such a robot has N' tau at the independent joints and zero elsewhere.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.parameters import (
    ParameterLayout,
    parameter_regressor,
    parameter_values,
    payload_parameters,
)
from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

SAMPLES = 1000  # for the mean motion of joints


def has_loops(robot: Robot) -> bool:
    """Return whether a robot has loops or passive joints, and needs a LoopMotion."""
    return any(robot.loops)


def loop_motion_of(robot: Robot) -> LoopMotion | None:
    """Return the LoopMotion of a robot, None if it has neither loops nor passive joints."""
    return LoopMotion(robot) if has_loops(robot) else None


def project(loops: LoopMotion | None, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return N' x of a robot with loops, else x itself.

    :param loops: LoopMotion or None.
    :param x: (n, nv) or (n, nv, columns); returned is (n, k) or (n, k, columns).
    """
    if loops is None:
        return x
    across = loops.transmission(q).N.swapaxes(1, 2)
    return np.matmul(across, x) if x.ndim == 3 else np.matmul(across, x[..., None])[..., 0]


def row_regressor(robot: Robot, layout: ParameterLayout, loops: LoopMotion | None,
                  q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the regressor of the rows: Y (n, nv, size), with loops N' Y (n, k, size).

    :param loops: LoopMotion or None.
    :param q, v, a: batches of states that satisfy the loop constraints.
    """
    return project(loops, q, parameter_regressor(robot, layout, q, v, a))


def loop_torques(loops: LoopMotion, torque: Callable[..., np.ndarray], q: ArrayLike, v: ArrayLike,
                 a: ArrayLike) -> np.ndarray:
    """Return the torques of the independent joints along a motion, zero at the others, (nv,).

    :param torque: f(q, v, a) of the tree.
    :param q, v, a: single states or batches; the entries of dependent joints are corrected.
    :raise DynamicsError: the loops cannot be closed near a state, or it is singular.
    """
    single = np.ndim(q) == 1
    q, v, a = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, v, a))
    q, converged, _ = loops.close_loops(q)
    motion = loops.motion(q, v[:, loops.independent], a[:, loops.independent])
    bad = np.flatnonzero(~(converged & motion.regular))
    if len(bad):
        raise DynamicsError(f'state {bad[0]}: the loops cannot be closed near it, or it is a '
                            'singular configuration')
    result = np.zeros_like(motion.v)
    result[:, loops.independent] = np.einsum('nik,ni->nk', motion.N, torque(*motion[:3]))
    return result[0] if single else result


def joint_torques(loops: LoopMotion, recording: Recording) -> np.ndarray:
    """Return the torque of each degree of freedom that alone would explain that of a row, (nv,).

    The least of all rows: RMS of the torque of the row over RMS of the transmission to the joint.
    """
    some = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    moves = np.sqrt(np.mean(loops.transmission(some.q).N ** 2, axis=0))   # (nv, k)
    sizes = row_rms(recording.tau[:, loops.independent])
    with np.errstate(divide='ignore'):
        torque = (sizes / moves).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(torque), torque, sizes.max(initial=1e-6))


def row_rms(tau: np.ndarray) -> np.ndarray:
    """Return the RMS of each column of torques (N, rows), at least 1e-6.

    An independent joint without a motor has no torque: it gets the largest RMS of the others.
    """
    sizes = np.sqrt(np.mean(tau ** 2, axis=0))
    return np.maximum(np.where(sizes > 0.0, sizes, sizes.max(initial=0.0)), 1e-6)


def known_values(robot: Robot, layout: ParameterLayout) -> np.ndarray:
    """Return the parameters of payloads, and those of ParameterLayout.known, (size,)."""
    return np.where(layout.known, parameter_values(robot, layout),
                    payload_parameters(robot, layout))
