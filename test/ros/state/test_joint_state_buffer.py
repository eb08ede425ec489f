"""Test that the joint states that are stored take limited time and memory."""

import pytest

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.state.joint_state_buffer import RECORD, JointStateBuffer

SECOND = 1_000_000_000   # [ns]


@pytest.fixture
def buffer():
    buffer = JointStateBuffer()
    buffer.run(True)
    return buffer


def test_the_oldest_joint_states_are_deleted_when_they_take_too_much_memory(buffer):
    """Whatever their stamps are; the newest one always stays."""
    buffer.most_bytes = 10 * (RECORD + 1000)
    for k in range(100):
        buffer.take(k, bytes(1000))
    assert [stamp for stamp, _ in buffer.since(0)] == list(range(90, 100))
    buffer.take(100, bytes(100_000))
    assert [stamp for stamp, _ in buffer.since(0)] == [100]
    buffer.take(101, bytes(1000))
    assert [stamp for stamp, _ in buffer.since(0)] == [101]


def test_deleted_joint_states_take_no_memory(buffer):
    """Neither those that are too old, nor those before the clock was set back."""
    buffer.most_bytes = 10 * (RECORD + 1000)
    for delete in (lambda: buffer.take(200 * SECOND, b''), lambda: buffer.take(0, b''),
                   lambda: (buffer.run(False), buffer.run(True))):
        start = 100 * SECOND
        for k in range(9):
            buffer.take(start + k, bytes(1000))
        delete()
    for k in range(10):
        buffer.take(start + k, bytes(1000))
    assert len(buffer.since(0)) == 10


def test_a_recording_that_was_cut_is_refused_with_its_length(buffer):
    """So that none is shorter than asked for."""
    buffer.most_bytes = 5 * RECORD
    for k in range(20):
        buffer.take(k * SECOND, b'')
    with pytest.raises(DynamicsError, match='joint states of 4 s have been received; expected 10'):
        buffer.last(10.0)
