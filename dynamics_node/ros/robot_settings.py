"""Define the settings of a robot that change without a new one: gravity and friction.

They come from parameters and from services, and take effect alike while torques are enabled. Where
both set the same quantity, the newest value counts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.declared import ModelParameters

# argument of Robot.with_friction -> parameter of the node
PARAMETER_OF = {'damping': 'damping', 'friction': 'dry_friction', 'stribeck': 'stribeck_friction',
                'stribeck_speed': 'stribeck_speed', 'friction_asymmetry': 'friction_asymmetry',
                'damping_asymmetry': 'damping_asymmetry', 'friction_speed': 'friction_speeds'}


class RobotSettings(NamedTuple):
    """Values that replace those of the description."""

    gravity: np.ndarray | None = None     # (3,) [m/s^2]; None: that of the robot
    damping: dict[str, float] = {}        # {joint: viscous [N m s/rad or N s/m]}
    friction: dict[str, float] = {}       # {joint: Coulomb [N m or N]}
    stribeck: dict[str, float] = {}       # and so on, as in Robot.with_friction
    stribeck_speed: dict[str, float] = {}
    friction_asymmetry: dict[str, float] = {}
    damping_asymmetry: dict[str, float] = {}
    friction_speed: dict[str, float] = {}

    def same_as(self, other: RobotSettings) -> bool:
        """Return whether others have the same values."""
        return (np.array_equal(self.gravity, other.gravity)   # type: ignore[arg-type]
                and self[1:] == other[1:])

    def under(self, other: RobotSettings) -> RobotSettings:
        """Return these settings, replaced by others where those have a value."""
        return RobotSettings(self.gravity if other.gravity is None else other.gravity,
                             *({**own, **its} for own, its in zip(self[1:], other[1:])))

    def applied(self, robot: Robot) -> Robot:
        """Return a robot with these settings; those of joints that it lacks have no effect."""
        if self.gravity is not None:
            robot = robot.with_gravity(self.gravity)
        known = set(robot.joint_names)
        friction = [{name: value for name, value in values.items() if name in known} or None
                    for values in self[1:]]
        return robot.with_friction(*friction) if any(friction) else robot


class ParameterSettings(NamedTuple):
    """The same as parameters give them."""

    gravity: tuple
    of_urdf: bool               # whether friction and damping of the URDF are used
    damping: dict[str, float]
    friction: dict[str, float]
    stribeck: dict[str, float]
    stribeck_speed: dict[str, float]
    friction_asymmetry: dict[str, float]
    damping_asymmetry: dict[str, float]
    friction_speed: dict[str, float]

    @classmethod
    def of(cls, p: ModelParameters) -> ParameterSettings:
        """Return the settings of parameters."""
        return cls(tuple(p.gravity), p.friction, p.damping.named, p.dry_friction.named,
                   p.stribeck_friction.named, p.stribeck_speed.named,
                   p.friction_asymmetry.named, p.damping_asymmetry.named,
                   p.friction_speeds.named)

    def check(self, robot: Robot) -> None:
        """Raise a DynamicsError if a joint does not exist, or a value is invalid."""
        try:
            none = {} if self.of_urdf else dict.fromkeys(robot.joint_names, 0.0)
            robot.with_friction(none, none).with_friction(*self[2:])
        except DynamicsError as error:
            argument = re.split(r'\W', str(error))[0]
            parameter = PARAMETER_OF.get(argument, 'of friction, such as dry_friction')
            raise DynamicsError(f'parameter {parameter}: {error}') from error

    def settings(self, robot: Robot) -> RobotSettings:
        """Return the settings of a robot."""
        none = {} if self.of_urdf else dict.fromkeys(robot.joint_names, 0.0)
        return RobotSettings(np.array(self.gravity), {**none, **self.damping},
                             {**none, **self.friction}, *self[4:])

    def outdated(self, old: ParameterSettings, by_service: RobotSettings) -> RobotSettings:
        """Return the settings of services without those that a changed parameter replaces."""
        friction = self[1:] == old[1:]
        return RobotSettings(by_service.gravity if self.gravity == old.gravity else None,
                             *(by_service[1:] if friction else ()))
