"""Keep references in the order of their arrival: some wait for the pose of their frame."""

from __future__ import annotations

from collections.abc import Callable

from dynamics_node.errors import DynamicsError

# f(name, function): call function(number) with the number of a reference that arrives now; it
# returns True if the reference is followed, False if it waits. f logs and counts refusals.
Follow = Callable[[str, Callable[[int], bool]], None]


class ReferenceOrder:
    """Numbers of the references on all topics, in the order of arrival."""

    def __init__(self) -> None:
        """Begin without references."""
        self._arrived = self._followed = 0

    def next_number(self) -> int:
        """Return the number of a reference that arrives now."""
        self._arrived += 1
        return self._arrived

    def check(self, number: int) -> None:
        """Raise a DynamicsError if a newer reference is followed already.

        One that still waits does not count: where references arrive faster than poses are found,
        each would be refused in favour of the next.
        """
        if number < self._followed:
            raise DynamicsError('a newer reference was followed, or torques were enabled again, '
                                'while this one waited for the pose of its frame')

    def set_followed(self, number: int) -> None:
        """Note that a reference is followed from now on."""
        self._followed = number

    def refuse_waiting(self) -> None:
        """Refuse all references that wait now when their poses arrive."""
        self._followed = self.next_number()
