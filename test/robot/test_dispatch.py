"""Test how many threads compute a batch, and what happens to states that a kernel refuses."""

import numpy as np
import pytest

from dynamics_node import Constraint, DynamicsError, Robot
from dynamics_node.errors import NotFinite
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.keys import key_of
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


def test_a_large_batch_with_one_number_that_is_too_large_is_refused_soon(kernels, monkeypatch):
    """NumPy computes only that state; it would take as long for each of the others."""
    robot = Robot.from_urdf(ARM7)
    q, v, tau = 0.5 * np.random.default_rng(0).normal(size=(3, 1000, 7))
    robot.forward_dynamics(q, v, tau)
    v[100] = 1e200
    computed = []
    monkeypatch.setattr(dispatch.Dispatcher, '_in_numpy', lambda self, key, states, compute=(
        dispatch.Dispatcher._in_numpy): (computed.append(len(states[0])),
                                         compute(self, key, states))[1])
    with pytest.raises(NotFinite, match='the values are too large'):
        robot.forward_dynamics(q, v, tau)
    assert computed == [1]


def test_a_batch_with_refused_states_is_computed_while_callers_are_cleared(kernels):
    """As by another thread whose anchors move: the kernel of this batch is found again."""
    twice = tuple(Constraint(name, 'point_contact', 'link_7') for name in ('one', 'two'))
    robot = Robot.from_urdf(ARM7)
    q, v, tau = 0.5 * np.random.default_rng(0).normal(size=(3, 4, 7))
    key = key_of(robot.model, 'constrained_forward_dynamics', constraints=twice)
    robot._dispatcher.kernels.wait([key])
    caller = robot._dispatcher.caller(key)
    robot._dispatcher._checked.clear()
    found = caller(q, v, tau)   # the kernel refuses all states: dependent rows
    expected = Robot.from_urdf(ARM7, compile=False).constrained_forward_dynamics(
        q, v, tau, constraints=twice)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
