"""Compute constrained forward dynamics with bounded multipliers by proximal iterations.

Where rows are dependent the exact multipliers are not unique, and near such configurations they are
huge. Each proximal step solves a system that is always regular and reduces the error; the result
converges to the exact solution where there is one, and stays bounded where there is none.
Carpentier, Budhiraja and Mansard 2021.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class Proximal(NamedTuple):
    """Settings of the proximal iterations."""

    mu: float = 1e-6          # compliance added to the rows, a share of their mean compliance
    max_iterations: int = 50
    tolerance: float = 1e-12  # stop when a step changes A a by less, relative; 0: run all


DEFAULT = Proximal()


class ProximalForward(NamedTuple):
    """Acceleration, multipliers, and the remaining constraint violation."""

    a: np.ndarray               # (nv,)
    multipliers: np.ndarray     # lambda (m,)
    violation: np.ndarray       # A a + gamma (m,): zero where the exact solution exists
    inertia_margin: np.ndarray  # (nv,) positive where M is regular
    iterations: int


def proximal_forward_dynamics(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                              constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
                              stabilisation: Stabilisation = None,
                              settings: Proximal = DEFAULT) -> ProximalForward:
    r"""Return the ProximalForward; arguments as in `forward.constrained_forward_dynamics`.

    With G = A M^-1 A', e = A a_r + gamma, and mu a share of G's mean diagonal entry,
    (G + mu) lambda_k+1 = mu lambda_k - e,   lambda_0 = 0,   a = a_r + M^-1 A' lambda.

    The component of a singular value s of G converges by mu/(s + mu) each step, to the shortest
    lambda; |lambda| <= iterations |e| / mu in every configuration. With tolerance = 0 all
    iterations are made without a branch on values: then it runs on symbols too.
    """
    found = rows(model, q, v, constraints)
    A, error = found.A, stabilised_gamma(found, v, stabilisation)
    L, d = factor(mass_matrix(model, q))
    still = inverse_dynamics(model, q, v, np.zeros(model.nv), wrenches)
    free = solve_factored(L, d, tau - still)
    Y = solve_factored(L, d, A.T)
    error = A @ free + error
    G = symmetric(A @ Y)
    m = len(A)
    mu = settings.mu * np.trace(G) / max(m, 1)
    factors = factor(G + mu * np.eye(m))
    multipliers, reached, iterations = np.zeros(m), error, 0
    while iterations < settings.max_iterations and m:
        multipliers = solve_factored(*factors, mu * multipliers - error)
        before, reached = reached, G @ multipliers + error
        iterations += 1
        if settings.tolerance and _converged(before, reached, error, settings.tolerance):
            break
    return ProximalForward(free + Y @ multipliers, multipliers, reached, pivot_margin(model, d),
                           iterations)


def _converged(before: np.ndarray, reached: np.ndarray, error: np.ndarray, tolerance: float
               ) -> bool:
    return np.abs(reached - before).max() <= tolerance * np.abs(error).max(initial=0.0)
