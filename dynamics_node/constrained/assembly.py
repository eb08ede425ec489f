"""Project states onto the constraints: damped Newton steps in the mass metric (float only)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.checks import finite, positive
from dynamics_node.constrained.constraint import Constraint, size, validate
from dynamics_node.constrained.rows import constraint_matrix, residual
from dynamics_node.constrained.world_kinematics import world_placements
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import integrate
from dynamics_node.model.model import JointInfo, Model, frame_of
from dynamics_node.spatial import so3
from dynamics_node.spatial.se3 import Pose

# Singular values of A below this share of the largest count as redundant rows.
REDUNDANT = 1e-11
# Levenberg damping where the residual is 1 or more, as a share of the largest singular value
# squared. It falls with |residual|^2, so convergence stays quadratic even where the constraints are
# redundant on the manifold but not next to it (Yamashita and Fukushima 2001).
DAMPING = 1e-3
LONGEST_STEP = 1.0    # of one coordinate: the linearisation is not valid further [rad or m]
SHORTEST_STEP = 1e-4  # fraction of a step below which the line search stops
STUCK = 1e-9          # share of |residual| by which a step must reduce it to be accepted
NUDGES, NUDGE = 3, 0.02  # count and size of random steps away from a point where no step helps
TRACE = 1e-8          # share of inertia_scale that replaces a zero inertia
ROUNDING = 16 * np.finfo(float).eps  # of a residual, relative to the largest coordinate
SHOWN = 5             # constraints in an error message


def project_configuration(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
                          tolerance: float = 1e-12, max_steps: int = 50, fixed: Sequence[str] = (),
                          limits: bool = True) -> np.ndarray:
    """Return a configuration near q that satisfies the constraints and the joint limits, (nq,).

    Each step is the smallest in kinetic energy, so heavy links hardly move; a joint at its limit
    stops, and the other joints compensate. A contact without anchor stays where it is at q.

    :param tolerance: tolerance of every row of the residual [m or rad]; at least the rounding of q.
    :param fixed: names of joints that must not move.
    :param limits: whether to respect the joint limits.
    :raise DynamicsError: none was found; the message names the violated constraints, their
        residuals, and the joints at their limits.
    """
    q = _configuration(model, q)
    tolerance = max(positive('tolerance', tolerance), ROUNDING * np.abs(q).max(initial=0.0))
    constraints = anchored(model, q, constraints)
    bounds = _limits(model, [model.joint(name) for name in fixed], limits)
    q = np.clip(q, bounds.lower, bounds.upper)
    nudges = [*np.random.default_rng(0).normal(size=(NUDGES, model.nv)) * (NUDGE * bounds.free)]
    r = residual(model, q, constraints, angle_of_rotation)
    for _ in range(max_steps):
        if np.abs(r).max(initial=0.0) <= tolerance:
            break
        step = _step(model, q, constraints, r, bounds)
        q, r, better = _best_part(model, q, step, constraints, r, bounds)
        if not better and nudges:  # for example at the singularity of a stretched arm
            q = np.clip(integrate(model, q, nudges.pop()), bounds.lower, bounds.upper)
            r = residual(model, q, constraints, angle_of_rotation)
        elif not better:
            break
    _check_kept(model, q, constraints, r, tolerance, bounds)
    return q


def project_velocity(model: Model, q: np.ndarray, v: np.ndarray,
                     constraints: Sequence[Constraint]) -> np.ndarray:
    """Return the velocity nearest to v in kinetic energy that satisfies A v = 0, (nv,).

    It minimises (x - v)' M (x - v) with A x = 0: x = v - M^-1 A' (A M^-1 A')^+ A v.
    """
    q, v = _configuration(model, q), finite('v', v, (model.nv,))
    constraints = tuple(constraints)
    validate(model, constraints)
    A = constraint_matrix(model, q, constraints)
    return v + _smallest_step(A, _metric(model, q), A @ v, 0.0)


def anchored(model: Model, q: np.ndarray,
             constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Return the constraints, with each contact without anchor anchored where it is at q.

    Frame 1's closure has the axes of `to` and the origin of frame 2; frame 2's closure has the same
    axes, so that all residuals are zero.
    """
    constraints = tuple(constraints)
    validate(model, constraints)
    poses = world_placements(model, q).poses
    return tuple(_anchored(model, poses, constraint) if constraint.is_unanchored else constraint
                 for constraint in constraints)


def _anchored(model: Model, poses: list[Pose], constraint: Constraint) -> Constraint:
    one, two = frame_of(model, constraint.to), model.frame(constraint.frame)
    to = poses[one.body] @ one.pose
    link = poses[two.body] @ two.pose
    point = link @ constraint.placement
    return replace(constraint,
                   to_pose=(*to.inverse().R @ (point.p - to.p), 0.0, 0.0, 0.0, 1.0),
                   pose=(*constraint.placement.p, *so3.to_quaternion(link.R.T @ to.R)))


def _configuration(model: Model, q: np.ndarray) -> np.ndarray:
    """Return q as floats, quaternions of length one, (nq,)."""
    return integrate(model, finite('q', q, (model.nq,)), np.zeros(model.nv))


class _JointLimits(NamedTuple):
    """Limits of the joints, and which joints are free to move."""

    free: np.ndarray     # (nv,) whether it may move at all
    lower: np.ndarray    # (nq,)
    upper: np.ndarray    # (nq,)
    q_entry: np.ndarray  # (nv,) the entry of q that an entry of v moves alone, or -1

    def in_the_way(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return which entries of v are at their limit and would exceed it, (nv,)."""
        alone, k = self.q_entry >= 0, self.q_entry
        return alone & (((q[k] <= self.lower[k]) & (step < 0.0))
                        | ((q[k] >= self.upper[k]) & (step > 0.0)))


def _limits(model: Model, fixed: Sequence[JointInfo], count: bool) -> _JointLimits:
    free, q_entry = np.ones(model.nv, dtype=bool), np.full(model.nv, -1)
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for joint in model.joints:
        if joint in fixed:
            free[joint.v] = False
        elif count and joint.kind != 'floating':
            q_entry[joint.v] = range(model.nq)[joint.q]
            lower[joint.q], upper[joint.q] = joint.lower, joint.upper
    return _JointLimits(free, lower, upper, q_entry)


def _step(model: Model, q: np.ndarray, constraints: Sequence[Constraint], r: np.ndarray,
          limits: _JointLimits) -> np.ndarray:
    """Return the damped Newton step that exceeds no limit already reached, (nv,)."""
    A, M = constraint_matrix(model, q, constraints), _metric(model, q)
    free = limits.free
    while True:
        step = np.zeros(model.nv)
        step[free] = _smallest_step(A[:, free], M[np.ix_(free, free)], r,
                                    DAMPING * min(1.0, r @ r))
        stopped = limits.in_the_way(q, step)
        if not stopped.any():
            return step * (LONGEST_STEP / max(LONGEST_STEP, np.abs(step).max(initial=0.0)))
        free = free & ~stopped


def _best_part(model: Model, q: np.ndarray, step: np.ndarray, constraints: Sequence[Constraint],
               r: np.ndarray, limits: _JointLimits) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return (q, residual, whether it improved) by a line search: full step, half, quarter ..."""
    part = 1.0
    while part >= SHORTEST_STEP:
        q_new = np.clip(integrate(model, q, step, part), limits.lower, limits.upper)
        r_new = residual(model, q_new, constraints, angle_of_rotation)
        if np.linalg.norm(r_new) < (1.0 - STUCK) * np.linalg.norm(r):
            return q_new, r_new, True
        part /= 2.0
    return q, r, False


def _smallest_step(A: np.ndarray, M: np.ndarray, r: np.ndarray, damping: float) -> np.ndarray:
    """Return x with A x = -r and least x' M x; if there is none, of least |A x + r|.

    :param damping: share of the largest singular value squared that is added to all squares.
    """
    L = np.linalg.cholesky(M)  # x = L'^-1 y with the least y'y
    U, s, Vt = np.linalg.svd(np.linalg.solve(L, A.T).T, full_matrices=False)
    largest = s.max(initial=0.0)
    kept = s > REDUNDANT * largest
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    y = -Vt.T @ (s / (s ** 2 + damping * largest ** 2) * (U.T @ r))
    return np.linalg.solve(L.T, y)


def _metric(model: Model, q: np.ndarray) -> np.ndarray:
    """Return M(q), with a small inertia added where it is singular, (nv, nv)."""
    M = mass_matrix(model, q)
    with np.errstate(all='ignore'):  # a singular M divides by zero
        if (mass_matrix_inverse(model, q).margin > 0.0).all():
            return M
    unit = np.sqrt(np.where(model.inertia_scale > 0.0, model.inertia_scale, 1.0))
    values, vectors = np.linalg.eigh(M / np.outer(unit, unit))
    vectors = unit[:, None] * vectors
    return vectors * np.maximum(values, TRACE) @ vectors.T


def _check_kept(model: Model, q: np.ndarray, constraints: Sequence[Constraint], r: np.ndarray,
                tolerance: float, limits: _JointLimits) -> None:
    """Raise a DynamicsError that names the violated constraints, the worst first."""
    parts = np.split(r, np.cumsum([size(constraint) for constraint in constraints]))
    left = {constraint.name: np.abs(part).max() for constraint, part in zip(constraints, parts)}
    broken = sorted(((value, name) for name, value in left.items() if not value <= tolerance),
                    reverse=True)
    if not broken:
        return
    shown = ', '.join(f"'{name}' by {value:.3g}" for value, name in broken[:SHOWN])
    at_limit = (q <= limits.lower) | (q >= limits.upper)
    stopped = [joint.name for joint in model.joints if at_limit[joint.q].any()]
    raise DynamicsError(
        f'no configuration near the given one satisfies the constraints: {shown} [m or rad] is '
        'left; they contradict each other, or the configuration is out of reach from there'
        + (f' (at their limits: {", ".join(stopped)})' if stopped else ''))


def angle_of_rotation(R: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
    """Return angle times axis, (3,); `sine_of_rotation` is 0 at half a turn, the angle is not."""
    if axis is None:
        return so3.log(R)
    turn, cosine = so3.cross(axis, R @ axis), axis @ R @ axis
    sine = np.linalg.norm(turn)
    if sine > 0.0:
        return turn * (np.arctan2(sine, cosine) / sine)
    any_across = np.eye(3)[np.argmin(np.abs(axis))]
    any_across = so3.cross(axis, any_across) / np.linalg.norm(so3.cross(axis, any_across))
    return any_across * (0.0 if cosine > 0.0 else np.pi)
