"""Ask the serving process where the frame of a reference is, if it is no link of the robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.torque.records import FrameWanted


class SeenFrom:
    """Frames of references that are no links."""

    def __init__(self, node_state: NodeState, send: Callable[[Any], bool]) -> None:
        """Ask nothing yet.

        :param send: sends a record to the serving process without waiting.
        """
        self._node_state, self._send = node_state, send

    def is_asked(self, topic: str, header: Any, data: bytes, pose: np.ndarray | None) -> bool:
        """Return whether a reference has to wait for the pose of its frame; ask for it then.

        :param topic, data: as in FrameWanted.
        :param pose: of the frame, None if it is not known.
        :raise DynamicsError: the serving process cannot be asked.
        """
        frame, current = header.frame_id, self._node_state.current_robot
        if pose is not None or not frame or not current.exists or (
                frame in current.robot.model.frames):
            return False
        if not self._send(FrameWanted(topic, frame, convert.nanoseconds(header.stamp), data)):
            raise DynamicsError(f"frame '{frame}' is no link of the robot, and the serving "
                                'process, which could find it, does not answer')
        return True
