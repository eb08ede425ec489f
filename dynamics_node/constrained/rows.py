"""Compute the constraint rows: residual, Jacobian A and bias gamma.

With d = p2 - p1 the motion of frame 2 relative to frame 1 is

    position  u = R1' d,     its rate  R1'(v2 - v1 - w1 x d),
    rotation  R = R1' R2,    its rate  R1'(w2 - w1),

and each kind of constraint restricts some of it: a row has a direction of translation and one of
rotation, of which one is zero except for screws and rolling. The columns of A of a joint that moves
both bodies are exactly zero. Constraints between joint coordinates are in coordinate_rows.py.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.algorithms.tree_recursions import add_block
from dynamics_node.constrained.constraint import (
    BETWEEN_COORDINATES,
    ROLLING,
    ROWS,
    Constraint,
    size,
)
from dynamics_node.constrained.coordinate_rows import (
    coordinate_gamma,
    coordinate_matrix,
    coordinate_residual,
)
from dynamics_node.constrained.rolling import contact_arm, contact_arm_rate, height
from dynamics_node.constrained.world_kinematics import (
    WorldMotion,
    WorldPlacements,
    at_point,
    world_motions,
    world_placements,
)
from dynamics_node.model.model import Model, frame_of
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.so3 import about_axis, cross, unskew


class ConstraintRows(NamedTuple):
    """The constraint rows at a state, in the order of `row_names`."""

    residual: np.ndarray  # (m,) zero where satisfied [m or rad]; its rate there is A v
    A: np.ndarray         # (m, nv) A v: the relative velocities that must be zero
    gamma: np.ndarray     # (m,) (dA/dt) v: with A a + gamma = 0 they stay zero


def rows(model: Model, q: np.ndarray, v: np.ndarray,
         constraints: Sequence[Constraint]) -> ConstraintRows:
    """Return the ConstraintRows of the constraints, O(n + m depth).

    :param constraints: Constraint records, valid for the model (see `constraint.validate`).
    """
    placements = world_placements(model, q)
    motions = world_motions(model, q, v, placements)
    pairs = [_pair(model, placements, constraint) for constraint in constraints]
    return ConstraintRows(_joined(_residual(model, q, pair) for pair in pairs),
                          _matrix(model, q, placements, pairs),
                          _joined(_gamma(model, q, v, motions, pair) for pair in pairs))


def sine_of_rotation(R: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
    """Return sin(angle) times axis of the rotation R, in frame 1's axes, (3,).

    :param axis: axis of free rotation; the result is then of the shortest rotation that moves it.
    """
    return unskew(R) if axis is None else cross(axis, R @ axis)


def residual(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
             turned: Callable[..., np.ndarray] = sine_of_rotation) -> np.ndarray:
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
    return _matrix(model, q, placements, pairs)


def constraint_wrenches(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
                        multipliers: np.ndarray) -> np.ndarray:
    """Return the wrench of the multipliers on each body and, last, on the world, (bodies + 1, 6).

    (moment, force) at the body's origin in its axes. Constraints between joint coordinates act on
    joints, not on bodies.
    """
    placements = world_placements(model, q)
    wrenches, first = [np.zeros(6) for _ in placements.poses], 0
    for constraint in constraints:
        pair = _pair(model, placements, constraint)
        part = multipliers[first:first + size(constraint)]
        first += size(constraint)
        if constraint.kind in BETWEEN_COORDINATES:
            continue
        force, moment = pair.along.T @ part, pair.about.T @ part
        for sign, body, arm in zip((-1.0, 1.0), pair.bodies, pair.arms):
            R = placements.poses[body].R
            wrenches[body] = wrenches[body] + sign * np.concatenate([
                R.T @ (moment + cross(arm, force)), R.T @ force])
    return np.array(wrenches)


class _Pair(NamedTuple):
    """The two closures of a constraint in the world; between coordinates only the constraint."""

    constraint: Constraint
    bodies: tuple = ()              # of frame 1 and frame 2
    arms: tuple = ()                # from each body's origin to frame 2's, in world axes
    point: Any = None               # frame 2's origin in the world
    relative: Any = None            # Pose of frame 2 in frame 1: (R, u)
    frame: Any = None               # rotation of frame 1 in the world
    along: Any = None               # (m, 3) directions of translation of the rows, in world axes
    about: Any = None               # (m, 3) axes of rotation of the rows, in world axes


def _pair(model: Model, placements: WorldPlacements, constraint: Constraint) -> _Pair:
    if constraint.kind in BETWEEN_COORDINATES:
        return _Pair(constraint)
    ends = (frame_of(model, constraint.to), model.frame(constraint.frame))
    bodies = tuple(end.body for end in ends)
    one, two = (placements.poses[end.body] @ (end.pose @ closure) for end, closure in
                zip(ends, (constraint.to_placement, constraint.placement)))
    relative = Pose(one.R.T @ two.R, one.R.T @ (two.p - one.p))
    along, about = _directions(constraint, relative)
    arms = tuple(two.p - placements.poses[body].p for body in bodies)
    return _Pair(constraint, bodies, arms, two.p, relative, one.R, along @ one.R.T,
                 about @ one.R.T)


def _directions(constraint: Constraint, relative: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Return the (linear, angular) directions of the rows in frame 1's closure axes, (m, 3) each.

    The direction of a distance is that of u, with length 1 where the constraint is satisfied. A
    screw turns by u / lead. Rolling adds the rotation that moves the contact point, see rolling.py.
    """
    if constraint.kind == 'distance':
        return np.array([relative.p / constraint.distance]), np.zeros((1, 3))
    linear, angular = constraint.directions
    if constraint.kind in ROLLING:
        arm = contact_arm(constraint, relative.R)
        angular = np.array([cross(arm, direction) for direction in linear])
    return linear, angular


