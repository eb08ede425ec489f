"""Read the fields of an Identify goal that say how a drive recorded positions and efforts."""

from __future__ import annotations

from typing import Any

from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.motor_side import Drives
from dynamics_node.identification.transmission import read_transmission

FIELDS = ('columns', 'drive_names', 'effort_scales', 'gear_ratios', 'transmission')


def drives_of(goal: Identify.Goal) -> Drives:
    """Return the Drives of a goal; raise a DynamicsError if they are invalid."""
    given = [field for field in FIELDS if len(getattr(goal, field))]
    if given and not goal.recording:
        raise DynamicsError(f'{given[0]} is given without a recording; live recordings use the '
                            'parameter observer.effort_meaning')
    transmission = read_transmission(goal.transmission) if goal.transmission else None
    return Drives(_named(goal, 'effort_scales'), _named(goal, 'gear_ratios'), transmission)


def _named(goal: Any, field: str) -> dict[str, float]:
    values = getattr(goal, field)
    if len(values) not in (0, len(goal.drive_names)):
        raise DynamicsError(f'{field} has {len(values)} entries; expected one for each of the '
                            f'{len(goal.drive_names)} drive_names, or none')
    return dict(zip(goal.drive_names, map(float, values)))
