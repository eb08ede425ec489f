"""Declare the parameters of the robot and collect those of all sections; check and read them.

Other sections: `torque.*` in torque.py, `trajectory.*` in trajectory.py, `observer.*` in
observer.py, `service.*` in service.py, `model.*` in model_size.py, `safety.*` in
safety/settings.py. `ros2 param describe`, the check of every change and config/dynamics_node.yaml
are made from these declarations.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from dynamics_node.checks import named_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.parameter import check_parameter, parameter, three_numbers
from dynamics_node.ros.parameters.model_size import ModelSizeParameters
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.parameters.service import ServiceParameters
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.parameters.trajectory import TrajectoryParameters
from dynamics_node.safety import SafetySettings

if TYPE_CHECKING:
    from rclpy.node import Node

BASES = ('fixed', 'floating')
BASE_STATES = ('odometry', 'pose_and_twist')
MISSING_VELOCITIES = ('difference', 'fault')


@dataclass(frozen=True)
class ModelParameters:
    """Robot and measured state."""

    autostart: bool = parameter(
        True, 'Configure and activate at start; false: a lifecycle manager does.', read_only=True)
    robot_description: str = parameter(
        '', 'URDF text or path of a URDF file, used until a message on the topic '
        'robot_description.')
    frame_prefix: str = parameter(
        '', 'Prefix of the names of all frames in messages, as of robot_state_publisher; example: '
        'left/. Names that the node receives may have it, names that it sends do.', read_only=True)
    base: str = parameter('fixed', 'How the root link is connected to the world.', one_of=BASES)
    base_state: str = parameter(
        'odometry', 'Source of the state of a floating base: topic odom, or topics base_pose and '
        'base_twist.', one_of=BASE_STATES, read_only=True)
    gravity: tuple = parameter((0.0, 0.0, -9.81), 'Gravity vector in the root frame.',
                               'm/s^2', check=three_numbers)
    locked: str = parameter(
        '', 'Joints locked at a position, no degrees of freedom; example: finger_1=0.02 '
        'finger_2=0.02.', 'rad or m', check=named_numbers)
    armature: str = parameter(
        '', 'Rotor inertia x gear ratio^2; example: joint_1=0.1 joint_2=0.1.', 'kg m^2 or kg',
        check=named_numbers)
    damping: str = parameter(
        '', 'Viscous friction instead of that in the URDF; example: joint_1=0.5.',
        'N m s/rad or N s/m', check=named_numbers)
    dry_friction: str = parameter(
        '', 'Coulomb friction instead of that in the URDF; example: joint_1=0.3.', 'N m or N',
        check=named_numbers)
    constraints: str = parameter(
        '', 'Closed loops of the robot: YAML text or path of a YAML file with the lists '
        'constraints and passive, see docs/constraints.md; empty: none.')
    friction: bool = parameter(True, 'Whether damping and friction of the URDF are used.')
    friction_speed: float = parameter(
        0.01, 'Speed over which dry friction changes its sign smoothly.', 'rad/s or m/s',
        bounds=(1e-6, 10.0))
    compile: bool = parameter(
        True, 'Compile the robot to machine code in the background; false: use NumPy.')
    missing_velocity: str = parameter(
        'difference', 'Velocity of joints without a finite velocity in joint_states. difference: '
        'the filtered difference of positions. fault: unknown, which is a fault while torques are '
        'enabled, and refuses requests that need it.', one_of=MISSING_VELOCITIES)
    velocity_filter_time: float = parameter(
        0.02, 'Time constant of the filter, with missing_velocity: difference.', 's',
        bounds=(0.0, 0.1))
    shared_folders: str = parameter(
        '', "Folders, separated by ':', below which other nodes may name files: the goal of "
        '~/identify, robot_description and constraints set at run time; see docs/security.md. '
        'Empty: ~/.ros/dynamics_node.', read_only=True)
    overwrite_files: bool = parameter(
        False, 'Whether ~/identify may replace files in its output folder.', read_only=True)
    max_state_age: float = parameter(
        5.0, 'Greatest age of a measured state that fills in missing values of a request; an older '
        'one is refused, and a warning on /diagnostics. 0: no limit.', 's', bounds=(0.0, 3600.0))


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
NAMES = tuple(DECLARED)


def checked(values: Mapping[str, Any]) -> NodeParameters:
    """Return the parameters of a dict {name: value}.

    :raise DynamicsError: names the parameter that is wrong, and the valid values.
    """
    for name, f in DECLARED.items():
        value = values[name]
        if value is None:  # rclpy gives no value for [] in a parameters file: its type is unknown
            default = list(f.default) if isinstance(f.default, tuple) else f.default
            raise DynamicsError(f'{name} has no value, as [] in a parameters file; expected one '
                                f'such as {default!r}')
        check_parameter(name, value, f)
    return NodeParameters(*(kind(**{f.name: _plain(values[section + f.name]) for f in fields(kind)})
                    for section, kind in SECTIONS.items()))


def _plain(value: Any) -> Any:
    """Return a sequence as a tuple, so that two values can be compared; others unchanged."""
    return tuple(value) if isinstance(value, (list, tuple)) or hasattr(value, 'typecode') else value


def declare(node: 'Node') -> None:
    """Declare every parameter on the node, with its description."""
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
    for name, f in DECLARED.items():
        meta = f.metadata
        choices = f' Choices: {", ".join(meta["one_of"])}.' if meta['one_of'] else ''
        whole = isinstance(f.default, int)
        span = [(IntegerRange if whole else FloatingPointRange)(
            from_value=meta['bounds'][0], to_value=meta['bounds'][1])] if meta['bounds'] else []
        default = list(f.default) if isinstance(f.default, tuple) else f.default
        node.declare_parameter(name, default, ParameterDescriptor(
            description=meta['text'] + choices, read_only=meta['read_only'],
            **{'integer_range' if whole else 'floating_point_range': span}))


def read(node: 'Node') -> NodeParameters:
    """Return the parameters of the node, checked."""
    return checked(values_of(node))


def values_of(node: 'Node') -> dict[str, Any]:
    """Return {name: value}; None for a parameter without a value, see checked."""
    from rclpy.exceptions import ParameterUninitializedException
    values: dict[str, Any] = dict.fromkeys(NAMES)
    for name in NAMES:
        with suppress(ParameterUninitializedException):
            values[name] = node.get_parameter(name).value
    return values
