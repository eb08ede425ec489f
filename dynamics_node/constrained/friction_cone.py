"""Check contact forces or impulses: friction cone, unilaterality, centre of pressure.

Float only: the verdicts depend on values.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.contact_forces import by_name
from dynamics_node.errors import DynamicsError, shown

# Forces below this share of the largest of all contacts are rounding and count as zero.
ROUNDING = 1e-9

Verdict = Literal['sticking', 'sliding', 'pulling', 'unknown']


class ContactCheck(NamedTuple):
    """One contact's force, in the axes of `to`, whose z is the normal, and its verdicts."""

    name: str
    normal: float         # f_z, positive when the ground pushes [N]
    tangential: float     # sqrt(f_x^2 + f_y^2) [N]
    ratio: float          # tangential / normal, the friction needed; inf if the normal force is 0
    margin: float         # mu normal - tangential; nan: friction unknown [N]
    verdict: Verdict      # unknown: friction unknown
    pressure: tuple       # centre of pressure (x, y) from the contact's origin; () if none [m]
    support: str          # centre of pressure 'inside' or 'outside' the sole, 'unknown': no size


def check_contacts(constraints: Sequence[Constraint], force: ArrayLike,
                   sizes: Mapping[str, ArrayLike] | None = None) -> list[ContactCheck]:
    r"""Return a ContactCheck for every point, line and flat contact among the constraints.

    'pulling': f_z < 0, the contact would open. 'sliding': |f_t| > mu f_z, the contact would slide.
    In both cases the real motion differs from the one with these forces.

    With the moment m about the origin, the centre of pressure is (-m_y, m_x) / f_z. Outside the
    sole, the body tips about an edge.

    :param force: (m,) multipliers of all the constraints, in their order.
    :param sizes: {name: (half length along x, half width along y)} of flat contacts,
        {name: half length} of line contacts [m].

    Moments about the normal (torsion) are not checked: their limit depends on the distribution of
    the pressure.
    """
    for constraint in checks.check_sequence('constraints', constraints):
        checks.check_kind('constraints', constraint, Constraint)
    force = checks.floats('force', force)
    if force.shape != (sum(map(size, constraints)),):
        raise DynamicsError(f'force has the shape {force.shape}; expected one number for each of '
                            f'the {sum(map(size, constraints))} rows of the constraints')
    parts = by_name(constraints, force)
    contacts = [(constraint, parts[constraint.name]) for constraint in constraints
                if constraint.is_contact]
    sizes = _of_contacts(sizes, [constraint.name for constraint, _ in contacts])
    tiny = ROUNDING * max((np.abs(part[:3]).max() for _, part in contacts), default=0.0)
    return [_check(constraint, part, sizes.get(constraint.name), tiny)
            for constraint, part in contacts]


def _of_contacts(sizes: Mapping[str, ArrayLike] | None, names: Sequence[str]
                 ) -> dict[str, np.ndarray]:
    """Return {name: finite numbers} of contacts that exist."""
    if sizes is None:
        return {}
    sizes = checks.mapping('sizes', sizes, "{'foot': (0.1, 0.05)}")
    unknown = [name for name in sizes if name not in names]
    if unknown:
        raise DynamicsError(f'sizes: no contact {shown(unknown[0])}; there are: '
                            f'{", ".join(names) or "none"}')
    return {name: checks.finite(checks.entry('sizes', name), half, (), (1,), (2,))
            for name, half in sizes.items()}


def _check(constraint: Constraint, part: np.ndarray, half: np.ndarray | None, tiny: float
           ) -> ContactCheck:
    normal, tangential = float(part[2]), float(np.hypot(part[0], part[1]))
    margin = constraint.friction * normal - tangential
    pressure = _pressure(constraint, part) if normal > tiny else ()
    return ContactCheck(constraint.name, normal, tangential, _ratio(normal, tangential, tiny),
                        margin, _verdict(normal, margin, tiny), pressure,
                        _support(constraint, pressure, half))


def _ratio(normal: float, tangential: float, tiny: float) -> float:
    if normal > tiny:
        return tangential / normal
    return math.inf if tangential > tiny else 0.0


def _verdict(normal: float, margin: float, tiny: float) -> Verdict:
    if normal < -tiny:
        return 'pulling'
    if math.isnan(margin):
        return 'unknown'
    return 'sliding' if margin < -tiny else 'sticking'


def _pressure(constraint: Constraint, part: np.ndarray) -> tuple[float, ...]:
    """Return the centre of pressure, (x, y) [m]."""
    if constraint.kind == 'point_contact':
        return 0.0, 0.0
    about = constraint.across if constraint.kind == 'line_contact' else np.eye(3)
    m = about.T @ part[3:]  # a line contact has no moment about its line
    return float(-m[1] / part[2]), float(m[0] / part[2])


def _support(constraint: Constraint, pressure: tuple[float, ...], half: np.ndarray | None) -> str:
    if constraint.kind == 'point_contact' and pressure:
        return 'inside'
    if half is None or not pressure:
        return 'unknown'
    if constraint.kind == 'line_contact':
        inside = np.linalg.norm(pressure) <= np.min(half)
    else:
        inside = np.all(np.abs(pressure) <= half)
    return 'inside' if inside else 'outside'
