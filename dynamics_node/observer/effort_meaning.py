"""Convert `effort` of a joint state to a torque. Drivers differ, so its meaning is declared.

The balance of momentum needs the torque on the observed mechanism:

    output_torque    a sensor behind the gear. Rotor and friction are on its other side: the balance
                     is that of the links alone, without armature and friction.
    motor_torque     torque of the motor times the gear ratio; simulators publish it too.
                     Armature and friction belong to the balance.
    current          motor current [A]; times a constant per joint it is a motor torque.
    without_gravity  a motor torque from which the driver has subtracted gravity: g(q) is added.
    unknown          nothing can be observed.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import choice, finite, mapping
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.model.model import JointInfo
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

MEANINGS = ('unknown', 'output_torque', 'motor_torque', 'current', 'without_gravity')


class Meaning(NamedTuple):
    """The torque of a balance from `effort`: tau = scale effort [+ g(q)]."""

    scale: np.ndarray      # (nv,) [1, or N m/A of a current]
    motor_side: bool       # armature and friction belong to the balance
    without_gravity: bool  # g(q) is to be added at the actuated joints
    driven: np.ndarray     # (nv,) bool: actuated; a floating base is not


def meaning_of(robot: Robot, name: str,
               torque_constants: Mapping[str, float] | None = None) -> Meaning:
    """Return the Meaning of a declaration, for a robot.

    :param name: one of MEANINGS.
    :param torque_constants: {joint: joint torque per ampere}, gear included, for 'current'; may be
        negative, where the motor turns the other way.
    :raise DynamicsError: why nothing can be observed.
    """
    arguments.check_robot(robot)
    name = choice('effort_meaning', name, MEANINGS)
    constants = {} if torque_constants is None else mapping(
        'torque_constants', torque_constants, "{'joint_1': 0.8} [N m/A or N/A]")
    if name == 'unknown':
        raise DynamicsError(
            'effort_meaning is unknown: whether effort is a torque at the output, of the motor, a '
            'current, or has its gravity subtracted differs between drivers; declare it as '
            f'one of {", ".join(MEANINGS[1:])}')
    if constants and name != 'current':
        raise DynamicsError("torque_constants are for effort_meaning 'current'; effort_meaning is "
                            f"'{name}'")
    scale = np.ones(robot.nv)
    if name == 'current':
        scale = _per_ampere(robot, constants)
    driven = np.zeros(robot.nv, dtype=bool)
    for joint in _driven(robot).values():
        driven[joint.v] = True
    return Meaning(scale, name != 'output_torque', name == 'without_gravity', driven)


def _driven(robot: Robot) -> dict[str, JointInfo]:
    """Return {name: joint} of the joints that have a motor."""
    return {joint.name: joint for joint in robot.model.joints
            if joint.kind not in ('planar', 'floating') and joint.name not in robot.loops.passive}


def _per_ampere(robot: Robot, constants: Mapping) -> np.ndarray:
    """Return the constants of all degrees of freedom, 1 where no motor acts."""
    driven = _driven(robot)
    for name, value in constants.items():
        if not isinstance(name, str) or name not in driven:
            raise DynamicsError(f'torque_constants: {UnknownName("joint", name, driven)}')
        if float(finite(f"torque_constants['{name}']", value, ())) == 0.0:
            raise DynamicsError(f"torque_constants['{name}'] is {value}; expected a finite number "
                                'that is not zero [N m/A or N/A]')
    missing = [name for name in driven if name not in constants]
    if missing:
        raise DynamicsError(f'effort_meaning is current; torque_constants lack {", ".join(missing)}'
                            ' [N m/A or N/A]')
    scale = np.ones(robot.nv)
    for name, value in constants.items():
        scale[driven[name].v] = value
    return scale
