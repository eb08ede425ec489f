"""Test rank decisions and null spaces by QR, against the SVD."""

import numpy as np
import pytest
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.constrained.row_decomposition import RANK
from dynamics_node.example_robots import ARM7
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.hierarchy import UNFELT, factors, null_space
from dynamics_node.task_space.tasks import Task

SHAPES = [(0, 4), (1, 5), (4, 9), (7, 7), (9, 4), (5, 1)]


def _with_singular_values(s, m, n, rng):
    U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (m, n))
    return (U[:, :len(s)] * s) @ V[:, :len(s)].T


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('least', [1.0, 2.0 * RANK, 0.5 * RANK, 10.0 * UNFELT, 0.0])
@pytest.mark.parametrize('seed', range(5))
def test_the_rank_is_that_of_the_singular_values(shape, least, seed):
    """On either side of both thresholds; the scale is 1."""
    rng = np.random.default_rng(seed)
    m, n = shape
    s = np.full(min(m, n), least)
    s[:seed] = rng.uniform(0.1, 1.0, size=len(s[:seed]))
    A = _with_singular_values(s, m, n, rng)
    found = factors(A, 1.0)
    r = int(np.sum(s > RANK))
    assert found.U.shape == (m, r) and found.T.shape == (n, r) and found.rest.shape == (n, n - r)
    assert found.weak == int(np.sum(s > UNFELT)) - r
    # A T = U, but for the rounding of A, of which T is 1 / s times as much
    size = 1.0 + np.abs(found.T).max(initial=0.0)
    assert np.abs(A @ found.T - found.U).max(initial=0.0) <= 1e-14 * size
    assert np.abs(found.U.T @ found.U - np.eye(r)).max(initial=0.0) <= SOLVED
    assert np.abs(found.rest.T @ found.rest - np.eye(n - r)).max(initial=0.0) <= SOLVED
    assert np.abs(A @ found.free).max(initial=0.0) <= UNFELT
    assert np.abs(found.rest.T @ found.T).max(initial=0.0) <= SOLVED * size


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('least', [1.0, 2.0 * RANK, 0.5 * RANK, 10.0 * UNFELT, 0.0])
@pytest.mark.parametrize('seed', range(5))
def test_the_null_space_is_that_of_the_factors(shape, least, seed):
    """Its projector is the same, on either side of both thresholds; the scale is 1."""
    rng = np.random.default_rng(seed)
    m, n = shape
    s = np.full(min(m, n), least)
    s[:seed] = rng.uniform(0.1, 1.0, size=len(s[:seed]))
    A = _with_singular_values(s, m, n, rng)
    found, expected = null_space(A, 1.0), factors(A, 1.0).rest
    assert found.shape == expected.shape
    # Rounding of A turns a direction of singular value s by 1e-16 / s.
    allowed = SOLVED / min([value for value in s if value > RANK], default=1.0)
    assert np.abs(found @ found.T - expected @ expected.T).max(initial=0.0) <= allowed
    assert np.abs(found.T @ found - np.eye(found.shape[1])).max(initial=0.0) <= SOLVED


def test_rows_that_repeat_each_other_need_no_svd(monkeypatch):
    """As of a foot whose friction rows meet in an edge."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 6))
    monkeypatch.setattr(np.linalg, 'svd', None)
    found = null_space(A, 1.0)
    assert found.shape == (6, 4) and np.abs(A @ found).max() <= SOLVED


def test_a_zero_matrix_leaves_all_free_and_lapack_silent(capfd):
    """A bound on the joint of a higher level has no effect on the rest: LAPACK wrote to stdout."""
    assert (null_space(np.zeros((2, 5)), 1.0) == np.eye(5)).all()
    robot = Robot.from_urdf(ARM7, compile=False)
    todo = [Task('first', 'posture', 1, joints=['joint_2'], position=[2.0]),
            Task('second', 'posture', 2, position=np.zeros(7))]
    found = robot.whole_body(np.zeros(7), np.zeros(7), todo, (), [Bound('acceleration', 1.0)])
    assert found.acceleration[robot.joint_names.index('joint_2')] == pytest.approx(1.0)
    assert capfd.readouterr() == ('', '')


def test_a_bound_copies_its_arguments():
    """Neither its limits nor its sizes follow the lists they were given as."""
    limit, sizes = [1.0, 2.0], {'foot': [0.1, 0.2]}
    bound = Bound('torque', limit=limit, sizes=sizes)
    limit[0], sizes['foot'][0] = 9.0, 9.0
    assert (bound._limits(2) == [1.0, 2.0]).all() and bound.sizes == {'foot': [0.1, 0.2]}
