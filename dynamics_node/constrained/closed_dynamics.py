r"""Compute M and h of a closed mechanism in its independent coordinates (Pan, problem 9).

As many entries u of v as the mechanism has degrees of freedom are independent (I), the others are
dependent (D). The constraints A v = 0 and their rate give the velocities and accelerations of all
joints:

    v = G u,                        G_I = 1,        A_D G_D = -A_I,
    a = G du/dt + (dG/dt) u,        dG_I/dt = 0,    A_D dG_D/dt = -(dA/dt) G.

In M a + C v + g + friction = tau + A' lambda of the tree, G' A' = 0 removes the multipliers:

    (G' M G) du/dt + G' (C G + M dG/dt) u + G' g + G' friction = G' tau.

With Pan's M(theta) and h(theta, theta'): M = G' M G, and h is the sum of the other terms. If the
joints with a motor are independent, G' tau are the torques of the motors.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.energy import potential_energy
from dynamics_node.algorithms.inverse_dynamics import gravity_torque
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.passive_torque import passive_torque
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.regular_or_fallback import linear_algebra_errors
from dynamics_node.constrained.row_derivatives import matrix_rates
from dynamics_node.constrained.rows import rows
from dynamics_node.errors import DynamicsError, SingularModel, shortened
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric

# Loops that are open by more than this [m or rad] are not due to inaccurate measurement: positions
# are wrong, or belong to another mechanism.
LARGEST_GAP = 0.02
# Greatest |A G|^2, relative to 1 + |A|^2: rounding leaves 1e-20, one coordinate too many about 1.
CONSISTENT = 1e-12
LONGEST_LIST = 200  # characters of joint names in a message
NO_INERTIA = ('some motion of the closed mechanism has no inertia, so that its acceleration is not '
              'defined; give every moving link mass')
MOVES = 0.1  # a joint takes part in a motion if it moves by more than this share of the largest


class ClosedDynamics(NamedTuple):
    """Terms of  mass_matrix du/dt + coriolis + gravity + friction = transmission' tau."""

    mass_matrix: np.ndarray        # G' M G (k, k), armature included
    coriolis_matrix: np.ndarray    # (k, k): d mass_matrix/dt - 2 coriolis_matrix is skew
    coriolis: np.ndarray           # coriolis_matrix u (k,)
    gravity: np.ndarray            # G' g (k,)
    friction: np.ndarray           # G' friction of all joints, and of springs (k,)
    transmission: np.ndarray       # G (nv, k): v = G u
    transmission_rate: np.ndarray  # dG/dt (nv, k): a = G du/dt + dG/dt u
    kinetic_energy: np.ndarray     # [J]
    potential_energy: np.ndarray   # [J], zero at the height of the root frame's origin


def closed_dynamics(model: Model, q: np.ndarray, v: np.ndarray, constraints: Sequence[Constraint],
                    independent: Sequence[int]) -> tuple[ClosedDynamics, np.ndarray]:
    """Return (ClosedDynamics, margin); the margin is positive where the result is defined.

    :param q: (nq,) closes the loops.
    :param v: (nv,) of which the independent entries are read: v = G u are all.
    :param independent: entries of v, k of them.
    """
    rates, margin = transmission(model, q, v, constraints, independent)
    u, v, G, G_rate = v[list(independent)], rates.v, rates.G, rates.G_rate
    M, C = mass_matrix(model, q), coriolis_matrix(model, q, v)
    inertia = symmetric(G.T @ (M @ G))
    coriolis = G.T @ (C @ G + M @ G_rate)
    return ClosedDynamics(
        inertia, coriolis, coriolis @ u, G.T @ gravity_torque(model, q),
        G.T @ passive_torque(model, q, v), G, G_rate, np.asarray(0.5 * (u @ (inertia @ u))),
        np.asarray(potential_energy(model, q)),
    ), margin


class ClosedRates(NamedTuple):
    """The velocities of all joints, and how they follow from those of the coordinates."""

    G: np.ndarray        # (nv, k): v = G u
    G_rate: np.ndarray   # dG/dt (nv, k): a = G du/dt + dG/dt u
    v: np.ndarray        # G u (nv,)
    dependent: list[int]  # entries of v
    solve: Callable[[np.ndarray], np.ndarray]  # of A_D, see `least_squares`


