"""Read a joint state from its bytes: the same publisher sends the same names in the same places.

rclpy takes 20 us to make a JointState of the bytes, most of it for names that never change. What
came last time is remembered, and only numbers are read. The bytes are CDR, little-endian:

    4 bytes of encapsulation | sec, nanosec | frame_id | names | position | velocity | effort

A text is its length (with the closing zero) and its bytes; a sequence its length and its elements.
Numbers stand at multiples of their own size, counted from byte 4.
"""

import struct
from typing import NamedTuple

import numpy as np
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
    names: list             # the same list as long as the names are the same
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class Layout(NamedTuple):
    """Where a message has what; the names stand between HEAD and head_end."""

    names: list
    head_end: int
    mask: int         # bits of the names that count: padding between them is not initialised
    head: int         # those bits
    counts: list      # (place, number) of the elements of each sequence
    numbers: list     # (number, place) of the elements themselves

    def fits(self, data):
        """Return whether a message has the same names and sizes."""
        head = int.from_bytes(data[HEAD:self.head_end], 'little')
        return head & self.mask == self.head and all(
            UINT.unpack_from(data, at)[0] == n for at, n in self.counts)


class JointStateReader:
    """Reads joint states, fast where they resemble one of those before."""

    def __init__(self):
        self._layouts = {}   # by length of the message: several publishers are told apart

    def read(self, data):
        """Return the Reading of the bytes of a sensor_msgs/JointState."""
        layout = self._layouts.get(len(data))
        if layout is None or data[:2] != CDR_LITTLE_ENDIAN or not layout.fits(data):
            try:
                layout = layout_of(data)
            except (struct.error, ValueError):  # not as described above: let rclpy read it
                return _by_rclpy(data)
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[len(data)] = layout
        seconds, nanoseconds = STAMP.unpack_from(data, 4)
        return Reading(seconds * BILLION + nanoseconds, layout.names,
                       *(np.frombuffer(data, np.float64, n, at) for n, at in layout.numbers))


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
    head_end, counts, numbers = at, [], []
    for _ in range(3):
        at = _aligned(at, 4)
        n, = UINT.unpack_from(data, at)
        counts.append((at, n))
        at += 4
        if n:
            at = _aligned(at, 8)
        numbers.append((n, at))
        at += 8 * n
    if at > len(data):
        raise ValueError('too short')
    mask = int.from_bytes(mask, 'little')
    head = int.from_bytes(data[HEAD:head_end], 'little') & mask
    return Layout(names, head_end, mask, head, counts, numbers)


def _by_rclpy(data):
    message = deserialize_message(data, JointState)
    stamp = message.header.stamp
    return Reading(stamp.sec * BILLION + stamp.nanosec, message.name,
                   *(np.array(numbers) for numbers in
                     (message.position, message.velocity, message.effort)))


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
