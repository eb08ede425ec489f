"""Test what the torque process tells its watchdog, and how it notices the watchdog's end."""

import os
import pickle

import pytest
from support.watched_arm import rules

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.process_link import pair
from dynamics_node.ros.torque.last_torque import LastTorqueReader, create_memory
from dynamics_node.ros.torque.watched_loop import WAKE, WatchedLoop
from dynamics_node.safety.records import LastValid

ZERO = (0.0,) * 7
STATE = LastValid(0.0, ZERO, ZERO, ZERO, False)


@pytest.fixture
def watched():
    """Return a WatchedLoop, the other end of its connection, and the reader of its memory."""
    memory = create_memory()
    ours, its = pair()
    its.settimeout(1.0)
    yield WatchedLoop(memory, ours), its, LastTorqueReader(memory)
    os.close(memory)
    ours.close()
    its.close()


def test_the_watchdog_is_woken_once_for_each_watch(watched):
    loop, watchdog, shared = watched
    loop.use(rules())
    for _ in range(2):
        loop.show(1, STATE, ZERO)
        loop.show(2, STATE, ZERO)
        assert watchdog.recv(10) == WAKE and shared.active
        loop.rest()
        assert not shared.active
    watchdog.setblocking(False)
    with pytest.raises(BlockingIOError):
        watchdog.recv(10)


def test_without_a_watchdog_time_nothing_is_watched(watched):
    loop, watchdog, shared = watched
    watchdog.close()
    loop.use(rules(watchdog_time=0.0))
    loop.show(1, STATE, ZERO)
    assert not shared.active


def test_an_ended_watchdog_is_a_refusal_and_no_error_later(watched):
    loop, watchdog, shared = watched
    loop.use(rules())
    watchdog.close()
    loop.show(1, STATE, ZERO)
    assert shared.active
    with pytest.raises(DynamicsError, match='the watchdog process has ended'):
        loop.use(rules())


def test_the_publishers_of_the_watchdog_are_known_also_after_its_end(watched):
    loop, watchdog, _ = watched
    assert loop.publishers() == set()
    watchdog.send(pickle.dumps({b'gid'}))
    assert loop.publishers() == {b'gid'}
    watchdog.close()
    assert loop.publishers() == {b'gid'}
