"""Test the separation of convex hulls: closed forms, duality, and linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from dynamics_node.inspector.hull_distance import _nearest_difference, separation

CUBE = np.array(np.meshgrid(*3 * [[-1.0, 1.0]])).reshape(3, -1).T
ANGLE = 2 * np.pi / 16 * np.arange(16)
ROD = np.vstack([np.column_stack([np.cos(ANGLE), np.sin(ANGLE), np.full(16, z)])
                 for z in (-1.0, 1.0)])


@pytest.mark.parametrize(('step', 'vector'), [
    ((5.0, 0.0, 0.0), (3, 0, 0)), ((5.0, 6.0, 7.0), (3, 4, 5)), ((0.0, -2.5, 0.0), (0, -0.5, 0))])
def test_the_distance_of_cubes(step, vector):
    direction, gap = separation(CUBE, CUBE + step)
    assert gap * direction == pytest.approx(vector, abs=1e-9)


def test_hulls_that_overlap_are_not_separated():
    for step in ((1.5, 0.5, 0.0), (0.0, 0.0, 0.0), (2.0, 2.0, 2.0)):
        assert separation(CUBE, CUBE + step)[1] <= 1e-9


def test_random_boxes_and_rods_are_separated_exactly_where_a_plane_does():
    """The length of the vector is never below the distance, the gap never above: equal is proof."""
    rng, apart = np.random.default_rng(0), 0
    for _ in range(300):
        A, B = (shape * rng.uniform(0.02, 0.25, 3)
                for shape in (CUBE, (CUBE, ROD)[rng.integers(2)]))
        B = B @ Rotation.random(random_state=rng).as_matrix().T + rng.normal(size=3) * 0.2
        _, gap = separation(A, B)
        if gap > 1e-6:
            apart += 1
            assert np.linalg.norm(_nearest_difference(A, B)) - gap < 1e-8
        else:
            assert margin(A, B) < 1e-6
    assert 50 < apart < 250


def margin(A, B):
    """Return the greatest gap along n with |n_i| <= 1, by linear programming; 0: they touch."""
    rows = np.vstack([np.column_stack([A, -np.ones(len(A)), np.zeros(len(A))]),
                      np.column_stack([-B, np.ones(len(B)), np.ones(len(B))])])
    found = linprog([0, 0, 0, 0, -1.0], rows, np.zeros(len(rows)),
                    bounds=[(-1, 1)] * 3 + [(None, None)] * 2)
    return found.x[4]
