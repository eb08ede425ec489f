"""Test the fixed step: order of convergence, and the number of steps."""

import numpy as np
import pytest
from support.random_trees import TREES, make

from dynamics_node.simulation.equations_of_motion import EquationsOfMotion
from dynamics_node.simulation.runge_kutta import RungeKutta, steps_between

TIME = 0.1


@pytest.mark.parametrize('which', TREES[:4], ids=str)
def test_the_error_is_of_fourth_order(which):
    """Half the step, a sixteenth of the error; without dry friction, which is hardly smooth."""
    tree = make(which, friction=False)
    robot = tree.robot
    equations = EquationsOfMotion(
        robot.model, lambda t, q, v: robot.forward_dynamics(q, v, np.cos(t) * tree.tau))

    def end(steps):
        return RungeKutta(equations, TIME / steps).advance(0.0, TIME, tree.q, tree.v)
    true_q, true_v = end(32)   # of a sixteenth of the error of 16 steps

    def error(steps):
        q, v = end(steps)
        return np.linalg.norm([*robot.difference(true_q, q), *(v - true_v)])
    assert 3.5 < np.log2(error(8) / error(16)) < 4.7


@pytest.mark.parametrize(('end', 'step', 'wanted'), [
    (1.0, 0.1, 10), (0.3, 0.1, 3), (1.0, 0.3, 4), (0.05, 0.1, 1), (1e-9, 1.0, 1)])
def test_steps_are_equal_and_not_longer_than_asked(end, step, wanted):
    """0.3 / 0.1 is above 3 by rounding."""
    assert steps_between(0.0, end, step) == wanted
