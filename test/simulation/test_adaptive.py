"""Test adaptive steps: tolerance, turns of a floating base, stiff friction, failure."""

import numpy as np
import pytest
from support.small_robots import arm, tree

from dynamics_node import DynamicsError
from dynamics_node.simulation import adaptive
from dynamics_node.simulation.adaptive import Adaptive
from dynamics_node.simulation.equations_of_motion import EquationsOfMotion
from dynamics_node.simulation.runge_kutta import RungeKutta

pytestmark = pytest.mark.usefixtures('kernels')


@pytest.fixture
def free(compiler_on):
    return tree(2, 'floating', False, friction=False)


def falling(robot):
    return EquationsOfMotion(robot.model, lambda t, q, v: robot.forward_dynamics(
        q, v, np.zeros(robot.nv)))


@pytest.mark.parametrize('method', adaptive.SOLVERS)
def test_the_error_follows_the_tolerance(method, free):
    """A thousandth of the tolerance, far less error; the fixed step is the witness."""
    equations = falling(free.robot.compile(wait=True))
    true_q, true_v = RungeKutta(equations, 1e-4).advance(0.0, 0.2, free.q, free.v)

    def error(tolerance):
        q, v = Adaptive(equations, method, tolerance).advance(0.0, 0.2, free.q, free.v)
        return np.abs([*free.robot.difference(true_q, q), *(v - true_v)]).max()
    coarse, fine = error(1e-4), error(1e-7)
    assert coarse < 0.05
    assert fine < 0.05 * coarse


def test_a_floating_base_turns_many_times(free, monkeypatch):
    """A body that tumbles by 15 rad: local coordinates begin anew, at any angle alike."""
    robot = free.robot.compile(wait=True)
    v = free.v.copy()
    v[3:6] = 15.0, 0.1, 0.0
    ends = []
    for turn in (0.3, 1.0):
        monkeypatch.setattr(adaptive, 'TURN', turn)
        ends.append(Adaptive(falling(robot), 'dop853', 1e-10).advance(0.0, 1.0, free.q, v))
    (q, v), (other_q, other_v) = ends
    np.testing.assert_allclose(robot.difference(q, other_q), 0.0, atol=1e-5)
    np.testing.assert_allclose(v, other_v, atol=1e-4)


def test_stiff_friction_stops_a_joint():
    """Dry friction of 30 N m that changes its sign within 1e-4 rad/s: 1e5 /s and more."""
    robot = arm(friction_speed=1e-4, gravity=(0, 0, 0)).with_friction(
        friction={'upper_joint': 30.0, 'lower_joint': 30.0})
    q, v = Adaptive(falling(robot), 'radau', 1e-6).advance(
        0.0, 1.0, np.zeros(2), np.array([1.0, -1.0]))
    np.testing.assert_allclose(v, 0.0, atol=1e-4)
    assert 0.0 < abs(q[0]) < 0.5


def test_what_cannot_be_integrated_is_named():
    """An acceleration without bound at t = 0.5: no step is short enough."""
    model = arm().model
    equations = EquationsOfMotion(model, lambda t, q, v: np.full(2, 1.0 / (0.5 - t) ** 2))
    with np.errstate(all='ignore'), pytest.raises(DynamicsError, match='t = 0.5'):
        Adaptive(equations, 'dop853', 1e-8).advance(0.0, 1.0, np.zeros(2), np.zeros(2))
