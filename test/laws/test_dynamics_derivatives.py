"""Test derivatives of inverse, forward and hybrid dynamics on random trees of every joint type.

With external wrenches, damping, friction and armature. Complex steps are exact to rounding;
central differences walk along the configuration manifold itself.
"""

import numpy as np
import pytest
from support import complex_steps
from support.differences import STEP, gradient, relative, some_directions
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.friction import friction_slope, friction_torque
from dynamics_node.algorithms.hybrid_dynamics import by_blocks, hybrid_dynamics
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_derivatives import (
    bias_from_derivatives,
    inverse_dynamics_derivatives,
)
from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial.so3 import from_quaternion, skew


@pytest.fixture
def state(tree):
    """(model, q, v, a, tau, body wrenches) of a random tree."""
    robot, _, q, v, a, tau, wrenches = tree
    return robot.model, q, v, a, tau, body_wrenches(robot.model, wrenches)


# Inverse dynamics ----------------------------------------------------------------------------


def test_inverse_derivatives_are_complex_steps(state):
    """By q, v and a; of one more evaluation in the complex plane each."""
    model, q, v, a, _, w = state
    dq, dv, da = inverse_dynamics_derivatives(model, q, v, a, w)
    D = some_directions(model.nv)
    by_q = complex_steps.by_q(model, lambda x: inverse_dynamics(model, x, v, a, w), q, D)
    by_v = complex_steps.by(lambda x: inverse_dynamics(model, q, x, a, w), v, D)
    by_a = complex_steps.by(lambda x: inverse_dynamics(model, q, v, x, w), a, D)
    assert relative(dq @ D, by_q) < EXACT_MATHS
    assert relative(dv @ D, by_v) < EXACT_MATHS
    assert relative(da @ D, by_a) < EXACT_MATHS


def test_inverse_derivatives_are_central_differences(tree, state):
    """Along a direction d it is d/dx of ID(integrate(q, x d))."""
    model, q, v, a, _, w = state
    dq, _, _ = inverse_dynamics_derivatives(model, q, v, a, w)
    D = some_directions(model.nv)
    slope = gradient(tree.robot, lambda x: inverse_dynamics(model, x, v, a, w), q, D)
    assert relative(dq @ D, slope) < RATE_BY_DIFFERENCES


def test_a_displaced_base_meets_another_direction_of_gravity():
    """And nothing else: as if the base accelerated by the change of -g in its own axes."""
    robot = Robot.from_urdf(ARM7, base='floating', compile=False)
    rng = np.random.default_rng(0)
    q = robot.neutral() + np.append(np.zeros(7), rng.normal(size=robot.nq - 7))
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    v, a = rng.normal(size=(2, robot.nv))
    dq, _, da = inverse_dynamics_derivatives(robot.model, q, v, a)
    np.testing.assert_array_equal(dq[:, :3], 0.0)
    rise = from_quaternion(q[3:7]).T @ -robot.model.gravity
    assert relative(dq[:, 3:6], da[:, :3] @ skew(rise)) < EXACT_MATHS


def test_the_derivative_by_acceleration_is_the_mass_matrix(state):
    """Symmetric to the last bit."""
    model, q, v, a, _, w = state
    da = inverse_dynamics_derivatives(model, q, v, a, w).da
    assert relative(da, mass_matrix(model, q)) < EXACT_MATHS
    np.testing.assert_array_equal(da, da.T)


def test_derivatives_by_velocity_and_acceleration_do_not_depend_on_the_acceleration(state):
    """Forward derivatives rely on it: to the last bit."""
    model, q, v, a, _, w = state
    _, dv, da = inverse_dynamics_derivatives(model, q, v, a, w)
    _, dv_still, da_still = inverse_dynamics_derivatives(model, q, v, 0 * a, w)
    np.testing.assert_array_equal(dv, dv_still)
    np.testing.assert_array_equal(da, da_still)


def test_the_bias_is_half_its_derivative_times_velocity(state):
    """Euler's theorem, with friction and wrenches."""
    model, q, v, a, _, w = state
    dv = inverse_dynamics_derivatives(model, q, v, a, w).dv
    expected = inverse_dynamics(model, q, v, 0 * a, w)
    assert relative(bias_from_derivatives(model, q, v, dv, w), expected) < EXACT_MATHS


def test_wrenches_only_add_to_the_derivative_by_position(state):
    """A zero wrench is no wrench."""
    model, q, v, a, _, w = state
    none, zero = (inverse_dynamics_derivatives(model, q, v, a, x) for x in (None, 0 * w))
    loaded = inverse_dynamics_derivatives(model, q, v, a, w)
    for one, other in zip(none, zero):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.dv, none.dv)
    assert np.abs(loaded.dq - none.dq).max() > 0.1  # of wrenches of about 1 N and 1 N m


