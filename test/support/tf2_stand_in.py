"""Stand in for tf2_ros, which has no wheel: fixed transforms, and the errors of a buffer.

Tests import it under the name tf2_ros, in their own process or in that of a node.
"""

import math

from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3

OLDEST, NEWEST = 4_000_000_000, 10_000_000_000   # [ns] stamps of the stored transforms
# frame -> its position [m] and its angle about z [rad], in the root of any robot
FRAMES = {'map': ((0.5, -0.2, 0.1), math.pi / 2), 'camera': ((0.0, 0.0, 1.0), math.pi),
          'left/camera': ((0.3, 0.0, 0.8), math.pi / 3)}
STATIC = {'map'}   # valid at every stamp; the latest one has the stamp 0


class TransformException(Exception):
    """As of tf2."""


class LookupException(TransformException):
    """The frame is not known."""


class ExtrapolationException(TransformException):
    """The stamp is not within the stored transforms."""


class Buffer:
    """Transforms from FRAMES to any frame; `asked` are the stamps [ns]."""

    def __init__(self):
        self.asked = []

    def lookup_transform(self, target, source, time):
        self.asked.append(time.nanoseconds)
        if source not in FRAMES:
            raise LookupException(f'"{source}" passed to lookupTransform does not exist')
        stamp = time.nanoseconds
        if source not in STATIC:
            stamp = stamp or NEWEST
            if stamp > NEWEST:
                raise ExtrapolationException('Lookup would require extrapolation into the future')
            if stamp < OLDEST:
                raise ExtrapolationException('Lookup would require extrapolation into the past')
        (x, y, z), angle = FRAMES[source]
        found = TransformStamped(transform=Transform(
            translation=Vector3(x=x, y=y, z=z),
            rotation=Quaternion(z=math.sin(angle / 2), w=math.cos(angle / 2))))
        found.header.stamp.sec, found.header.stamp.nanosec = divmod(stamp, 10**9)
        return found


class TransformListener:
    """Receives nothing; `made` are all that were created."""

    made: list = []

    def __init__(self, buffer, node):
        self.buffer, self.node, self.registered = buffer, node, True
        self.made.append(self)

    def unregister(self):
        self.registered = False
