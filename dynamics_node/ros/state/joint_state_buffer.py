"""Which joint states have come lately? Kept as bytes, read when somebody asks. Pure."""

from bisect import bisect_left
from collections import deque
from operator import itemgetter

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.bag_files import field_or_nan, merge_joint_states
from dynamics_node.ros.state.measured_state import RESTART

KEPT = 60.0          # [s] that are remembered while nobody asks for more
MOST = 1_000_000     # joint states, whatever their stamps say
BILLION = 1e9


class JointStateBuffer:
    """The joint states of the last seconds by their stamps, in the order in which they came.

    :ivar on: whether joint states are kept.
    """

    def __init__(self):
        self.on, self._span = False, int(KEPT * BILLION)
        self._kept = deque(maxlen=MOST)   # of (stamp [ns], bytes)

    def run(self, on):
        """Keep joint states from now on, or none."""
        self.on = on
        if not on:
            self._kept.clear()

    def keep(self, seconds=KEPT):
        """Keep so many seconds from now on."""
        self._span = int(seconds * BILLION)

    def take(self, stamp, data):
        """Take in the bytes of a joint state of that time [ns]."""
        kept = self._kept
        if kept and stamp < kept[-1][0] - RESTART:  # the clock was set back
            kept.clear()
        kept.append((stamp, data))
        first = stamp - self._span
        while kept[0][0] < first:
            kept.popleft()

    @property
    def newest(self):
        """Stamp of the last joint state [ns], None: there is none."""
        return self._kept[-1][0] if self._kept else None

    def since(self, stamp):
        """Return [(stamp, bytes)] from a time on [ns]."""
        kept = list(self._kept)
        return kept[bisect_left(kept, stamp, key=itemgetter(0)):]

    def last(self, seconds):
        """Return [(stamp, bytes)] of the last seconds.

        :raise DynamicsError: so much has not been heard.
        """
        if not 0.0 < seconds <= KEPT:
            raise DynamicsError(f'duration is {seconds:g} s; expected more than 0 and at most '
                                f'{KEPT:g}, which is what the node remembers')
        if not self._kept:
            raise DynamicsError('no joint state has come yet')
        heard = (self.newest - self._kept[0][0]) / BILLION
        if heard < 0.9 * seconds:
            raise DynamicsError(f'joint states of {heard:.3g} s have been heard; expected '
                                f'{seconds:g} s: ask later')
        return self.since(self.newest - int(seconds * BILLION))


def recording_of(kept):
    """Return the RawRecording of kept joint states; efforts as the driver reports them."""
    from dynamics_node.ros.state.joint_state_bytes import JointStateReader
    reader, series = JointStateReader(), {}
    for stamp, data in kept:
        _, names, *quantities = reader.read(data)
        rows = series.setdefault(names, ([], [], []))
        rows[0].append(stamp)
        rows[1].append(stamp)
        rows[2].append([field_or_nan(values, len(names)) for values in quantities])
    return merge_joint_states('joint_states', series)
