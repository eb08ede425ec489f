r"""Compute dynamics whose constraint rows follow a prescribed motion (rheonomic constraints).

The residual of the rows follows s(t) instead of staying zero: with a_0 = -s' of Hutter 2017,
eq. 3.35, A v + a_0 = 0 and A a + dA/dt v = s''. The solution is linear in s'': with Lambda of
support_consistent.py and the solution (a, lambda) for s = 0,

    lambda + Lambda w,   a + M^-1 A' Lambda w,   w = s'' + 2 alpha s' + beta^2 s,

where alpha and beta are those of Baumgarte's stabilisation, zero without it. Where rows
depend on each other, s'' must depend in the same way; otherwise the rows follow it only in part.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_array
from dynamics_node.constrained.regular_or_fallback import ConstrainedMotion
from dynamics_node.constrained.support_consistent import SupportConsistent
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.spatial.stacks import times


class RowMotion(NamedTuple):
    """The prescribed motion of the constraint rows at one time, (m,) each, or (N, m) of a batch."""

    position: ArrayLike      # s [m or rad]
    velocity: ArrayLike      # s' [m/s or rad/s]
    acceleration: ArrayLike  # s'' [m/s^2 or rad/s^2]


def check_row_motion(motion: object, m: int) -> RowMotion:
    """Return the RowMotion of m rows as arrays."""
    if not isinstance(motion, (tuple, list)) or len(motion) != 3:
        raise DynamicsError(f"motion is {shown(motion)}; expected (s, s', s'') of the rows")
    return RowMotion(*(check_array(f'motion.{name}', part, m)
                       for name, part in zip(RowMotion._fields, motion)))


def with_row_motion(free: ConstrainedMotion, support: SupportConsistent,
                    mass_matrix_inverse: np.ndarray, motion: RowMotion,
                    stabilisation: np.ndarray | None) -> ConstrainedMotion:
    """Return the ConstrainedMotion of rows that follow a RowMotion; of one state or a batch.

    :param free: the solution for rows that stay at zero.
    :param stabilisation: (alpha, beta) with which `free` was computed, or None.
    """
    alpha, beta = (0.0, 0.0) if stabilisation is None else stabilisation
    position, velocity, acceleration = (np.asarray(part) for part in motion)
    w = acceleration + 2.0 * alpha * velocity + beta * beta * position
    force = times(support.inertia, w)
    pushed = times(mass_matrix_inverse, times(support.jacobian.swapaxes(-1, -2), force))
    a = free.a + pushed
    return ConstrainedMotion(a, np.broadcast_to(free.tau, a.shape).copy(),
                             free.multipliers + force)