def transmission(model: Model, q: np.ndarray, v: np.ndarray, constraints: Sequence[Constraint],
                 independent: Sequence[int]) -> tuple[ClosedRates, np.ndarray]:
    """Return (ClosedRates, margin); arguments as in `closed_dynamics`."""
    independent = list(independent)
    u = v[independent]
    residual, A, _ = rows(model, q, np.zeros(model.nv), constraints)
    dependent = [j for j in range(model.nv) if j not in independent]
    solve, margin = least_squares(A[:, dependent])
    G = _all_rows(np.eye(len(u)), solve(-A[:, independent]), independent, dependent)
    v = G @ u
    slope = solve(-(matrix_rates(model, q, v[:, None], constraints)[..., 0] @ G))
    G_rate = _all_rows(np.zeros((len(u), len(u))), slope, independent, dependent)
    open_by = A @ G
    return ClosedRates(G, G_rate, v, dependent, solve), np.concatenate(
        [margin, LARGEST_GAP ** 2 - residual * residual,
         [CONSISTENT * (1.0 + np.sum(A * A)) - np.sum(open_by * open_by)]])


def closed_dynamics_or_error(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                             v: np.ndarray, independent: Sequence[int]) -> ClosedDynamics:
    """Return the ClosedDynamics.

    :raise DynamicsError: the loops are open at q, or the coordinates are too many or do not
        determine the motion of the mechanism at q.
    """
    with linear_algebra_errors():
        found, margin = closed_dynamics(model, q, v, constraints, independent)
        if (margin > 0.0).all():
            return found
        raise DynamicsError(why_not(model, q, constraints, list(independent)))


def inverse_of_inertia(mass_matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of the mass matrix of a closed mechanism, (.., k, k).

    :raise SingularModel: some motion has no inertia.
    """
    try:
        half = np.linalg.inv(np.linalg.cholesky(mass_matrix))
    except np.linalg.LinAlgError:
        raise SingularModel(NO_INERTIA) from None
    return half.swapaxes(-1, -2) @ half


def least_squares(A: np.ndarray) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
    """Return (f with f(B) = X of least |A X - B|, margin), for independent columns.

    By the normal equations, which run on symbols and take redundant rows. They square the condition
    number of A; a second solve of the residual restores the digits.

    The margin (n,) is positive where the columns of A (m, n) are independent.
    """
    square = symmetric(A.T @ A)
    L, d = factor(square)

    def solve(B: np.ndarray) -> np.ndarray:
        X = solve_factored(L, d, A.T @ B)
        return X + solve_factored(L, d, A.T @ (B - A @ X))
    return solve, d - DEPENDENT * np.diag(square)


def _all_rows(of_independent: np.ndarray, of_dependent: np.ndarray, independent: Sequence[int],
              dependent: Sequence[int]) -> np.ndarray:
    """Return the matrix with these rows in their places, (nv, k)."""
    order = np.argsort([*independent, *dependent])
    return np.concatenate([of_independent, of_dependent])[order]


def why_not(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
            independent: list[int]) -> str:
    """Return the reason why the coordinates have no dynamics at q."""
    residual, A, _ = rows(model, q, np.zeros(model.nv), constraints)
    gap = np.abs(residual)
    if not (gap <= LARGEST_GAP).all():
        worst = int(np.argmax(gap))
        return (f"the loops are open by {gap[worst]:.3g} m or rad at row "
                f"'{row_names(constraints)[worst]}'; expected at most {LARGEST_GAP:g}: "
                'project_configuration closes them')
    names = [joint.name for joint in model.joints for _ in range(joint.v.start, joint.v.stop)]
    given = _listed(names[k] for k in independent)
    length = np.linalg.norm(A, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(A / np.where(length > 0.0, length, 1.0))
    free = Vt[int(np.sum(s > np.sqrt(DEPENDENT) * s.max(initial=0.0))):].T
    if len(independent) > free.shape[1]:
        return (f'coordinates: {given} have {len(independent)} degrees of freedom, the mechanism '
                f'has {free.shape[1]} here; name joints with as many')
    motion = np.abs(free @ np.linalg.svd(free[independent])[2][-1])
    loose = _listed(name for k, name in enumerate(names)
                    if motion[k] > MOVES * motion.max() and k not in independent)
    return (f'coordinates: {given} do not determine the motion here: {loose} can move while they '
            'are at rest; name other joints, or more')


def _listed(names: Iterable[str]) -> str:
    """Return the names, each once, in a text of limited length."""
    return shortened(', '.join(dict.fromkeys(names)), LONGEST_LIST)
