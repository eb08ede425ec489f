"""Test residual, A and gamma of every kind of constraint on random trees of every joint type."""

import numpy as np
import pytest
from support import complex_steps, random_loops
from support.differences import along, gradient, relative, some_directions
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.kinematics import frame_pose, frame_twist, path_to
from dynamics_node.constrained.constraint import (
    KINDS,
    ROWS,
    Constraint,
    row_names,
    size,
    validate,
)
from dynamics_node.constrained.rows import constraint_matrix, residual, rows

EVERYWHERE = pytest.mark.parametrize('to', random_loops.HELD_TO)
EVERY_KIND = pytest.mark.parametrize('kind', KINDS)


@pytest.fixture
def broken(tree):
    """Constraints of every kind that the state of the tree violates."""
    constraints = random_loops.every_kind(tree.rng)
    if random_loops.MIMIC in tree.robot.model.frames:
        constraints += random_loops.every_kind(tree.rng, random_loops.MIMIC)
    validate(tree.robot.model, constraints)
    return constraints


def one_kept(tree, kind, to):
    """Return a constraint of a kind that the state of the tree satisfies."""
    constraint = random_loops.kept(tree.robot.model, tree.q, kind, random_loops.HELD, to, tree.rng)
    validate(tree.robot.model, [constraint])
    return constraint


def named_rows(constraints):
    """Return (constraint, name of the row) of each row."""
    return [(each, row) for each in constraints for row in ROWS[each.kind]]


def holonomic(constraints):
    """Return which rows have a residual."""
    return [random_loops.is_holonomic(*each) for each in named_rows(constraints)]


def test_sizes_and_names_fit_the_rows(tree, broken):
    """One after the other, in the order of the constraints."""
    model = tree.robot.model
    got = rows(model, tree.q, tree.v, broken)
    m = sum(map(size, broken))
    assert got.residual.shape == got.gamma.shape == (m,)
    assert got.A.shape == (m, model.nv)
    assert len(set(row_names(broken))) == m


def test_parts_computed_alone_equal_the_whole(tree, broken):
    """To the last bit."""
    model, q = tree.robot.model, tree.q
    got = rows(model, q, tree.v, broken)
    assert (residual(model, q, broken) == got.residual).all()
    assert (constraint_matrix(model, q, broken) == got.A).all()


@EVERYWHERE
def test_a_weld_measures_the_relative_velocity_also_where_it_is_violated(tree, to):
    """In frame 1's axes at frame 2's origin, from the velocities of the frames."""
    model, q, v = tree.robot.model, tree.q, tree.v
    pose, to_pose = (random_loops.random_pose(tree.rng) for _ in range(2))
    weld = Constraint('weld', 'weld', random_loops.HELD, to, pose, to_pose)
    (R1, p1, v1, w1), (_, p2, v2, w2) = (
        moving_frame(model, q, v, link, closure)
        for link, closure in ((to, to_pose), (random_loops.HELD, pose)))
    expected = [*R1.T @ (v2 - v1 - np.cross(w1, p2 - p1)), *R1.T @ (w2 - w1)]
    assert relative(constraint_matrix(model, q, [weld]) @ v, expected) < EXACT_MATHS


def moving_frame(model, q, v, link, closure):
    """Return (R, p, velocity, angular velocity) of a closure, in world axes."""
    T, twist = np.eye(4), np.zeros(6)
    if link != 'world':
        T, twist = frame_pose(model, q, link), frame_twist(model, q, v, link)
    arm = T[:3, :3] @ np.array(closure[:3])
    R = T[:3, :3] @ random_loops.so3.from_quaternion(closure[3:])
    return R, T[:3, 3] + arm, twist[:3] + np.cross(twist[3:], arm), twist[3:]


def test_linear_rows_are_the_rate_of_the_residual_also_where_they_are_violated(tree, broken):
    """By complex steps: positions, distances and couplings."""
    model, q = tree.robot.model, tree.q
    linear = [k for k, (constraint, row) in enumerate(named_rows(broken))
              if row[0] != 'r' and row != 'screw' and random_loops.is_holonomic(constraint, row)]
    D = some_directions(model.nv)
    rate = complex_steps.by_q(model, lambda x: residual(model, x, broken), q, D)
    assert relative(constraint_matrix(model, q, broken)[linear] @ D, rate[linear]) < EXACT_MATHS


