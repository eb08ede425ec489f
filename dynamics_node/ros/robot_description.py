"""Build the robot of a URDF and of the parameters that need a new robot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from dynamics_node.constrained.read_loops import Loops
from dynamics_node.errors import DynamicsError
from dynamics_node.model.fingerprint import fingerprint
from dynamics_node.model.read_force_elements import force_elements_of
from dynamics_node.robot.constraint_sets import loops_of
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.caps import Caps
from dynamics_node.ros.parameters.declared import ModelParameters


class Description(NamedTuple):
    """A loaded description, and the robot built from it."""

    text: str                  # URDF
    options: dict[str, Any]    # parameters that the robot was built with
    robot: Robot               # without the settings of robot_settings.py, without payload
    digest: str                # of everything that settings and payloads cannot change


def describe(old: Description | None, text: str, parameters: ModelParameters, caps: Caps,
             constraints: str, springs: str) -> Description:
    """Return the Description of a text; with the old robot if it is the same one.

    It is the same if what was read from text and parameters is the same: another comment or visual
    does not end torques.

    :param constraints, springs: path or text of the YAML; the content of a file is compared.
    """
    options = _options(parameters, caps)
    robot = (old.robot if old is not None and (text, options) == (old.text, old.options)
             else _built(text, options))
    with _naming('constraints'):
        loops: Loops = loops_of(robot.model, constraints or None)
    with _naming('springs'):
        elements = force_elements_of(robot.model, springs or None)
    if (loops, elements) != (robot.loops, (robot.springs, robot.actuators)):
        # built again: new joint objects tell the torque pipeline that the robot is another one
        robot = _built(text, options).with_loops(loops)
        robot = robot.with_springs(elements) if any(elements) else robot
    if old is not None and robot is old.robot:
        return old
    digest = fingerprint(robot.model)
    if old is not None and digest == old.digest and (
            robot.compilation_enabled == old.robot.compilation_enabled):
        robot = old.robot
    return Description(text, options, robot, digest)


@contextmanager
def _naming(parameter: str) -> Iterator[None]:
    """Name the parameter in errors about its value."""
    try:
        yield
    except DynamicsError as error:
        raise DynamicsError(f'parameter {parameter}: {error}') from error


def _built(text: str, options: dict[str, Any]) -> Robot:
    options = dict(options)
    most_compiled = options.pop('max_compiled')
    # Bytes are always text: a text that does not begin with '<' would be read as a path.
    robot = Robot.from_urdf(text.encode('utf-8', 'surrogatepass'), **options)
    return robot if robot.nv <= most_compiled else Robot(robot.model, compile=False)


def _options(parameters: ModelParameters, caps: Caps) -> dict[str, Any]:
    return {'base': parameters.base, 'locked': parameters.locked.named,
            'armature': parameters.armature.named,
            'friction_speed': parameters.friction_speed, 'compile': parameters.compile,
            'max_compiled': caps.most['model.max_compiled']}
