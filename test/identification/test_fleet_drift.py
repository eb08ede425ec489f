"""Test the comparison of recordings: without a change, its standard deviations are right."""

import numpy as np
from support.recorded_fleet import RecordedFleet

from dynamics_node.identification.fleet_drift import SIGNIFICANT, drifts, torque_change
from dynamics_node.identification.recording_summary import own_problem, summarize, summary_base
from dynamics_node.identification.sequential_qr import triangular_factors


class Problem:
    """A problem in whitened coordinates."""

    def __init__(self, B, z):
        self.B, self.z = B, z


def test_the_torque_of_a_change_is_that_on_the_motion(kernels):
    """Against the regressor."""
    fleet = RecordedFleet(1)
    base = summary_base(fleet.robot)
    from dynamics_node.identification import prepare
    recording = prepare(fleet.robot, fleet.recorded(fleet.values, 1)).recording
    change = np.random.default_rng(0).normal(size=base.size)
    found = torque_change(base, triangular_factors(fleet.robot, base, recording), change)
    full = np.zeros(base.layout.size)   # with these base parameters, zero elsewhere
    full[base.kept] = change
    from dynamics_node.identification.parameters import parameter_regressor
    tau = parameter_regressor(fleet.robot, base.layout, recording.q, recording.v,
                              recording.a) @ full
    np.testing.assert_allclose(found, np.sqrt(np.mean(tau ** 2, axis=0)), rtol=1e-9)


def test_recordings_without_a_change_are_alike(kernels):
    """Among 6 pairs of recordings of 28 parameters none is significant by chance."""
    fleet = RecordedFleet(1)
    base = summary_base(fleet.robot)
    summaries = [summarize(fleet.robot, fleet.recorded(fleet.values, seed, day), base=base)
                 for day, seed in enumerate(range(7))]
    L, D = np.eye(base.size), np.full(base.size, 0.1 ** 2)
    own = [own_problem(base, each) for each in summaries]
    true = base.values(fleet.values)
    found = drifts(base, summaries, [Problem(M[:, :-1], M[:, -1] - M[:, :-1] @ true) for M in own],
                   L, D)
    assert [round(each.days) for each in found] == [1, 2, 3, 4, 5, 6]
    assert all(each.changed == {} for each in found), SIGNIFICANT
