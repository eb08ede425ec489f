"""Declare the parameters `torque.*`; create the controller and the limits of a robot from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynamics_node.control.blended_pose_spline import PoseLimits
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS, preset
from dynamics_node.control.gains import TASK_LAWS, Gains, TaskGains
from dynamics_node.control.laws import MODES, TASK_SPACE, WITH_GAINS
from dynamics_node.control.reference_limits import (
    BLEND_TIME,
    MAX_START_ERROR,
    ReferenceLimits,
)
from dynamics_node.control.whole_body_controller import WHOLE_BODY, WholeBodyController
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.model import WORLD
from dynamics_node.parameter import PerJoint, is_list, names_of, parameter, three_numbers, up_to
from dynamics_node.robot.robot import Robot
from dynamics_node.safety import GateLimits, SafetySettings, gate_limits_of, limits_of
from dynamics_node.safety.settings import LARGEST

GAINS = ('frequency', 'kp_kd')
MOST_CORES = 10_000
LIVE = ('mode', 'gains', 'kp', 'kd', 'frequency', 'damping_ratio', 'gravity_scale',
        'friction_scale', 'task_stiffness', 'task_damping_ratio', 'task_posture_kp',
        'task_posture_kd')


def core_numbers(name: str, value: Any) -> list[int]:
    """Return the core numbers of a list, without -1, which means any core (as in ros2_control)."""
    if not is_list(value) or not all(type(each) is int and -1 <= each < MOST_CORES
                                     for each in value):
        raise DynamicsError(f'{name} is {shown(value)}; expected a list of numbers of cores, such '
                            'as [2, 3]; [-1]: any')
    return [each for each in value if each >= 0]


@dataclass(frozen=True)
class TorqueParameters:
    """Torque topics and control."""

    mode: str = parameter('gravity', 'Control law, see docs/torque.md.',
                          one_of=(*MODES, WHOLE_BODY))
    rate: float = parameter(
        0.0, 'Rate of torques; 0: one for each joint state, with the least delay.', 'Hz',
        bounds=(0.0, 2000.0), read_only=True)
    command_topic: str = parameter(
        '', 'Topic of effort commands (std_msgs/Float64MultiArray) of the controller, e.g. '
        'effort_controller/commands; empty: none, torques are on ~/torque only.',
        read_only=True)
    state_rate: float = parameter(
        50.0, 'Greatest rate of messages on ~/state; 0: the topic does not exist.', 'Hz',
        bounds=(0.0, 1000.0), read_only=True)
    realtime_priority: int = parameter(
        50, 'SCHED_FIFO priority of the torque process, whose memory is then locked too; 0: '
        'normal scheduling. Needs a permission, see docs/torque.md; without it the process runs at '
        'normal priority.', '1', bounds=(0, 99), read_only=True)
    cpu: tuple = parameter(
        (-1,), 'Numbers of the cores that the torque process runs on; [-1]: any.', read_only=True,
        check=core_numbers)
    joints: tuple = parameter(
        ('',), "Driven joints, in the order of the parameter joints of the controller; ['']: all "
        'except passive joints of loops, in the order of the model.', check=names_of)
    driver: str = parameter(
        'full', 'Compensation that the driver of the arm adds to a command, see docs/torque.md.',
        one_of=tuple(PRESETS))
    driver_gravity: tuple = parameter(
        (0.0, 0.0, 0.0), 'Gravity vector that the driver compensates; zero: that of the robot.',
        'm/s^2', check=three_numbers)
    gains: str = parameter(
        'frequency', 'Source of the gains: frequency and damping_ratio (computed_torque only), '
        'or kp and kd.', one_of=GAINS)
    frequency: PerJoint = parameter(
        PerJoint(10.0), 'Natural frequency of the error.', 'rad/s', bounds=(0.0, 200.0))
    damping_ratio: PerJoint = parameter(
        PerJoint(1.0), 'Damping ratio of the error.', '1', bounds=(0.0, 10.0))
    kp: PerJoint = parameter(
        PerJoint(50.0), 'Gain of the position error.',
        '1/s^2 in computed_torque, N m/rad or N/m in impedance', bounds=(0.0, 1e5))
    kd: PerJoint = parameter(
        PerJoint(10.0), 'Gain of the velocity error.',
        '1/s in computed_torque, N m s/rad or N s/m in impedance', bounds=(0.0, 1e4))
    gravity_scale: PerJoint = parameter(
        PerJoint(1.0), 'Factor of the gravity torque.', '1', bounds=(0.0, 2.0))
    friction_scale: PerJoint = parameter(
        PerJoint(1.0), 'Factor of the friction torque.', '1', bounds=(0.0, 2.0))
    blend_time: float = parameter(
        BLEND_TIME, 'Time over which a new reference, or new gains and scales, are blended with '
        'the old ones.', 's', bounds=(0.001, 10.0))
    max_start_error: float = parameter(
        MAX_START_ERROR, 'A reference that starts further from the current one is refused.',
        'rad or m', bounds=(0.0, 10.0))
    hold_reference: bool = parameter(
        True, 'Hold the last position after the end of a reference. false, for streamed '
        'references: safety.max_reference_age after the end, torques end in a fault.')
    effort_limits: PerJoint = parameter(
        PerJoint(), 'Effort limits instead of those in the URDF.', 'N m or N',
        bounds=(1e-6, LARGEST))
    slew_limits: PerJoint = parameter(
        PerJoint(), 'Slew limits instead of those from safety.slew_time.', 'N m/s or N/s',
        bounds=(1e-6, LARGEST))
    task_frame: str = parameter(
        '', 'Mode task_space: link that keeps its pose on enable, and frame of references that '
        'name none.')
    task_law: str = parameter(
        'impedance', 'Mode task_space. impedance: stiffness gives forces, the inertia is that of '
        'the robot. motion: stiffness gives accelerations, which needs an exact model.',
        one_of=TASK_LAWS)
    task_stiffness: tuple = parameter(
        (500.0, 30.0), 'Stiffness along the axes of the contact frame: one number, two (linear, '
        'angular) or six.', 'N/m and N m/rad in impedance, 1/s^2 in motion', check=up_to(1e5))
    task_damping_ratio: float = parameter(
        1.0, 'Damping ratio of references without damping; 1: critical.', '1', bounds=(0.0, 10.0))
    task_timeout: float = parameter(
        0.1, 'Time after its stamp for which a task reference continues with its twist; then it '
        'stops.', 's', bounds=(0.001, 10.0))
    task_max_speed: float = parameter(
        0.25, 'Greatest speed of a task reference, and of the motion to a distant one.', 'm/s',
        bounds=(0.001, 10.0))
    task_max_turn: float = parameter(
        1.0, 'Greatest angular speed of a task reference, and of the motion to a distant one.',
        'rad/s', bounds=(0.001, 20.0))
    task_posture: PerJoint = parameter(
        PerJoint(), 'Posture of the joints in the null space of the frame. Joints not named: '
        'their position on enable.', 'rad or m')
    task_posture_kp: PerJoint = parameter(
        PerJoint(25.0), 'Stiffness of the posture per unit of inertia.', '1/s^2',
        bounds=(0.0, 1e5))
    task_posture_kd: PerJoint = parameter(
        PerJoint(10.0), 'Damping of the posture per unit of inertia; 2 sqrt(kp) is critical.',
        '1/s', bounds=(0.0, 1e4))
    whole_body_stiffness: float = parameter(
        100.0, 'Mode whole_body: stiffness with which the robot keeps its pose on enable, until '
        'the first reference.', '1/s^2', bounds=(0.0, 1e4))


def controller_of(robot: Robot, p: TorqueParameters) -> Controller:
    """Return the Controller of a robot."""
    if p.mode == WHOLE_BODY:
        check_whole_body(robot, p)
        return WholeBodyController(robot)
    gains: Gains | TaskGains | None = None
    joints = robot.dof_names
    if p.mode in WITH_GAINS:
        check_gain_source(p)
        gains = (Gains.from_frequency(robot.nv, p.frequency.each(joints),
                                      p.damping_ratio.each(joints))
                 if p.gains == 'frequency' else
                 Gains.per_joint(robot.nv, p.kp.each(joints), p.kd.each(joints)))
    if p.mode == TASK_SPACE:
        gains = TaskGains.of(robot.nv, p.task_law, p.task_stiffness, p.task_damping_ratio,
                             p.task_posture_kp.each(joints), p.task_posture_kd.each(joints))
    driver_gravity = p.driver_gravity if any(p.driver_gravity) else None
    controller = Controller(robot, p.mode, gains, preset(p.driver, driver_gravity=driver_gravity),
                            p.gravity_scale.each(joints), p.friction_scale.each(joints))
    if p.mode == TASK_SPACE:
        task_frame_of(robot, p, '')
    return controller


def controllers_of(robots: Sequence[Robot], p: TorqueParameters) -> list[Controller]:
    """Return the Controllers of robots; a robot that occurs twice has one."""
    found: dict[int, Controller] = {}
    for robot in robots:
        if id(robot) not in found:
            found[id(robot)] = controller_of(robot, p)
    return [found[id(robot)] for robot in robots]


def check_gain_source(p: TorqueParameters) -> None:
    """Raise a DynamicsError if the mode cannot use gains of this source."""
    if p.mode in WITH_GAINS and p.gains == 'frequency' and p.mode != 'computed_torque':
        raise DynamicsError(f'torque.mode {p.mode} needs kp and kd; set torque.gains to kp_kd')


def check_whole_body(robot: Robot, p: TorqueParameters) -> None:
    """Raise a DynamicsError if a parameter has a value that mode whole_body does not support."""
    if p.driver != 'full':
        raise DynamicsError(f"torque.driver is '{p.driver}'; mode whole_body needs full: a driver "
                            'that adds nothing')
    if (p.gravity_scale.each(robot.dof_names) != 1.0).any():
        raise DynamicsError('torque.gravity_scale is not 1; mode whole_body needs the masses of '
                            'the model to be right')
    idle = set(driven_joints(robot, replace(p, joints=('',)))) - set(driven_joints(robot, p))
    if idle:
        raise DynamicsError(f'torque.joints is without {", ".join(sorted(idle))}; mode whole_body '
                            'drives all motors')


def driven_joints(robot: Robot, p: TorqueParameters) -> list[str]:
    """Return the names of the driven joints, in the order of publication.

    :raise DynamicsError: a joint is named twice, or is passive.
    """
    passive = robot.loops.passive
    names = names_of('torque.joints', p.joints) or [
        joint.name for joint in robot.model.joints
        if joint.kind not in ('planar', 'floating') and joint.name not in passive]
    for name in names:
        if names.count(name) > 1:
            raise DynamicsError(f"torque.joints has '{name}' twice; name each joint once")
        if name in passive:
            raise DynamicsError(f"torque.joints has '{name}', which is passive in the "
                                'parameter constraints: it is not actuated')
    return names


def gate_limits(robot: Robot, p: TorqueParameters, settings: SafetySettings) -> GateLimits:
    """Return the limits of the safety gate for a robot."""
    limits = limits_of(robot, driven_joints(robot, p),
                       effort=p.effort_limits.named, slew=p.slew_limits.named)
    return gate_limits_of(limits, settings)


def whole_body_effort(robot: Robot, p: TorqueParameters) -> np.ndarray:
    """Return the effort limits of mode whole_body, (nv,): 0 without a motor, nan where unknown."""
    limits = limits_of(robot, driven_joints(robot, p), effort=p.effort_limits.named)
    return np.where(limits.driven, limits.effort, 0.0)


def reference_limits(robot: Robot, p: TorqueParameters) -> ReferenceLimits:
    """Return the limits of references for a robot."""
    return ReferenceLimits.of(robot, p.blend_time, p.max_start_error)


def task_frame_of(robot: Robot, p: TorqueParameters, frame: str) -> str:
    """Return the frame of a task reference, torque.task_frame if it has none.

    :raise DynamicsError: the frame does not exist, or a joint that carries it is not driven.
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
        raise DynamicsError(
            f"frame '{name}' is moved by {', '.join(idle)}, not in torque.joints" if idle else
            f"frame '{name}' is fixed: no joint moves it")
    return name


