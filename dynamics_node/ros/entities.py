"""Collect what configuring a node creates, and destroy it in reverse order."""

from collections.abc import Callable, Iterable
from typing import Any

from dynamics_node.ros.rclpy_internals import silence


class Entities:
    """Timers, subscriptions, services and all else that is destroyed on cleanup.

    The events executor calls back for events that it has queued, even if the entity was destroyed
    meanwhile: a timer that was due while the cleanup ran, a request that waited behind it. Such a
    callback would use publishers and timers that do not exist any more. So each callback is
    removed first.
    """

    def __init__(self) -> None:
        self._made: list[tuple[Callable[[Any], Any], Any]] = []  # (destroy, entity)

    def add(self, destroy: Callable[[Any], Any], *entities: Any) -> None:
        """Add entities that destroy(entity) destroys."""
        self._made += [(destroy, entity) for entity in entities]

    def extend(self, made: Iterable[tuple[Callable[[Any], Any], Any]]) -> None:
        """Add several entities, (destroy, entity) each."""
        self._made += made

    def destroy(self) -> None:
        """Destroy all entities, the last one first."""
        for _, entity in self._made:
            silence(entity)
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)
