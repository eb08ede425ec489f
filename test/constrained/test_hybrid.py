"""Test hybrid dynamics with loops: equal to forward and inverse dynamics at its two ends."""

import numpy as np
import pytest
from support import looped_trees
from support.bundled_mechanisms import load, standing
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import DynamicsError
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.hybrid import (
    by_articulated_bodies,
    by_blocks,
    constrained_hybrid_dynamics,
)
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward, rank_deficient_hybrid
from dynamics_node.constrained.rows import rows


@pytest.fixture
def given(looped):
    """Some prescribed joints that leave the rows of the driven ones independent."""
    return looped_trees.some_prescribed(looped)


def hybrid(looped, given, solve=constrained_hybrid_dynamics, **options):
    return solve(looped.model, looped.q, looped.v, looped.a, looped.tau, given,
                 looped.constraints, looped.wrenches, **options)


def test_the_equations_hold_and_given_values_are_returned(looped, given):
    """M a + b = tau + A' lambda, A a + gamma = 0."""
    result = hybrid(looped, given)
    found = rows(looped.model, looped.q, looped.v, looped.constraints)
    needed = inverse_dynamics(looped.model, looped.q, looped.v, result.a, looped.wrenches)
    assert relative(result.tau + found.A.T @ result.multipliers, needed) < SOLVED
    assert relative(found.A @ result.a, -found.gamma) < SOLVED
    assert (result.a[given] == looped.a[given]).all()
    assert (result.tau[~given] == looped.tau[~given]).all()


def test_blocks_and_articulated_bodies_agree(looped_without_mimic):
    """Also for `given` as numbers 0 and 1."""
    looped, given = looped_without_mimic, looped_trees.some_prescribed(looped_without_mimic)
    found = rows(looped.model, looped.q, looped.v, looped.constraints)
    one, two = (solve(looped.model, looped.q, looped.v, looped.a, looped.tau, which, found.A,
                      found.gamma, looped.wrenches)
                for solve, which in ((by_articulated_bodies, given), (by_blocks, given * 1.0)))
    for a, b in zip(one, two):
        assert relative(a, b) < SOLVED


def test_the_rank_revealing_solver_agrees_on_independent_rows(looped, given):
    """With the same multipliers, which are unique."""
    exact, revealed = hybrid(looped, given), hybrid(looped, given, rank_deficient_hybrid,
                                                    choice='unique')
    for field in ('a', 'tau', 'multipliers'):
        assert relative(getattr(revealed, field), getattr(exact, field)) < SOLVED


def test_nothing_given_is_forward_dynamics(looped):
    """Eq. 80's remark."""
    nothing = np.zeros(looped.model.nv, dtype=bool)
    result = hybrid(looped, nothing)
    expected = constrained_forward_dynamics(looped.model, looped.q, looped.v, looped.tau,
                                            looped.constraints, looped.wrenches)
    assert relative(result.a, expected.a) < SOLVED
    assert relative(result.multipliers, expected.multipliers) < SOLVED


@pytest.mark.parametrize('choice', ['least_force', 'least_torque', 'weighted'])
def test_everything_given_is_inverse_dynamics(looped, choice):
    """M > n_v = 0, with every redundancy resolution."""
    everything = np.ones(looped.model.nv, dtype=bool)
    result = hybrid(looped, everything, rank_deficient_hybrid, choice=choice)
    expected = constrained_inverse_dynamics(looped.model, looped.q, looped.v, looped.a,
                                            looped.constraints, everything, choice=choice,
                                            wrenches=looped.wrenches)
    assert relative(result.tau, expected.tau) < SOLVED
    assert relative(result.multipliers, expected.multipliers) < SOLVED


@pytest.mark.parametrize('choice', ['least_force', 'least_torque', 'weighted'])
def test_more_rows_than_driven_joints_are_solved(choice):
    """A five-bar with three prescribed joints: m = 2 > n_v = 1 (eq. 61)."""
    mechanism = load('five_bar')
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 5)
    a = rank_deficient_forward(model, q, v, tau, constraints).a
    given = np.array([True, True, True, False])
    result = rank_deficient_hybrid(model, q, v, a, tau, given, constraints, choice=choice)
    assert relative(result.a, a) < SOLVED
    expected = constrained_inverse_dynamics(model, q, v, a, constraints, given, tau, choice)
    assert expected.redundancy == 1
    assert relative(result.tau, expected.tau) < SOLVED
    assert relative(result.multipliers, expected.multipliers) < SOLVED
    with pytest.raises(DynamicsError, match='not unique'):
        rank_deficient_hybrid(model, q, v, a, tau, given, constraints, choice='unique')


def test_infeasible_accelerations_are_refused():
    """With the size of the residual."""
    mechanism = load('five_bar')
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 5)
    a = rank_deficient_forward(model, q, v, tau, constraints).a + np.array([0.0, 1.0, 0.0, 0.0])
    given = np.array([True, True, True, False])
    with pytest.raises(DynamicsError, match=r'contradict.*off by 0\.\d+; prescribe fewer'):
        rank_deficient_hybrid(model, q, v, a, tau, given, constraints)
