"""Publish `~/state`: reference, measured state, error, torques, and the limits that changed them.

It is published after a torque, when the next joint state is furthest away: composing the message
delays no torque.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from dynamics_node.control.reference import Reference
from dynamics_node.control.spline import MotionSample
from dynamics_node.errors import DynamicsError
from dynamics_node.msg import TorqueState
from dynamics_node.ros import convert
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.joint_selection import JointSelection
from dynamics_node.ros.parameters.torque import driven_joints
from dynamics_node.ros.sendable_messages import publish, sentence
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot
from dynamics_node.ros.topic_qos import TORQUE, overridable
from dynamics_node.ros.torque.topics import TorqueTopics
from dynamics_node.safety import Release
from dynamics_node.safety.releaser import EFFORT, POSITION, SLEW, VELOCITY

FLAGS = {EFFORT: TorqueState.LIMITED_EFFORT, SLEW: TorqueState.LIMITED_SLEW,
         POSITION: TorqueState.LIMITED_POSITION, VELOCITY: TorqueState.LIMITED_VELOCITY}


class StateTopic:
    """Publisher of `~/state`; with a rate of zero there is none."""

    def __init__(self, node: Node, current_robot: CurrentRobot, torque: TorqueTopics,
                 rate: float) -> None:
        """Create the publisher.

        :param rate: greatest rate of messages [Hz].
        """
        self._current_robot, self._torque, self._log = current_robot, torque, node.log
        self._period, self._next = 1.0 / rate if rate else 0.0, 0.0
        self._publisher: Any = (
            node.create_publisher(TorqueState, '~/state', **overridable(TORQUE)) if rate else None)
        self.entities = [(node.destroy_publisher, self._publisher)] if rate else []

    def show(self, measured: MeasuredSnapshot | None) -> None:
        """Publish the state, if it is due and has a subscriber.

        :param measured: that the last torque was computed from; None while there is no robot.
        """
        now = time.monotonic()
        if now < self._next or self._publisher is None:
            return
        self._next = max(self._next + self._period, now)
        if self._publisher.get_subscription_count():
            publish(self._publisher.publish, self._message(measured), self._log)

    def show_idle(self, measured: MeasuredSnapshot | None) -> None:
        """Publish the state while no torque is."""
        if self._torque.pipeline.gate.idle:
            self.show(measured)

    def _message(self, measured: MeasuredSnapshot | None) -> TorqueState:
        pipeline, references = self._torque.pipeline, self._torque.references
        gate = pipeline.gate.status()
        message = TorqueState(mode=pipeline.parameters.mode, gate=gate.state.value,
                              fault=sentence(gate.reason), refused_references=references.refused,
                              last_refusal=sentence(references.last_refusal))
        names = self._names()
        if names and measured is not None:
            joints = self._current_robot.select_joints(names)
            message.joint_names = names
            self._fill_motion(message, joints, measured)
            release = self._torque.release
            if not gate.idle and release and release.names == self._current_robot.robot.dof_names:
                self._fill_torques(message, joints, release)
        return message

    def _names(self) -> list[str]:
        """Return the driven joints; none where the parameters do not fit the robot."""
        try:
            return driven_joints(self._current_robot.robot, self._torque.pipeline.parameters)
        except DynamicsError:   # likewise where there is no robot
            return []

    def _fill_motion(self, message: TorqueState, joints: JointSelection,
                     measured: MeasuredSnapshot) -> None:
        stamp = int(measured.stamps[list(joints.named)].min())
        if stamp == NEVER:
            return
        q, v = measured.q[joints.q], measured.v[joints.v]
        message.header.stamp = convert.time(stamp)
        message.feedback = _point(q, v)
        reference, pipeline = self._torque.pipeline.reference, self._torque.pipeline
        if isinstance(reference, Reference):
            wanted = MotionSample(*(part[joints.v] for part in reference.at(pipeline.now())))
            message.reference = _point(*wanted)
            message.error = _point(reference.error(joints.v, wanted.q, q), wanted.v - v)

    def _fill_torques(self, message: TorqueState, joints: JointSelection,
                      release: Release) -> None:
        proposal = self._torque.pipeline.proposal
        if proposal is not None and proposal.torque is not None:
            message.wanted = convert.floats(proposal.torque[joints.v])
        message.released = [release.numbers[k] for k in joints.v]
        flags = dict.fromkeys(message.joint_names, 0)
        for which, name in release.limited:
            if name in flags:
                flags[name] |= FLAGS[which]
        message.limited = list(flags.values())


def _point(positions: np.ndarray, velocities: np.ndarray,
           accelerations: np.ndarray | None = None) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint(positions=convert.floats(positions),
                                 velocities=convert.floats(velocities))
    if accelerations is not None:
        point.accelerations = convert.floats(accelerations)
    return point