def test_friction_slope_is_the_derivative_of_friction_torque(state):
    """Also at rest, where it is steepest."""
    model, _, v, *_ = state
    for velocity in (v, 0 * v, 0.01 * v):
        slope = complex_steps.by(lambda x: friction_torque(model, x), velocity)
        assert relative(np.diag(friction_slope(model, velocity)), slope) < EXACT_MATHS


# Forward dynamics ----------------------------------------------------------------------------


def test_forward_derivatives_are_complex_steps(state):
    """By q, v and tau."""
    model, q, v, _, tau, w = state
    dq, dv, dtau, _ = forward_dynamics_derivatives(model, q, v, tau, w)
    D = some_directions(model.nv)
    by_q = complex_steps.by_q(model, lambda x: forward_dynamics(model, x, v, tau, w).a, q, D)
    by_v = complex_steps.by(lambda x: forward_dynamics(model, q, x, tau, w).a, v, D)
    by_tau = complex_steps.by(lambda x: forward_dynamics(model, q, v, x, w).a, tau, D)
    assert relative(dq @ D, by_q) < SOLVED
    assert relative(dv @ D, by_v) < SOLVED
    assert relative(dtau @ D, by_tau) < SOLVED


def test_forward_derivatives_are_central_differences(tree, state):
    """Along the configuration manifold."""
    model, q, v, _, tau, w = state
    D = some_directions(model.nv)
    slope = gradient(tree.robot, lambda x: forward_dynamics(model, x, v, tau, w).a, q, D)
    assert relative(forward_dynamics_derivatives(model, q, v, tau, w).dq @ D,
                    slope) < RATE_BY_DIFFERENCES


def test_forward_derivatives_undo_inverse_derivatives(state):
    """M dFD = -dID at the acceleration FD finds, and dFD/dtau = M^-1, symmetric to the bit."""
    model, q, v, _, tau, w = state
    a = forward_dynamics(model, q, v, tau, w).a
    inverse = inverse_dynamics_derivatives(model, q, v, a, w)
    forward = forward_dynamics_derivatives(model, q, v, tau, w)
    assert relative(inverse.da @ forward.dq, -inverse.dq) < SOLVED
    assert relative(inverse.da @ forward.dv, -inverse.dv) < SOLVED
    assert relative(forward.dtau, mass_matrix_inverse(model, q).matrix) < SOLVED
    np.testing.assert_array_equal(forward.dtau, forward.dtau.T)


def test_margins_are_those_of_forward_dynamics(state):
    """The same pivots, the same verdict."""
    model, q, v, _, tau, w = state
    margin = forward_dynamics_derivatives(model, q, v, tau, w).margin
    assert (margin > 0.0).all()
    assert relative(margin, forward_dynamics(model, q, v, tau, w).margin) < SOLVED


def test_a_singular_mass_matrix_has_a_margin_of_zero_or_less():
    """A joint that moves nothing has no acceleration, unless it is prescribed."""
    link = '<link name="{}"><inertial><mass value="{}"/><inertia ixx="{}" iyy="{}" izz="{}" ' \
           'ixy="0" ixz="0" iyz="0"/></inertial></link>'
    text = ('<robot name="r"><link name="base"/>' + link.format('arm', 1, 1, 1, 1)
            + '<link name="nothing"/>' + ''.join(
                f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/>'
                f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
                for parent, child in (('base', 'arm'), ('arm', 'nothing'))) + '</robot>')
    model = Robot.from_urdf(text, compile=False).model
    x = np.zeros(2)
    with np.errstate(all='ignore'):
        forward = forward_dynamics_derivatives(model, x, x, x).margin
        driven = hybrid_dynamics_derivatives(model, x, x, x, x, np.array([True, False])).margin
        moved = hybrid_dynamics_derivatives(model, x, x, x, x, np.array([False, True])).margin
    assert forward[1] <= 0.0
    assert driven[1] <= 0.0
    assert (moved > 0.0).all()


# Hybrid dynamics -----------------------------------------------------------------------------


def found(model, q, v, known, given, w):
    """Return the unknowns x of the knowns y; what is not to be read is not a number."""
    result = by_blocks(model, q, v, given * known, (1.0 - given) * known, given, w)
    return given * result.tau + (1.0 - given) * result.a


