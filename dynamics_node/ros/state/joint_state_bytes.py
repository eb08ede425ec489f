"""Read joint states from serialised messages, faster than rclpy.

rclpy needs 20 us to deserialise a JointState, mostly for names that never change. Here the layout
of earlier messages is stored, and only numbers are read. The bytes are CDR, little-endian:

    4 bytes of encapsulation | sec, nanosec | frame_id | names | position | velocity | effort

A text is its length (with the closing zero) and its bytes; a sequence its length and its elements.
Numbers are aligned to multiples of their own size, counted from byte 4.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from sensor_msgs.msg import JointState

from dynamics_node.ros.serialized import read_message

CDR_LITTLE_ENDIAN = b'\x00\x01'
BODY = 4                # where the stamp begins
HEAD = 12               # where frame_id begins
UINT = struct.Struct('<I')
STAMP = struct.Struct('<iI')
BILLION = 1_000_000_000
MOST_LAYOUT_BYTES = 1_000_000   # of messages with a stored layout, in all; 64 drivers need less
LARGEST = 200_000   # bytes of a message, some thousand joints: reading more would delay a torque


class Reading(NamedTuple):
    """The content of a joint state."""

    stamp: int                      # [ns], 0 where it has none
    names: tuple[str, ...]          # the same object as long as the names are the same
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


class ReceivedJointState(NamedTuple):
    """A joint state as it was received."""

    stamp: int                 # [ns], of the message or of its arrival
    reading: Reading | None    # None: the bytes could not be read
    data: bytes


class MessageLayout(NamedTuple):
    """Places of the fields of a message; the names are between HEAD and head_end."""

    names: tuple[str, ...]
    head_end: int
    first: bytes      # the names as in the first message
    mask: int         # significant bits of them: padding between them is not initialised
    head: int         # the value of these bits
    sizes: tuple      # of the three sequences
    ends: tuple       # end of each sequence in the result of `numbers`, its size before it
    numbers: struct.Struct   # the stamp and all three, each after its size, from BODY on

    def read(self, data: bytes) -> Reading | None:
        """Return the Reading of a message, None if it has other names or sizes."""
        names, head_end, before, mask, head, sizes, (first, second, third), numbers = self
        found = data[HEAD:head_end]
        if found != before and int.from_bytes(found, 'little') & mask != head:
            return None
        values = numbers.unpack_from(data, BODY)
        if (values[2], values[first], values[second]) != sizes:
            return None
        # Reading(...) would take 1.5 times as long.
        return tuple.__new__(Reading, (values[0] * BILLION + values[1], names, values[3:first],
                                       values[first + 1:second], values[second + 1:third]))


class JointStateReader:
    """Read joint states, fast if names and sizes are those of an earlier message."""

    def __init__(self) -> None:
        self._layouts: dict[int, MessageLayout] = {}   # by length: usually one per publisher

    def read(self, data: bytes) -> Reading:
        """Return the Reading of the bytes of a sensor_msgs/JointState.

        :raise ValueError: the message is longer than LARGEST.
        """
        layout = self._layouts.get(len(data))
        if layout is not None and data.startswith(CDR_LITTLE_ENDIAN):
            reading = layout.read(data)
            if reading is not None:
                return reading
        if len(data) > LARGEST:
            raise ValueError(f'{len(data)} bytes; at most {LARGEST} are read')
        try:
            layout = layout_of(data)
        except (struct.error, ValueError):  # another encoding, which rclpy may be able to read
            return _by_rclpy(data)
        if sum(self._layouts) + len(data) > MOST_LAYOUT_BYTES:
            self._layouts.clear()
        self._layouts[len(data)] = layout
        return layout.read(data) or _by_rclpy(data)


def layout_of(data: bytes) -> MessageLayout:
    """Return the layout of a message; raise ValueError or struct.error for another encoding."""
    if data[:2] != CDR_LITTLE_ENDIAN:
        raise ValueError('another encoding')
    mask, names = bytearray(), []
    at, _ = _text(data, HEAD, mask)
    at, count = _number(data, at, mask)
    for _ in range(count):
        at, name = _text(data, at, mask)
        names.append(name)
    head_end, sizes, ends, format = at, [], [], f'<iI{at - HEAD}x'
    for _ in range(3):
        start = aligned(at, 4)
        n, = UINT.unpack_from(data, start)
        first = aligned(start + 4, 8) if n else start + 4
        format += f'{start - at}xI{first - start - 4}x{n}d'
        at = first + 8 * n
        if at > len(data):
            raise ValueError('too short')
        sizes.append(n)
        ends.append(2 + sum(sizes) + len(sizes))
    bits, found = int.from_bytes(mask, 'little'), bytes(data[HEAD:head_end])
    return MessageLayout(tuple(names), head_end, found, bits,
                         int.from_bytes(found, 'little') & bits, tuple(sizes), tuple(ends),
                         struct.Struct(format))


def _by_rclpy(data: bytes) -> Reading:
    message = read_message(data, JointState)
    stamp = message.header.stamp
    return Reading(stamp.sec * BILLION + stamp.nanosec, tuple(message.name),
                   *map(tuple, (message.position, message.velocity, message.effort)))


def aligned(at: int, size: int) -> int:
    """Return the first place from `at` on where a number of a size may be."""
    return at + (4 - at) % size


def _number(data: bytes, at: int, mask: bytearray) -> tuple[int, int]:
    """Return the end of a count, and the count; add its bytes to the mask, not its padding."""
    start = aligned(at, 4)
    mask += bytes(start - at) + b'\xff' * 4
    return start + 4, UINT.unpack_from(data, start)[0]


def _text(data: bytes, at: int, mask: bytearray) -> tuple[int, str]:
    """Return the end of a text, and the text; add its bytes to the mask."""
    at, length = _number(data, at, mask)
    if at + length > len(data):
        raise ValueError('too short')
    mask += b'\xff' * length
    return at + length, bytes(data[at:at + length - 1]).decode()
