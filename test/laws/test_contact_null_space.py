"""Test the support null space (Hutter 2017, eq. 3.62-3.64), and feet that hold a base."""

import numpy as np
import pytest
from support.contact_null_space import consistent_dynamics, support, support_of
from support.differences import relative
from support.real_robots import ROBOTS
from support.rigid_robots import body, on_random_links, point, still
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.contact_forces import contact_forces
from dynamics_node.constrained.rows import constraint_matrix

SOLO_FEET = ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT')


@pytest.fixture(scope='module')
def solo():
    path = next(robot.path for robot in ROBOTS if robot.name == 'solo12')
    return Robot.from_urdf(path, base='floating')


@pytest.fixture
def contacts(tree):
    """A random tree with contacts: M, A and their Support."""
    constraints = on_random_links(tree)
    M = mass_matrix(tree.robot.model, tree.q)
    A = constraint_matrix(tree.robot.model, tree.q, constraints)
    return M, A, support(M, A)


def test_the_null_space_is_a_projector(contacts):
    """N N = N, of rank nv - r, and motions in it do not move the contacts."""
    M, A, found = contacts
    N = found.null_space
    assert relative(N @ N, N) < SOLVED
    assert np.trace(N) == pytest.approx(len(M) - found.rank, abs=SOLVED * len(M))
    assert relative(A @ N, 0.0) < SOLVED


def test_the_null_space_is_dynamically_consistent(contacts):
    """Contact forces accelerate nothing in it: N M^-1 A' = 0, N' A' = 0, and N M^-1 = M^-1 N'."""
    M, A, found = contacts
    N = found.null_space
    assert relative(N @ np.linalg.solve(M, A.T), 0.0) < SOLVED
    assert relative(N.T @ A.T, 0.0) < SOLVED
    assert relative(M @ N, N.T @ M) < SOLVED


def test_the_null_space_is_equation_3_62_with_the_pseudo_inverse(contacts):
    """N = 1 - M^-1 A' Lambda A, Lambda = (A M^-1 A')^+ by its four laws."""
    M, A, found = contacts
    pull = np.linalg.solve(M, A.T)
    delassus, inertia = A @ pull, found.inertia
    assert relative(found.null_space, np.eye(len(M)) - pull @ inertia @ A) < SOLVED
    assert relative(delassus @ inertia @ delassus, delassus) < SOLVED
    assert relative(inertia @ delassus @ inertia, inertia) < SOLVED
    assert relative(delassus @ inertia, (delassus @ inertia).T) < SOLVED
    assert relative(inertia, inertia.T) < SOLVED


def test_internal_forces_balance_each_other(contacts):
    """As many as there are redundant rows, orthonormal, of no effect."""
    M, A, found = contacts
    Z = found.internal
    assert Z.shape == (len(A), len(A) - found.rank)
    assert relative(Z.T @ Z, np.eye(Z.shape[1])) < SOLVED
    assert relative(A.T @ Z, np.zeros((len(M), Z.shape[1]))) < SOLVED


def test_consistent_dynamics_are_those_of_the_contact_forces(tree):
    """Eq. 3.63: M a + N' h + A' Lambda gamma = N' tau, and 3.64: N' (M a + h) = N' tau.

    Half of the trees have redundant contacts: they hold all the same, at velocities they allow.
    """
    model = tree.robot.model
    wrenches = body_wrenches(model, tree.wrenches)
    constraints = on_random_links(tree)
    state = tree.q, support_of(model, tree.q, constraints).null_space @ tree.v
    N, M, h, reaction = consistent_dynamics(model, *state, constraints, wrenches)
    found = contact_forces(model, *state, tree.tau, constraints, wrenches)
    assert relative(M @ found.a + N.T @ h + reaction, N.T @ tree.tau) < SOLVED
    assert relative(N.T @ (M @ found.a + h), N.T @ tree.tau) < SOLVED


@pytest.mark.parametrize('feet, rank, base', [(1, 3, 3), (2, 6, 5), (3, 9, 6), (4, 12, 6)])
def test_two_point_feet_of_a_quadruped_leave_one_rotation(solo, feet, rank, base):
    """Section 2.10.5: about the line between them."""
    q = solo.random_configuration(np.random.default_rng(3))
    constraints = [Constraint(name, 'point_contact', name) for name in SOLO_FEET[:feet]]
    A = constraint_matrix(solo.model, q, constraints)
    assert support_of(solo.model, q, constraints).rank == rank
    assert np.linalg.matrix_rank(A[:, :6], tol=1e-9) == base


@pytest.mark.parametrize('points, rank', [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_points_of_one_foot_have_the_expected_ranks(points, rank):
    """Section 2.10.6: two points are a line, three a sole; 'line' and 'flat' have no redundancy."""
    places = [(0.1, 0.05, 0), (-0.1, 0.05, 0), (-0.1, -0.05, 0), (0.1, -0.05, 0)]
    constraints = [point(f'p{k}', place) for k, place in enumerate(places[:points])]
    assert support_of(body().model, still(), constraints).rank == rank


def test_lines_and_soles_have_the_null_space_of_their_points():
    """Two points and a line, three points and a sole."""
    model = body().model
    two = [point('a', (0.1, 0.0, 0.0)), point('b', (-0.1, 0.0, 0.0))]
    line = [Constraint('line', 'line_contact', 'body', axis=(1.0, 0.0, 0.0))]
    three, sole = [*two, point('c', (0.0, 0.1, 0.0))], [Constraint('s', 'flat_contact', 'body')]
    for points, extended in ((two, line), (three, sole)):
        N, other = (support_of(model, still(), c).null_space for c in (points, extended))
        assert relative(N, other) < SOLVED


def test_a_massless_foot_in_contact_has_a_support():
    """M alone is singular; N and Lambda are the limits for a small mass, and finite."""
    M, A = np.diag([2.0, 0.0]), np.array([[1.0, 1.0]])
    found = support(M, A)
    little = support(M + np.diag([0.0, 1e-6]), A)
    assert relative(found.null_space, little.null_space) < 1e-5   # of the order of that mass
    assert relative(found.inertia, little.inertia) < 1e-5


def test_no_constraints_leave_everything_free(tree):
    """N = 1."""
    found = support_of(tree.robot.model, tree.q, [])
    assert relative(found.null_space, np.eye(tree.robot.nv)) < SOLVED
    assert found.rank == 0
