"""Test that joint states cross the shared memory unchanged, in order, or not at all."""

import os
import threading
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics_node.ros.state import joint_state_ring
from dynamics_node.ros.state.joint_state_ring import (
    LARGEST,
    SIZE,
    RingReader,
    RingWriter,
    create_memory,
)

STAMPS = st.integers(-2 ** 63, 2 ** 63 - 1)


def two_ends():
    """Return a writer and a reader of new memory."""
    memory = create_memory()
    try:
        return RingWriter(memory), RingReader(memory)
    finally:
        os.close(memory)


def test_nothing_is_read_before_something_is_written():
    _, reader = two_ends()
    assert reader.read() == [] and not reader.awake and reader.lost == 0


def test_the_flag_crosses():
    writer, reader = two_ends()
    for awake in (True, False):
        writer.set_awake(awake)
        assert reader.awake is awake


@given(st.lists(st.lists(st.tuples(STAMPS, st.binary(max_size=300)), max_size=20), max_size=10))
@settings(max_examples=50, deadline=None)
def test_joint_states_arrive_once_and_in_order(calls):
    writer, reader = two_ends()
    for states in calls:
        for state in states:
            writer.append(*state)
        assert reader.read() == states
    assert reader.read() == [] and reader.lost == 0


@pytest.mark.parametrize('size', [0, 1, 7, 8, 400, 9_999, LARGEST])
def test_the_memory_is_used_again_and_again(size):
    """Positions pass the end of the memory at every possible remainder of this size."""
    writer, reader = two_ends()
    for k in range(3 * SIZE // max(size, 1000)):
        states = [(k, bytes([k % 251]) * size), (k + 1, b'x' * (k % 3))]
        for state in states:
            writer.append(*state)
        assert reader.read() == states
    assert reader.lost == 0


def test_a_slow_reader_continues_with_the_newest_joint_state():
    writer, reader = two_ends()
    for k in range(10_000):
        writer.append(k, b'%d' % k * 100)
    assert reader.read() == [(9999, b'9999' * 100)]
    assert reader.lost == 1
    writer.append(1, b'next')
    assert reader.read() == [(1, b'next')]


def test_a_joint_state_too_large_is_passed_on_empty():
    writer, reader = two_ends()
    writer.append(5, bytes(LARGEST + 1))
    assert reader.read() == [(5, b'')]


def test_a_joint_state_overwritten_while_it_is_read_is_not_returned(monkeypatch):
    """The writer passes the reader between two records."""
    writer, reader = two_ends()
    for k in range(3):
        writer.append(k, b'old' * 100)   # at the places of new ones

    def overwritten(data, stamp):
        if data.startswith(b'old'):
            monkeypatch.setattr(joint_state_ring, 'crc32', crc32)
            for k in range(5000):
                writer.append(k, b'new' * 100)
        return crc32(data, stamp)
    monkeypatch.setattr(joint_state_ring, 'crc32', overwritten)
    found = reader.read()
    assert found[0] == (0, b'old' * 100) and found[1:] == [(4999, b'new' * 100)]
    assert reader.lost == 1


def test_a_writer_in_another_thread_is_never_read_wrongly():
    """Each joint state contains its own stamp."""
    writer, reader = two_ends()
    count, done = 20_000, threading.Event()

    def write():
        for k in range(count):
            writer.append(k, b'%d' % k * 30)
        done.set()
    threading.Thread(target=write, daemon=True).start()
    last = -1
    while last < count - 1:
        ended = done.is_set()
        for stamp, data in reader.read():
            assert data == b'%d' % stamp * 30 and stamp > last
            last = stamp
        assert last == count - 1 or not ended
