"""Decide which waiting request is next: the one whose client was served longest ago."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from typing import Generic, TypeVar

MOST_CLIENTS = 1000   # whose turn is remembered
Item = TypeVar('Item')


class FairQueue(Generic[Item]):
    """One queue per client. A client with many items delays the others by one item at most."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, deque[Item]] = {}   # only clients with items
        self._served: dict[bytes, None] = {}           # the client served longest ago first

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __iter__(self) -> Iterator[Item]:
        return (item for items in self._waiting.values() for item in items)

    def count(self, client: bytes) -> int:
        """Return how many items of a client wait."""
        return len(self._waiting.get(client, ()))

    def put(self, client: bytes, item: Item) -> None:
        """Add an item behind the other items of its client."""
        self._waiting.setdefault(client, deque()).append(item)

    def take(self, busy: Container[bytes] = ()) -> tuple[bytes, Item] | None:
        """Remove the next item; return it with its client, None if there is none.

        :param busy: clients whose items have to wait.
        """
        free = [client for client in self._waiting if client not in busy]
        if not free:
            return None
        new = [client for client in free if client not in self._served]
        client = new[0] if new else next(each for each in self._served if each in free)
        self._served.pop(client, None)
        self._served[client] = None
        if len(self._served) > MOST_CLIENTS:
            del self._served[next(iter(self._served))]
        items = self._waiting[client]
        item = items.popleft()
        if not items:
            del self._waiting[client]
        return client, item

    def clear(self) -> list[Item]:
        """Remove all items and return them."""
        items = list(self)
        self._waiting.clear()
        return items
