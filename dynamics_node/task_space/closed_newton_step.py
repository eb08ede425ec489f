r"""Compute one step of inverse kinematics that keeps loops closed, of one state or a batch.

With the constraint matrix A of the loops, P = 1 - A^+ A projects velocities on those that keep the
loops closed. In place of the rows J of the errors e of the targets, `newton_step` then has J P:

    dq = P J' (J P J' + lambda 1)^-1 e.

The loops are closed again after the step, by Newton's method with the smallest motion of all
joints, -A^+ residual. Where that fails the step is halved. No choice of coordinates is needed, so
that the search passes configurations in which the motors do not determine the motion. Redundant
constraint rows are permitted. Float only: ranks are counted by singular values.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dynamics_node.constrained.constraint import holonomic_rows
from dynamics_node.model.configuration import integrate
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.stacks import times, transposed
from dynamics_node.task_space.newton_step import LEAST_DAMPING, SIZES, NewtonStep, error_and_rows
from dynamics_node.task_space.robot_methods import RobotWithFrames

CLOSED = 1e-10     # greatest residual of a closed loop [m or rad]
REDUNDANT = 1e-9   # of the largest singular value of A, rows at unit length: less is zero
LONGEST = 0.5      # length that long steps are limited to, smoothly: farther away the loops may
#                    close on another branch [rad or m]
SHORTEST = 1 / 64  # share of a step below which it is not tried
NEWTON = 10        # iterations that close the loops


class ClosedNewtonStep:
    """The function `newton_step` of a robot with loops: see there for arguments and result.

    A configuration whose loops are open has an infinite cost; the step then closes them.
    """

    def __init__(self, robot: RobotWithFrames, parts: Sequence[tuple[str, str]]) -> None:
        """Take ((frame, kind), ...) of the parts of the targets."""
        self._robot, self._model, self._parts = robot, robot.model, tuple(parts)
        self._holonomic = holonomic_rows(self._model.loops[0])
        joints = [joint for joint in self._model.joints if joint.kind != 'floating']
        nq, nv = range(self._model.nq), range(self._model.nv)
        self._v = np.array([k for joint in joints for k in nv[joint.v]], dtype=int)
        self._q = np.array([i for joint in joints for i in nq[joint.q]], dtype=int)

    def __call__(self, q: np.ndarray, goal: np.ndarray, limits: np.ndarray,
                 caution: np.ndarray) -> NewtonStep:
        """Return the NewtonStep from q (nq,), or those from q (N, nq)."""
        if q.ndim == 2:
            return self._steps(q, goal, limits, caution)
        found = self._steps(q[None], goal[None], limits[None], caution[None])
        return NewtonStep(*(part[0] for part in found))

    def _steps(self, q: np.ndarray, goal: np.ndarray, limits: np.ndarray, caution: np.ndarray
               ) -> NewtonStep:
        ranges = limits[:, :self._model.nq], limits[:, self._model.nq:]
        gap, _, A = self._rows(q)
        is_open = gap > CLOSED
        e, J, squares, miss = self._errors(q, goal)
        cost = np.sum(e * e, axis=1)
        gradient, P = self._within(q, ranges, A, lambda P, _: times(P @ transposed(J), e))
        step = _damped(J @ P, e, caution[:, 0] * cost)
        step /= np.sqrt(1.0 + np.sum(step * step, axis=1) / LONGEST ** 2)[:, None]
        step[is_open] = 0.0
        cost, miss = (np.where(is_open, np.inf, x) for x in (cost, miss))
        return NewtonStep(self._moved(q, step, ranges, is_open), miss, cost,
                          np.sum(gradient * gradient, axis=1), squares)

    def _errors(self, q: np.ndarray, goal: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return weighted errors (N, m) and rows (N, m, nv), squares (N, parts), miss (N,)."""
        frames = {frame for frame, _ in self._parts}
        poses = {frame: self._robot.frame_pose(q, frame) for frame in frames}
        jacobians = {frame: self._robot.jacobian(q, frame, True) for frame in frames}
        errors, rows, squares, ratios, first = [], [], [], [], 0
        for frame, kind in self._parts:
            numbers = goal[:, first:first + SIZES[kind]]
            first += SIZES[kind]
            found = [error_and_rows(Pose(T[:3, :3], T[:3, 3]), J, kind, each)[:2]
                     for T, J, each in zip(poses[frame], jacobians[frame], numbers)]
            error, row = (np.array(parts) for parts in zip(*found))
            weight, inverse_tolerance = numbers[:, -2], numbers[:, -1]
            squares.append(np.sum(error * error, axis=1))
            ratios.append(squares[-1] * inverse_tolerance)
            errors.append(weight[:, None] * error)
            rows.append(weight[:, None, None] * row)
        return (np.concatenate(errors, axis=1), np.concatenate(rows, axis=1),
                np.stack(squares, axis=1), np.max(ratios, axis=0))

    # Loops -----------------------------------------------------------------------------------

    def _rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the greatest residual (N,); residual (N, m) and A (N, m, nv) at unit length.

        Rows that restrict velocities alone are left out: every configuration satisfies them.
        """
        residual, A, _ = self._robot.constraint_rows(q, np.zeros((len(q), self._model.nv)))
        residual, A = residual[:, self._holonomic], A[:, self._holonomic]
        length = np.linalg.norm(A, axis=2)
        length = np.where(length > 0.0, length, 1.0)
        return (np.abs(residual).max(axis=1, initial=0.0), residual / length,
                A / length[..., None])

    def _moved(self, q: np.ndarray, step: np.ndarray, ranges: Sequence[np.ndarray],
               is_open: np.ndarray) -> np.ndarray:
        """Return the configurations after the longest part of each step that can be closed."""
        result, todo, share = q.copy(), np.arange(len(q)), 1.0
        while len(todo) and share >= SHORTEST:
            trial = self._limited(self._integrated(q[todo], share * step[todo]),
                                  [limit[todo] for limit in ranges])
            trial, closed = self._closed(trial, [limit[todo] for limit in ranges])
            done = closed | is_open[todo]  # a configuration that was open is nearer to closed
            result[todo[done]] = trial[done]
            todo, share = todo[~done], share / 2.0
        return result

    def _closed(self, q: np.ndarray, ranges: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return (configurations with loops closed, whether they are (N,))."""
        for _ in range(NEWTON):
            gap, residual, A = self._rows(q)
            closed = gap <= CLOSED
            if closed.all():
                break
            step, _ = self._within(q, ranges, A, partial(_closing, residual))
            size = np.abs(step).max(axis=1, initial=0.0)
            step *= (LONGEST / np.maximum(size, LONGEST))[:, None]
            q = np.where(closed[:, None], q, self._limited(self._integrated(q, step), ranges))
        return q, closed

    def _within(self, q: np.ndarray, ranges: Sequence[np.ndarray], A: np.ndarray,
                direction_of: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return (direction, P) without the joints at a limit that it would exceed.

        :param direction_of: f(P, A^+) -> (N, nv).
        """
        free = np.ones((len(q), self._model.nv))
        lower, upper = (limit[:, self._q] for limit in ranges)
        while True:
            P, inverse = _projector(A * free[:, None], free)
            direction = direction_of(P, inverse) * free  # exactly zero where not free
            along, at = direction[:, self._v], q[:, self._q]
            stopped = ((at <= lower) & (along < 0.0)) | ((at >= upper) & (along > 0.0))
            if not stopped.any():
                return direction, P
            free[:, self._v] *= ~stopped

    def _limited(self, q: np.ndarray, ranges: Sequence[np.ndarray]) -> np.ndarray:
        """Return q within the limits; limits of floating joints are not read."""
        q[:, self._q] = np.clip(q[:, self._q], *(limit[:, self._q] for limit in ranges))
        return q

    def _integrated(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the configurations after unit time at v, (N, nq)."""
        return np.array([integrate(self._model, *state) for state in zip(q, v)]).reshape(q.shape)


def _projector(A: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P = 1 - A^+ A (N, nv, nv) of the free joints, and A^+ (N, nv, m)."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > REDUNDANT * s.max(axis=1, initial=0.0)[:, None]
    V = transposed(Vt) * kept[:, None]
    inverse = V / np.where(kept, s, 1.0)[:, None] @ transposed(U)
    return np.eye(A.shape[2]) * free[:, None] - V @ transposed(V), inverse


def _damped(A: np.ndarray, e: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Return A' (A A' + lambda 1)^-1 e, (N, nv)."""
    square = A @ transposed(A)
    damping = damping + LEAST_DAMPING * (1.0 + np.trace(square, axis1=1, axis2=2))
    square = square + damping[:, None, None] * np.eye(A.shape[1])
    return times(transposed(A), np.linalg.solve(square, e[..., None])[..., 0])


def _closing(residual: np.ndarray, P: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return the smallest motion that closes the loops, to first order, (N, nv)."""
    return -times(inverse, residual)
