"""Test that the state-space model predicts deviations of a simulated motion."""

import numpy as np
import pytest
from scipy.linalg import expm
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import Robot
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.forward_dynamics_derivatives import (
    ForwardDerivatives,
    forward_dynamics_derivatives,
)
from dynamics_node.algorithms.linearization import Linear, discretized, linearized
from dynamics_node.example_robots import ARM7

INSTANT = 1e-4  # [s] one simulated step this way and one that way
SMALL = 1e-5    # a deviation; both steps are of the order where rounding and curvature balance


@pytest.fixture
def tree(request):
    """A random tree without friction: its changing sign is too steep for differences."""
    return random_trees.make(request.param, friction=False)


def linear_of(tree):
    model, q, v, tau = tree.robot.model, tree.q, tree.v, tree.tau
    a = forward_dynamics(model, q, v, tau).a
    return linearized(model, v, a, forward_dynamics_derivatives(model, q, v, tau))


def simulated(robot, q, v, tau, step):
    """Return (q, v) after `step` of constant torque, by one step of the midpoint rule."""
    a = forward_dynamics(robot.model, q, v, tau).a
    middle_q, middle_v = robot.integrate(q, v, step / 2), v + step / 2 * a
    a = forward_dynamics(robot.model, middle_q, middle_v, tau).a
    return robot.integrate(q, middle_v, step), v + step * a


def deviation(robot, one, other):
    return np.concatenate([robot.difference(one[0], other[0]), other[1] - one[1]])


def test_the_rate_of_a_deviation_is_the_simulated_one(tree):
    """d(dx)/dt = A dx + B dtau between two neighbouring motions, all directions at once."""
    robot, rng, q, v, _, tau, _ = tree
    A, B, _ = linear_of(tree)
    x, y, u = rng.normal(size=(3, robot.nv))

    def rate(size):
        before, after = (deviation(
            robot, simulated(robot, q, v, tau, step),
            simulated(robot, robot.integrate(q, x, size), v + size * y, tau + size * u, step))
            for step in (-INSTANT, INSTANT))
        return (after - before) / (2 * INSTANT)

    foretold = A @ np.concatenate([x, y]) + B @ u
    got = (rate(SMALL) - rate(-SMALL)) / (2 * SMALL)
    for half in (slice(robot.nv), slice(robot.nv, None)):  # positions are smaller by far
        assert relative(got[half], foretold[half]) < RATE_BY_DIFFERENCES


def test_only_floating_joints_have_a_bracket(tree):
    """Where v = dq/dt the deviation of a position changes only by that of the velocity."""
    model = tree.robot.model
    n = model.nv
    A, B, drift = linear_of(tree)
    np.testing.assert_array_equal(A[:n, n:], np.eye(n))
    np.testing.assert_array_equal(B[:n], np.zeros((n, n)))
    np.testing.assert_array_equal(drift[:n], tree.v)
    rows = np.abs(A[:n, :n]).max(axis=1)
    for joint in model.joints:
        assert (rows[joint.v] > 0.0).all() == (joint.kind == 'floating')
        assert (rows[joint.v] == 0.0).all() == (joint.kind != 'floating')


def test_a_batch_gives_the_results_of_single_states():
    """Row by row, in continuous and in discrete time."""
    robot = Robot.from_urdf(ARM7, compile=False)
    rng = np.random.default_rng(0)
    states = [(robot.random_configuration(rng), *rng.normal(size=(2, robot.nv)))
              for _ in range(3)]
    single = []
    for q, v, tau in states:
        a = forward_dynamics(robot.model, q, v, tau).a
        single.append((v, a, forward_dynamics_derivatives(robot.model, q, v, tau)))
    v, a, derivatives = zip(*single)
    many = linearized(robot.model, np.array(v), np.array(a),
                      ForwardDerivatives(*map(np.array, zip(*derivatives))))
    stepped = discretized(many, 0.01)
    for k, state in enumerate(single):
        one = linearized(robot.model, *state)
        for got, expected in zip(many, one):
            np.testing.assert_array_equal(got[k], expected)
        for got, expected in zip(stepped, discretized(one, 0.01)):
            assert relative(got[k], expected) < EXACT_MATHS


def test_a_batch_of_floating_states_gives_the_results_of_single_states(tree):
    """Including the bracket terms."""
    model, v, n = tree.robot.model, tree.v, tree.robot.nv
    nothing = ForwardDerivatives(*np.zeros((3, n, n)), np.ones(n))
    two = ForwardDerivatives(*np.zeros((3, 2, n, n)), np.ones((2, n)))
    many = linearized(model, np.array([v, 2 * v]), np.zeros((2, n)), two)
    for k in range(2):
        np.testing.assert_array_equal(many.A[k], linearized(model, (k + 1) * v, 0 * v, nothing).A)


# Discretised ---------------------------------------------------------------------------------


def test_a_double_integrator_is_discretised_as_in_the_textbook():
    """X'' = u: A = [[1, h], [0, 1]], B = [h^2/2, h], and it drifts on."""
    h, v, a = 0.1, 2.0, 3.0
    got = discretized(Linear(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]),
                             np.array([v, a])), h)
    assert relative(got.A, [[1.0, h], [0.0, 1.0]]) < EXACT_MATHS
    assert relative(got.B, [[h * h / 2], [h]]) < EXACT_MATHS
    assert relative(got.drift, [v * h + a * h * h / 2, a * h]) < EXACT_MATHS


def test_two_half_steps_equal_one_step(tree):
    """A = A_half^2, B = (A_half + 1) B_half: a constant torque over both."""
    linear = linear_of(tree)
    half, whole = discretized(linear, 5e-4), discretized(linear, 1e-3)
    assert relative(half.A @ half.A, whole.A) < EXACT_MATHS
    assert relative(half.A @ half.B + half.B, whole.B) < EXACT_MATHS
    assert relative(half.A @ half.drift + half.drift, whole.drift) < EXACT_MATHS
    assert relative(whole.A, expm(1e-3 * linear.A)) < EXACT_MATHS


def test_the_drift_predicts_a_simulated_motion(tree):
    """To second order, turning bases included: half the step, an eighth of the error."""
    robot, q, v, tau = tree.robot, tree.q, tree.v, tree.tau
    linear = linear_of(tree)
    errors = []
    for step in (2e-3, 1e-3):
        x, parts = (q, v), 20
        for _ in range(parts):
            x = simulated(robot, *x, tau, step / parts)
        errors.append(np.abs(deviation(robot, (q, v), x) - discretized(linear, step).drift).max())
    assert 7.0 < errors[0] / errors[1] < 9.0
