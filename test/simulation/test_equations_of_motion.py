"""Test the equations of motion: rates, and the report of a motion that diverges."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.model.local_coordinates import moved, rate
from dynamics_node.simulation.equations_of_motion import EquationsOfMotion


def test_rates_are_those_at_the_local_coordinates(tree):
    seen = []
    equations = EquationsOfMotion(tree.robot.model, lambda *state: seen.append(state) or tree.a)
    dx, dv = equations.rates(0.5, tree.q, tree.tau, tree.v)
    (t, q, v), = seen
    np.testing.assert_array_equal(q, moved(tree.robot.model, tree.q, tree.tau))
    np.testing.assert_array_equal(dx, rate(tree.robot.model, q, tree.tau, tree.v))
    assert (t, v is tree.v, dv is tree.a) == (0.5, True, True)


@pytest.mark.parametrize('speed', [np.inf, np.nan, 1e200])
def test_a_motion_that_diverges_is_reported_with_its_time(arm, speed):
    equations = EquationsOfMotion(arm.model, lambda t, q, v: v)
    with pytest.raises(DynamicsError, match='diverges at t = 0.25 s'):
        equations.rates(0.25, np.zeros(7), np.zeros(7), np.full(7, speed))
