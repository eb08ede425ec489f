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
MOST = 1_000_000     # stored joint states, for any stamps
BILLION = 1e9


class JointStateBuffer:
    """The joint states of the last seconds by their stamps, in the order of arrival.

    :ivar on: whether joint states are stored.
    """

    def __init__(self) -> None:
        self.on, self._span = False, int(KEPT * BILLION)
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=MOST)   # (stamp [ns], bytes)

    def run(self, on: bool) -> None:
        """Store joint states from now on; False: delete all and store none."""
        self.on = on
        if not on:
            self._kept.clear()

    def keep(self, seconds: float = KEPT) -> None:
        """Set the time that is stored [s]."""
        self._span = int(seconds * BILLION)

    def take(self, stamp: int, data: bytes) -> None:
        """Store the bytes of a joint state with this stamp [ns]."""
        kept = self._kept
        if kept and stamp < kept[-1][0] - RESTART:  # the clock was set back
            kept.clear()
        kept.append((stamp, data))
        first = stamp - self._span
        while kept[0][0] < first:
            kept.popleft()

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
