"""Test the connection of the two processes: order, size, a full socket, the end."""

import queue
import socket
import threading

import pytest

from dynamics_node.ros.torque.link import PACKET, Link, pair


@pytest.fixture
def connection():
    """The two ends of a connection."""
    with (ends := pair())[0], ends[1]:
        yield ends


@pytest.fixture
def ends(connection):
    """Return a function that makes a Link of an end, with a queue of what it receives."""
    made = []

    def make(end):
        received, ended = queue.Queue(), threading.Event()
        made.append((Link(end, received.put, ended.set), received, ended))
        return made[-1]
    yield make
    for link, _, ended in made:
        link.close()
        assert ended.wait(10)


def test_records_arrive_in_order_and_whole(ends, connection):
    """Also those of many packets, from both ends at once."""
    first, second = connection
    link, received, _ = ends(first)
    other, others, _ = ends(second)
    records = [(k, b'x' * size) for k, size in enumerate((0, 1, PACKET - 1, PACKET, 5 * PACKET))]
    for record in records:
        assert link.send(record, wait=True)
        assert other.send(record, wait=True)
    for each in (received, others):
        assert [each.get(timeout=10) for _ in records] == records


def test_a_full_socket_drops_a_record_without_waiting(ends, connection):
    first, second = connection
    link, _, _ = ends(first)
    sent = 0
    while link.send('x' * 10_000, wait=False):
        sent += 1
    assert 1 < sent < 10_000
    _, received, _ = ends(second)   # now it is read
    for _ in range(sent):
        assert received.get(timeout=10) == 'x' * 10_000
    assert link.send('again', wait=False)
    assert received.get(timeout=10) == 'again'


def test_a_record_of_several_packets_is_not_sent_without_waiting(ends, connection):
    first, _ = connection
    link, _, _ = ends(first)
    assert not link.send(b'x' * (2 * PACKET), wait=False)


@pytest.mark.parametrize('how', ['close', 'shutdown of the link', 'half a record'])
def test_the_end_is_told_once(ends, connection, how):
    first, second = connection
    link, received, ended = ends(first)
    if how == 'half a record':
        second.send(b'\x00' + b'half')
    if how == 'shutdown of the link':
        link.close()
    else:
        second.shutdown(socket.SHUT_RDWR)
    assert ended.wait(10)
    assert received.empty()
    assert not link.send('anything', wait=True)
