"""Make random trees with random loops that are closed in the state of the tree."""

import copy
import os
from functools import cache
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.constraint import FIELDS, Constraint, frame_of, validate
from dynamics_node.constrained.rows import constraint_matrix, rows
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Pose
from support import random_trees

# Each set leaves the random trees some freedom: 15 to 21 degrees, at most 10 rows.
KINDS = (('weld', 'coupling'), ('revolute', 'point_on_plane'), ('spherical', 'distance', 'planar'),
         ('point_contact', 'flat_contact'))

CLEAR = 100.0  # greatest condition number of A: solves lose two digits, not more


class Looped(NamedTuple):
    """A model, its constraints, and a state that keeps them."""

    model: object
    robot: object
    rng: np.random.Generator
    constraints: tuple
    q: np.ndarray
    v: np.ndarray         # A v = 0
    a: np.ndarray         # A a + gamma = 0
    tau: np.ndarray
    wrenches: np.ndarray  # (bodies, 6)


def make(tree, kinds, **options):
    """Return a Looped on the random tree; a loop of each of the kinds."""
    if options or os.environ.get('DYNAMICS_NODE_COMPILE') != '0':
        return _made(tree, kinds, options)
    made = _known(tree, kinds)   # as in random_trees.py
    return Looped(made.model, made.robot, copy.deepcopy(made.rng), made.constraints,
                  *(part.copy() for part in made[4:]))


@cache
def _known(tree, kinds):
    return _made(tree, kinds, {})


def _made(tree, kinds, options):
    robot, rng, q, v, a, tau, wrenches = random_trees.make(tree, **options)
    model = robot.model
    constraints = ()
    for kind in kinds:
        constraints += (_independent(robot, rng, q, constraints, kind),)
    validate(model, constraints)
    M = mass_matrix(model, q)
    A = rows(model, q, v, constraints).A
    v = v - lifted(M, A, A @ v)
    found = rows(model, q, v, constraints)
    a = a - lifted(M, A, A @ a + found.gamma)
    return Looped(model, robot, rng, constraints, q, v, a, tau,
                  body_wrenches(model, wrenches))


def lifted(M, A, error):
    """Return the x of least x' M x with A x = error, for independent rows (numpy's own solve)."""
    Y = np.linalg.solve(M, A.T)
    return Y @ np.linalg.solve(A @ Y, error)


def some_prescribed(looped):
    """Return booleans (nv,): some joints without which the rows are still independent."""
    A = constraint_matrix(looped.model, looped.q, looped.constraints)
    for share in (0.4, 0.3, 0.2, 0.1) * 10:
        given = looped.rng.random(looped.model.nv) < share
        if given.any() and np.linalg.cond(A[:, ~given]) < CLEAR:
            return given
    raise AssertionError('no choice of joints leaves the rows independent')


def _independent(robot, rng, q, constraints, kind):
    """Return a constraint of this kind between two links whose rows are clear of the others'."""
    for _ in range(200):
        frame, to = rng.choice([*robot.frame_names, 'world'], 2, replace=False)
        if frame == 'world' or robot.model.frame(frame).body == frame_of(robot.model, to).body:
            continue
        new = _closed(robot, rng, q, kind, str(frame), str(to), f'{kind}{len(constraints)}')
        if np.linalg.cond(constraint_matrix(robot.model, q, (*constraints, new))) < CLEAR:
            return new
    raise AssertionError(f'no place for a {kind}')


def _closed(robot, rng, q, kind, frame, to, name):
    if kind == 'coupling':
        singles = [joint for joint in robot.model.joints if joint.v.stop - joint.v.start == 1]
        i, j = rng.choice(len(singles), 2, replace=False)
        ratio = rng.uniform(0.5, 2.0)
        offset = q[singles[i].q.start] - ratio * q[singles[j].q.start]
        return Constraint(name, kind, joints=(singles[i].name, singles[j].name), ratio=ratio,
                          offset=offset)
    if kind.endswith('contact'):
        return Constraint(name, kind, frame=frame, to=to,
                          pose=tuple(rng.normal(size=3)))
    pose = _random_pose(rng)
    here = _pose_of(robot, q, to).inverse() @ _pose_of(robot, q, frame) @ pose
    distance = rng.uniform(0.3, 0.6) if kind == 'distance' else 0.0
    direction = rng.normal(size=3)
    here = Pose(here.R, here.p - here.R @ direction / np.linalg.norm(direction) * distance)
    options = {'axis': tuple(rng.normal(size=3)), 'distance': distance}
    return Constraint(name, kind, frame=frame, to=to, pose=_numbers(pose), to_pose=_numbers(here),
                      **{field: options[field] for field in options if field in FIELDS[kind]})


def _pose_of(robot, q, frame):
    if frame == 'world':
        return se3.IDENTITY
    T = robot.frame_pose(q, frame)
    return Pose(T[:3, :3], T[:3, 3])


def _random_pose(rng):
    return Pose(so3.exp(rng.normal(size=3)), 0.3 * rng.normal(size=3))


def _numbers(pose):
    return (*pose.p, *so3.to_quaternion(pose.R))
