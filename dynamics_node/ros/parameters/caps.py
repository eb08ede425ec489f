"""Refuse input that exceeds a cap: a parameter with the greatest permitted count of something.

The caps are the whole numbers max_* of service.py (requests) and model_size.py (robots). While
torques are enabled, a cap whose name ends in _with_torques applies in addition to the one without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.parameters.model_size import ModelSizeParameters
from dynamics_node.ros.parameters.service import ServiceParameters

WITH_TORQUES = '_with_torques'


class CapExceeded(DynamicsError):
    """A request or a description is too large.

    :ivar parameter: name of the cap.
    """

    def __init__(self, parameter: str, message: str) -> None:
        self.parameter = parameter
        super().__init__(message)


def refusal(what: str, count: float, most: float, parameter: str) -> str:
    """Return why something is refused."""
    return f'{what}: {count:.9g}, at most {most:.9g} ({parameter})'


class Caps(NamedTuple):
    """The caps in use."""

    most: Mapping[str, int]   # {parameter: value}
    torques: bool = False     # whether torques are enabled

    def check(self, parameter: str, count: int, what: str) -> None:
        """Raise a CapExceeded if a count exceeds its cap.

        :param what: name of the counted things, in the plural.
        """
        names = (parameter, parameter + WITH_TORQUES) if self.torques else (parameter,)
        for name in names:
            if name in self.most and count > self.most[name]:
                raise CapExceeded(name, refusal(what, count, self.most[name], name))


def caps_of(service: ServiceParameters, model: ModelSizeParameters, torques: bool = False) -> Caps:
    """Return the caps of some parameters."""
    return Caps({section + f.name: getattr(values, f.name)
                 for section, values in (('service.', service), ('model.', model))
                 for f in fields(values)
                 if f.name.startswith('max_') and isinstance(f.default, int)}, torques)


DEFAULT_CAPS = caps_of(ServiceParameters(), ModelSizeParameters())
