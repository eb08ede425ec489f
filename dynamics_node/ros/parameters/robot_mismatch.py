"""Find the parameters that do not fit a robot, and explain which values are valid.

A set of parameters is refused if one of them does not fit the robot that the set leads to. Other
parameters that no longer fit afterwards, for instance because the robot has other joints, are kept
and reported: torques cannot be enabled until they are set or deleted, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.needed_joints import needed_joints
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.parameter import PerJoint
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.declared import NodeParameters, declared_name
from dynamics_node.ros.parameters.observer import (
    UNKNOWN,
    ObserverParameters,
    flag_of,
    observer_of,
)
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    check_gain_source,
    check_posture,
    controller_of,
    driven_joints,
    gate_limits,
    reference_limits,
)
from dynamics_node.safety import GateLimits, SafetySettings, limits_of

TASK_SIZES = (1, 2, 6)


class Misfit(NamedTuple):
    """Why some parameters do not fit a robot."""

    names: tuple[str, ...]   # of the parameters: another value of one of them may fit
    reason: str


def check_fit(robot: Robot, parameters: NodeParameters, changed: Collection[str]) -> None:
    """Raise a DynamicsError if a changed parameter does not fit a robot."""
    names = {*changed, *map(declared_name, changed)}
    for misfit in misfits(robot, parameters):
        if not names.isdisjoint(misfit.names):
            raise DynamicsError(misfit.reason)


def misfits(robot: Robot, parameters: NodeParameters) -> list[Misfit]:
    """Return the Misfits of all parameters."""
    return [*torque_misfits(robot, parameters.torque, parameters.safety),
            *_unknown_joints(robot, 'trajectory.', parameters.trajectory),
            *_observer_misfits(robot, parameters.observer)]


def torque_misfits(robot: Robot, p: TorqueParameters, settings: SafetySettings) -> list[Misfit]:
    """Return the Misfits of `torque.*` and `safety.*`."""
    found = [*_unknown_joints(robot, 'torque.', p), *_joint_misfits(robot, p),
             *_refused(lambda: _check_stiffness(p), 'torque.task_stiffness')]
    return found or [*_mode_misfits(robot, p), *_limit_misfits(robot, p, settings)]


def torque_limits(robot: Robot, p: TorqueParameters, settings: SafetySettings
                  ) -> tuple[str, GateLimits | None, np.ndarray]:
    """Return (reason, GateLimits, indices of the joints whose age counts).

    The reason says why the parameters do not fit the robot; '' if they do. With a reason, the
    limits are None and there are no joints.
    """
    for misfit in torque_misfits(robot, p, settings):
        return misfit.reason, None, np.zeros(0, dtype=int)
    return '', gate_limits(robot, p, settings), needed_joints(robot, driven_joints(robot, p))


def _joint_misfits(robot: Robot, p: TorqueParameters) -> Iterator[Misfit]:
    """Yield the Misfits of `torque.joints` and `torque.task_frame`."""
    yield from _refused(lambda: limits_of(robot, driven_joints(robot, p)), 'torque.joints')
    yield from _refused(lambda: p.task_frame and robot.model.frame(p.task_frame),
                        'torque.task_frame')


def _limit_misfits(robot: Robot, p: TorqueParameters, settings: SafetySettings) -> Iterator[Misfit]:
    """Yield invalid limits and positions, joint by joint: each can then be set alone."""
    for joint, value in p.task_posture.named.items():
        yield from _refused(partial(check_posture, robot, joint, value),
                            f'torque.task_posture.{joint}')
    for joint in {**p.effort_limits.named, **p.slew_limits.named}:
        alone = replace(p, effort_limits=p.effort_limits.only(joint),
                        slew_limits=p.slew_limits.only(joint))
        yield from _refused(partial(gate_limits, robot, alone, settings),
                            f'torque.slew_limits.{joint}', f'torque.effort_limits.{joint}',
                            'torque.joints')


def _mode_misfits(robot: Robot, p: TorqueParameters) -> Iterator[Misfit]:
    """Yield why the mode cannot be used."""
    found = list(_refused(lambda: check_gain_source(p), 'torque.mode', 'torque.gains'))
    if p.mode in WITH_REFERENCE:
        found += _refused(lambda: reference_limits(robot, p), 'torque.mode')
    task = ('torque.task_frame', 'torque.joints') if p.mode == TASK_SPACE else ()
    yield from found or _refused(lambda: controller_of(robot, p), 'torque.mode', *task,
                                 'torque.driver', 'torque.driver_gravity')


def _observer_misfits(robot: Robot, p: ObserverParameters) -> Iterator[Misfit]:
    found = [*_unknown_joints(robot, 'observer.', p),
             *_refused(lambda: p.frame and robot.model.frame(p.frame), 'observer.frame')]
    if not found and p.effort_meaning != UNKNOWN:
        found += _refused(lambda: (observer_of(robot, p), flag_of(robot, p)),
                          'observer.effort_meaning', 'observer.torque_constants',
                          'observer.bandwidth', 'observer.thresholds')
    yield from found


def _unknown_joints(robot: Robot, section: str, p: Any) -> Iterator[Misfit]:
    """Yield the parameters of joints that the robot lacks, one by one: each can be deleted."""
    known = set(robot.dof_names)
    for f in fields(p):
        value = getattr(p, f.name)
        for joint in value.named if isinstance(value, PerJoint) else ():
            if joint not in known:
                name = f'{section}{f.name}.{joint}'
                yield Misfit((name,), f'{name}: {UnknownName("joint", joint, robot.dof_names)}. '
                             'ros2 param delete removes a parameter')


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
