"""Can the contacts really give these forces? Friction cone, one-sidedness, centre of pressure.

Float only: verdicts look at values. Impulses are judged as forces are.
"""

import math
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.constraint import size
from dynamics_node.constrained.contact_forces import by_name
from dynamics_node.errors import DynamicsError

# Forces below this share of the largest of all contacts are rounding: they neither pull nor slide.
ROUNDING = 1e-9


class ContactCheck(NamedTuple):
    """One contact's force, in the axes of `to`, whose z is the normal, and what to think of it."""

    name: str
    normal: float         # f_z, positive when the ground pushes [N]
    tangential: float     # sqrt(f_x^2 + f_y^2) [N]
    ratio: float          # tangential / normal, the friction it takes; inf where nothing presses
    margin: float         # mu normal - tangential, what it still holds; nan: friction unknown [N]
    verdict: str          # 'sticking', 'sliding', 'pulling', or 'unknown': friction unknown
    pressure: tuple       # centre of pressure (x, y) from the contact's origin; () if none [m]
    support: str          # is it on the sole? 'inside', 'outside', 'unknown': no size given


def check_contacts(constraints, force, sizes=None):
    r"""Return a ContactCheck for every point, line and flat contact among the constraints.

    'pulling': f_z < 0, only glue does that. 'sliding': |f_t| > mu f_z, so it would slide instead.
    The forces of both are those of a motion that does not happen.

    With the moment m about the origin, the centre of pressure is (-m_y, m_x) / f_z. Outside the
    sole it means tipping about an edge.

    :param force: (m,) multipliers of all the constraints, in their order.
    :param sizes: {name: (half length along x, half width along y)} of flat contacts,
        {name: half length} of line contacts [m].

    Moments about the normal (torsion) are not judged: how much of it a sole holds depends on how
    the pressure is spread.
    """
    force = np.asarray(force, dtype=float)
    if force.shape != (sum(map(size, constraints)),):
        raise DynamicsError(f'force: {force.shape} numbers, the constraints have '
                            f'{sum(map(size, constraints))} rows')
    parts = by_name(constraints, force)
    contacts = [(constraint, parts[constraint.name]) for constraint in constraints
                if constraint.is_contact]
    sizes = _of_contacts(sizes or {}, [constraint.name for constraint, _ in contacts])
    tiny = ROUNDING * max((np.abs(part[:3]).max() for _, part in contacts), default=0.0)
    return [_check(constraint, part, sizes.get(constraint.name), tiny)
            for constraint, part in contacts]


def _of_contacts(sizes, names):
    unknown = set(sizes) - set(names)
    if unknown:
        raise DynamicsError(f"sizes: no contact '{min(unknown)}'; there are: "
                            f'{", ".join(names) or "none"}')
    return sizes


def _check(constraint, part, half, tiny):
    normal, tangential = float(part[2]), float(np.hypot(part[0], part[1]))
    margin = constraint.friction * normal - tangential
    pressure = _pressure(constraint, part) if normal > tiny else ()
    return ContactCheck(constraint.name, normal, tangential, _ratio(normal, tangential, tiny),
                        margin, _verdict(normal, margin, tiny), pressure,
                        _support(constraint, pressure, half))


def _ratio(normal, tangential, tiny):
    if normal > tiny:
        return tangential / normal
    return math.inf if tangential > tiny else 0.0


def _verdict(normal, margin, tiny):
    if normal < -tiny:
        return 'pulling'
    if math.isnan(margin):
        return 'unknown'
    return 'sliding' if margin < -tiny else 'sticking'


def _pressure(constraint, part):
    """Return where on the contact the ground's push can be thought to act, (x, y)."""
    if constraint.kind == 'point_contact':
        return 0.0, 0.0
    about = constraint.across if constraint.kind == 'line_contact' else np.eye(3)
    m = about.T @ part[3:]  # a line carries no moment about itself, so it is along the line
    return float(-m[1] / part[2]), float(m[0] / part[2])


def _support(constraint, pressure, half):
    if constraint.kind == 'point_contact' and pressure:
        return 'inside'
    if half is None or not pressure:
        return 'unknown'
    where = np.abs(pressure)
    if constraint.kind == 'line_contact':
        where, half = np.linalg.norm(where), np.min(half)
    return 'inside' if np.all(where <= np.asarray(half)) else 'outside'