@EVERY_KIND
@EVERYWHERE
def test_A_is_the_rate_of_the_residual_of_a_satisfied_constraint(tree, kind, to):
    """All rows that have a residual, by complex steps."""
    model, q = tree.robot.model, tree.q
    constraints = [one_kept(tree, kind, to)]
    assert np.abs(residual(model, q, constraints)).max() < EXACT_MATHS
    D = some_directions(model.nv)
    rate = complex_steps.by_q(model, lambda x: residual(model, x, constraints), q, D)
    kept = holonomic(constraints)
    assert relative(constraint_matrix(model, q, constraints)[kept] @ D, rate[kept]) < EXACT_MATHS


def test_A_is_the_rate_of_the_residual_by_differences(tree):
    """Along the configuration manifold, by `integrate`."""
    model, q = tree.robot.model, tree.q
    constraints = [one_kept(tree, kind, 'l5') for kind in KINDS]
    D = some_directions(model.nv)
    rate = gradient(tree.robot, lambda x: residual(model, x, constraints), q, D)
    kept = holonomic(constraints)
    assert relative(constraint_matrix(model, q, constraints)[kept] @ D,
                    rate[kept]) < RATE_BY_DIFFERENCES


def test_gamma_is_the_rate_of_A_v_at_constant_v(tree, broken):
    """By complex steps, also where the constraints are violated."""
    model, q, v = tree.robot.model, tree.q, tree.v
    rate = complex_steps.by_q(model, lambda x: constraint_matrix(model, x, broken) @ v, q,
                              v[:, None])[..., 0]
    assert relative(rows(model, q, v, broken).gamma, rate) < EXACT_MATHS


def test_gamma_is_the_rate_of_A_v_by_differences(tree, broken):
    """Along the configuration manifold."""
    model, q, v = tree.robot.model, tree.q, tree.v
    rate = along(tree.robot, lambda x: constraint_matrix(model, x, broken) @ v, q, v)
    assert relative(rows(model, q, v, broken).gamma, rate) < RATE_BY_DIFFERENCES


def test_a_joint_that_carries_both_frames_has_zero_columns(tree, broken):
    """Its columns are zero to the last bit; so is a floating base's in a loop of the robot."""
    model = tree.robot.model
    one, two = ({*path_to(model, model.frame(link).body)} for link in ('l5', 'l10'))
    carrying, moving = ({k for i in bodies for k in range(model.nv)[model.bodies[i].v]}
                        for bodies in (one & two, one ^ two))
    loops = [constraint for constraint in broken
             if (constraint.frame, constraint.to) == ('l10', 'l5')]
    A = constraint_matrix(model, tree.q, loops)
    assert carrying - moving
    assert (A[:, [*carrying - moving]] == 0.0).all()
    assert (np.abs(A[:, [*moving]]).max(axis=0) > 0.0).all()


def test_a_contact_without_an_anchor_has_rows_and_no_residual(tree):
    """The axes are those of `to`: the rows do not depend on the anchor."""
    model, q, v = tree.robot.model, tree.q, tree.v
    x, y, z = tree.rng.normal(size=3)
    for kind in ('point_contact', 'line_contact', 'flat_contact'):
        axis = {'axis': (1.0, 2.0, 0.0)} if kind == 'line_contact' else {}
        for to in random_loops.HELD_TO:
            free, held = (rows(model, q, v, [Constraint('foot', kind, 'l10', to, (0.1, 0.2, 0.3),
                                                        anchor, **axis)])
                          for anchor in ((), (x, y, z)))
            assert (free.residual == 0.0).all()
            assert np.abs(held.residual).max() > 0.0
            assert relative(free.A, held.A) < EXACT_MATHS
            assert relative(free.gamma, held.gamma) < EXACT_MATHS


def test_no_constraints_give_empty_rows(tree):
    """With the shapes of none."""
    got = rows(tree.robot.model, tree.q, tree.v, [])
    assert [part.shape for part in got] == [(0,), (0, tree.robot.nv), (0,)]
