"""Find joints that two publishers of `joint_states` publish, by the numbers of their messages.

Each publisher numbers its messages from 1 on. So the numbers of the messages with a certain joint
increase, unless a second publisher has it, or its publisher was restarted: that is one step back
only. An arm and a gripper have different joints: their numbers are not compared. Independent of
ROS.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence

WINDOW = 5.0       # [s] two steps back within this time are two publishers, not a restart
MOST_LISTS = 64    # stored lists of names


class _NameList:
    """Messages with certain names."""

    def __init__(self, joints: Collection[str]) -> None:
        self.joints = set(joints)   # those that count
        self.others: list[_NameList] = []    # lists with a joint of this one
        self.number = 0             # of the last message with one of the joints
        self.set_back: deque[float] = deque(maxlen=2)   # [s] when a number was not greater


class JointPublishers:
    """The numbers of the messages, by their names."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start with no joint that counts.

        :param clock: returns seconds and never goes back.
        """
        self._clock = clock
        self.watch(())

    def watch(self, joints: Collection[str]) -> None:
        """Note messages with these joints from now on; forget all before."""
        self._joints = frozenset(joints)
        self._lists: dict[Sequence[str], _NameList] = {}
        self._names: Sequence[str] | None = None
        self._list = _NameList(())

    def note(self, names: tuple[str, ...], number: int | None) -> bool:
        """Note a message; return False if its number is not greater than those before.

        :param number: None: the middleware has none.
        """
        if names is not self._names:
            self._names, self._list = names, self._list_of(names)
        found = self._list
        if number is None or not found.joints:
            return True
        increases = number > found.number
        found.number = number
        for other in found.others:
            other.number = number
        if not increases:
            found.set_back.append(self._clock())
        return increases

    def disputed(self, times: int) -> list[str]:
        """Return the joints whose numbers went back this many times (1 or 2) within WINDOW."""
        since, joints = self._clock() - WINDOW, set[str]()
        for each in self._lists.values():
            if len(each.set_back) >= times and each.set_back[-times] >= since:
                joints |= each.joints
        return sorted(joints)

    def _list_of(self, names: tuple[str, ...]) -> _NameList:
        found = self._lists.get(names)
        if found is None:
            if len(self._lists) >= MOST_LISTS:
                self._lists.clear()
            found = _NameList(self._joints.intersection(names))
            for other in self._lists.values():
                if other.joints & found.joints:
                    other.others.append(found)
                    found.others.append(other)
                    found.number = max(found.number, other.number)
            self._lists[names] = found
        return found
