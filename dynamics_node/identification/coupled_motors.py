r"""Compute the friction and rotor inertia of motors that move with several joints.

The velocity of such a motor, in units of its own joint, is u = rho' v, where rho is its row of the
transmission over the ratio of its own joint. Its friction and armature act on all these joints:

    tau = rho (armature u' + viscous u + coulomb s(u))

Joint parameters have the same terms with v of the joint; so friction is fitted on either side of
the transmission. The model of a Robot has friction of joints alone: it gets the part of each joint
(`parameters.applied_values`), and a prediction adds the rest.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.transmission import Transmission
from dynamics_node.robot.robot import Robot

PER_MOTOR = ('armature', 'viscous', 'coulomb')   # not negative; an offset is that of the joints


class CoupledMotor(NamedTuple):
    """A motor that moves with several joints."""

    name: str
    ratios: np.ndarray     # (nv,) rho, one at its own joint
    prismatic: bool        # whether its own joint is prismatic


def coupled_motors(robot: Robot, transmission: Transmission | None) -> tuple[CoupledMotor, ...]:
    """Return the motors that move with several joints of the robot.

    :raise DynamicsError: the transmission names a joint that the robot does not have.
    """
    if transmission is None:
        return ()
    unknown = [name for name in transmission.joints if name not in robot.dof_names]
    if unknown:
        raise DynamicsError(f"the transmission has the joint '{unknown[0]}'; the robot has "
                            f'{", ".join(robot.dof_names)}')
    if robot.loops.constraints:
        raise DynamicsError('identification of a robot with loops and a transmission is not '
                            'available; expected a robot without loops')
    dofs = [robot.dof_names.index(name) for name in transmission.joints]
    motors = []
    for k, name in enumerate(transmission.motors):
        row = transmission.matrix[k]
        if name in transmission.coupled:
            own = k if row[k] else int(np.abs(row).argmax())
            ratios = np.zeros(robot.nv)
            ratios[dofs] = row / row[own]
            motors.append(CoupledMotor(name, ratios, _is_prismatic(robot, dofs[own])))
    return tuple(motors)


def _is_prismatic(robot: Robot, dof: int) -> bool:
    return any(joint.kind == 'prismatic' and joint.v.start == dof for joint in robot.model.joints)


def motor_columns(motors: Sequence[CoupledMotor], friction_speed: float, v: np.ndarray,
                  a: np.ndarray) -> np.ndarray:
    """Return the columns of the parameters of coupled motors, (N, nv, 3 per motor).

    :param friction_speed: over which s(u) changes its sign [rad/s or m/s].
    """
    columns = [np.zeros((*np.shape(v), 0))]
    for motor in motors:
        u, rate = v @ motor.ratios, a @ motor.ratios
        own = np.stack([rate, u, u / np.sqrt(u * u + friction_speed ** 2)], axis=-1)
        columns.append(motor.ratios[:, None] * own[:, None])
    return np.concatenate(columns, axis=-1)
