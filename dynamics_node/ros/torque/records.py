"""Define the records that the serving process and the torque process send to each other."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.control.trajectory_goal import GoalOutcome, GoalProgress, Tolerances
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.ros.code_line import CodeLine
from dynamics_node.safety import State, Status

# Names that the serving node resolves, with its namespace and remappings, for the torque process.
TOPICS = ('joint_states', 'odom', 'base_pose', 'base_twist', '~/torque', '~/reference',
          '~/task_reference', '~/reference_pose', '~/reference_twist', '~/reference_wrench',
          '~/whole_body_reference', '~/state', '~/external_torque', '~/external_wrench_estimate',
          '~/contact', '/clock')
SERVICES = ('~/enable',)
START_AGAIN = ('To start it again: ros2 lifecycle set <node> deactivate, cleanup, configure, '
               'activate')


class Setup(NamedTuple):
    """The name, topic names and parameters of the node, sent once to the torque process."""

    name: str                     # of the node
    namespace: str
    names: dict[str, str]         # {name in the code: resolved name} of topics and services
    overrides: dict[str, Any]     # {parameter: value} that rclpy itself declares: qos, sim time


class Command(NamedTuple):
    """A request of the serving process; it is carried out between two torques."""

    number: int
    name: str
    arguments: tuple


class Reply(NamedTuple):
    """The reply to a Command."""

    number: int
    result: Any
    refusal: str = ''   # why nothing was changed


class LogLine(NamedTuple):
    """A line for the log of the node."""

    severity: str       # a method of sendable_messages.Log
    text: str
    source: CodeLine    # in the torque process


class KernelWanted(NamedTuple):
    """A kernel that the torque process needs and that is not in the cache."""

    key: KernelKey


class KernelCached(NamedTuple):
    """The reply to KernelWanted: the kernel is in the cache, or cannot be compiled."""

    key: KernelKey


class FrameWanted(NamedTuple):
    """A reference in a frame that is not a link: its pose in the root is needed to follow it.

    The serving process sends it back with the pose, by the command follow_seen_from.
    """

    number: int     # of its arrival, see ReferenceOrder
    topic: str      # 'pose', 'twist', 'wrench' or 'task'
    frame: str      # header.frame_id, with the prefix that it has in tf
    stamp: int      # [ns], 0: the latest transform
    data: bytes     # the serialised message


class GoalRequest(NamedTuple):
    """A goal of ~/follow_joint_trajectory, argument of the command follow_goal."""

    number: int
    names: list[str]                         # of its joints
    start: int | None                        # [ns], None for now
    points: tuple[np.ndarray | None, ...]    # see joint_trajectory.points_of
    tolerances: Tolerances
    feedback_period: float                   # [s]


class GoalFeedback(NamedTuple):
    """The progress of a goal."""

    number: int
    stamp: int          # [ns] of the newest joint state
    progress: GoalProgress


class GoalEnd(NamedTuple):
    """The end of a goal."""

    number: int
    outcome: GoalOutcome
    cancelled: bool     # at the request of its client


class ContactStatus(NamedTuple):
    """Status of the external torque estimator."""

    on: bool
    reason: str                      # why it is off or paused; '' while it runs
    contacts: int                    # number of contacts so far
    contact: bool                    # now
    joints: tuple[str, ...]          # beyond their thresholds
    torque: dict[str, float]         # {degree of freedom: external torque [N m or N]}
    peaks: dict[str, float]          # largest ones without contact


class TorqueStatus(NamedTuple):
    """Status of the torque process."""

    gate: Status
    refused_references: int
    last_refusal: str                # why the last of them was refused
    effort: dict[str, float]         # {joint: torque published last}
    contact: ContactStatus
    kernels: str                     # why torques cannot be enabled yet; '' if they can
    realtime: str                    # what was granted, see realtime.request


def status_without_process(reason: str) -> TorqueStatus:
    """Return the status while no torque process runs."""
    return TorqueStatus(Status(State.DISABLED, True, reason, 0, Counter(), Counter()), 0, '', {},
                        ContactStatus(False, reason, 0, False, (), {}, {}), reason, '')
