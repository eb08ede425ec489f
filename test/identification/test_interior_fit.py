"""Test the nearest consistent point: against Clarabel, closed forms, its own certificate."""

import numpy as np
import pytest
from support.clarabel_oracle import nearest_by_clarabel
from support.other_bodies import other_body

from dynamics_node.algorithms.inertial_parameters import ten_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.identification import interior_fit
from dynamics_node.identification.interior_fit import ConsistentSet, nearest_point
from dynamics_node.identification.pseudo_inertia import is_consistent, ten_of
from dynamics_node.spatial.inertia import Inertia

BALL = ten_numbers(Inertia(2.0, np.array([0.1, 0.0, 0.2]), np.diag([0.2, 0.2, 0.15])))
AGREES = 1e-6     # share of the sum of squares, of two interior-point methods


class Stopped(Exception):
    pass


def some_set(rng, bodies=4, joints=5):
    """Return a ConsistentSet; w has one direction per parameter, of sizes from 1 to 1e-3."""
    k = 10 * bodies + joints
    tens = np.array([other_body(BALL, rng) for _ in range(bodies)])
    directions = np.linalg.qr(rng.normal(size=(k, k)))[0] * np.logspace(0, -3, k)
    return ConsistentSet(tens, directions[:10 * bodies].reshape(bodies, 10, k),
                         rng.uniform(0.1, 1.0, joints), directions[10 * bodies:])


def inside(within, w):
    return (all(is_consistent(body + by @ w) for body, by in zip(within.bodies, within.by_body))
            and (within.joints + within.by_joint @ w >= 0.0).all())


@pytest.mark.parametrize('far', [1e-2, 3.0, 1e3, 1e6])
def test_the_nearest_point_is_that_of_clarabel(far):
    """Targets inside, near the boundary, and far from every robot."""
    rng = np.random.default_rng(3)
    within = some_set(rng)
    target = far * rng.normal(size=within.by_joint.shape[1])
    found = nearest_point(within, target, np.zeros_like(target))
    w, squares = nearest_by_clarabel(within, target)
    assert inside(within, found.w)
    assert found.squares == pytest.approx(squares, rel=AGREES, abs=AGREES)
    np.testing.assert_allclose(found.w, w, atol=1e-3 * np.linalg.norm(w) + AGREES)


def test_the_gap_bounds_what_could_be_gained():
    """No point of the set has a lower sum of squares: tried with masses added at points."""
    rng = np.random.default_rng(5)
    within = some_set(rng)
    target = 5.0 * rng.normal(size=within.by_joint.shape[1])
    found = nearest_point(within, target, np.zeros_like(target))
    assert 0.0 < found.gap <= 1e-9 * (1.0 + found.squares)
    every = np.vstack([within.by_body.reshape(-1, len(target)), within.by_joint])
    for _ in range(100):
        point = np.append(0.3 * rng.normal(size=3), 1.0)
        change = np.zeros(len(target))
        at = 10 * rng.integers(4)
        change[at:at + 10] = ten_of(np.outer(point, point))
        step = np.linalg.solve(every, change)
        for size in (1e-9, 1e-6, 1e-3, 1.0):
            other = np.sum((found.w + size * step - target) ** 2)
            assert other > found.squares - found.gap


def test_a_negative_parameter_becomes_zero():
    line = ConsistentSet(np.zeros((0, 10)), np.zeros((0, 10, 1)), np.ones(1), np.ones((1, 1)))
    found = nearest_point(line, np.array([-3.0]), np.zeros(1))
    assert found.w == pytest.approx(-1.0, abs=1e-8)
    assert found.squares == pytest.approx(4.0, abs=1e-7)


def test_a_consistent_target_is_its_own_nearest_point():
    rng = np.random.default_rng(1)
    within = some_set(rng)
    target = 1e-2 * rng.normal(size=within.by_joint.shape[1])
    assert inside(within, target)
    found = nearest_point(within, target, np.zeros_like(target))
    np.testing.assert_allclose(found.w, target, atol=1e-6)


def test_no_convergence_is_an_error_and_the_fit_may_be_stopped(monkeypatch):
    rng = np.random.default_rng(1)
    within = some_set(rng)
    target = 5.0 * rng.normal(size=within.by_joint.shape[1])

    def stop():
        raise Stopped
    with pytest.raises(Stopped):
        nearest_point(within, target, np.zeros_like(target), stop)
    monkeypatch.setattr(interior_fit, 'MAX_STEPS', 3)
    with pytest.raises(DynamicsError, match='did not converge in 3 steps'):
        nearest_point(within, target, np.zeros_like(target))
