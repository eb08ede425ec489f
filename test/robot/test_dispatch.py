"""Test how many threads compute a batch."""

import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.robot import dispatch


def test_batches_use_the_cores_of_this_process_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv('DYNAMICS_NODE_THREADS', raising=False)
    monkeypatch.setattr(dispatch.os, 'sched_getaffinity', lambda process: {0, 1, 5})
    assert dispatch.most_threads() == 3
    monkeypatch.setenv('DYNAMICS_NODE_THREADS', '7')
    assert dispatch.most_threads() == 7


@pytest.mark.parametrize('text', ['0', '-1', 'two', '1.5'])
def test_a_number_of_threads_that_is_none_is_refused(text, monkeypatch):
    monkeypatch.setenv('DYNAMICS_NODE_THREADS', text)
    with pytest.raises(DynamicsError, match=f"DYNAMICS_NODE_THREADS is '{text}'"):
        Robot.from_urdf(ARM7, compile=False)
