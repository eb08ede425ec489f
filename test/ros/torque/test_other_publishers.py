"""Test the search for publishers of other nodes: what is found, and when all of them are read."""

from types import SimpleNamespace

import pytest

from dynamics_node.ros.torque.other_publishers import WHOLE, OtherPublishers

OURS, WATCHDOG, OTHER = b'ours', b'watchdog', b'other'


class Graph:
    """The publishers of one topic, as a node sees them; counts how often all are read."""

    def __init__(self):
        self.gids, self.read, self.now = [OURS, WATCHDOG], 0, 5.0
        self.search = OtherPublishers(self, lambda: {WATCHDOG}, lambda: self.now)

    def count_publishers(self, topic):
        return len(self.gids)

    def get_publishers_info_by_topic(self, topic):
        self.read += 1
        return [SimpleNamespace(endpoint_gid=list(gid)) for gid in self.gids]

    def found(self):
        """Return whether another publisher is found."""
        return self.search.on('torque')


@pytest.fixture
def graph():
    return Graph()


@pytest.mark.parametrize(('gids', 'other'), [
    ([], False), ([OURS], False), ([OURS, WATCHDOG], False), ([OURS, OTHER], True),
    ([OURS, WATCHDOG, OTHER], True)])
def test_what_is_neither_ours_nor_the_watchdogs_is_found(graph, gids, other):
    graph.gids = gids
    assert [graph.found() for _ in range(3)] == [other] * 3


def test_all_publishers_are_read_once_while_their_number_stays(graph):
    """That is what takes long."""
    assert not any(graph.found() for _ in range(50))
    assert graph.read == 1


def test_another_publisher_is_found_at_once_and_no_longer_than_it_is_there(graph):
    assert not graph.found()
    graph.gids.append(OTHER)
    assert graph.found() and graph.found()
    graph.gids.remove(OTHER)
    assert not graph.found()


def test_one_that_takes_the_place_of_the_watchdog_is_found_by_time(graph):
    """Their number is the same."""
    assert not graph.found()
    graph.gids[1] = OTHER
    graph.now += WHOLE
    assert graph.found()


def test_all_publishers_are_read_again_on_request(graph):
    """Before torques are enabled."""
    assert not graph.found()
    graph.gids[1] = OTHER
    graph.search.forget()
    assert graph.found()
