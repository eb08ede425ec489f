"""Read a joint state from its bytes: the same publisher sends the same names in the same places.

rclpy takes 20 us to make a JointState of the bytes, most of it for names that never change. What
came last time is remembered, and only numbers are read. The bytes are CDR, little-endian:

    4 bytes of encapsulation | sec, nanosec | frame_id | names | position | velocity | effort

A text is its length (with the closing zero) and its bytes; a sequence its length and its elements.
Numbers stand at multiples of their own size, counted from byte 4.
"""

import struct
from typing import NamedTuple

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

CDR_LITTLE_ENDIAN = b'\x00\x01'
HEAD = 12               # where frame_id begins
UINT = struct.Struct('<I')
STAMP = struct.Struct('<iI')
BILLION = 1_000_000_000
MOST_LAYOUTS = 64


class Reading(NamedTuple):
    """A joint state."""

    stamp: int              # [ns], 0 where it has none
    names: tuple            # the same object as long as the names are the same
    position: tuple         # of floats
    velocity: tuple
    effort: tuple


class MessageLayout(NamedTuple):
    """Where a message has what; the names stand between HEAD and head_end."""

    names: tuple
    head_end: int
    mask: int         # bits of the names that count: padding between them is not initialised
    head: int         # those bits
    sizes: tuple      # of the three sequences
    ends: tuple       # where each of them ends among what `numbers` reads, its size before it
    numbers: struct.Struct   # all three, each after its size, from head_end on

    def read(self, data):
        """Return the Reading of a message, None if it has other names or sizes."""
        head = int.from_bytes(data[HEAD:self.head_end], 'little')
        if head & self.mask != self.head:
            return None
        numbers = self.numbers.unpack_from(data, self.head_end)
        first, second, third = self.ends
        if (numbers[0], numbers[first], numbers[second]) != self.sizes:
            return None
        seconds, nanoseconds = STAMP.unpack_from(data, 4)
        return Reading(seconds * BILLION + nanoseconds, self.names, numbers[1:first],
                       numbers[first + 1:second], numbers[second + 1:third])


class JointStateReader:
    """Reads joint states, fast where they resemble one of those before."""

    def __init__(self):
        self._layouts = {}   # by length of the message: several publishers are told apart

    def read(self, data):
        """Return the Reading of the bytes of a sensor_msgs/JointState."""
        layout = self._layouts.get(len(data))
        if layout is not None and data[:2] == CDR_LITTLE_ENDIAN:
            reading = layout.read(data)
            if reading is not None:
                return reading
        try:
            layout = layout_of(data)
        except (struct.error, ValueError):  # not as described above: let rclpy read it
            return _by_rclpy(data)
        if len(self._layouts) >= MOST_LAYOUTS:
            self._layouts.clear()
        self._layouts[len(data)] = layout
        return layout.read(data)


def layout_of(data):
    """Return the Layout of a message; a ValueError or struct.error says that it is none of ours."""
    if data[:2] != CDR_LITTLE_ENDIAN:
        raise ValueError('another encoding')
    mask, names = bytearray(), []
    at, _ = _text(data, HEAD, mask)
    at, count = _number(data, at, mask)
    for _ in range(count):
        at, name = _text(data, at, mask)
        names.append(name)
    head_end, sizes, ends, format = at, [], [], '<'
    for _ in range(3):
        start = _aligned(at, 4)
        n, = UINT.unpack_from(data, start)
        first = _aligned(start + 4, 8) if n else start + 4
        format += f'{start - at}xI{first - start - 4}x{n}d'
        at = first + 8 * n
        if at > len(data):
            raise ValueError('too short')
        sizes.append(n)
        ends.append(sum(sizes) + len(sizes))
    mask = int.from_bytes(mask, 'little')
    head = int.from_bytes(data[HEAD:head_end], 'little') & mask
    return MessageLayout(tuple(names), head_end, mask, head, tuple(sizes), tuple(ends),
                  struct.Struct(format))


def _by_rclpy(data):
    message = deserialize_message(data, JointState)
    stamp = message.header.stamp
    return Reading(stamp.sec * BILLION + stamp.nanosec, tuple(message.name),
                   *map(tuple, (message.position, message.velocity, message.effort)))


def _aligned(at, size):
    return at + (4 - at) % size


def _number(data, at, mask):
    """Return what follows a count, and the count; mark its bytes, padding before it not."""
    start = _aligned(at, 4)
    mask += bytes(start - at) + b'\xff' * 4
    return start + 4, UINT.unpack_from(data, start)[0]


def _text(data, at, mask):
    """Return what follows a text, and the text; mark its bytes."""
    at, length = _number(data, at, mask)
    if at + length > len(data):
        raise ValueError('too short')
    mask += b'\xff' * length
    return at + length, bytes(data[at:at + length - 1]).decode()
