"""Find which of several contacts push, where none may pull (float only).

The forces of the contacts and the rates of their points complement each other: a contact that
pushes keeps its point on the ground, the point of any other contact does not move into the ground.
The same holds for impulses and velocities of an impact. Search: leave out the contact that pulls
most, until none pulls; then add the point that moves into the ground fastest.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError

# Forces and rates below this share of the largest are rounding and count as zero.
ROUNDING = 1e-9


class Pushed(NamedTuple):
    """Forces of k contacts, some of them closed, and how the points move then."""

    normal: np.ndarray  # (k,) forces or impulses along the normal; zero of open contacts
    rate: np.ndarray    # (k,) acceleration or velocity of the points out of the ground


def pushing_contacts(candidates: Sequence[int], solve: Callable[[tuple[int, ...]], Pushed]
                     ) -> tuple[int, ...]:
    """Return the numbers of the contacts that push.

    :param candidates: numbers of contacts whose points are on the ground.
    :param solve: returns the Pushed of a set of closed contacts.
    :raise DynamicsError: no set was found in which all push and no point moves into the ground.
    """
    closed = tuple(sorted(candidates))
    tried = set()
    while closed not in tried:
        tried.add(closed)
        found = solve(closed)
        pulling = np.where(found.normal < -rounding(found.normal), found.normal, 0.0)
        if pulling.any():
            closed = tuple(k for k in closed if k != int(np.argmin(pulling)))
            continue
        rate = np.zeros(len(found.rate))
        others = [k for k in candidates if k not in closed]
        rate[others] = found.rate[others]
        if not (rate < -rounding(found.rate)).any():
            return closed
        closed = tuple(sorted((*closed, int(np.argmin(rate)))))
    raise DynamicsError(f'no set of the contacts {sorted(candidates)} pushes; expected contacts '
                        'with friction 0, or a SoftContact')


def rounding(values: np.ndarray) -> float:
    """Return the size below which values of this kind count as zero."""
    return ROUNDING * (1.0 + float(np.abs(values).max(initial=0.0)))


def without_pull(A: np.ndarray, force: np.ndarray, normals: Sequence[int]) -> np.ndarray:
    """Return multipliers (m,) with the torques A' force and, if they exist, no pulling normal row.

    Multipliers of dependent rows, as for four feet of one body, are not unique: those of least sum
    of squares may pull where others do not.
    """
    if not (force[list(normals)] < -rounding(force)).any():
        return force
    from scipy.optimize import lsq_linear  # 0.2 s to import

    torque, least = A.T @ force, np.full(len(force), -np.inf)
    least[list(normals)] = 0.0
    shared = lsq_linear(A.T, torque, (least, np.inf), method='bvls').x
    same = np.linalg.norm(A.T @ shared - torque) <= ROUNDING * np.linalg.norm(torque)
    return shared if same else force
