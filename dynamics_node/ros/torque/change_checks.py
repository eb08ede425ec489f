"""Refuse a change of payload, gravity, friction, gains, scales or mode that would fling the arm.

A change is refused, with the numbers, if the effort limits cannot hold the arm afterwards, or if
it changes the torque at the present state faster than safety.change_rate. A change at once counts
as one that takes torque.blend_time: gains, scales and modes are blended in that time. Independent
of rclpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.control.blended_controller import BlendedController
from dynamics_node.control.controller import Controller
from dynamics_node.control.controller_with_reference import ControllerWithReference
from dynamics_node.errors import DynamicsError
from dynamics_node.safety import GateLimits

GREATEST_GRAVITY = 30.0   # [m/s^2], three times that of the earth
GRAVITY_STEP = 2.0        # [m/s^2] at once: the root is tilted by 12 degrees
# [rad or m] An arm that stands upright needs no torque, whatever it carries; a little off it does.
NEARBY = 0.1
MOST_NEARBY = 60   # joints of a robot whose nearby poses are checked: it takes time
MOST_NAMED = 10    # joints in a message
SOON = 1e-3   # [s] in which the rate of a transition is measured
CHANGE_TIMES = (0.0, SOON, math.inf)   # [s] after a change at which it is checked

AnyController = Controller | ControllerWithReference | BlendedController


class Present(NamedTuple):
    """The state in which a change takes place."""

    q: np.ndarray         # measured, (nq,)
    v: np.ndarray         # measured, (nv,)
    motion: Any           # sample of the reference after the change; None if there is none
    limits: GateLimits
    controller: Controller | ControllerWithReference   # in effect, or at the end of a blend
    blend: BlendedController | None   # that is under way
    blend_time: float     # [s] that a change at once counts as


def check_change(present: Present, at_once: Controller, soon: Controller,
                 settled: Controller) -> None:
    """Raise a DynamicsError if a change would fling the arm.

    :param at_once: controller after the change.
    :param soon: the same SOON later: payloads may be in transition.
    :param settled: the same after all transitions.
    """
    before = present.blend or present.controller
    check_held(settled, present.q, present.limits, before)
    _check_gravity_step(present.controller.robot.gravity, at_once.robot.gravity)
    torques = [_torque(each, present) for each in (before, at_once, soon)]
    rate = np.maximum(np.abs(torques[1] - torques[0]) / present.blend_time,
                      np.abs(torques[2] - torques[1]) / SOON)
    share = present.limits.settings.change_rate
    refused = [f"joint '{name}' by {x:.4g} per second, at most {share * most:.4g}"
               for name, x, most in zip(present.limits.joints.names, rate, present.limits.effort)
               if most > 0.0 and x > share * most]
    if refused:
        raise DynamicsError(
            f'this would change the torque too fast: {_listed(refused)}, that is change_rate, '
            f'{share:g} per second, of the effort limit. Change gains in smaller steps, and '
            'payloads with a longer transition_time')


def check_held(controller: Controller, q: np.ndarray, limits: GateLimits,
               before: AnyController | None = None) -> None:
    """Raise a DynamicsError if the effort limits cannot hold the arm at q or NEARBY.

    :param before: controller before the change; a joint that needed as much with it is accepted.
    """
    if np.linalg.norm(controller.robot.gravity) > GREATEST_GRAVITY:
        raise DynamicsError(f'gravity is {controller.robot.gravity.tolist()}; while torques are '
                            f'enabled its length is at most {GREATEST_GRAVITY:g} m/s^2')
    most = np.array(limits.effort)
    needed = np.zeros(len(most))
    for near in _nearby(controller, q):
        torque = np.abs(controller.holding_torque(near))
        if before is not None:
            torque = np.where(torque > np.abs(before.holding_torque(near)), torque, 0.0)
        needed = np.maximum(needed, torque)
    refused = [f"joint '{name}' {x:.4g} of {limit:.4g}"
               for name, x, limit in zip(limits.joints.names, needed, most) if 0.0 < limit < x]
    if refused:
        raise DynamicsError(f'the effort limits cannot hold the arm in this pose, or {NEARBY} rad '
                            f'from it: {_listed(refused)}')


def _check_gravity_step(before: np.ndarray, after: np.ndarray) -> None:
    step = float(np.linalg.norm(after - before))
    if step > GRAVITY_STEP:
        raise DynamicsError(f'gravity would change by {step:.4g} m/s^2; while torques are enabled '
                            f'at most {GRAVITY_STEP:g} at once')


def _nearby(controller: Controller, q: np.ndarray) -> Iterator[np.ndarray]:
    """Yield q, and q with one joint moved.

    Only q of robots whose joints do not move independently, or with more than MOST_NEARBY joints.
    """
    yield q
    robot = controller.robot
    if robot.nq == robot.nv <= MOST_NEARBY and not robot.loops.constraints:
        for k in range(len(q)):
            for step in (NEARBY, -NEARBY):
                near = q.copy()
                near[k] += step
                yield near


def _listed(joints: Sequence[str]) -> str:
    more = f'; and {len(joints) - MOST_NAMED} more' if len(joints) > MOST_NAMED else ''
    return '; '.join(joints[:MOST_NAMED]) + more


def _torque(controller: AnyController, present: Present) -> np.ndarray:
    return (controller.torque(present.q, present.v, present.motion)
            if controller.needs_reference else controller.holding_torque(present.q))


def check_mode_change(before: str, after: str, steady: bool) -> None:
    """Raise a DynamicsError if the mode would change during a ramp or another change.

    :param steady: whether one controller alone determines the torque, without a ramp.
    """
    if before != after and not steady:
        raise DynamicsError('torque.mode cannot change while torques ramp, or are blended to '
                            'other gains or another mode: try again in a moment')
