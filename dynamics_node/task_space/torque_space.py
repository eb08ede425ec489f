r"""Express the whole-body problem by the torques of the actuated joints, for a kernel.

The equations of motion and the constraints determine accelerations and forces x = (a, f):

    M a + h = S' u + A' f,   A a + gamma = 0   <=>   x = X u + x0.

Tasks and bounds become rows of u, and no equation is left in the QP: that of a quadruped with 30
unknowns and 18 equations becomes one with 12 unknowns, which is solved eight times as fast.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.algorithms.center_of_mass_motion import center_of_mass_motion
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import stabilised_gamma
from dynamics_node.constrained.world_kinematics import (
    WorldMotion,
    WorldPlacements,
    at_point,
    world_motions,
    world_placements,
)
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model
from dynamics_node.spatial.branchless_log import branchless_log
from dynamics_node.spatial.so3 import cross
from dynamics_node.spatial.solve import factor, first_half, second_half, solve_factored, symmetric
from dynamics_node.task_space.joint_limits import branchless_limits

# A task as a tuple of its kind and of what is constant in the program:
# ('frame', link, rows), ('center_of_mass', rows), ('posture', entries of q, entries of v),
# ('force', entries of f), ('torque', number of actuated joints).
Part = tuple


class TorqueSpace(NamedTuple):
    """Accelerations, forces and errors of the tasks by the torques u of the k actuated joints.

    (x, errors) = rows (u, 1):  x = X u + x0,  errors = A u - b.
    """

    rows: np.ndarray    # (nv + m + rows of the tasks, k + 1): X, x0 above A, -b
    limits: np.ndarray  # (2, n) least and greatest accelerations within the joint limits; (2, 1)
    #                     zeros if there are none


class DependentRows(DynamicsError):
    """The constraints do not determine their forces: x is not a function of the torques."""


def row_count(part: Part) -> int:
    """Return the number of rows of a part."""
    return part[1] if part[0] == 'torque' else len(part[-1])


def number_count(part: Part) -> int:
    """Return how many numbers a part reads at run time.

    'frame': a (6), stiffness, damping, position (3) and rotation matrix (9).
    'center_of_mass': a (3), stiffness, damping, position (3).
    'posture': a (n), stiffness, damping, position (n). 'force', 'torque': the value.
    a is the wanted acceleration + damping * the wanted velocity.
    """
    fixed = {'frame': 20, 'center_of_mass': 8}
    if part[0] in fixed:
        return fixed[part[0]]
    return 2 * row_count(part) + 2 if part[0] == 'posture' else row_count(part)


def torque_space(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
                 numbers: np.ndarray, stabilisation: Sequence[float], *rest: Any
                 ) -> tuple[np.ndarray, ...]:
    r"""Return the fields of TorqueSpace and the margin, positive where x is a function of u.

    With M = L' D L,  L' Y = A',  L' Z = S',  L' y = h  and  G = Y' D^-1 Y,

    f = -G^-1 (Y' D^-1 (Z u - y) + gamma),   a = L^-1 D^-1 (Z u - y + Y f).

    :param numbers: for all parts, see `number_count`; then for the n limited joints, in turn: lower
        and upper limits, greatest velocities, decelerations (n,), and the step.
    :param stabilisation: (alpha, beta) [1/s] of Baumgarte, zeros for none.
    :param rest: external wrenches (bodies, 6) if there are any; the parts; the actuated entries
        of v; the limited joints, a pair of their entries of q and v, or ().
    """
    *wrenches, parts, actuated, limited = rest
    nv = model.nv
    h = inverse_dynamics(model, q, v, np.zeros(nv), *wrenches)
    found = rows(model, q, v, constraints)
    gamma = stabilised_gamma(found, v, stabilisation)
    L, d = factor(mass_matrix(model, q))
    # columns: S', then -h
    Z = first_half(L, np.concatenate([np.eye(nv)[:, list(actuated)], -h[:, None]], axis=1))
    margin = pivot_margin(model, d)
    if len(gamma):
        Y = first_half(L, found.A.T)
        scaled = (Y / d[:, None]).T
        delassus = symmetric(scaled @ Y)
        factors = factor(delassus)
        error = scaled @ Z
        error[:, -1] = error[:, -1] + gamma
        f = -solve_factored(*factors, error)
        Z = Z + Y @ f
        margin = np.concatenate([margin, factors[1] - DEPENDENT * np.diag(delassus)])
    else:
        f = np.zeros((0, len(actuated) + 1))
    a = second_half(L, d, Z)
    x = np.concatenate([a, f])
    errors = _task_rows(model, q, v, numbers, parts, x)
    limits = _limits(q, v, numbers[sum(map(number_count, parts)):], limited)
    return np.concatenate([x, *errors]), limits, margin


def refused(*state: object) -> TorqueSpace:
    """Raise DependentRows: without a kernel whole_body.py solves the problem in (a, f) instead."""
    raise DependentRows('the constraint rows depend on each other, or a motion has no inertia')


def _task_rows(model: Model, q: np.ndarray, v: np.ndarray, numbers: np.ndarray,
               parts: Sequence[Part], x: np.ndarray) -> list[np.ndarray]:
    """Return (A, -b) of each part, (rows, k + 1); x (nv + m, k + 1) is (X, x0)."""
    placements = world_placements(model, q)
    motions = world_motions(model, q, v, placements)
    errors, first = [], 0
    for part in parts:
        own = numbers[first:first + number_count(part)]
        first += len(own)
        kind, n = part[0], row_count(part)
        if kind == 'torque':
            errors.append(np.concatenate([np.eye(n), -own[:, None]], axis=1))
            continue
        if kind == 'force':
            J, wanted = x[list(part[1])], own
        elif kind == 'posture':
            J = x[list(part[2])]
            wanted = _wanted(own, n, own[n + 2:] - q[list(part[1])], v[list(part[2])])
        elif kind == 'center_of_mass':
            motion = center_of_mass_motion(model, q, v)
            wanted = _wanted(own, 3, own[5:] - motion.position, motion.jacobian @ v)
            J = (motion.jacobian @ x[:model.nv])[list(part[1])]
            wanted = (wanted - motion.bias_acceleration)[list(part[1])]
        else:
            J, wanted = _frame(model, placements, motions, own, part[1])
            J, wanted = J[list(part[2])] @ x[:model.nv], wanted[list(part[2])]
        errors.append(np.concatenate([J[:, :-1], (J[:, -1] - wanted)[:, None]], axis=1))
    return errors


def _limits(q: np.ndarray, v: np.ndarray, own: np.ndarray, limited: tuple) -> np.ndarray:
    """Return joint_limits.acceleration_limits of the limited joints, (2, n), without branches."""
    if not limited:
        return np.zeros((2, 1))  # kernels have no empty results
    return np.array([branchless_limits(q[i], v[k], lower, upper, max_velocity, A, own[-1])
                     for i, k, lower, upper, max_velocity, A
                     in zip(*limited, *own[:-1].reshape(4, -1))]).T


def _wanted(own: np.ndarray, n: int, error: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return acceleration + stiffness error - damping velocity (Hutter 2017, eq. 3.90)."""
    return own[:n] + own[n] * error - own[n + 1] * velocity


def _frame(model: Model, placements: WorldPlacements, motions: Sequence[WorldMotion],
           own: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the Jacobian (6, nv) of a link in world axes, linear first, and J a of the task."""
    where = model.frame(link)
    pose = placements.poses[where.body] @ where.pose
    on_path = set(path_to(model, where.body))
    columns = [np.zeros(6) for _ in range(model.nv)]
    for k, (body, entry) in enumerate(placements.which):
        if body in on_path:
            turn = placements.turn[:, k]
            linear = placements.slide[:, k] + cross(turn, pose.p - placements.origin[:, k])
            columns[entry] = columns[entry] + np.concatenate([linear, turn])
    motion = at_point(motions[where.body], pose.p - placements.poses[where.body].p)
    error = np.concatenate([own[8:11] - pose.p,
                            branchless_log(own[11:20].reshape(3, 3) @ pose.R.T)])
    wanted = _wanted(own, 6, error, np.concatenate([motion.v, motion.w]))
    return np.array(columns).T, wanted - np.concatenate([motion.acc, motion.alpha])
