"""Split the torque of each joint into its causes."""

from typing import NamedTuple

import numpy as np

from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.robot.changes import without_payloads
from dynamics_node.robot.robot import Robot


class TorqueParts(NamedTuple):
    """The terms of the equation of motion, (nv,) each [N m or N]; their sum is the torque."""

    gravity: np.ndarray     # g(q) without payloads
    coriolis: np.ndarray    # C(q, v) v without payloads
    inertia: np.ndarray     # M(q) a without payloads, armature included
    friction: np.ndarray    # damping and dry friction
    springs: np.ndarray     # springs and their dampers
    payload: np.ndarray     # all that the payloads add to gravity, Coriolis and inertia
    external: np.ndarray    # minus the torque that the environment exerts

    @property
    def total(self) -> np.ndarray:
        """The torque of the motors, (nv,)."""
        return np.sum(self, axis=0)


def torque_parts(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                 external: np.ndarray | None = None) -> TorqueParts:
    """Return the TorqueParts of a motion; their sum is inverse_dynamics(q, v, a) - external.

    With closed loops they are motor torques, zero at passive joints: the motor torques with the
    same effect as torques on the open tree depend on these linearly.

    :param q, v, a: the motion; one that keeps the loops, if the robot has some.
    :param external: torque that the environment exerts on the joints, (nv,); None for zero.
    """
    bare = without_payloads(robot)
    gravity = bare.gravity_torque(q)
    payload = (robot.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
               if robot.payloads else np.zeros(robot.nv))
    springs = robot.spring_torque(q, v) if robot.springs else np.zeros(robot.nv)
    parts = TorqueParts(
        gravity, bare.bias_torque(q, v) - gravity, bare.mass_matrix(q) @ a,
        robot.friction_torque(v), springs, payload,
        np.zeros(robot.nv) if external is None else -external)
    if not robot.loops.constraints:
        return parts
    loops = ClosedLoops(robot)
    return TorqueParts(*(loops.motor_torques(q, part) for part in parts))