def _residual(model: Model, q: np.ndarray, pair: _Pair,
              turned: Callable[..., np.ndarray] = sine_of_rotation) -> np.ndarray:
    """Return u along the rows minus a plane's distance or a wheel's height, and the rotation.

    The residual of a distance L is (u'u - L^2)/(2 L). That of a screw is the lead times the
    rotation beyond the one that belongs to its translation. Sliding rows of rolling have none.
    """
    constraint = pair.constraint
    if constraint.is_unanchored:
        return np.zeros(size(constraint))
    if constraint.kind in BETWEEN_COORDINATES:
        return coordinate_residual(model, constraint, q)
    R, u = pair.relative
    if constraint.kind == 'distance':
        return np.array([(u @ u - constraint.distance ** 2) / (2.0 * constraint.distance)])
    axis = constraint.direction
    if constraint.kind in ROLLING:
        return np.array([0.0, 0.0, axis @ u - height(constraint, R)])
    linear, angular = constraint.directions
    turn = turned(R, axis) if 'r1' in ROWS[constraint.kind] else turned(R)
    found = [along @ u + about @ turn - (constraint.distance if name == 'n' else 0.0)
             for name, along, about in zip(ROWS[constraint.kind], linear, angular)]
    if constraint.kind == 'screw':
        left = R @ about_axis(axis, -(axis @ u) / constraint.lead)
        found[ROWS['screw'].index('screw')] = -constraint.lead * (axis @ turned(left))
    return np.array(found)


def _matrix(model: Model, q: np.ndarray, placements: WorldPlacements, pairs: Sequence[_Pair]
            ) -> np.ndarray:
    A = []
    for pair in pairs:
        if pair.constraint.kind in BETWEEN_COORDINATES:
            A += coordinate_matrix(model, pair.constraint, q)
            continue
        block = [[0.0] * model.nv for _ in range(size(pair.constraint))]
        one, two = (set(path_to(model, body)) for body in pair.bodies)
        _add_columns(block, placements, pair, two - one, 1.0)
        _add_columns(block, placements, pair, one - two, -1.0)
        A += block
    return np.array(A).reshape(len(A), model.nv)


def _add_columns(block: list[list], placements: WorldPlacements, pair: _Pair, bodies: Iterable[int],
                 sign: float) -> None:
    """Add the velocities that the joints of these bodies give the point, along the rows."""
    own = [k for k, (body, _) in enumerate(placements.which) if body in bodies]
    turn = placements.turn[:, own]
    arm = pair.point[:, None] - placements.origin[:, own]
    velocity = placements.slide[:, own] + cross(turn, arm)
    columns = sign * (pair.along @ velocity + pair.about @ turn)
    for k, column in zip(own, columns.T):
        _, entry = placements.which[k]
        add_block(block, slice(0, len(block)), slice(entry, entry + 1), column[:, None])


def _gamma(model: Model, q: np.ndarray, v: np.ndarray, motions: Sequence[WorldMotion], pair: _Pair
           ) -> np.ndarray:
    r"""Return the rate of A v at zero joint acceleration.

    With all at frame 2's origin, u'' = R1'(a2 - a1 - 2 w1 x (v2 - v1)) and the rate of the
    relative angular velocity is R1'(alpha2 - alpha1 - w1 x w2). A distance adds |u'|^2 / L, rolling
    w x dc/dt of the contact arm c.
    """
    constraint = pair.constraint
    if constraint.kind in BETWEEN_COORDINATES:
        return coordinate_gamma(model, constraint, q, v)
    one, two = (at_point(motions[body], arm) for body, arm in zip(pair.bodies, pair.arms))
    velocity, turning = two.v - one.v, two.w - one.w
    linear = two.acc - one.acc - 2.0 * cross(one.w, velocity)
    if constraint.kind in ROLLING:
        rate = contact_arm_rate(constraint, pair.relative.R, pair.frame.T @ turning)
        linear = linear + cross(turning, pair.frame @ rate)
    gamma = pair.along @ linear + pair.about @ (two.alpha - one.alpha - cross(one.w, two.w))
    if constraint.kind == 'distance':
        gamma = gamma + velocity @ velocity / constraint.distance
    return gamma


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0), *parts])
