"""Test the connection of the two processes: order, size, a full socket, the end."""

import pickle
import queue
import socket
import threading

import pytest

from dynamics_node.ros import process_link as link_module
from dynamics_node.ros.process_link import MOST_UNSENT, PACKET, Link, pair

LARGE = b'x' * 1_000_000   # more than the socket takes
PATIENCE = 20   # [s]


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
        assert ended.wait(PATIENCE)


def test_records_arrive_in_order_and_whole(ends, connection):
    """Also those of many packets, from both ends at once."""
    first, second = connection
    link, received, _ = ends(first)
    other, others, _ = ends(second)
    records = [(k, b'x' * size) for k, size in enumerate((0, 1, PACKET - 1, PACKET, 5 * PACKET))]
    for record in records:
        assert link.send(record)
        assert other.send(record)
    for each in (received, others):
        assert [each.get(timeout=PATIENCE) for _ in records] == records


def test_a_sender_never_waits_for_an_end_that_does_not_read(ends, connection):
    """Records that are kept arrive when it reads again; others are dropped as a whole."""
    first, second = connection
    link, _, _ = ends(first)
    assert link.send(('kept', 0, LARGE))   # returns, though the socket takes less than that
    sent = [('dropped', k, LARGE) for k in range(2 * MOST_UNSENT)
            if link.send(('dropped', k, LARGE), keep=False)]
    assert 0 < len(sent) < MOST_UNSENT
    assert link.send(('kept', 1, LARGE))
    _, received, _ = ends(second)   # it reads
    for record in [('kept', 0, LARGE), *sent, ('kept', 1, LARGE)]:
        assert received.get(timeout=PATIENCE) == record
    assert link.send('again', keep=False)
    assert received.get(timeout=PATIENCE) == 'again'


def test_a_large_record_passes_a_slow_reader(ends, connection):
    """Packet by packet; a record sent meanwhile comes after the last of them."""
    first, second = connection
    link, _, _ = ends(first)
    records = [LARGE, 'after it']
    for record in records:
        assert link.send(record)
    second.settimeout(PATIENCE)
    found, parts = [], []
    while len(found) < len(records):
        packet = second.recv(PACKET + 1)
        assert len(packet) <= PACKET + 1
        parts.append(packet[1:])
        if packet[0]:
            found.append(pickle.loads(b''.join(parts)))
            parts = []
    assert found == records


@pytest.mark.parametrize('record', ['short', LARGE], ids=['short', 'large'])
def test_what_was_sent_arrives_before_the_end(ends, connection, record, monkeypatch):
    monkeypatch.setattr(link_module, 'FLUSH', PATIENCE)
    first, second = connection
    link, _, _ = ends(first)
    _, received, ended = ends(second)
    assert link.send(record, keep=False)
    link.close()
    assert ended.wait(PATIENCE)
    assert received.get_nowait() == record


@pytest.mark.parametrize('how', ['close', 'shutdown of the link', 'half a record', 'unread'])
def test_the_end_is_told_once(ends, connection, how):
    first, second = connection
    link, received, ended = ends(first)
    if how == 'half a record':
        second.send(b'\x00' + b'half')
    if how == 'unread':
        assert link.send(LARGE)
    if how in ('shutdown of the link', 'unread'):
        link.close()
    else:
        second.shutdown(socket.SHUT_RDWR)
    assert ended.wait(PATIENCE)
    assert received.empty()
    assert not link.send('anything')


def test_a_bug_while_a_record_is_received_ends_the_connection(monkeypatch):
    """Both ends are told: a torque process that receives nothing more must not go on."""
    monkeypatch.setattr(threading, 'excepthook', lambda _: None)
    ours, its = pair()
    ended = [threading.Event(), threading.Event()]

    def fail(record):
        raise ValueError(record)
    broken = Link(ours, fail, ended[0].set)
    other = Link(its, lambda record: None, ended[1].set)
    other.send('a record')
    assert all(each.wait(PATIENCE) for each in ended)
    assert not broken.send('a record')
