"""Store the joint states of the last seconds as bytes. Independent of rclpy."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.bag_files import field_or_nan, merge_joint_states
from dynamics_node.ros.state.measured_state import RESTART

KEPT = 60.0          # [s] that are stored by default
MOST_BYTES = 200_000_000   # of stored joint states, default
RECORD = 150         # [bytes] that storing a joint state takes in addition to its own
BILLION = 1e9


class JointStateBuffer:
    """The joint states of the last seconds by their stamps, in the order of arrival.

    :ivar on: whether joint states are stored.
    :ivar most_bytes: memory that they may take; the oldest are deleted first.
    """

    def __init__(self) -> None:
        self.on, self._span, self.most_bytes = False, int(KEPT * BILLION), MOST_BYTES
        self._kept: deque[tuple[int, bytes]] = deque()   # (stamp [ns], bytes)
        self._bytes = 0   # that they take

    def run(self, on: bool) -> None:
        """Store joint states from now on; False: delete all and store none."""
        self.on = on
        if not on:
            self._clear()

    def keep(self, seconds: float = KEPT) -> None:
        """Set the time that is stored [s]."""
        self._span = int(seconds * BILLION)

    def take(self, stamp: int, data: bytes) -> None:
        """Store the bytes of a joint state with this stamp [ns]."""
        kept = self._kept
        if kept and stamp < kept[-1][0] - RESTART:  # the clock was set back
            self._clear()
        kept.append((stamp, data))
        self._bytes += RECORD + len(data)
        first = stamp - self._span
        while kept[0][0] < first or self._bytes > self.most_bytes and len(kept) > 1:
            self._bytes -= RECORD + len(kept.popleft()[1])

    def _clear(self) -> None:
        self._kept.clear()
        self._bytes = 0

    @property
    def newest(self) -> int | None:
        """Stamp of the last joint state [ns], None if there is none."""
        return self._kept[-1][0] if self._kept else None

    def since(self, stamp: int) -> list[tuple[int, bytes]]:
        """Return [(stamp, bytes)] from this stamp on [ns]."""
        kept = list(self._kept)
        return kept[bisect_left(kept, stamp, key=itemgetter(0)):]

    def last(self, seconds: float) -> list[tuple[int, bytes]]:
        """Return [(stamp, bytes)] of the last seconds.

        :raise DynamicsError: joint states of a shorter time have been received.
        """
        if not 0.0 < seconds <= KEPT:
            raise DynamicsError(f'duration is {seconds:g} s; expected more than 0 and at most '
                                f'{KEPT:g}: the node stores no more')
        if not self._kept:
            raise DynamicsError('no joint state has been received yet')
        newest = self._kept[-1][0]
        received = (newest - self._kept[0][0]) / BILLION
        if received < 0.9 * seconds:
            raise DynamicsError(f'joint states of {received:.3g} s have been received; expected '
                                f'{seconds:g} s: try again later')
        return self.since(newest - int(seconds * BILLION))


def recording_of(kept: Iterable[tuple[int, bytes]]) -> Any:
    """Return the RawRecording of stored joint states; efforts as the driver reports them."""
    from dynamics_node.ros.state.joint_state_bytes import JointStateReader
    reader = JointStateReader()
    series: dict[tuple[str, ...], tuple[list, list, list]] = {}
    for stamp, data in kept:
        _, names, *quantities = reader.read(data)
        rows = series.setdefault(names, ([], [], []))
        rows[0].append(stamp)
        rows[1].append(stamp)
        rows[2].append([field_or_nan(values, len(names)) for values in quantities])
    return merge_joint_states('joint_states', series)
