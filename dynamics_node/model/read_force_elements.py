"""Read springs, dampers and linear actuators from YAML or dicts.

    springs:
      - {name: balance, stiffness: 40, rest: 0.3, joint: joint_2}
      - {name: strut, stiffness: 900, damping: 20, rest: 0.4, frame: link_4, to: link_2}
    actuators:
      - {name: cylinder, frame: link_4, point: [0.05, 0, 0.1], to: link_2}

Every field of `Spring` and `Actuator` may be given by its name.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dynamics_node.model.force_elements import (
    Actuator,
    Spring,
    check_actuators,
    check_springs,
)
from dynamics_node.model.model import Model
from dynamics_node.yaml_records import read_lists, read_records, text_of

KEYS = ('springs', 'actuators')


class ForceElementLists(NamedTuple):
    """The springs with dampers and the linear actuators of a robot."""

    springs: tuple[Spring, ...]
    actuators: tuple[Actuator, ...] = ()


def force_elements_of(
        model: Model,
        source: str | os.PathLike | ForceElementLists | Mapping | Sequence[Spring | Mapping] | None
        ) -> ForceElementLists:
    """Return the springs and actuators of a source; those that do not fit the model are refused.

    :param source: None, ForceElementLists, a path or text of YAML, a dict, or a list of dicts and
        Spring.
    """
    if source is None:
        return ForceElementLists(())
    if not isinstance(source, ForceElementLists):
        springs, actuators = read_lists('springs', text_of('springs', source), KEYS)
        source = ForceElementLists(read_records('spring', Spring, springs),
                                   read_records('actuator', Actuator, actuators))
    return ForceElementLists(check_springs(model, source.springs),
                             check_actuators(model, source.actuators))
