"""Which configuration comes next, on the way to where some frames shall be?

One step of Newton's method with Levenberg's damping, of a robot with limits. It is arithmetic
without a branch, so that it can be compiled as it stands: one iteration is one call of a kernel.

What is wanted of the frames comes in parts, ((frame, kind), ...); each has its numbers in `goal`:
the target, a weight, and 1 / tolerance^2 (see target.py, which makes them).
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.jacobian import pose_and_jacobian
from dynamics_node.spatial import so3
from dynamics_node.spatial.branchless_log import branchless_log, shortest_turn
from dynamics_node.spatial.select import clipped, is_positive, larger
from dynamics_node.spatial.so3 import cross
from dynamics_node.spatial.solve import factor, solve_factored

# Numbers in `goal` of each kind: a position; a rotation matrix row by row; an axis in the frame,
# one normal to it, and the direction in the world. Then the weight and 1 / tolerance^2.
SIZES = {'position': 3 + 2, 'orientation': 9 + 2, 'axis': 9 + 2}
# Of lambda, as a share of the trace of A A': far below what it is, far above its rounding.
LEAST_DAMPING = 1e-12
LONGEST = 2.0          # what a step tends to that would be longer [rad or m]


class NewtonStep(NamedTuple):
    """What one iteration says: the errors are those before the step."""

    q: np.ndarray         # (nq,) the next configuration, within the limits
    miss: np.ndarray      # () the largest (error / tolerance)^2 of any part; solved below 1
    cost: np.ndarray      # () sum of (weight x error)^2
    slope: np.ndarray     # () |gradient of cost / 2| squared, along the joints that are free
    errors: np.ndarray    # (parts,) error of each part, squared [m^2 or rad^2]


def goal_size(parts):
    """Return how many numbers say what is wanted of some parts."""
    return sum(SIZES[kind] for _, kind in parts)


def newton_step(model, q, goal, limits, caution, parts):
    r"""Return the Step from q.

    dq = A' (A A' + lambda 1)^-1 e,   lambda = caution |e|^2 + LEAST_DAMPING trace A A',

    with the weighted errors e (m,) and their Jacobian A (m, nv): eq. 2.195, for which Sugihara
    (2011) takes a damping that fades with the error, so that the end is quadratic. A joint at a
    limit that the gradient A' e would push further is left out (Bertsekas 1982); where a joint
    would pass its limit it stops there.

    :param limits: lowest and highest q, (2 nq,), finite; those of free bodies are not looked at.
    :param caution: (1,) of the order of 1; the larger, the shorter are steps from afar.
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


def _errors(model, q, goal, parts):
    """Return lists (error (k,), its rows (k, nv), weight, 1 / tolerance^2) of all parts."""
    found, first = [], 0
    for frame, kind in parts:
        numbers = goal[first:first + SIZES[kind]]
        pose, J = pose_and_jacobian(model, q, frame)
        error, rows, _ = error_and_rows(pose, J, kind, numbers)
        found.append((error, rows, *numbers[-2:]))
        first += SIZES[kind]
    return tuple(zip(*found))


def error_and_rows(pose, J, kind, numbers):
    """Return (error (k,), rows of J (k, nv), axes of both in the frame (k, 3)).

    :param J: Jacobian of the frame in its own axes; rows v is the rate at which the error fades.
    :param numbers: the target, as `goal` has it.
    """
    if kind == 'position':    # r* - r (eq. 2.238)
        return pose.R.T @ (numbers[:3] - pose.p), J[:3], np.eye(3)
    three = np.array(numbers[:9]).reshape(3, 3)
    if kind == 'orientation':  # the proper rotation error, the turn R' R* (eq. 2.235, 2.239)
        return branchless_log(pose.R.T @ three), J[3:], np.eye(3)
    axis, across, direction = three
    axes = np.array([across, cross(axis, across)])  # a turn about the axis is no error
    return axes @ shortest_turn(axis, pose.R.T @ direction, across), axes @ J[3:], axes


def _free(model, q, gradient, lower, upper):
    """Return 0 for each velocity that is at a limit and pushed against it, else 1, (nv,)."""
    free = [1.0] * model.nv
    for joint in model.joints:
        if joint.kind != 'floating':
            for k, i in zip(range(joint.v.start, joint.v.stop), range(model.nq)[joint.q]):
                down, up = is_positive(-gradient[k]), is_positive(gradient[k])
                free[k] = 1.0 - ((1.0 - is_positive(q[i] - lower[i])) * down
                                 + (1.0 - is_positive(upper[i] - q[i])) * up)
    return np.array(free)


def _damped(A, e, gradient, damping):
    """Return A' (A A' + lambda)^-1 e = (A'A + lambda)^-1 A' e, by whichever matrix is smaller."""
    m, n = A.shape
    square = A @ A.T if m <= n else A.T @ A
    damping = damping + LEAST_DAMPING * (sum(np.diag(square)) + 1.0)
    factors = factor(square + damping * np.eye(min(m, n)))
    return A.T @ solve_factored(*factors, e) if m <= n else solve_factored(*factors, gradient)


def _moved(model, q, step, lower, upper):
    """Return the configuration after a step, within the limits; a free body's turn by Cayley's map.

    (1, w/2) over its length is the quaternion of w to second order, which is all a step knows.
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
