"""Define the parameters of the robot, collect those of all sections, and check their values.

Other sections: `torque.*` in torque.py, `trajectory.*` in trajectory.py, `observer.*` in
observer.py, `service.*` in service.py, `model.*` in model_size.py, `safety.*` in
safety/settings.py. `ros2 param describe`, the check of every change and config/dynamics_node.yaml
are made from these declarations.

A PerJoint is one map in YAML and several parameters in ROS: `torque.kp.<joint>` for one joint,
`torque.kp.default` for the others. `torque.kp.<joint>` exists only while it has a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.parameter import PerJoint, check_parameter, names_of, parameter, three_numbers
from dynamics_node.ros.parameters.model_size import ModelSizeParameters
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.parameters.service import ServiceParameters
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.parameters.trajectory import TrajectoryParameters
from dynamics_node.safety import SafetySettings

BASES = ('fixed', 'floating')
BASE_STATES = ('odometry', 'pose_and_twist')
MISSING_VELOCITIES = ('difference', 'fault')


@dataclass(frozen=True)
class ModelParameters:
    """Robot and measured state."""

    autostart: bool = parameter(
        True, 'Configure and activate at start; false: a lifecycle manager does it.',
        read_only=True)
    robot_description: str = parameter(
        '', 'URDF text or path of a URDF file, used until a message on the topic '
        'robot_description.')
    frame_prefix: str = parameter(
        '', 'Prefix of the names of all frames in messages, as in robot_state_publisher; example: '
        'left/. Received names may have it; sent names always have it.', read_only=True)
    base: str = parameter('fixed', 'How the root link is connected to the world.', one_of=BASES)
    base_state: str = parameter(
        'odometry', 'Source of the state of a floating base: topic odom, or topics base_pose and '
        'base_twist.', one_of=BASE_STATES, read_only=True)
    gravity: tuple = parameter((0.0, 0.0, -9.81), 'Gravity vector in the root frame.',
                               'm/s^2', check=three_numbers)
    locked: PerJoint = parameter(
        PerJoint(), 'Positions at which joints are locked: they are no degrees of freedom.',
        'rad or m')
    armature: PerJoint = parameter(PerJoint(), 'Rotor inertia x gear ratio^2.', 'kg m^2 or kg')
    damping: PerJoint = parameter(
        PerJoint(), 'Viscous friction instead of that in the URDF.', 'N m s/rad or N s/m')
    dry_friction: PerJoint = parameter(
        PerJoint(), 'Coulomb friction instead of that in the URDF.', 'N m or N')
    stribeck_friction: PerJoint = parameter(
        PerJoint(), 'Friction above Coulomb friction near rest, see docs/friction.md.', 'N m or N')
    stribeck_speed: PerJoint = parameter(
        PerJoint(), 'Speed at which half of stribeck_friction is left; 0.1 for joints not named.',
        'rad/s or m/s')
    friction_asymmetry: PerJoint = parameter(
        PerJoint(), 'Half of the difference of Coulomb friction, positive minus negative '
        'direction.', 'N m or N')
    damping_asymmetry: PerJoint = parameter(
        PerJoint(), 'Half of the difference of viscous friction, positive minus negative '
        'direction.', 'N m s/rad or N s/m')
    constraints: str = parameter(
        '', 'Closed loops of the robot: YAML text or path of a YAML file with the lists '
        'constraints and passive, see docs/constraints.md; empty: none.')
    springs: str = parameter(
        '', 'Springs, dampers and linear actuators: YAML text or path of a YAML file with the '
        'lists springs and actuators, see docs/springs.md; empty: none.')
    friction: bool = parameter(True, 'Whether damping and friction of the URDF are used.')
    friction_speed: float = parameter(
        0.01, 'Speed at which 71 % of dry friction acts.', 'rad/s or m/s',
        bounds=(1e-6, 10.0))
    friction_speeds: PerJoint = parameter(
        PerJoint(), 'Values of friction_speed for single joints.', 'rad/s or m/s')
    compile: bool = parameter(
        True, 'Compile the robot to machine code in the background; false: use NumPy.')
    missing_velocity: str = parameter(
        'difference', 'Velocity of joints without a finite velocity in joint_states. difference: '
        'the filtered difference of positions. fault: none; this is a fault while torques are '
        'enabled, and requests that need the velocity are refused.', one_of=MISSING_VELOCITIES)
    velocity_filter_time: float = parameter(
        0.02, 'Time constant of the filter, with missing_velocity: difference.', 's',
        bounds=(0.0, 0.1))
    shared_folders: tuple = parameter(
        ('',), 'Folders below which other nodes may name files: the goal of ~/identify, '
        'robot_description, constraints and springs set at run time; see docs/security.md. '
        "['']: ~/.ros/dynamics_node.", read_only=True, check=names_of)
    overwrite_files: bool = parameter(
        False, 'Whether ~/identify may replace files in its output folder.', read_only=True)
    max_state_age: float = parameter(
        5.0, 'Greatest age of the measured state that fills in missing values of a request. If it '
        'is older, the request is refused, and /diagnostics has a warning. 0: no limit.', 's',
        bounds=(0.0, 3600.0))


class NodeParameters(NamedTuple):
    """All parameters at one time."""

    node: ModelParameters
    torque: TorqueParameters        # torque.*
    trajectory: TrajectoryParameters   # trajectory.*
    safety: SafetySettings          # safety.*
    observer: ObserverParameters    # observer.*
    service: ServiceParameters      # service.*
    model: ModelSizeParameters      # model.*


SECTIONS = {'': ModelParameters, 'torque.': TorqueParameters,
            'trajectory.': TrajectoryParameters, 'safety.': SafetySettings,
            'observer.': ObserverParameters, 'service.': ServiceParameters,
            'model.': ModelSizeParameters}
DECLARED = {section + f.name: f for section, kind in SECTIONS.items() for f in fields(kind)}
MAPS = tuple(name for name, f in DECLARED.items() if isinstance(f.default, PerJoint))
DEFAULT = 'default'   # last part of the name of the number for joints without one of their own


def ros_values(name: str, value: Any) -> dict[str, Any]:
    """Return {ROS parameter: value} of a declared parameter: several of a PerJoint."""
    if isinstance(value, PerJoint):
        default = {} if value.default is None else {DEFAULT: value.default}
        return {f'{name}.{joint}': each for joint, each in {**default, **value.named}.items()}
    return {name: list(value) if isinstance(value, tuple) else value}


DEFAULTS = {name: value for declared, f in DECLARED.items()
            for name, value in ros_values(declared, f.default).items()}


def declared_name(name: str) -> str:
    """Return the declared parameter that a ROS parameter belongs to; '': none.

    That of `torque.kp.joint_1` is `torque.kp`.
    """
    return name if name in DECLARED else next(
        (each for each in MAPS if name.startswith(f'{each}.')), '')


def checked(values: Mapping[str, Any]) -> NodeParameters:
    """Return the parameters of a dict {ROS parameter: value}.

    :raise DynamicsError: names the parameter that is wrong, and the valid values.
    """
    for name, value in values.items():
        if value is not None:
            check_parameter(name, value, DECLARED[declared_name(name)])
        elif name in DEFAULTS:   # rclpy gives no value for [] in a file: its type is unknown
            raise DynamicsError(f'{name} has no value, as [] in a parameters file; expected one '
                                f'such as {DEFAULTS[name]!r}')
    return NodeParameters(*(
        kind(**{f.name: _value(section + f.name, values) for f in fields(kind)})
        for section, kind in SECTIONS.items()))


def may_be_empty(name: str) -> bool:
    """Return whether a parameter is a list of texts or whole numbers, which may be empty."""
    default = DEFAULTS.get(name)
    return isinstance(default, list) and not isinstance(default[0], float)


def _value(declared: str, values: Mapping[str, Any]) -> Any:
    """Return the value of a declared parameter: PerJoint, tuple, or as it is."""
    if declared in MAPS:
        named = {name.removeprefix(f'{declared}.'): float(value) for name, value in values.items()
                 if name.startswith(f'{declared}.') and value is not None}
        has_default = f'{declared}.{DEFAULT}' in DEFAULTS
        return PerJoint(named.pop(DEFAULT) if has_default else None, named)
    value = values[declared]   # sequences as tuples, so that two can be compared
    return tuple(value) if isinstance(value, (list, tuple)) or hasattr(value, 'typecode') else value
