"""Compute one step of inverse kinematics: Newton's method with Levenberg damping and limits.

Arithmetic without branches, so that it can be compiled: one iteration is one kernel call.

The targets consist of parts, ((frame, kind), ...); each has its numbers in `goal`: the target, a
weight, and 1 / tolerance^2 (see target.py).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.jacobian import pose_and_jacobian
from dynamics_node.model.model import Model
from dynamics_node.spatial import so3
from dynamics_node.spatial.branchless_log import branchless_log, shortest_rotation
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number, clipped, is_positive, larger
from dynamics_node.spatial.so3 import cross
from dynamics_node.spatial.solve import factor, solve_factored

# Numbers in `goal` of each kind: a position; a rotation matrix row by row; an axis in the frame,
# one normal to it, and the direction in the world. Then the weight and 1 / tolerance^2.
SIZES = {'position': 3 + 2, 'orientation': 9 + 2, 'axis': 9 + 2}
# Least lambda as a share of 1 + trace A A', well above its rounding.
LEAST_DAMPING = 1e-12
LONGEST = 2.0          # length that long steps are limited to, smoothly [rad or m]


class NewtonStep(NamedTuple):
    """The result of one iteration; errors are those before the step."""

    q: np.ndarray         # (nq,) the next configuration, within the limits
    miss: np.ndarray      # () the largest (error / tolerance)^2 of all parts; solved if <= 1
    cost: np.ndarray      # () sum of (weight x error)^2
    slope: np.ndarray     # () |gradient of cost / 2| squared, along the joints that are free
    errors: np.ndarray    # (parts,) error of each part, squared [m^2 or rad^2]


def goal_size(parts: Sequence[tuple[str, str]]) -> int:
    """Return the size of `goal` for some parts."""
    return sum(SIZES[kind] for _, kind in parts)


def newton_step(model: Model, q: np.ndarray, goal: np.ndarray, limits: np.ndarray,
                caution: np.ndarray, parts: Sequence[tuple[str, str]]) -> NewtonStep:
    r"""Return the NewtonStep from q.

    dq = A' (A A' + lambda 1)^-1 e,   lambda = caution |e|^2 + LEAST_DAMPING (1 + trace A A'),

    with the weighted errors e (m,) and their Jacobian A (m, nv): Hutter 2017, eq. 2.195, with the
    damping of Sugihara 2011, which vanishes with the error, so that convergence is quadratic. A
    joint at a limit with a gradient A' e beyond it is left out (Bertsekas 1982); a joint that would
    exceed its limit stops there.

    :param limits: lower and upper limits of q, (2 nq,), finite; ignored for floating joints.
    :param caution: (1,) of the order of 1; larger values shorten steps at large errors.
    """
    e, A, weights, tolerances = _errors(model, q, goal, parts)
    squares = [part @ part for part in e]
    miss = squares[0] * tolerances[0]
    for square, tolerance in zip(squares[1:], tolerances[1:]):
        miss = larger(miss, square * tolerance)
    e = np.concatenate([weight * part for weight, part in zip(weights, e)])
    A = np.concatenate([weight * part for weight, part in zip(weights, A)])
    lower, upper = limits[:model.nq], limits[model.nq:]
    free = _free(model, q, A.T @ e, lower, upper)
    A = A * free
    gradient = A.T @ e
    cost = e @ e
    step = _damped(A, e, gradient, caution[0] * cost)
    step = step / np.sqrt(1.0 + step @ step / LONGEST ** 2)
    return NewtonStep(_moved(model, q, step, lower, upper), np.asarray(miss), np.asarray(cost),
                      np.asarray(gradient @ gradient), np.array(squares))


def _errors(model: Model, q: np.ndarray, goal: np.ndarray, parts: Sequence[tuple[str, str]]
            ) -> Iterable[tuple]:
    """Return lists (error (k,), its rows (k, nv), weight, 1 / tolerance^2) of all parts."""
    found, first = [], 0
    for frame, kind in parts:
        numbers = goal[first:first + SIZES[kind]]
        pose, J = pose_and_jacobian(model, q, frame)
        error, rows, _ = error_and_rows(pose, J, kind, numbers)
        found.append((error, rows, *numbers[-2:]))
        first += SIZES[kind]
    return tuple(zip(*found))


def error_and_rows(pose: Pose, J: np.ndarray, kind: str,
                   numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (error (k,), rows of J (k, nv), axes of both in the frame (k, 3)).

    :param J: Jacobian of the frame in its own axes; rows v is the rate of decrease of the error.
    :param numbers: the target, as in `goal`.
    """
    if kind == 'position':    # r* - r (Hutter 2017, eq. 2.238)
        return pose.R.T @ (numbers[:3] - pose.p), J[:3], np.eye(3)
    three = np.array(numbers[:9]).reshape(3, 3)
    if kind == 'orientation':  # log(R' R*) (eq. 2.235, 2.239)
        return branchless_log(pose.R.T @ three), J[3:], np.eye(3)
    axis, across, direction = three
    axes = np.array([across, cross(axis, across)])  # rotation about the axis is not an error
    return axes @ shortest_rotation(axis, pose.R.T @ direction, across), axes @ J[3:], axes


def _free(model: Model, q: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray
          ) -> np.ndarray:
    """Return 0 for each velocity at a limit whose gradient points beyond it, else 1, (nv,)."""
    free = [1.0] * model.nv
    for joint in model.joints:
        if joint.kind != 'floating':
            for k, i in zip(range(joint.v.start, joint.v.stop), range(model.nq)[joint.q]):
                down, up = is_positive(-gradient[k]), is_positive(gradient[k])
                free[k] = 1.0 - ((1.0 - is_positive(q[i] - lower[i])) * down
                                 + (1.0 - is_positive(upper[i] - q[i])) * up)
    return np.array(free)


def _damped(A: np.ndarray, e: np.ndarray, gradient: np.ndarray, damping: Number) -> np.ndarray:
    """Return A' (A A' + lambda)^-1 e = (A'A + lambda)^-1 A' e, by the smaller matrix."""
    m, n = A.shape
    square = A @ A.T if m <= n else A.T @ A
    damping = damping + LEAST_DAMPING * (sum(np.diag(square)) + 1.0)
    factors = factor(square + damping * np.eye(min(m, n)))
    return A.T @ solve_factored(*factors, e) if m <= n else solve_factored(*factors, gradient)


def _moved(model: Model, q: np.ndarray, step: np.ndarray, lower: np.ndarray, upper: np.ndarray
           ) -> np.ndarray:
    """Return the configuration after a step, within the limits; rotations by the Cayley map.

    (w/2, 1) over its length is the quaternion of w to second order, enough for a Newton step.
    """
    moved = list(q)
    for joint in model.joints:
        if joint.kind == 'floating':
            at, linear, w = q[joint.q], step[joint.v][:3], step[joint.v][3:]
            turned = so3.quaternion_product(at[3:], np.array([*(0.5 * w), 1.0]))
            moved[joint.q] = [*(at[:3] + so3.from_quaternion(at[3:]) @ linear),
                              *turned / np.sqrt(turned @ turned)]
        else:
            moved[joint.q] = [clipped(x + dx, low, high) for x, dx, low, high in zip(
                q[joint.q], step[joint.v], lower[joint.q], upper[joint.q])]
    return np.array(moved)
