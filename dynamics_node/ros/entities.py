"""Collect the ROS entities that a configured node creates; destroy them in reverse order."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from dynamics_node.ros.rclpy_internals import silence


class HasEntities(Protocol):
    """A part of a node, with [(destroy, entity)] of what it has created."""

    @property
    def entities(self) -> Sequence[tuple[Callable[[Any], Any], Any]]: ...


Part = TypeVar('Part', bound=HasEntities)


class Entities:
    """Timers, subscriptions, services and other entities that are destroyed on cleanup.

    The events executor calls back for events in its queue even if the entity was destroyed
    meanwhile, such as a timer that was due during the cleanup. The callback would use publishers
    that no longer exist, so all callbacks are removed first.
    """

    def __init__(self) -> None:
        self._made: list[tuple[Callable[[Any], Any], Any]] = []  # (destroy, entity)

    def add(self, destroy: Callable[[Any], Any], *entities: Any) -> None:
        """Add entities that destroy(entity) destroys."""
        self._made += [(destroy, entity) for entity in entities]

    def add_part(self, part: Part) -> Part:
        """Add the entities of a part of a node; return the part."""
        self._made += part.entities
        return part

    def destroy(self) -> None:
        """Destroy all entities, the last one first."""
        for _, entity in self._made:
            silence(entity)
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)
