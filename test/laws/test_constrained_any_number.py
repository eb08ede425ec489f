"""Test that constrained dynamics run on any kind of number, so that they can be compiled."""

import numpy as np
import pytest
from support import looped_trees, random_trees
from support.differences import relative
from support.opaque_numbers import hide, show
from support.tolerances import SOLVED

from dynamics_node.constrained import forward, hybrid
from dynamics_node.constrained.derivatives import constrained_forward_dynamics_derivatives
from dynamics_node.constrained.proximal import Proximal, proximal_forward_dynamics
from dynamics_node.constrained.rows import rows

STABILISATION = (3.0, 4.0)


def solved_forward(solve):
    def result(looped, q, v, a, tau, wrenches):
        return solve(looped.model, q, v, tau, looped.constraints, wrenches, STABILISATION)
    return result


def solved_hybrid(looped, q, v, a, tau, wrenches):
    given = looped_trees.some_prescribed(looped)
    return hybrid.constrained_hybrid_dynamics(looped.model, q, v, a, tau, given,
                                              looped.constraints, wrenches)


def solved_by_blocks(looped, q, v, a, tau, wrenches):
    """`given` as numbers of the same kind as all else."""
    given = looped_trees.some_prescribed(looped)
    given = hide(given) if a.dtype == object else given
    found = rows(looped.model, q, v, looped.constraints)
    return hybrid.by_blocks(looped.model, q, v, a, tau, given, found.A, found.gamma, wrenches)


def solved_proximally(looped, q, v, a, tau, wrenches):
    return proximal_forward_dynamics(looped.model, q, v, tau, looped.constraints, wrenches,
                                     settings=Proximal(max_iterations=2, tolerance=0.0))[:-1]


ALGORITHMS = {
    'forward': solved_forward(forward.constrained_forward_dynamics),
    'forward_by_mass_matrix': solved_forward(forward.by_mass_matrix),
    'hybrid': solved_hybrid,
    'hybrid_by_blocks': solved_by_blocks,
    'proximal': solved_proximally,
    'derivatives': solved_forward(constrained_forward_dynamics_derivatives),
}


@pytest.mark.parametrize('name', ALGORITHMS)
@pytest.mark.parametrize('k', range(4), ids=lambda k: str(random_trees.TREES[k]))
def test_no_solver_depends_on_the_value_of_a_number(name, k):
    """The same numbers come out of object arrays, so tracing sees the whole computation."""
    def result(kind):
        looped = looped_trees.make(random_trees.TREES[k], looped_trees.KINDS[k])
        arguments = [kind(x) for x in (looped.q, looped.v, looped.a, looped.tau, looped.wrenches)]
        return ALGORITHMS[name](looped, *arguments)
    expected, got = result(np.asarray), result(hide)
    for one, other in zip(expected, got, strict=True):
        assert relative(show(other), np.ravel(one)) < SOLVED
