"""What a driver takes a torque command for: drivers differ in what they add on their own.

A full torque sent to an arm whose driver adds gravity lifts it with twice its weight. So what is
sent is the torque that the joints shall have, less what the driver adds:

* full: nothing is added. All is sent.
* without_gravity: the driver adds gravity, of the robot that it knows (bare, or with the payloads
  that it was told of), in the gravity vector that it believes in, where the robot is measured to
  be. The law's torque less that is sent. A driver that believes in an upright robot on a wall is
  corrected by it: give its belief as driver_gravity.
* payload_only: the driver moves the bare robot by itself, as the same law would. The law for the
  robot with its payloads less the law for the bare one is sent, at the same state and the same
  commanded acceleration; springs, dampers and friction cancel (of mode task_space, but for what
  the payload changes in Lambda), and its wrench does. Nothing is sent without a payload.

The gravity_scale corrects our model, hence also our idea of what the driver adds: a driver that
adds just the gravity that the law has in it is sent none, whatever the scale, and never -g.
"""

from typing import NamedTuple

from dynamics_node.checks import choice, finite, flag
from dynamics_node.control.gains import per_joint
from dynamics_node.control.terms import Terms
from dynamics_node.errors import DynamicsError, shown

KINDS = ('full', 'without_gravity', 'payload_only')


class DriverCompensation(NamedTuple):
    """What the driver adds to the torque that it is sent."""

    kind: str = 'full'
    knows_payload: bool = False    # of without_gravity: it was told of the same payloads as we
    driver_friction: object = 0.0  # share of the losses that it makes up for, 0 to 1 or (nv,)
    driver_gravity: object = None  # (3,) in the root frame [m/s^2]; None is the robot's own


PRESETS = {
    'full': DriverCompensation('full'),
    'without_gravity': DriverCompensation('without_gravity', True),
    'without_gravity_and_friction': DriverCompensation('without_gravity', True, 1.0),
    'without_bare_gravity': DriverCompensation('without_gravity', False),
    'without_bare_gravity_and_friction': DriverCompensation('without_gravity', False, 1.0),
    'payload_only': DriverCompensation('payload_only'),
}


class Driver(NamedTuple):
    """A driver, what its torque command means, and who says so."""

    robot: str
    preset: str
    meaning: str
    source: str


DRIVERS = (
    Driver('Franka', 'without_gravity_and_friction',
           'without gravity and friction, 0 = float; payloads by set_load. It believes in an '
           'upright mount unless told otherwise (franka_ros#327)',
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
           'payload_only', 'only what it does not know of is missing', 'its manual'),
)


def preset(name, **changes):
    """Return the Semantics of a preset, with other fields as given.

    :raise DynamicsError: there is none of that name.
    """
    if not isinstance(name, str) or name not in list(PRESETS):
        raise DynamicsError(f'no driver semantics {shown(name)}; expected one of '
                            f'{", ".join(PRESETS)}')
    return PRESETS[name]._replace(**changes)


def friction_to_send(semantics, friction_scale, nv):
    """Return the friction_scale that is left for us, (nv,)."""
    share = per_joint('driver_friction', semantics.driver_friction, nv)
    if (share > 1.0).any():
        raise DynamicsError(f'driver_friction is {semantics.driver_friction}; expected a share of '
                            'the losses, 0 to 1')
    return per_joint('friction_scale', friction_scale, nv) * (1.0 - share)


def driver_terms(semantics, robot, gravity_scale=1.0, friction_scale=1.0):
    """Return the Terms of the robot that the driver compensates, None where it does nothing."""
    choice('kind', semantics.kind, KINDS)
    if semantics.kind == 'full':
        return None
    if semantics.kind == 'payload_only':
        return Terms(bare(robot), gravity_scale, friction_scale)
    known = robot if flag('knows_payload', semantics.knows_payload) else bare(robot)
    if semantics.driver_gravity is not None:
        known = known.with_gravity(finite('driver_gravity', semantics.driver_gravity, (3,)))
    return Terms(known, gravity_scale)


def bare(robot):
    """Return the robot without any payload."""
    for name in robot.payloads:
        robot = robot.without_payload(name)
    return robot
