"""Subtract the torque that the driver of an arm adds to a command, which depends on the driver.

A full torque sent to a driver that adds gravity would lift the arm with twice its weight. So the
command is the torque of the law, less what the driver adds:

* full: the driver adds nothing. The command is the whole torque.
* without_gravity: the driver adds gravity at the measured position, of the robot in its own
  configuration (bare, or with the same payloads), with its own gravity vector. The command is the
  law's torque less that. A driver set up for an upright robot is thus corrected where the robot is
  mounted on a wall: give its gravity vector as driver_gravity.
* payload_only: the driver moves the bare robot by itself, as the same law would. The command is the
  law for the robot with its payloads less the law for the bare one, at the same state and the same
  commanded acceleration. Springs, dampers, friction and the wrench of mode task_space cancel, but
  not what the payload changes in Lambda. Without a payload the command is zero.

gravity_scale multiplies the gravity of the law and that of the driver: where these are equal, the
command contains no gravity at any scale.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import choice, finite, flag
from dynamics_node.control.gains import per_joint
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.robot.changes import without_payloads
from dynamics_node.robot.robot import Robot

KINDS = ('full', 'without_gravity', 'payload_only')


class DriverCompensation(NamedTuple):
    """What the driver adds to the commanded torque."""

    kind: str = 'full'
    knows_payload: bool = False       # without_gravity only: the driver has the robot's payloads
    driver_friction: ArrayLike = 0.0  # share of the friction it compensates, 0 to 1 or (nv,)
    driver_gravity: ArrayLike | None = None   # (3,) in the root frame [m/s^2]; None: the robot's


PRESETS = {
    'full': DriverCompensation('full'),
    'without_gravity': DriverCompensation('without_gravity', True),
    'without_gravity_and_friction': DriverCompensation('without_gravity', True, 1.0),
    'without_bare_gravity': DriverCompensation('without_gravity', False),
    'without_bare_gravity_and_friction': DriverCompensation('without_gravity', False, 1.0),
    'payload_only': DriverCompensation('payload_only'),
}


class Driver(NamedTuple):
    """A driver, the meaning of its torque command, and the source of that."""

    robot: str
    preset: str
    meaning: str
    source: str


DRIVERS = (
    Driver('Franka', 'without_gravity_and_friction',
           'without gravity and friction, 0 = float; payloads by set_load. The driver assumes '
           'an upright mount unless configured otherwise (franka_ros#327)',
           'libfranka, class Torques; libfranka#98'),
    Driver('UR direct torque', 'without_gravity_and_friction',
           'the robot adds gravity and, scaled, friction; payloads by set_payload, gravity by '
           'set_gravity', 'Universal_Robots_ROS2_Driver, force_torque_control.rst'),
    Driver('KUKA FRI, iiQKA', 'without_gravity',
           'overlay on gravity compensation, 0 = gravity compensation; payloads as load data on '
           'the controller', 'kuka_drivers, Home.md; iiwa_ros#20'),
    Driver('Flexiv', 'without_bare_gravity_and_friction',
           'gravity and friction are added for the bare robot only', 'flexiv_ros2, README.md'),
    Driver('Kinova Gen3, low level', 'full', 'nothing is added: the arm falls at 0',
           'ros_kortex#243'),
    Driver('Dynamixel, OpenArm, Piper, YAM', 'full', 'nothing is added', 'openarm#35'),
    Driver('Gazebo, effort interface', 'full',
           'nothing is added, also for robots whose real driver does', 'franka_ros2#222'),
    Driver('any that follows a motion with its own model of the bare robot, torque on top',
           'payload_only', 'only the torque of the payloads is missing', 'its manual'),
)


def preset(name: str, **changes: Any) -> DriverCompensation:
    """Return the DriverCompensation of a preset, with other fields as given.

    :raise DynamicsError: there is no preset of that name.
    """
    if not isinstance(name, str) or name not in list(PRESETS):
        raise DynamicsError(f'no driver preset {shown(name)}; expected one of '
                            f'{", ".join(PRESETS)}')
    return PRESETS[name]._replace(**changes)


def friction_to_send(driver: DriverCompensation, friction_scale: ArrayLike, nv: int) -> np.ndarray:
    """Return the part of friction_scale that the driver does not compensate, (nv,)."""
    share = per_joint('driver_friction', driver.driver_friction, nv)
    if (share > 1.0).any():
        raise DynamicsError(f'driver_friction is {driver.driver_friction}; expected a share of '
                            'the friction, 0 to 1')
    return per_joint('friction_scale', friction_scale, nv) * (1.0 - share)


def driver_terms(driver: DriverCompensation, robot: Robot, gravity_scale: ArrayLike = 1.0,
                 friction_scale: ArrayLike = 1.0) -> TorqueTerms | None:
    """Return the TorqueTerms of what the driver adds, None where it adds nothing."""
    choice('kind', driver.kind, KINDS)
    if driver.kind == 'full':
        return None
    if driver.kind == 'payload_only':
        return TorqueTerms(without_payloads(robot), gravity_scale, friction_scale)
    known = robot if flag('knows_payload', driver.knows_payload) else without_payloads(robot)
    if driver.driver_gravity is not None:
        known = known.with_gravity(finite('driver_gravity', driver.driver_gravity, (3,)))
    return TorqueTerms(known, gravity_scale)