@pytest.fixture(params=['single joints', 'inside joints'])
def given(request, tree):
    """Which accelerations are prescribed."""
    chosen = tree.rng.random(tree.robot.nv) < 0.5
    if request.param == 'single joints':
        for joint in tree.robot.model.joints:
            chosen[joint.v] = chosen[joint.v][0]
    return chosen


def test_hybrid_derivatives_are_complex_steps(state, given):
    """By q, v, and by prescribed accelerations and given torques in one."""
    model, q, v, a, tau, w = state
    y, u = np.where(given, a, tau), given.astype(float)
    derivatives = hybrid_dynamics_derivatives(model, q, v, a, tau, given, w)
    D = some_directions(model.nv)
    by_q = complex_steps.by_q(model, lambda x: found(model, x, v, y, u, w), q, D)
    by_v = complex_steps.by(lambda x: found(model, q, x, y, u, w), v, D)
    by_y = complex_steps.by(lambda x: found(model, q, v, x, u, w), y, D)
    assert relative(derivatives.dq @ D, by_q) < SOLVED
    assert relative(derivatives.dv @ D, by_v) < SOLVED
    assert relative(derivatives.dknown @ D, by_y) < SOLVED
    assert relative(derivatives.margin,
                    hybrid_dynamics(model, q, v, a, tau, given, w).margin) < SOLVED


def test_hybrid_derivatives_are_central_differences_of_articulated_bodies(tree, state, given):
    """Along the configuration manifold, against the recursion of table 4."""
    model, q, v, a, tau, w = state

    def unknown(x):
        result = hybrid_dynamics(model, x, v, a, tau, given, w)
        return np.where(given, result.tau, result.a)

    D = some_directions(model.nv)
    slope = gradient(tree.robot, unknown, q, D)
    dq = hybrid_dynamics_derivatives(model, q, v, a, tau, given, w).dq
    assert relative(dq @ D, slope) < RATE_BY_DIFFERENCES


def test_hybrid_derivatives_with_all_given_are_the_inverse_ones(state):
    """X = tau, y = a."""
    model, q, v, a, tau, w = state
    hybrid = hybrid_dynamics_derivatives(model, q, v, a, tau, np.ones(model.nv, dtype=bool), w)
    inverse = inverse_dynamics_derivatives(model, q, v, a, w)
    for got, expected in zip(hybrid[:3], inverse):
        assert relative(got, expected) < EXACT_MATHS
    np.testing.assert_array_equal(hybrid.margin, np.ones(model.nv))


def test_hybrid_derivatives_with_none_given_are_the_forward_ones(state):
    """X = a, y = tau."""
    model, q, v, a, tau, w = state
    hybrid = hybrid_dynamics_derivatives(model, q, v, a, tau, np.zeros(model.nv, dtype=bool), w)
    forward = forward_dynamics_derivatives(model, q, v, tau, w)
    for got, expected in zip(hybrid, forward):
        assert relative(got, expected) < SOLVED


def test_hybrid_derivatives_read_only_given_values(state, given):
    """Accelerations of driven joints and torques of prescribed ones are not read."""
    model, q, v, a, tau, w = state
    once = hybrid_dynamics_derivatives(model, q, v, a, tau, given, w)
    again = hybrid_dynamics_derivatives(model, q, v, np.where(given, a, 77.0),
                                        np.where(given, -55.0, tau), given, w)
    for one, other in zip(once, again):
        np.testing.assert_array_equal(one, other)


def test_cross_derivatives_of_prescribed_and_driven_joints_are_antisymmetric(state, given):
    """da_v/da_u = -(dtau_u/dtau_v)', and the diagonal blocks are symmetric."""
    model, q, v, a, tau, w = state
    dknown = hybrid_dynamics_derivatives(model, q, v, a, tau, given, w).dknown
    sign = np.where(given, 1.0, -1.0)
    assert relative(dknown, np.outer(sign, sign) * dknown.T) < SOLVED


def test_the_derivatives_predict_a_small_step_of_all_inputs(tree, state):
    """The chain rule: dtau = dq x + dv y + da z for one simultaneous change."""
    model, q, v, a, _, w = state
    x, y, z = tree.rng.normal(size=(3, model.nv))

    def tau(t):
        return inverse_dynamics(model, tree.robot.integrate(q, x, t), v + t * y, a + t * z, w)

    dq, dv, da = inverse_dynamics_derivatives(model, q, v, a, w)
    assert relative(dq @ x + dv @ y + da @ z,
                    (tau(STEP) - tau(-STEP)) / (2 * STEP)) < RATE_BY_DIFFERENCES
