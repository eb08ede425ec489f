r"""Compute hybrid dynamics of a closed mechanism in its independent coordinates.

With H = G' M G and n = G' inverse_dynamics of the accelerations that are given (the others zero),
the equation of motion is

    H_gf x + n_g = (G' tau)_g,    H_ff x + n_f = (G' tau)_f,

g being the coordinates with a given acceleration, f the free ones and x the accelerations of f.
The second gives x. As G_I = 1, the torque of a coordinate g is in its own row of G' tau alone, so
that the first gives it; the torques of all other joints are given.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.closed_dynamics import NO_INERTIA, transmission, why_not
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.regular_or_fallback import linear_algebra_errors
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class ClosedHybrid(NamedTuple):
    """Accelerations and torques of all joints of a closed mechanism."""

    a: np.ndarray    # (nv,)
    tau: np.ndarray  # (nv,)


def closed_hybrid_dynamics(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
        given: np.ndarray, constraints: Sequence[Constraint], independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> tuple[ClosedHybrid, np.ndarray]:
    """Return (ClosedHybrid, margin); the margin is positive where it is defined.

    :param q: (nq,) closes the loops.
    :param v: (nv,) of which the independent entries are read.
    :param a: (nv,) of which the given entries are read.
    :param tau: (nv,) of which all other entries are read, those of dependent joints too.
    :param given: (nv,) 1 where the acceleration of a coordinate is given, else 0.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    """
    rates, margin = transmission(model, q, v, constraints, independent)
    coordinates, G = list(independent), rates.G
    known = given[coordinates]
    free = 1.0 - known
    prescribed = known * a[coordinates]
    drift = rates.G_rate @ v[coordinates]
    H = symmetric(G.T @ (mass_matrix(model, q) @ G))
    needed = G.T @ inverse_dynamics(model, q, rates.v, G @ prescribed + drift, wrenches)
    kept = (1.0 - given) * tau
    applied = G.T @ kept
    masked = np.outer(free, free) * H + np.diag(known)
    L, d = factor(masked)
    x = solve_factored(L, d, free * (applied - needed))
    place = np.eye(model.nv)[:, coordinates]
    return ClosedHybrid(
        G @ (prescribed + x) + drift, kept + place @ (known * (needed + H @ x - applied)),
    ), np.concatenate([margin, d - DEPENDENT * np.diag(masked)])


def closed_hybrid_or_error(
        model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
        a: np.ndarray, tau: np.ndarray, given: np.ndarray, independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> ClosedHybrid:
    """Return the ClosedHybrid.

    :raise DynamicsError: as in `closed_dynamics_or_error`, or a free coordinate has no inertia.
    """
    with linear_algebra_errors():
        found, margin = closed_hybrid_dynamics(model, q, v, a, tau, given, constraints,
                                               independent, wrenches)
        if (margin > 0.0).all():
            return found
        if (margin[:-len(independent)] > 0.0).all():
            raise SingularModel(NO_INERTIA)
        raise DynamicsError(why_not(model, q, constraints, list(independent)))
