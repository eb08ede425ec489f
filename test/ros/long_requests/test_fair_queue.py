"""Test the order of waiting requests: by client, and for each client in the order of arrival."""

import itertools

import numpy as np
import pytest

from dynamics_node.ros.long_requests import fair_queue
from dynamics_node.ros.long_requests.fair_queue import FairQueue


def filled(*items):
    """Return a queue of items; the first letter is the client."""
    queue = FairQueue()
    for item in items:
        queue.put(item[0].encode(), item)
    return queue


def all_of(queue):
    return [queue.take()[1] for _ in range(len(queue))]


def test_an_empty_queue_has_no_next_item():
    """And neither has one whose clients are all busy."""
    assert FairQueue().take() is None
    queue = filled('a1')
    assert queue.take(busy={b'a'}) is None
    assert queue.take(busy={b'b'}) == (b'a', 'a1')
    assert queue.take() is None


def test_the_items_of_a_client_keep_their_order():
    """First in, first out."""
    assert all_of(filled('a1', 'a2', 'a3')) == ['a1', 'a2', 'a3']


def test_clients_take_turns():
    """Whatever the number of their items."""
    queue = filled('a1', 'a2', 'a3', 'b1', 'c1', 'c2')
    assert all_of(queue) == ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']


def test_a_client_with_a_hundred_items_delays_another_by_one():
    """The one that was taken before the other client came."""
    queue = filled(*(f'a{k}' for k in range(100)))
    assert queue.take()[1] == 'a0'
    queue.put(b'b', 'b0')
    assert [queue.take()[1] for _ in range(2)] == ['b0', 'a1']
    queue.put(b'b', 'b1')
    assert queue.take()[1] == 'b1'


def test_a_client_that_comes_back_waits_for_its_turn():
    """Clients with one item at a time, again and again, do not stop one with a long queue."""
    queue = filled(*(f'a{k}' for k in range(5)))
    taken = []
    for k in range(4):
        for client in ('b', 'c'):
            queue.put(client.encode(), f'{client}{k}')
        taken += [queue.take()[1] for _ in range(3)]
    assert [item for item in taken if item[0] == 'a'] == ['a0', 'a1', 'a2', 'a3']


@pytest.mark.parametrize('seed', range(5))
def test_no_client_is_ahead_by_more_than_one(seed):
    """Random arrivals: while two clients wait, they are served alternately."""
    rng, queue, number = np.random.default_rng(seed), FairQueue(), itertools.count()
    ahead = 0
    for client in (b'a', b'b'):
        for _ in range(50):
            queue.put(client, next(number))
    for _ in range(60):
        if rng.random() < 0.5:
            queue.put(b'a', next(number))
        client, _ = queue.take()
        ahead += 1 if client == b'a' else -1
        assert abs(ahead) <= 1


def test_the_memory_of_clients_is_limited(monkeypatch):
    """A client that was served very long ago counts as new."""
    monkeypatch.setattr(fair_queue, 'MOST_CLIENTS', 2)
    queue = filled('a1', 'b1', 'c1')
    assert all_of(queue) == ['a1', 'b1', 'c1']
    for client in 'cba':
        queue.put(client.encode(), f'{client}2')
    assert all_of(queue) == ['a2', 'b2', 'c2']


def test_items_are_counted_and_cleared():
    """By client, and all."""
    queue = filled('a1', 'b1', 'a2')
    assert (len(queue), queue.count(b'a'), queue.count(b'b'), queue.count(b'c')) == (3, 2, 1, 0)
    assert sorted(queue.clear()) == ['a1', 'a2', 'b1']
    assert (len(queue), queue.take()) == (0, None)
