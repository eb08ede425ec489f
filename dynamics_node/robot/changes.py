"""Make robots that differ in payloads, gravity, friction, loops or springs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from dynamics_node.checks import finite
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.model import friction_override, payload
from dynamics_node.model.force_elements import Spring
from dynamics_node.model.model import Model
from dynamics_node.model.read_force_elements import ForceElementLists, force_elements_of
from dynamics_node.robot.argument_types import Constraints
from dynamics_node.robot.constraint_sets import loops_of

if TYPE_CHECKING:
    from dynamics_node.robot.robot import Robot


class Changes:
    """The methods of a Robot that return a changed copy."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot

    def with_payload(self, name: str, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None) -> Robot:
        """Return the robot carrying a load at a frame; one of the same name is replaced.

        :param com: centre of mass in that frame [m].
        :param inertia: 3 x 3 about the load's centre of mass [kg m^2]; None is a point mass.
        """
        return self._with(payload.with_payload(self._robot.model, name, frame, mass, com, inertia))

    def with_payloads(self, loads: Mapping[str, tuple]) -> Robot:
        """Return the robot carrying several loads, {name: (frame, mass, com, inertia)}."""
        return self._with(payload.with_payloads(self._robot.model, loads))

    def without_payload(self, name: str) -> Robot:
        """Return the robot without that load, bit for bit as it was before."""
        return self._with(payload.without_payload(self._robot.model, name))

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """Return the robot in another gravity, a vector towards the earth in the root frame."""
        return self._with(self._robot.model.with_(gravity=finite('gravity', gravity, (3,))))

    def with_friction(self, damping: Mapping[str, float] | None = None,
                      friction: Mapping[str, float] | None = None,
                      stribeck: Mapping[str, float] | None = None,
                      stribeck_speed: Mapping[str, float] | None = None,
                      friction_asymmetry: Mapping[str, float] | None = None,
                      damping_asymmetry: Mapping[str, float] | None = None,
                      friction_speed: Mapping[str, float] | None = None) -> Robot:
        """Return the robot with other friction, {joint: value}; joints not named keep theirs.

        :param damping: viscous [N m s/rad or N s/m], zero or positive.
        :param friction: Coulomb [N m or N], zero or positive.
        :param stribeck: friction above Coulomb's near rest [N m or N], zero or positive.
        :param stribeck_speed: at which half of it is left [rad/s or m/s], positive.
        :param friction_asymmetry: half of the Coulomb friction in positive direction minus that in
            negative direction [N m or N]; at most as large as `friction`.
        :param damping_asymmetry: the same of the damping.
        :param friction_speed: over which Coulomb friction changes its sign [rad/s or m/s].
        """
        return self._with(friction_override.with_friction(
            self._robot.model, damping, friction, stribeck, stribeck_speed, friction_asymmetry,
            damping_asymmetry, friction_speed))

    def with_loops(self, loops: str | os.PathLike | Loops | Mapping | Constraints) -> Robot:
        """Return the robot with these loops instead of its own; for `loops` see from_urdf."""
        model = self._robot.model
        return self._with(model.with_(loops=tuple(loops_of(model, loops))))

    def with_springs(self, springs: str | os.PathLike | ForceElementLists | Mapping
                     | Sequence[Spring | Mapping] | None) -> Robot:
        """Return the robot with these springs and dampers instead of its own (docs/springs.md).

        Springs are constants of its kernels, which are compiled anew.

        :param springs: YAML (a path or text), a dict, ForceElementLists, or a list of Spring or of
            dicts. The first three may have linear actuators too; a list leaves the robot none.
        """
        robot = self._robot
        found = force_elements_of(robot.model, springs)
        model = robot.model.with_(springs=found.springs, actuators=found.actuators)
        return type(robot)(model, compile=robot.compilation_enabled)

    def _with(self, model: Model) -> Robot:
        """Return the robot of a model that differs in numbers which kernels take as inputs."""
        kernels = self._robot._dispatcher.kernels
        return type(self._robot)(model, compile=kernels is not None, kernels=kernels)


def without_payloads(robot: Robot) -> Robot:
    """Return the robot without any payload."""
    for name in robot.payloads:
        robot = robot.without_payload(name)
    return robot
