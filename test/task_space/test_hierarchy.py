"""Test strict priorities by null spaces, on random stacks of tasks of any rank."""

import numpy as np
import pytest
from support.priority_stacks import random_stack
from support.tolerances import PRIORITY, SOLVED

from dynamics_node.task_space.hierarchy import hierarchical_least_squares

SEEDS = range(30)


@pytest.mark.parametrize('seed', SEEDS)
def test_a_lower_task_never_changes_a_higher_one(seed):
    """The residuals of all tasks above stay, whatever is appended."""
    tasks = random_stack(seed)
    solutions = [hierarchical_least_squares(tasks[:k]) for k in range(1, len(tasks) + 1)]
    for k, (A, b) in enumerate(tasks):
        own = A @ solutions[k] - b
        for x in solutions[k:]:
            assert np.abs(A @ x - b - own).max(initial=0.0) <= PRIORITY * np.linalg.norm(b)


@pytest.mark.parametrize('seed', SEEDS)
def test_each_task_is_optimal_under_those_above(seed):
    """Its residual is normal to its remaining freedom, by a stack of all rows above."""
    tasks = random_stack(seed)
    x = hierarchical_least_squares(tasks)
    above = np.zeros((0, len(x)))
    for A, b in tasks:
        _, s, Vt = np.linalg.svd(above)
        free = Vt[int(np.sum(s > 1e-9)):].T
        slope = free.T @ A.T @ (A @ x - b)
        assert np.abs(slope).max(initial=0.0) <= SOLVED * (1.0 + np.linalg.norm(A) ** 2)
        above = np.vstack([above, A])
    # and what no task asks for stays zero
    _, s, Vt = np.linalg.svd(above)
    rest = Vt[int(np.sum(s > 1e-9)):]
    assert np.abs(rest @ x).max(initial=0.0) <= SOLVED * (1.0 + np.linalg.norm(x))


def test_one_task_is_plain_least_squares():
    """By the pseudo-inverse."""
    A, b = random_stack(3)[0]
    assert np.allclose(hierarchical_least_squares([(A, b)]), np.linalg.pinv(A) @ b, atol=SOLVED)


def test_repeated_tasks_change_nothing():
    """Rounding of a repeated task is not solved for."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3, 7)), rng.normal(size=3)
    once = hierarchical_least_squares([(A, b)])
    mixed = rng.normal(size=(5, 3)) @ A
    again = hierarchical_least_squares([(A, b), (mixed, rng.normal(size=5)), (A, -b)])
    assert np.abs(again - once).max() <= SOLVED


def test_a_weak_direction_is_neither_commanded_nor_disturbed():
    """Singular values between rounding and what counts, see hierarchy.UNFELT."""
    weak = 1e-10
    A = np.diag([1.0, weak, 0.0])
    x = hierarchical_least_squares([(A, np.ones(3)), (np.eye(3), np.full(3, 5.0))])
    assert np.allclose(x, [1.0, 0.0, 5.0], atol=SOLVED)
