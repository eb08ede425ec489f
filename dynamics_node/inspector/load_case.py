"""Describe a supposed load case: pose, payload, gravity, speed and acceleration of a robot."""

from typing import NamedTuple

import numpy as np

from dynamics_node.inspector.figures import MotionState
from dynamics_node.robot.robot import Robot

ALL_JOINTS = 'all joints'
LOAD = 'payload of the inspector'   # its name among the payloads of the robot
SPEED_IF_UNKNOWN = 1.0              # [rad/s or m/s] in place of an unknown velocity limit


class LoadCase(NamedTuple):
    """A supposed load case; the robot itself is not moved."""

    q: np.ndarray                            # (nq,)
    payload_frame: str
    payload_mass: float = 0.0                # [kg], a point mass
    payload_com: tuple[float, float, float] = (0.0, 0.0, 0.0)   # in that frame [m]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)     # [m/s^2]
    moving: str = ALL_JOINTS                 # entry of v that moves, or ALL_JOINTS
    speed: float = 0.0                       # share of the velocity limit, -1 to 1
    acceleration: float = 0.0                # [rad/s^2 or m/s^2]


def robot_of_case(robot: Robot, case: LoadCase) -> Robot:
    """Return the robot with the gravity and the additional payload of a case."""
    robot = robot.with_gravity(case.gravity)
    if case.payload_mass == 0.0:
        return robot
    return robot.with_payload(LOAD, case.payload_frame, case.payload_mass, case.payload_com)


def motion_of_case(robot: Robot, case: LoadCase) -> MotionState:
    """Return the MotionState of a case."""
    moves = np.array([case.moving in (ALL_JOINTS, name) for name in robot.dof_names], dtype=float)
    return MotionState(case.q, case.speed * moves * velocity_scale(robot),
                       case.acceleration * moves)


def velocity_scale(robot: Robot) -> np.ndarray:
    """Return the velocity limit of each entry of v, SPEED_IF_UNKNOWN where it is unknown, (nv,)."""
    return np.nan_to_num(robot.model.max_velocity, nan=SPEED_IF_UNKNOWN)
