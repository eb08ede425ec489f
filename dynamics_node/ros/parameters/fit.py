"""Find the parameters that do not fit a robot, and say in words what would.

A parameter is refused if it does not fit the robot that its set leads to. Parameters of the same
node that no longer fit afterwards, because the robot has another number of joints for instance,
are kept and reported: torques cannot be enabled until they are set, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from dynamics_node.checks import named_numbers
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.declared import NodeParameters
from dynamics_node.ros.parameters.observer import (
    UNKNOWN,
    ObserverParameters,
    flag_of,
    observer_of,
)
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    check_gain_source,
    controller_of,
    driven_joints,
    gate_limits,
    posture_of,
    reference_limits,
)
from dynamics_node.safety import SafetySettings, limits_of

PER_JOINT = ('frequency', 'damping_ratio', 'kp', 'kd', 'gravity_scale', 'friction_scale',
             'task_posture_kp', 'task_posture_kd')
TASK_SIZES = (1, 2, 6)


class Misfit(NamedTuple):
    """Why some parameters do not fit a robot."""

    names: tuple[str, ...]   # of the parameters: another value of one of them may fit
    reason: str


def check_fit(robot: Robot, parameters: NodeParameters, changed: Collection[str]) -> None:
    """Raise a DynamicsError if a changed parameter does not fit a robot."""
    for misfit in misfits(robot, parameters):
        if not set(misfit.names).isdisjoint(changed):
            raise DynamicsError(misfit.reason)


def misfits(robot: Robot, parameters: NodeParameters) -> list[Misfit]:
    """Return what does not fit a robot."""
    return [*torque_misfits(robot, parameters.torque, parameters.safety),
            *_observer_misfits(robot, parameters.observer)]


def torque_misfits(robot: Robot, p: TorqueParameters, settings: SafetySettings) -> list[Misfit]:
    """Return what of `torque.*` and `safety.*` does not fit a robot."""
    found = [*_sizes(robot, 'torque.', p, PER_JOINT), *_joint_misfits(robot, p),
             *_refused(lambda: _check_stiffness(p), 'torque.task_stiffness')]
    if not found:
        found = [*_mode_misfits(robot, p), *_refused(
            lambda: gate_limits(robot, p, settings), 'torque.effort_limits', 'torque.slew_limits',
            'torque.joints', 'safety.slew_time')]
    return found


def _joint_misfits(robot: Robot, p: TorqueParameters) -> Iterator[Misfit]:
    """Yield the parameters that name joints or links which the robot lacks."""
    yield from _refused(lambda: limits_of(robot, driven_joints(robot, p)), 'torque.joints')
    yield from _refused(lambda: limits_of(robot, effort=named_numbers(
        'torque.effort_limits', p.effort_limits)), 'torque.effort_limits')
    yield from _refused(lambda: limits_of(robot, slew=named_numbers(
        'torque.slew_limits', p.slew_limits)), 'torque.slew_limits')
    yield from _refused(lambda: posture_of(robot, p, robot.neutral()), 'torque.task_posture')
    yield from _refused(lambda: p.task_frame and robot.model.frame(p.task_frame),
                        'torque.task_frame')


def _mode_misfits(robot: Robot, p: TorqueParameters) -> Iterator[Misfit]:
    """Yield why the mode cannot be used."""
    found = list(_refused(lambda: check_gain_source(p), 'torque.mode', 'torque.gains'))
    if p.mode in WITH_REFERENCE:
        found += _refused(lambda: reference_limits(robot, p), 'torque.mode')
    task = ('torque.task_frame', 'torque.joints') if p.mode == TASK_SPACE else ()
    yield from found or _refused(lambda: controller_of(robot, p), 'torque.mode', *task,
                                 'torque.driver', 'torque.driver_gravity')


def _observer_misfits(robot: Robot, p: ObserverParameters) -> Iterator[Misfit]:
    found = [*_sizes(robot, 'observer.', p, ('bandwidth', 'thresholds')),
             *_refused(lambda: p.frame and robot.model.frame(p.frame), 'observer.frame')]
    if not found and p.effort_meaning != UNKNOWN:
        found += _refused(lambda: (observer_of(robot, p), flag_of(robot, p)),
                          'observer.effort_meaning', 'observer.torque_constants',
                          'observer.bandwidth', 'observer.thresholds')
    yield from found


def _sizes(robot: Robot, section: str, p: Any, names: Collection[str]) -> Iterator[Misfit]:
    """Yield the parameters with one value per joint that have another number of values."""
    for name in names:
        count = len(getattr(p, name))
        if count not in (1, robot.nv):
            yield Misfit((section + name,), (
                f'{section}{name} has {count} values; expected 1, or {robot.nv}, one per degree of '
                f'freedom of the robot: {", ".join(robot.dof_names)}'))


def _check_stiffness(p: TorqueParameters) -> None:
    if len(p.task_stiffness) not in TASK_SIZES:
        raise DynamicsError(f'torque.task_stiffness has {len(p.task_stiffness)} values; expected '
                            '1, 2 (linear, angular) or 6')


def _refused(check: Callable[[], object], *names: str) -> Iterator[Misfit]:
    """Yield the reason why a check raises a DynamicsError, with the first parameter's name."""
    try:
        check()
    except DynamicsError as error:
        reason = str(error)
        yield Misfit(names, reason if names[0] in reason else f'{names[0]}: {reason}')
