"""Check for robot, base state and joint states; decide when to log which of them is missing.

Diagnostics and log use the same messages. Independent of rclpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.state.measured_state import MeasuredSnapshot

FIRST, AGAIN = 5.0, 60.0   # [s] after which something missing is logged, and logged again
SHOWN = 5                  # joints in a message


class HealthLevel(IntEnum):
    """Levels of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2


class Health(NamedTuple):
    """Whether the node can serve."""

    level: HealthLevel
    kind: str      # what is missing; '' if nothing is. A message of the same kind may differ
    message: str


def health(node_state: NodeState, refusals: Sequence[str] = ()) -> Health:
    """Return the Health of the node: the first thing that is missing, if any.

    :param refusals: why messages with the state of the base were refused.
    """
    current = node_state.current_robot
    if not current.exists:
        return Health(HealthLevel.ERROR, 'robot', current.refusal or (
            'no robot description yet: waiting for a message on the topic robot_description; the '
            "parameter 'robot_description' is empty"))
    if current.refusal:
        return Health(HealthLevel.ERROR, current.refusal,
                      f'{current.refusal}; the previous robot is still used')
    if refusals:
        return Health(HealthLevel.WARN, 'base', '; '.join(refusals))
    measured = node_state.measured_state.snapshot()
    missing = measured.never_measured
    if missing:
        return Health(HealthLevel.WARN, 'never measured', f'never measured: {", ".join(missing)}')
    old = _old_joints(node_state, measured)
    if old:
        return Health(HealthLevel.WARN, 'old', old)
    return Health(HealthLevel.OK, '', 'serving')


def _old_joints(node_state: NodeState, measured: MeasuredSnapshot) -> str:
    """Return which joints were measured longer than max_state_age ago, oldest first; '' if none."""
    limit, now = node_state.age_limit, node_state.clock()
    ages = [((now - stamp) * 1e-9, joint.name)
            for joint, stamp in zip(measured.model.joints, measured.stamps.tolist())]
    old = sorted(((age, name) for age, name in ages if limit.max_age and age > limit.max_age),
                 key=lambda each: -each[0])
    if not old:
        return ''
    more = f' and {len(old) - SHOWN} more' if len(old) > SHOWN else ''
    return (f'no joint states for longer than max_state_age, {limit.max_age:g} s: '
            f'{", ".join(f"{name} {age:.1f} s" for age, name in old[:SHOWN])}{more}')


class Reminder:
    """Decides when something missing is logged: after FIRST seconds, then every AGAIN seconds."""

    def __init__(self) -> None:
        self._kind, self._since = '', 0.0
        self._logged: float | None = None

    def check(self, found: Health, now: float) -> str:
        """Return what to log now, '' for nothing.

        :param now: [s], of a clock that never goes back.
        """
        if found.kind != self._kind:
            over, self._kind, self._since = self._logged is not None, found.kind, now
            self._logged = None
            return found.message if over and not found.kind else ''
        due = self._since + FIRST if self._logged is None else self._logged + AGAIN
        if not found.kind or now < due:
            return ''
        self._logged = now
        return found.message
