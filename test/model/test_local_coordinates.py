"""Test local coordinates: against configuration.integrate, differences and other rate maps."""

import numpy as np
import pytest
from support.random_trees import Tree, make
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.model.configuration import difference, integrate
from dynamics_node.model.local_coordinates import greatest_rotation, moved, rate
from dynamics_node.spatial import so3
from dynamics_node.spatial.rate_maps import rate_map

STEP = 1e-5


def near(actual, wanted, tolerance):
    np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance)


def test_zero_is_the_configuration_itself(tree):
    near(moved(tree.robot.model, tree.q, np.zeros(tree.robot.nv)), tree.q, EXACT_MATHS)


@pytest.mark.parametrize('size', [0.0, 1e-3, 0.01, 0.7])
def test_the_rate_moves_the_configuration_with_the_velocity(tree, size):
    """A short motion by the rate of x and by the velocity agree, at any x."""
    model, x = tree.robot.model, size * tree.a
    q = moved(model, tree.q, x)
    dx = rate(model, q, x, tree.v)
    by_rate = [moved(model, tree.q, x + h * dx) for h in (STEP, -STEP)]
    by_velocity = [integrate(model, q, tree.v, h) for h in (STEP, -STEP)]
    near(difference(model, *by_rate) / STEP, difference(model, *by_velocity) / STEP,
         RATE_BY_DIFFERENCES)


@pytest.mark.parametrize('angle', [0.0, 0.5e-2, 0.99e-2, 1.01e-2, 1.0, 3.0])
def test_the_rotation_vector_has_the_rate_of_the_rate_map(angle):
    """E maps the rate to the angular velocity in the axes of the chart's centre: R w."""
    tree = make(Tree(2, 'floating', False))
    model, rng = tree.robot.model, tree.rng
    x, phi = np.zeros(model.nv), rng.normal(size=3)
    x[3:6] = phi = angle * phi / np.linalg.norm(phi)
    dphi = rate(model, moved(model, tree.q, x), x, tree.v)[3:6]
    near(rate_map('rotation_vector', phi) @ dphi, so3.exp(phi) @ tree.v[3:6], EXACT_MATHS)


def test_a_batch_is_its_rows(tree):
    model = tree.robot.model
    q0 = np.array([tree.robot.random_configuration(tree.rng) for _ in range(4)])
    x, v = tree.rng.normal(size=(2, 4, model.nv))
    q = moved(model, q0, x)
    np.testing.assert_array_equal(q, [moved(model, *row) for row in zip(q0, x)])
    near(rate(model, q, x, v), [rate(model, *row) for row in zip(q, x, v)], EXACT_MATHS)
    assert greatest_rotation(model, x) == max(greatest_rotation(model, row) for row in x)


def test_quaternions_keep_unit_length(tree):
    model = tree.robot.model
    q = moved(model, tree.q, 3.0 * tree.v)
    norms = [np.linalg.norm(q[joint.q][3:]) for joint in model.joints if joint.kind == 'floating']
    near(norms, 1.0, EXACT_MATHS)
