"""Test spatial inertia: its parts, its change of frame, its articulated form."""

import numpy as np
import pytest
from support.adjoint_matrices import Ad_matrix, random_pose
from support.tolerances import EXACT_MATHS

from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import so3
from dynamics_node.spatial.inertia import BlockInertia, Inertia


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def points_inertia(masses, points):
    """The definition, Kim 2012 eq. 20, for point masses."""
    tensor = sum(m * so3.skew(p).T @ so3.skew(p) for m, p in zip(masses, points))
    return Inertia(masses.sum(), masses @ points, tensor)


def test_kinetic_energy_is_that_of_the_points(rng):
    """V' I V / 2 = sum m |v|^2 / 2 (eq. 14, 15)."""
    masses, points, V = rng.uniform(1, 2, 5), rng.normal(size=(5, 3)), rng.normal(size=6)
    energy = sum(m * np.sum((V[3:] + np.cross(V[:3], p)) ** 2) for m, p in zip(masses, points)) / 2
    inertia = points_inertia(masses, points)
    assert V @ (inertia @ V) / 2 == pytest.approx(energy)
    np.testing.assert_allclose(inertia @ V, inertia.matrix() @ V, atol=EXACT_MATHS)
    for columns in ([1, 2], [1]):
        np.testing.assert_allclose(inertia @ np.outer(V, columns), np.outer(inertia @ V, columns))
        assert (inertia @ np.outer(V, columns)).shape == (6, len(columns))


def test_an_inertia_moves_like_its_points(rng):
    """seen_from(T) is the inertia of the moved points, and eq. 21."""
    masses, points, T = rng.uniform(1, 2, 5), rng.normal(size=(5, 3)), random_pose(rng)
    inertia = points_inertia(masses, points)
    moved = inertia.seen_from(T)
    again = points_inertia(masses, points @ T.R.T + T.p)
    for got, expected in zip(moved, again):
        np.testing.assert_allclose(got, expected, atol=EXACT_MATHS)
    A = np.linalg.inv(Ad_matrix(T))
    np.testing.assert_allclose(moved.matrix(), A.T @ inertia.matrix() @ A, atol=EXACT_MATHS)
    np.testing.assert_allclose(moved.com, T.R @ inertia.com + T.p, atol=EXACT_MATHS)


def test_parallel_axes_shift_the_tensor_and_back(rng):
    """About the centre of mass and back."""
    tensor = np.diag([1.0, 2.0, 2.5])
    inertia = inertias.from_com(3.0, [0.1, -0.2, 0.4], tensor)
    np.testing.assert_allclose(inertia.tensor_about_com(), tensor, atol=EXACT_MATHS)
    assert inertias.ZERO.com.tolist() == [0.0, 0.0, 0.0]


def test_inertias_of_welded_bodies_add_up(rng):
    """The inertia of two sets of points is the sum."""
    masses, points = rng.uniform(1, 2, 6), rng.normal(size=(6, 3))
    total = points_inertia(masses[:2], points[:2]) + points_inertia(masses[2:], points[2:])
    for got, expected in zip(total, points_inertia(masses, points)):
        np.testing.assert_allclose(got, expected, atol=EXACT_MATHS)


def test_block_operations_are_those_of_the_matrix(rng):
    """Sum, difference, product, transpose, outer product and move, for a general map."""
    X, Y, T = rng.normal(size=(6, 6)), rng.normal(size=(6, 6)), random_pose(rng)
    x, y = (BlockInertia(m[:3, :3], m[:3, 3:], m[3:, :3], m[3:, 3:]) for m in (X, Y))
    F, G = rng.normal(size=(2, 6, 3))
    A = np.linalg.inv(Ad_matrix(T))
    for got, expected in [((x + y).matrix(), X + Y), ((x - y).matrix(), X - Y), (x @ F, X @ F),
                          (x.T.matrix(), X.T), (inertias.outer(F, G).matrix(), F @ G.T),
                          (x.seen_from(T).matrix(), A.T @ X @ A)]:
        np.testing.assert_allclose(got, expected, atol=EXACT_MATHS)
