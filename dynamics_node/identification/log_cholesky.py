r"""Parametrise all physically consistent bodies by ten free variables (log-Cholesky).

Ten inertial parameters belong to a distribution of positive mass if and only if their
pseudo-inertia P = [[S, h], [h', m]] is positive definite, S = tr(I)/2 1 - I the second moment
(Wensing, Kim and Slotine 2018). Every such P is exp(2 alpha) U U' with U upper triangular:

        [exp(d1)  s12      s13      t1]
    U = [0        exp(d2)  s23      t2]      x = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3),
        [0        0        exp(d3)  t3]      mass = exp(2 alpha), centre of mass = t
        [0        0        0        1 ]

(Rucker and Wensing 2022). Every x is a consistent body, so a fit needs no constraints.
"""

import numpy as np

from dynamics_node.algorithms.inertial_parameters import inertia_of, ten_numbers
from dynamics_node.spatial.inertia import Inertia

PLACES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # in U, of s12 s23 s13 t1 t2 t3
# Bounds of a link: no link of a robot is lighter than 0.1 g or thinner than 0.1 mm about its
# centre of mass. Double precision can still tell such a body from an inconsistent one.
MASS = (1e-4, 1e5)      # [kg]
RADIUS = (1e-4, 1e2)    # exp(d) [m]


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """Return P of ten inertial parameters, (4, 4)."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, x],
                     [-xy, half - yy, -yz, y],
                     [-xz, -yz, half - zz, z],
                     [x, y, z, m]])


def ten_of(P: np.ndarray) -> np.ndarray:
    """Return the ten inertial parameters of a pseudo-inertia, (10,)."""
    S = P[:3, :3]
    return ten_numbers(Inertia(P[3, 3], P[:3, 3], np.trace(S) * np.eye(3) - S))


def body_of(x: np.ndarray) -> np.ndarray:
    """Return the ten inertial parameters of x, (10,)."""
    U = _factor(x)
    return ten_of(np.exp(2.0 * x[0]) * (U @ U.T))


def log_cholesky(ten: np.ndarray) -> np.ndarray:
    """Return the x of ten inertial parameters, (10,): the inverse of body_of.

    :raise numpy.linalg.LinAlgError: they are not consistent.
    """
    U = upper_cholesky(pseudo_inertia(ten))
    alpha = np.log(U[3, 3])
    U = U / U[3, 3]
    return np.array([alpha, *np.log(np.diag(U)[:3]), *(U[place] for place in PLACES)])


def upper_cholesky(P: np.ndarray) -> np.ndarray:
    """Return the upper triangular U with P = U U'."""
    return np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]


def body_rates(x: np.ndarray) -> np.ndarray:
    """Return d body_of / dx, (10, 10).

    dP = 2 P d(alpha) + exp(2 alpha) (dU U' + U dU'), one column per entry of x.
    """
    U, scale = _factor(x), np.exp(2.0 * x[0])
    columns = [ten_of(2.0 * scale * (U @ U.T))]
    for k, place in enumerate(((0, 0), (1, 1), (2, 2), *PLACES)):
        dU = np.zeros_like(U)
        dU[place] = U[place] if k < 3 else 1.0
        columns.append(ten_of(scale * (dU @ U.T + U @ dU.T)))
    return np.stack(columns, axis=-1)


def _factor(x):
    U = np.diag(np.append(np.exp(x[1:4]), 1.0))
    for place, value in zip(PLACES, x[4:]):
        U[place] = value
    return U


def bounds() -> tuple[np.ndarray, np.ndarray]:
    """Return (lower, upper) bounds of x, (10,) each; shears and centres are free."""
    least, greatest = (np.array([0.5 * np.log(MASS[k]), *[np.log(RADIUS[k])] * 3]) for k in (0, 1))
    free = np.full(6, np.inf)
    return np.concatenate([least, -free]), np.concatenate([greatest, free])


def is_consistent(ten: np.ndarray) -> bool:
    """Return whether ten inertial parameters are those of a body of positive mass."""
    try:
        return bool(np.isfinite(upper_cholesky(pseudo_inertia(ten))).all())
    except np.linalg.LinAlgError:
        return False


def nearest_consistent(ten: np.ndarray) -> np.ndarray:
    """Return the ten inertial parameters of a similar body within the bounds, (10,).

    The mass is at least 1 g, and each principal second moment about the centre of mass at least
    mass (1 mm)^2. A body well inside the bounds is returned unchanged.
    """
    inertia = inertia_of(ten)
    mass = max(inertia.mass, 10.0 * MASS[0])
    com = inertia.com if inertia.mass >= mass else np.zeros(3)
    second = inertia.second_moment - mass * np.outer(com, com)
    moments, axes = np.linalg.eigh(0.5 * (second + second.T))
    least = mass * (10.0 * RADIUS[0]) ** 2
    if inertia.mass >= mass and moments[0] >= least:
        return np.array(ten, dtype=float)
    second = (axes * np.maximum(moments, least)) @ axes.T + mass * np.outer(com, com)
    return ten_numbers(Inertia(mass, mass * com, np.trace(second) * np.eye(3) - second))
