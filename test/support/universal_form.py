"""Compute constrained dynamics in maximal coordinates, as an oracle: Pan's universal form.

    [ -I  C ] [ a   ]   [ f_p ]
    [ C'  0 ] [ eta ] = [ c_a ]

Every body is free, every joint is a constraint like the loops, and a prescribed acceleration is one
more. There is no tree, no recursion and no joint coordinate: a second path, which shares with the
first only the equations of a single body and of a single row.
Float only: it solves by numpy.linalg, in O((bodies + constraints)^3).
Pan, lecture on the equations of dynamics, Shanghai Jiao Tong University.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.constrained.classification import Classification
from dynamics_node.constrained.row_decomposition import RANK, null_space, rank_of
from dynamics_node.constrained.rows import rows
from dynamics_node.model.joints import Floating
from dynamics_node.model.model import WORLD, Body, JointInfo
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Ad_inv

# What is left of the equations is no solution where it is more than this beside their right side.
SOLVED = 1e-8
# Singular values below this share of the largest are zero to the least-squares solver.
ZERO = 1e-12


class UniversalSolution(NamedTuple):
    """The motion of all bodies and the forces of all constraints, seen as joints see them."""

    a: np.ndarray              # (nv,) joint accelerations
    tau: np.ndarray            # (nv,) torques, those found for prescribed joints among them
    multipliers: np.ndarray    # lambda (m,) of the loops, in the order of their rows
    accelerations: np.ndarray  # (bodies, 6) rates of the body twists, (linear, angular)
    reactions: np.ndarray      # (bodies, 6) what each joint's bearing does to its body,
                               # (moment, force) at the body's origin in its axes
    classification: Classification
    failure: int               # 0, or 1 or 2: see `classification.FAILURES`


def universal_form(model, q, v, a, tau, given, constraints, wrenches=None):
    """Return the UniversalSolution; arguments as of `constrained_hybrid_dynamics`.

    With nothing given it is forward dynamics (Pan's problem 8), with the acceleration of every
    actuated joint given inverse dynamics (problem 7).
    """
    given = np.asarray(given, dtype=bool)
    motion = forward_recursion(model, q, v)
    free = free_bodies(model)
    state = _state_of_free_bodies(model, motion)
    E = [_relative(model, motion.T, i) for i in range(len(model.bodies))]
    coordinate, drift = _joint_coordinates(model, motion, E)

    friction = friction_torque(model, v)
    drive = np.where(given, 0.0, tau) - friction
    inertia = mass_matrix(free, state[0]) + coordinate.T @ (model.armature[:, None] * coordinate)
    at_rest = np.zeros(free.nv)
    f_p = (inverse_dynamics(free, *state, at_rest, wrenches)
           - coordinate.T @ (drive + model.armature * drift))

    bearings = _bearings(model, motion, E)
    loops = _loops(model, free, state, constraints, coordinate, drift)
    motors = coordinate[given], drift[given] + np.asarray(a, dtype=float)[given]
    Ct, c_a = (np.concatenate(parts) for parts in zip(*bearings, loops, motors))
    found, eta, classification, failure = _solved(inertia, Ct, f_p, c_a)

    ends = np.cumsum([len(c) for _, c in (*bearings, loops)])
    parts = np.split(eta, ends)
    torque = np.array(tau, dtype=float)
    torque[given] = parts[-1]
    joint_rows = zip(bearings[:len(model.bodies)], parts)
    reactions = [_TO_TWIST @ (Ct_i[:, 6 * i:6 * i + 6].T @ part)
                 for i, ((Ct_i, _), part) in enumerate(joint_rows)]
    return UniversalSolution(coordinate @ found - drift, torque, parts[-2], found.reshape(-1, 6),
                   np.reshape(reactions, (-1, 6)), classification, failure)


def free_bodies(model):
    """Return the robot taken apart: the same bodies and frames, each body free, nv = 6 bodies."""
    bodies, joints = [], []
    for i, body in enumerate(model.bodies):
        place = {'q': slice(7 * i, 7 * i + 7), 'v': slice(6 * i, 6 * i + 6)}
        bodies.append(Body(body.name, body.name, Floating(), WORLD, se3.IDENTITY, body.inertia,
                           **place))
        joints.append(JointInfo(body.name, 'floating', **place))
    nothing = np.zeros(6 * len(bodies))
    return model.with_(bodies=tuple(bodies), joints=tuple(joints), damping=nothing,
                       friction=nothing, armature=nothing, inertia_scale=nothing + 1.0)


# A floating joint's velocity is (linear, angular), a twist (angular, linear).
_TO_TWIST = np.roll(np.eye(6), 3, axis=0)


def _state_of_free_bodies(model, motion):
    """Return (q, v) of `free_bodies` for the robot in motion."""
    q = [[*pose.p, *so3.to_quaternion(pose.R)] for pose in body_poses(model, motion.T)[:-1]]
    return np.ravel(q), np.ravel([_TO_TWIST.T @ V for V in motion.V[:-1]])


def _relative(model, T, i):
    """Return E with E a = dV_i/dt - Ad_{T^-1} dV_parent/dt, what the joint sees, (6, 6 bodies)."""
    E, parent = np.zeros((6, 6 * len(model.bodies))), model.bodies[i].parent
    E[:, 6 * i:6 * i + 6] = _TO_TWIST
    if parent != WORLD:
        E[:, 6 * parent:6 * parent + 6] = -Ad_inv(T[i], _TO_TWIST)
    return E


def _joint_coordinates(model, motion, E):
    """Return (Y, drift): the joints accelerate by Y a - drift, (nv, 6 bodies) and (nv,).

    A coordinate that mimics share is read from the first of its joints.
    """
    Y, drift = np.zeros((model.nv, 6 * len(model.bodies))), np.zeros(model.nv)
    for i in reversed(range(len(model.bodies))):
        inverse = np.linalg.pinv(motion.S[i])
        Y[model.bodies[i].v], drift[model.bodies[i].v] = inverse @ E[i], inverse @ motion.eta[i]
    return Y, drift


def _bearings(model, motion, E):
    """Return (rows, right side) of every joint, then of every mimic joint's gear."""
    bearings, gears, first = [], [], {}
    for i, body in enumerate(model.bodies):
        across = null_space(motion.S[i].T).T
        bearings.append((across @ E[i], across @ motion.eta[i]))
        leader = first.setdefault(body.v.start, i)
        if leader != i:
            mine, its = np.linalg.pinv(motion.S[i]), np.linalg.pinv(motion.S[leader])
            gears.append((mine @ E[i] - its @ E[leader],
                          mine @ motion.eta[i] - its @ motion.eta[leader]))
    return bearings + gears


def _loops(model, free, state, constraints, coordinate, drift):
    """Return (rows, right side) of the loops over free bodies, in the order of their rows."""
    blocks = [(np.zeros((0, free.nv)), np.zeros(0))]
    for constraint in constraints:
        if constraint.kind == 'coupling':
            i, j = (model.joint(name).v.start for name in constraint.joints)
            blocks.append(((coordinate[i] - constraint.ratio * coordinate[j])[None],
                           np.array([drift[i] - constraint.ratio * drift[j]])))
        else:
            found = rows(free, *state, (constraint,))
            blocks.append((found.A, -found.gamma))
    return tuple(np.concatenate(parts) for parts in zip(*blocks))


def _solved(inertia, Ct, f_p, c_a):
    """Return (a, eta, Classification, failure) of the universal form.

    Where it is singular, the solution of least squares and least norm.
    """
    n, m = Ct.shape
    matrix = np.block([[-inertia, Ct.T], [Ct, np.zeros((n, n))]])
    right = np.concatenate([f_p, c_a])
    rank = rank_of(np.linalg.svd(_at_unit_length(Ct), compute_uv=False))
    try:
        solution = np.linalg.solve(matrix, right) if rank == n else None
    except np.linalg.LinAlgError:
        solution = None
    if solution is None:
        solution = np.linalg.lstsq(matrix, right, rcond=ZERO)[0]
    return (solution[:m], solution[m:], Classification(n, rank, m),
            _failure(matrix, Ct, solution, right, c_a))


def _failure(matrix, Ct, solution, right, c_a):
    """Return 0 where the equations are solved, else which of the two conditions is why."""
    if _solves(Ct, np.linalg.lstsq(Ct, c_a, rcond=ZERO)[0], c_a):
        return 0 if _solves(matrix, solution, right) else 2
    return 1


def _solves(matrix, x, right):
    size = np.abs(matrix) @ np.abs(x) + np.abs(right)
    return np.abs(matrix @ x - right).max(initial=0.0) <= SOLVED * size.max(initial=1.0)


def _at_unit_length(rows_):
    length = np.linalg.norm(rows_, axis=1, keepdims=True)
    return rows_ / np.where(length > RANK * length.max(initial=0.0), length, np.inf)
