"""Find the pose of a frame of another tree (`map`, a camera) in the root of the robot, by tf2.

It runs in the serving process: the torque process would have to deserialise every message on /tf
between two torques. tf2_ros is optional. It is imported, and /tf is subscribed to, when the first
such frame is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.time import Time

from dynamics_node.ros import convert
from dynamics_node.spatial import so3

# How much older than the stamp of a reference a transform may be. The transform of a moment is
# published after it: up to a period of its publisher later, and a camera may publish at 5 Hz.
MAX_AGE = 0.5   # [s]


class TfFrames:
    """Poses of frames that are not links of the robot."""

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
        :param stamp: [ns]; 0: the latest transform, of any age. If the stamp is newer than all
            transforms, the latest one is used if it is at most MAX_AGE older.
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
        """Return the transform at a stamp, or the latest one; see pose.

        Static transforms are valid at every stamp: tf2 does not extrapolate them.
        """
        try:
            return self._buffer.lookup_transform(root, frame, Time(nanoseconds=stamp)).transform
        except self._tf2.ExtrapolationException as error:
            latest = self._buffer.lookup_transform(root, frame, Time())
            age = (stamp - convert.nanoseconds(latest.header.stamp)) * 1e-9
            if age < 0.0:   # the stamp is older than all transforms
                raise
            if age > MAX_AGE:
                raise self._tf2.ExtrapolationException(
                    f'the latest one is {age:.3f} s older than the stamp of the reference; '
                    f'at most {MAX_AGE:g} s are permitted') from error
            return latest.transform
