r"""Which equations do the torques of a robot with closed loops give?

The tree's own equation has the forces in the loops, which nothing measures:

    Y pi = tau + A' lambda.

They do no work on motions v = N v_I that keep the loops, A N = 0, and fall out:

    N' Y pi = N' tau,

one equation per independent joint (see loop_motion.py), in the unit of its torque. Joints without
a motor add nothing to the right side, and need no measured effort; their friction and the inertia
of what they carry are on the left. Where there are more motors than freedoms, some motors are
dependent joints, and only sums of torques tell.

A Recording of such a robot holds N' tau at the independent joints and zero elsewhere.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.loop_motion import LoopMotion
from dynamics_node.identification.parameters import (
    parameter_regressor,
    parameter_values,
    payload_parameters,
)

ENOUGH = 1000   # samples tell how far joints move


def has_loops(robot):
    """Return whether a robot has loops or joints without a motor: then a LoopMotion is needed."""
    return any(robot.loops)


def loop_motion_of(robot, near=None):
    """Return the LoopMotion of a robot, None if it has neither loops nor passive joints.

    :param near: (nq,) a configuration near which the loops are closed; None: the neutral one.
    """
    return LoopMotion(robot, near) if has_loops(robot) else None


def project(loops, q, x):
    """Return the rows' part of what each degree of freedom has: x, with loops N' x.

    :param loops: LoopMotion or None.
    :param x: (n, nv) or (n, nv, columns); returned is (n, k) or (n, k, columns).
    """
    if loops is None:
        return x
    across = loops.transmission(q).N.swapaxes(1, 2)
    return np.matmul(across, x) if x.ndim == 3 else np.matmul(across, x[..., None])[..., 0]


def row_regressor(robot, layout, loops, q, v, a):
    """Return the regressor of the rows: Y (n, nv, size), with loops N' Y (n, k, size).

    :param loops: LoopMotion or None.
    :param q, v, a: batches of states that keep the loops.
    """
    return project(loops, q, parameter_regressor(robot, layout, q, v, a))


def loop_torques(loops, torque, q, v, a):
    """Return the torques of the independent joints along a motion, zero at the others, (nv,).

    :param torque: f(q, v, a) of the tree.
    :param q, v, a: single states or batches; what they say of dependent joints is corrected.
    :raise DynamicsError: the loops cannot be closed near a state, or it is singular.
    """
    single = np.ndim(q) == 1
    q, v, a = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, v, a))
    q, converged, _ = loops.corrected(q)
    motion = loops.motion(q, v[:, loops.independent], a[:, loops.independent])
    bad = np.flatnonzero(~(converged & motion.clear))
    if len(bad):
        raise DynamicsError(f'state {bad[0]}: the loops cannot be closed near it, or it is a '
                            'singular configuration')
    result = np.zeros_like(motion.v)
    result[:, loops.independent] = np.einsum('nik,ni->nk', motion.N, torque(*motion[:3]))
    return result[0] if single else result


def joint_torques(loops, recording):
    """Return for each degree of freedom the torque that alone would explain that of a row, (nv,).

    The least of all rows: RMS of the row's torque over RMS of how far the joint moves with it.
    """
    some = recording.rows(slice(None, None, 1 + len(recording.time) // ENOUGH))
    moves = np.sqrt(np.mean(loops.transmission(some.q).N ** 2, axis=0))   # (nv, k)
    sizes = row_rms(recording.tau[:, loops.independent])
    with np.errstate(divide='ignore'):
        torque = (sizes / moves).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(torque), torque, sizes.max(initial=1e-6))


def row_rms(tau):
    """Return the RMS of each row of torques (N, rows), never quite zero.

    That of an independent joint without a motor would be: it gets the largest of the others.
    """
    sizes = np.sqrt(np.mean(tau ** 2, axis=0))
    return np.maximum(np.where(sizes > 0.0, sizes, sizes.max(initial=0.0)), 1e-6)


def known_values(robot, layout):
    """Return the parameters of what is carried, and those that Layout.known names, (size,)."""
    return np.where(layout.known, parameter_values(robot, layout),
                    payload_parameters(robot, layout))
