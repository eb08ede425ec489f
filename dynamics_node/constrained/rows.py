"""Compute the constraint rows: residual, Jacobian A and bias gamma.

With d = p2 - p1 the motion of frame 2 relative to frame 1 is

    position  u = R1' d,     its rate  R1'(v2 - v1 - w1 x d),
    rotation  R = R1' R2,    its rate  R1'(w2 - w1),

and each kind of constraint restricts some of it. The columns of A of a joint that moves both bodies
are exactly zero.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.algorithms.tree_recursions import add_block
from dynamics_node.constrained.constraint import ROWS, Constraint, frame_of, size
from dynamics_node.constrained.world_kinematics import at_point, world_motions, world_placements
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.so3 import cross, unskew


class ConstraintRows(NamedTuple):
    """The constraint rows at a state, in the order of `row_names`."""

    residual: np.ndarray  # (m,) zero where satisfied [m or rad]; its rate there is A v
    A: np.ndarray         # (m, nv) A v: the relative velocities that must be zero
    gamma: np.ndarray     # (m,) (dA/dt) v: with A a + gamma = 0 they stay zero


def rows(model: Model, q: np.ndarray, v: np.ndarray,
         constraints: Sequence[Constraint]) -> ConstraintRows:
    """Return the ConstraintRows of the constraints, O(n + m depth).

    :param constraints: of Constraint, valid for the model (see `constraint.validate`).
    """
    placements = world_placements(model, q)
    motions = world_motions(model, q, v, placements)
    pairs = [_pair(model, placements, constraint) for constraint in constraints]
    return ConstraintRows(_joined(_residual(model, q, pair) for pair in pairs),
                _matrix(model, placements, pairs),
                _joined(_gamma(motions, pair) for pair in pairs))


def sine_of_turn(R: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
    """Return sin(angle) times axis of the rotation R, in frame 1's axes, (3,).

    :param axis: axis of free rotation; the result is then of the shortest rotation that moves it.
    """
    return unskew(R) if axis is None else cross(axis, R @ axis)


def residual(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
             turned: Callable[..., np.ndarray] = sine_of_turn) -> np.ndarray:
    """Return the residual of each row, (m,) [m or rad].

    :param turned: measure of a rotation (R, axis) -> (3,), equal to the sine for small angles.
    """
    placements = world_placements(model, q)
    return _joined(_residual(model, q, _pair(model, placements, constraint), turned)
                   for constraint in constraints)


def constraint_matrix(model: Model, q: np.ndarray, constraints: Sequence[Constraint]) -> np.ndarray:
    """Return A, (m, nv): A v are the relative velocities that the constraints set to zero."""
    placements = world_placements(model, q)
    pairs = [_pair(model, placements, constraint) for constraint in constraints]
    return _matrix(model, placements, pairs)


def constraint_wrenches(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
                        multipliers: np.ndarray) -> np.ndarray:
    """Return the wrench of the multipliers on each body, the world's last, (bodies + 1, 6).

    (moment, force) at the body's origin in its axes. A coupling acts on joints, not on bodies.
    """
    placements = world_placements(model, q)
    wrenches, first = [np.zeros(6) for _ in placements.poses], 0
    for constraint in constraints:
        pair = _pair(model, placements, constraint)
        part = multipliers[first:first + size(constraint)]
        first += size(constraint)
        if constraint.kind == 'coupling':
            continue
        force = pair.along.T @ part[:len(pair.along)]
        moment = pair.about.T @ part[len(pair.along):]
        for sign, body, arm in zip((-1.0, 1.0), pair.bodies, pair.arms):
            R = placements.poses[body].R
            wrenches[body] = wrenches[body] + sign * np.concatenate([
                R.T @ (moment + cross(arm, force)), R.T @ force])
    return np.array(wrenches)


class _Pair(NamedTuple):
    """The two closures of a constraint in the world; for a coupling only the constraint."""

    constraint: Constraint
    bodies: tuple = ()              # of frame 1 and frame 2
    arms: tuple = ()                # from each body's origin to frame 2's, in world axes
    point: Any = None               # frame 2's origin in the world
    relative: Any = None            # Pose of frame 2 in frame 1: (R, u)
    along: Any = None               # (k, 3) directions of the linear rows in world axes
    about: Any = None               # (l, 3) axes of the angular rows in world axes


def _pair(model, placements, constraint):
    if constraint.kind == 'coupling':
        return _Pair(constraint)
    ends = (frame_of(model, constraint.to), model.frame(constraint.frame))
    bodies = tuple(end.body for end in ends)
    one, two = (placements.poses[end.body] @ (end.pose @ closure) for end, closure in
                zip(ends, (constraint.to_placement, constraint.placement)))
    relative = Pose(one.R.T @ two.R, one.R.T @ (two.p - one.p))
    along, about = _directions(constraint, relative.p)
    arms = tuple(two.p - placements.poses[body].p for body in bodies)
    return _Pair(constraint, bodies, arms, two.p, relative, along @ one.R.T, about @ one.R.T)


def _directions(constraint, u):
    """Return the (linear, angular) directions of the rows in frame 1's closure axes, (k, 3) each.

    Of a distance it is that of u, with length 1 where the constraint is satisfied.
    """
    names = ROWS[constraint.kind]
    angular = np.eye(3) if 'rx' in names else np.zeros((0, 3))
    if 'r1' in names:
        angular = constraint.across
    if constraint.kind == 'distance':
        return np.array([u / constraint.distance]), angular
    return (np.eye(3) if 'x' in names else constraint.direction[None]), angular


def _residual(model, q, pair, turned=sine_of_turn):
    """Return u along the linear rows minus a plane's distance, and the rotation about the others.

    Of a distance L it is (u'u - L^2)/(2 L), of a coupling q_i - ratio q_j - offset.
    """
    constraint, (R, u) = pair.constraint, pair.relative or (None, None)
    if constraint.is_unanchored:
        return np.zeros(size(constraint))
    if constraint.kind == 'coupling':
        i, j = (model.joint(name).q.start for name in constraint.joints)
        return np.array([q[i] - constraint.ratio * q[j] - constraint.offset])
    if constraint.kind == 'distance':
        return np.array([(u @ u - constraint.distance ** 2) / (2.0 * constraint.distance)])
    linear, angular = _directions(constraint, u)
    turn = turned(R, constraint.direction) if 'r1' in ROWS[constraint.kind] else turned(R)
    return np.concatenate([linear @ u - constraint.distance, angular @ turn])


def _matrix(model, placements, pairs):
    A = []
    for pair in pairs:
        block = [[0.0] * model.nv for _ in range(size(pair.constraint))]
        if pair.constraint.kind == 'coupling':
            i, j = (model.joint(name).v.start for name in pair.constraint.joints)
            block[0][i], block[0][j] = 1.0, -pair.constraint.ratio
        else:
            one, two = (set(path_to(model, body)) for body in pair.bodies)
            _add_columns(block, placements, pair, two - one, 1.0)
            _add_columns(block, placements, pair, one - two, -1.0)
        A += block
    return np.array(A).reshape(len(A), model.nv)


def _add_columns(block, placements, pair, bodies, sign):
    """Add the velocities that the joints of these bodies give the point, along the rows."""
    mine = [k for k, (body, _) in enumerate(placements.which) if body in bodies]
    turn = placements.turn[:, mine]
    arm = pair.point[:, None] - placements.origin[:, mine]
    velocity = placements.slide[:, mine] + cross(turn, arm)
    columns = sign * np.concatenate([pair.along @ velocity, pair.about @ turn])
    for k, column in zip(mine, columns.T):
        _, entry = placements.which[k]
        add_block(block, slice(0, len(block)), slice(entry, entry + 1), column[:, None])


def _gamma(motions, pair):
    r"""Return the rate of A v at zero joint acceleration.

    With all at frame 2's origin, u'' = R1'(a2 - a1 - 2 w1 x (v2 - v1)) and the rate of the
    relative angular velocity is R1'(alpha2 - alpha1 - w1 x w2). A distance adds |u'|^2 / L.
    """
    constraint = pair.constraint
    if constraint.kind == 'coupling':
        return np.zeros(1)
    one, two = (at_point(motions[body], arm) for body, arm in zip(pair.bodies, pair.arms))
    velocity = two.v - one.v
    linear = pair.along @ (two.acc - one.acc - 2.0 * cross(one.w, velocity))
    if constraint.kind == 'distance':
        linear = linear + velocity @ velocity / constraint.distance
    return np.concatenate([linear,
                           pair.about @ (two.alpha - one.alpha - cross(one.w, two.w))])


def _joined(parts):
    return np.concatenate([np.zeros(0), *parts])
