"""How torques are made: the parameters `torque.*`, and what follows from them for a robot."""

from dataclasses import dataclass

from dynamics_node.checks import named_numbers
from dynamics_node.control.blended_pose_spline import PoseLimits
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS, preset
from dynamics_node.control.gains import TASK_LAWS, Gains, TaskGains
from dynamics_node.control.laws import MODES, TASK_SPACE, WITH_GAINS
from dynamics_node.control.reference_limits import BLEND_TIME, MAX_START_ERROR
from dynamics_node.control.reference_limits import ReferenceLimits as ReferenceRules
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import WORLD
from dynamics_node.parameter import not_negative, parameter, three_numbers
from dynamics_node.safety import gate_limits_of, limits_of

GAINS = ('frequency', 'kp_kd')
STARTS = ('auto', 'measured', 'zero')
LIVE = ('kp', 'kd', 'frequency', 'damping_ratio', 'gravity_scale', 'friction_scale',
        'task_stiffness', 'task_damping_ratio', 'task_posture_kp', 'task_posture_kd')


@dataclass(frozen=True)
class TorqueParameters:
    """What is published as torque, where and when."""

    mode: str = parameter('gravity', 'What torque is made.', one_of=tuple(MODES))
    rate: float = parameter(
        0.0, 'How often; 0: on each joint state, which has the least delay.', 'Hz',
        bounds=(0.0, 2000.0), read_only=True)
    command_topic: str = parameter(
        '', 'Where the controller takes effort commands (std_msgs/Float64MultiArray), e.g. '
        'effort_controller/commands; empty: nowhere, torques are on ~/torque only.',
        read_only=True)
    joints: str = parameter(
        '', "The joints that are driven, in the order of the controller's parameter joints, spaces "
        "between; empty: all but the passive ones of loops, in the model's order.")
    driver: str = parameter(
        'full', 'What the driver adds on its own, see docs/torque.md.', one_of=tuple(PRESETS))
    driver_gravity: tuple = parameter(
        (0.0, 0.0, 0.0), "The gravity vector that the driver believes in; zero: the robot's.",
        'm/s^2', check=three_numbers)
    gains: str = parameter(
        'frequency', 'Where gains come from: frequency and damping_ratio (computed_torque only), '
        'or kp and kd.', one_of=GAINS)
    frequency: tuple = parameter((10.0,), 'Natural frequency of the error, of all or each joint.',
                                 'rad/s', check=not_negative)
    damping_ratio: tuple = parameter((1.0,), 'Its damping ratio, of all or each joint.', '1',
                                     check=not_negative)
    kp: tuple = parameter(
        (50.0,), 'Gain of the position error, of all or each joint.',
        '1/s^2 in computed_torque, N m/rad or N/m in impedance', check=not_negative)
    kd: tuple = parameter(
        (10.0,), 'Gain of the velocity error, of all or each joint.',
        '1/s in computed_torque, N m s/rad or N s/m in impedance', check=not_negative)
    gravity_scale: tuple = parameter(
        (1.0,), 'What the gravity torque is multiplied by, of all or each joint.', '1',
        check=not_negative)
    friction_scale: tuple = parameter(
        (1.0,), 'What the friction torque is multiplied by, of all or each joint.', '1',
        check=not_negative)
    blend_time: float = parameter(
        BLEND_TIME, 'Over which a new reference takes over from the old one.', 's',
        bounds=(0.001, 10.0))
    max_start_error: float = parameter(
        MAX_START_ERROR, 'A reference that starts further off is refused.', 'rad or m',
        bounds=(0.0, 10.0))
    hold_reference: bool = parameter(
        True, 'Whether the end of a reference is held for ever; else safety.max_reference_age '
        'after it is a fault: for references that are streamed.')
    effort_limits: str = parameter(
        '', "Limits in place of the URDF's: joint_1=50 joint_2=50.", 'N m or N',
        check=named_numbers)
    slew_limits: str = parameter(
        '', 'Limits of the change of effort in place of safety.slew_time: joint_1=500.',
        'N m/s or N/s', check=named_numbers)
    ramp_from: str = parameter(
        'auto', 'Where torques begin on enable: the measured effort, or zero; auto: measured if '
        'driver is full, since the effort of other drivers has in it what they add.',
        one_of=STARTS)
    task_frame: str = parameter(
        '', 'Of mode task_space: the link that is held on enable, and that references without a '
        'frame are of.')
    task_law: str = parameter(
        'impedance', "Whether stiffness makes forces on the robot's own inertia, or, on a model "
        'that is exact, accelerations: motion.', one_of=TASK_LAWS)
    task_stiffness: tuple = parameter(
        (500.0, 30.0), 'Along the axes of the contact frame: one number, two (linear, angular) or '
        'six.', 'N/m and N m/rad in impedance, 1/s^2 in motion', check=not_negative)
    task_damping_ratio: float = parameter(
        1.0, 'Where a reference has no damping of its own; 1: critical.', '1', bounds=(0.0, 10.0))
    task_timeout: float = parameter(
        0.1, 'For which a task reference goes on by its twist; then it is brought to rest.', 's',
        bounds=(0.001, 10.0))
    task_max_speed: float = parameter(
        0.25, 'Most that a reference may ask for, and at which a far one is approached.', 'm/s',
        bounds=(0.001, 10.0))
    task_max_turn: float = parameter(1.0, 'Likewise, turning.', 'rad/s', bounds=(0.001, 20.0))
    task_posture: str = parameter(
        '', 'Where the joints are drawn as far as the frame leaves them free: joint_1=0.3; those '
        'not named: to where they are on enable.', 'rad or m', check=named_numbers)
    task_posture_kp: tuple = parameter(
        (25.0,), 'How hard, of all or each joint, as if each were a unit mass.', '1/s^2',
        check=not_negative)
    task_posture_kd: tuple = parameter(
        (10.0,), 'How their motion is damped, of all or each joint; 2 sqrt(kp) is critical.',
        '1/s', check=not_negative)


