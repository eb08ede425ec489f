"""Request the pose of a reference's frame from the serving process, if it is not a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamics_node.control.laws import TASK_SPACE
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.torque.mode_reference import check_follows
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.records import FrameWanted


class FrameLookup:
    """Frames of references that are not links."""

    def __init__(self, node_state: NodeState, pipeline: TorquePipeline,
                 send: Callable[[Any], bool]) -> None:
        """Request nothing yet.

        :param send: sends a record to the serving process without waiting.
        """
        self._node_state, self._pipeline, self._send = node_state, pipeline, send

    def request_if_not_link(self, number: int, topic: str, header: Any, data: bytes,
                            pose: np.ndarray | None) -> bool:
        """Request the pose of a reference's frame if it is not a link; return whether it did.

        :param number, topic, data: as in FrameWanted.
        :param header: header of the message; its frame has the name that it has in tf.
        :param pose: pose of the frame, None if it is not known.
        :raise DynamicsError: task references are not followed now, or the serving process cannot
            be asked.
        """
        frame, pipeline = header.frame_id, self._pipeline
        if pose is not None or not frame:
            return False
        check_follows(pipeline.parameters, {TASK_SPACE}, 'task reference', pipeline.gate.state)
        link = frame.removeprefix(self._node_state.parameters.frame_prefix)
        # Not the current robot: while a payload is in transition, each read assembles a new one.
        if link in pipeline.controller.robot.model.frames:
            return False
        stamp = convert.nanoseconds(header.stamp)
        if not self._send(FrameWanted(number, topic, frame, stamp, data)):
            raise DynamicsError(f"frame '{frame}' is not a link of the robot, and the serving "
                                'process, which could find it, does not reply')
        return True