def pose_limits(p: TorqueParameters) -> PoseLimits:
    """Return the limits of task references."""
    return PoseLimits(p.blend_time, p.task_max_speed, p.task_max_turn, p.task_timeout)


def posture_of(robot: Robot, p: TorqueParameters, q: np.ndarray) -> np.ndarray:
    """Return the posture of mode task_space, q where torque.task_posture has none, (nq,).

    :raise DynamicsError: a joint does not exist, or its position is beyond its limits.
    """
    posture = q.copy()
    for name, value in p.task_posture.named.items():
        check_posture(robot, name, value)
        posture[robot.model.joint(name).q] = value
    return posture


def check_posture(robot: Robot, name: str, value: float) -> None:
    """Raise a DynamicsError if a joint does not exist, or a position is beyond its limits."""
    joint = robot.model.joint(name)
    if not joint.lower <= value <= joint.upper:
        raise DynamicsError(f'torque.task_posture.{name} is {value:g}; expected '
                            f'{joint.lower:g} to {joint.upper:g}, its limits')


def live_differ(old: TorqueParameters, new: TorqueParameters) -> bool:
    """Return whether a parameter differs whose change is blended into the published torque."""
    return any(getattr(old, name) != getattr(new, name) for name in LIVE)


def only_live_differ(old: TorqueParameters, new: TorqueParameters) -> bool:
    """Return whether only parameters differ that may change while torques are published.

    Those of mode task_space may change before it is used.
    """
    idle = () if old.mode == TASK_SPACE else [name for name in vars(old)
                                              if name.startswith('task_')]
    return all(getattr(old, name) == getattr(new, name) for name in vars(old)
               if name not in (*LIVE, *idle))