def controller_of(robot, p):
    """Return the Controller of a robot."""
    gains = None
    if p.mode in WITH_GAINS:
        if p.gains == 'frequency' and p.mode != 'computed_torque':
            raise DynamicsError(f'torque.mode {p.mode} takes kp and kd; set torque.gains to kp_kd')
        gains = (Gains.from_frequency(robot.nv, _each(p.frequency), _each(p.damping_ratio))
                 if p.gains == 'frequency' else
                 Gains.per_joint(robot.nv, _each(p.kp), _each(p.kd)))
    if p.mode == TASK_SPACE:
        gains = TaskGains.of(robot.nv, p.task_law, p.task_stiffness, p.task_damping_ratio,
                             _each(p.task_posture_kp), _each(p.task_posture_kd))
    belief = p.driver_gravity if any(p.driver_gravity) else None
    controller = Controller(robot, p.mode, gains, preset(p.driver, driver_gravity=belief),
                            _each(p.gravity_scale), _each(p.friction_scale))
    if p.mode == TASK_SPACE:
        task_frame_of(robot, p, '')
    return controller


def driven_joints(robot, p):
    """Return the names of the driven joints, in the order in which they are published.

    :raise DynamicsError: one is named twice, or is passive.
    """
    passive = robot.loops.passive
    names = p.joints.split() or [joint.name for joint in robot.model.joints if joint.kind not in (
        'planar', 'floating') and joint.name not in passive]
    for name in names:
        if names.count(name) > 1:
            raise DynamicsError(f"torque.joints has '{name}' twice; name each joint once")
        if name in passive:
            raise DynamicsError(f"torque.joints has '{name}', which the loops (parameter "
                                'constraints) call passive: it has no motor')
    return names


def gate_rules_of(robot, p, settings):
    """Return the Rules of the safety gate for a robot."""
    return gate_limits_of(limits_of(robot, driven_joints(robot, p),
                              effort=named_numbers('torque.effort_limits', p.effort_limits),
                              slew=named_numbers('torque.slew_limits', p.slew_limits)), settings)


def reference_rules_of(robot, p):
    """Return the rules of references for a robot."""
    return ReferenceRules.of(robot, p.blend_time, p.max_start_error)


def task_frame_of(robot, p, frame):
    """Return the frame of a task reference, the parameter's if it has none.

    :raise DynamicsError: there is no such frame, or a joint that carries it is not driven.
    """
    name = frame or p.task_frame
    model = robot.model
    if not name:
        raise DynamicsError('torque.task_frame is empty; expected the link that mode task_space '
                            f'moves, one of: {", ".join(model.frames)}')
    body = model.frame(name).body
    carriers = [body, *model.ancestors(body)] if body != WORLD else []
    places = [model.bodies[i].v for i in carriers]
    idle = [joint.name for joint in model.joints
            if joint.v in places and joint.name not in driven_joints(robot, p)]
    if idle or not carriers:
        raise DynamicsError(f"frame '{name}' is carried by {', '.join(idle) or 'no joint'}, "
                            f'{"which torque.joints does not drive" if idle else "hence fixed"}')
    return name


def task_rules_of(p):
    """Return the rules of task references."""
    return PoseLimits(p.blend_time, p.task_max_speed, p.task_max_turn, p.task_timeout)


def posture_of(robot, p, q):
    """Return the posture that is held where joints are at q, (nq,).

    :raise DynamicsError: there is no such joint, or it cannot be there.
    """
    posture = q.copy()
    for name, value in named_numbers('torque.task_posture', p.task_posture).items():
        joint = robot.model.joint(name)
        if not joint.lower <= value <= joint.upper:
            raise DynamicsError(f'torque.task_posture: {name} is {value:g}, beyond its limits, '
                                f'[{joint.lower:g}, {joint.upper:g}]')
        posture[joint.q] = value
    return posture


def starts_measured(p):
    """Return whether torques begin at the measured effort."""
    return p.ramp_from == 'measured' or (p.ramp_from == 'auto' and p.driver == 'full')


def _each(values):
    """Return one number for all joints, or one for each."""
    return values[0] if len(values) == 1 else list(values)
