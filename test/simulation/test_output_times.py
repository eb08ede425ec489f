"""Test the loop over output times."""

import numpy as np

from dynamics_node.simulation.output_times import simulate


class Recorder:
    """An integrator that adds 1 to q and v, and keeps the intervals."""

    def __init__(self):
        self.intervals = []

    def advance(self, start, end, q, v):
        self.intervals.append((start, end))
        return q + 1.0, v + 1.0


def test_states_torques_and_progress_at_each_time():
    integrator, shown = Recorder(), []
    found = simulate(integrator, lambda t, q, v: t * v, np.zeros((2, 3)), np.ones((2, 3)),
                     np.array([1.0, 2.0, 5.0]), lambda share, text: shown.append((share, text)))
    assert integrator.intervals == [(1.0, 2.0), (2.0, 5.0)]
    np.testing.assert_array_equal(found.q[1, :, 0], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(found.tau[1, :, 2], [1.0, 4.0, 15.0])
    assert found.v.shape == (2, 3, 3)
    assert shown == [(0.25, 't = 2 s'), (1.0, 't = 5 s')]


def test_one_time_is_the_start():
    integrator = Recorder()
    found = simulate(integrator, lambda t, q, v: v, np.zeros(3), np.ones(3), np.array([7.0]), None)
    assert integrator.intervals == []
    np.testing.assert_array_equal(found.v, np.ones((1, 3)))
