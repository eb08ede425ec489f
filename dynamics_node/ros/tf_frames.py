"""Find the pose of a frame of another tree (`map`, a camera) in the root of the robot, by tf2.

In the serving process: a torque process would deserialise every message on /tf between two torques.
tf2_ros is optional. It is imported, and /tf is subscribed to, when the first such frame is met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from dynamics_node.ros import convert
from dynamics_node.spatial import so3


class TfFrames:
    """Poses of frames that are no links of the robot."""

    def __init__(self, node: Node) -> None:
        """Subscribe to nothing yet."""
        self._node = node
        self._tf2: Any = None         # the module tf2_ros
        self._buffer: Any = None      # tf2_ros.Buffer
        self._listener: Any = None    # tf2_ros.TransformListener

    def pose(self, frame: str, root: str, stamp: int) -> tuple[np.ndarray | None, str]:
        """Return the pose of a frame in the root, (4, 4), and ''; or None and why it is not known.

        This never waits.

        :param root: name of the root of the robot in tf.
        :param stamp: [ns]; 0: the latest transform. That is used too for a stamp that is newer
            than all transforms, as those of a moment arrive after it.
        """
        try:
            self._listen()
        except ImportError:
            return None, 'tf2_ros, which may know it, is not installed'
        try:
            found = self._transform(root, frame, stamp)
        except self._tf2.TransformException as error:
            return None, f"tf2 has no transform from '{frame}' to '{root}': {error}"
        pose = np.eye(4)
        pose[:3, :3] = so3.from_quaternion(convert.xyzw(found.rotation))
        pose[:3, 3] = convert.xyz(found.translation)
        return pose, ''

    def close(self) -> None:
        """Destroy the subscriptions."""
        if self._listener is not None:
            self._listener.unregister()
        self._buffer = self._listener = None

    def _listen(self) -> None:
        """Subscribe to /tf and /tf_static, once."""
        if self._listener is None:
            import tf2_ros
            self._tf2, self._buffer = tf2_ros, tf2_ros.Buffer()
            self._listener = tf2_ros.TransformListener(self._buffer, self._node)

    def _transform(self, root: str, frame: str, stamp: int) -> Any:
        try:
            return self._buffer.lookup_transform(root, frame, Time(nanoseconds=stamp)).transform
        except self._tf2.ExtrapolationException:
            return self._buffer.lookup_transform(root, frame, Time()).transform
