"""Test directional derivatives of dynamics, tables 5, 6, 7, on trees of every joint type."""

import numpy as np
import pytest
from support import random_trees
from support.differences import STEP, relative
from support.displaced_joints import displaced
from support.inertia_rates import inertia_rate
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.forward_dynamics_directional_derivative import (
    forward_dynamics_directional_derivative,
)
from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.friction_directional_derivative import friction_directional_derivative
from dynamics_node.algorithms.hybrid_dynamics import hybrid_dynamics
from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    articulated_bodies_derivative,
    blocks_derivative,
    hybrid_dynamics_directional_derivative,
)
from dynamics_node.algorithms.inertial_parameters import (
    body_inertia_rates,
    inertia_of,
    inertial_parameters,
    ten_numbers,
)
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_directional_derivative import (
    inverse_dynamics_directional_derivative,
)
from dynamics_node.algorithms.parameter_direction import ParameterDirection, complete
from dynamics_node.algorithms.regressor import regressor
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.model.configuration import integrate
from dynamics_node.model.joints import KINDS
from dynamics_node.spatial import so3
from dynamics_node.spatial.inertia import from_com

TINY = 1e-30   # of a complex step: no difference is taken, so nothing cancels
NOT_READ = 1e3
EVERYTHING = 'everything'


class State:
    """A random tree at a random state, under wrenches, and a direction in which all of it moves."""

    def __init__(self, tree):
        self.robot, self.rng, self.q, self.v, self.a, self.tau, wrenches = tree
        self.model = self.robot.model
        self.wrenches = body_wrenches(self.model, wrenches)
        self.given = self.rng.random(self.model.nv) < 0.5
        self.direction = ParameterDirection(*(self.rng.normal(size=np.shape(rate))
                                     for rate in complete(self.model, ParameterDirection())))

    def with_smooth_friction(self):
        """Spread friction over a speed that finite steps resolve."""
        self.model = self.model.with_(friction_speed=1.0)
        return self

    def only(self, kind):
        """Return the direction with one kind of change, or with all."""
        if kind == EVERYTHING:
            return self.direction
        return ParameterDirection(**{kind: getattr(self.direction, kind)})

    def at(self, p, direction, moved):
        """Return the arguments (model, q, v, a, tau, wrenches) at p; `moved` says how q moves."""
        d, model = complete(self.model, direction), self.model
        tens = inertial_parameters(model).reshape(-1, 10) + p * d.dinertias
        model = model.with_(
            inertias=(*map(inertia_of, tens), model.inertias[-1]),
            gravity=model.gravity + p * d.dgravity, damping=model.damping + p * d.ddamping,
            friction=model.friction + p * d.dfriction, armature=model.armature + p * d.darmature)
        model, wrenches = displaced(model, self.wrenches + p * d.dwrenches, p * d.dorigins,
                                    p * d.daxes)
        return (model, moved(self.model, self.q, d.dq, p), self.v + p * d.dv, self.a + p * d.da,
                self.tau + p * d.dtau, wrenches)


def complex_step(model, q, dq, p):
    """Return q + p dq/dp to first order in p, a floating joint's along its body twist."""
    result = q.astype(complex)
    for joint in model.joints:
        rate = dq[joint.v]
        if joint.kind == 'floating':
            quaternion = q[joint.q][3:]
            rate = [*(so3.from_quaternion(quaternion) @ rate[:3]),
                    *(0.5 * so3.quaternion_product(quaternion, [*rate[3:], 0.0]))]
        result[joint.q] += p * np.asarray(rate)
    return result


def by_complex_step(state, direction, f):
    """Return df/dp to the last digits."""
    return f(*state.at(1j * TINY, direction, complex_step)).imag / TINY


def by_differences(state, direction, f):
    """Return df/dp by finite steps along the configuration manifold."""
    return (f(*state.at(STEP, direction, integrate))
            - f(*state.at(-STEP, direction, integrate))) / (2 * STEP)


@pytest.fixture
def state(tree):
    return State(tree)


@pytest.fixture(params=[*ParameterDirection._fields, EVERYTHING])
def direction(request, state):
    return state.only(request.param)


def inverse(model, q, v, a, tau, wrenches):
    return inverse_dynamics(model, q, v, a, wrenches)


def forward(model, q, v, a, tau, wrenches):
    return forward_dynamics(model, q, v, tau, wrenches).a


def hybrid(given):
    def answer(model, q, v, a, tau, wrenches):
        return np.concatenate(hybrid_dynamics(model, q, v, a, tau, given, wrenches)[:2])
    return answer


# Against the derivative of the dynamics itself ----------------------------------------------------


def test_inverse_dynamics_along_is_the_derivative_of_inverse_dynamics(state, direction):
    """Table 5, for every kind of change alone and for all at once."""
    s = state
    got = inverse_dynamics_directional_derivative(s.model, s.q, s.v, s.a, direction, s.wrenches)
    assert relative(got, by_complex_step(s, direction, inverse)) < EXACT_MATHS


def test_forward_dynamics_along_is_the_derivative_of_forward_dynamics(state, direction):
    """Table 6."""
    s = state
    got = forward_dynamics_directional_derivative(s.model, s.q, s.v, s.tau, direction, s.wrenches)
    assert relative(got.da, by_complex_step(s, direction, forward)) < SOLVED
    np.testing.assert_array_equal(
        got.margin, forward_dynamics(s.model, s.q, s.v, s.tau, s.wrenches).margin)


def test_hybrid_dynamics_along_is_the_derivative_of_hybrid_dynamics(state, direction):
    """Table 7, for a random mix inside joints too."""
    s = state
    got = hybrid_dynamics_directional_derivative(s.model, s.q, s.v, s.a, s.tau, s.given, direction,
                                                 s.wrenches)
    expected = by_complex_step(s, direction, hybrid(s.given))
    assert relative(np.concatenate([got.da, got.dtau]), expected) < SOLVED
    np.testing.assert_array_equal(got.margin, hybrid_dynamics(
        s.model, s.q, s.v, s.a, s.tau, s.given, s.wrenches).margin)


def test_a_direction_is_a_small_step_on_the_configuration_manifold(state, direction):
    """The same by central differences, with the dq of `integrate`."""
    s = state.with_smooth_friction()
    got = inverse_dynamics_directional_derivative(s.model, s.q, s.v, s.a, direction, s.wrenches)
    assert relative(got, by_differences(s, direction, inverse)) < RATE_BY_DIFFERENCES


def test_torque_rate_along_a_trajectory(state):
    """Chain rule: q(t) with v = dq/dt, a = dv/dt, a jerk and changing wrenches gives d tau/dt."""
    s = state.with_smooth_friction()
    jerk, push = s.direction.da, s.direction.dwrenches

    def torque(t):
        q = integrate(s.model, s.q, s.v * t + s.a * t ** 2 / 2)  # to second order in t
        v, a = s.v + s.a * t + jerk * t ** 2 / 2, s.a + jerk * t
        return inverse_dynamics(s.model, q, v, a, s.wrenches + push * t)

    rate = inverse_dynamics_directional_derivative(
        s.model, s.q, s.v, s.a, ParameterDirection(s.v, s.a, jerk, dwrenches=push), s.wrenches)
    quotient = (torque(STEP) - torque(-STEP)) / (2 * STEP)
    assert relative(rate, quotient) < RATE_BY_DIFFERENCES


# The three tables among themselves ----------------------------------------------------------------


def test_forward_dynamics_along_undoes_inverse_dynamics_along(state):
    """Along (dq, dv, da, ...) torques change by dtau; along (dq, dv, dtau, ...) they give da."""
    s, d = state, state.direction
    tau = inverse_dynamics(s.model, s.q, s.v, s.a, s.wrenches)
    dtau = inverse_dynamics_directional_derivative(s.model, s.q, s.v, s.a, d, s.wrenches)
    got = forward_dynamics_directional_derivative(
        s.model, s.q, s.v, tau, d._replace(da=None, dtau=dtau), s.wrenches)
    assert relative(got.da, d.da) < SOLVED


def test_hybrid_dynamics_along_equals_inverse_and_forward_at_its_ends(state):
    """With everything given it is table 5, with nothing given table 6."""
    s, d = state, state.direction
    everything, nothing = np.ones(s.model.nv, dtype=bool), np.zeros(s.model.nv, dtype=bool)
    got = hybrid_dynamics_directional_derivative(s.model, s.q, s.v, s.a, s.tau, everything, d,
                                                 s.wrenches)
    np.testing.assert_array_equal(got.da, d.da)
    assert relative(got.dtau, inverse_dynamics_directional_derivative(
        s.model, s.q, s.v, s.a, d, s.wrenches)) < EXACT_MATHS
    got = hybrid_dynamics_directional_derivative(s.model, s.q, s.v, s.a, s.tau, nothing, d,
                                                 s.wrenches)
    np.testing.assert_array_equal(got.dtau, d.dtau)
    np.testing.assert_array_equal(got.da, forward_dynamics_directional_derivative(
        s.model, s.q, s.v, s.tau, d, s.wrenches).da)


def test_hybrid_dynamics_along_returns_given_rates_and_reads_nothing_else(state):
    """The other rates are outputs, not inputs."""
    s, d, u = state, state.direction, state.given
    once = hybrid_dynamics_directional_derivative(s.model, s.q, s.v, s.a, s.tau, u, d, s.wrenches)
    np.testing.assert_array_equal(once.da[u], d.da[u])
    np.testing.assert_array_equal(once.dtau[~u], d.dtau[~u])
    other = d._replace(da=np.where(u, d.da, NOT_READ), dtau=np.where(u, NOT_READ, d.dtau))
    again = hybrid_dynamics_directional_derivative(s.model, s.q, s.v, np.where(u, s.a, NOT_READ),
                                  np.where(u, NOT_READ, s.tau), u, other, s.wrenches)
    np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize('tree', [tree for tree in random_trees.TREES if not tree.mimic], ids=str)
def test_articulated_bodies_and_blocks_agree(tree):
    """Two ways to table 7, over masks of prescribed joints."""
    s = State(random_trees.make(tree))
    for _ in range(8):
        given = s.rng.random(s.model.nv) < 0.5
        for other in s.model.joints[::2]:
            given[other.v] = s.rng.random() < 0.5
        bodies, blocks = (solve(s.model, s.q, s.v, s.a, s.tau, given, s.direction, s.wrenches)
                          for solve in (articulated_bodies_derivative, blocks_derivative))
        assert relative(bodies.da, blocks.da) < SOLVED
        assert relative(bodies.dtau, blocks.dtau) < SOLVED


def test_the_derivative_along_an_empty_direction_is_zero(state):
    """Fields left out of a Direction do not change."""
    s = state
    still = np.zeros(s.model.nv)
    np.testing.assert_array_equal(
        inverse_dynamics_directional_derivative(s.model, s.q, s.v, s.a, ParameterDirection(),
                                                s.wrenches), still)
    np.testing.assert_array_equal(
        forward_dynamics_directional_derivative(s.model, s.q, s.v, s.tau, ParameterDirection()).da,
        still)


# Inertial parameters ------------------------------------------------------------------------------


def test_a_column_of_the_regressor_is_the_derivative_by_that_parameter(state):
    """D tau/d pi_j = Y e_j."""
    s = state
    units = np.eye(10 * len(s.model.bodies)).reshape(-1, len(s.model.bodies), 10)
    columns = [inverse_dynamics_directional_derivative(s.model, s.q, s.v, s.a,
                                                       ParameterDirection(dinertias=unit))
               for unit in units]
    assert relative(np.array(columns).T, regressor(s.model, s.q, s.v, s.a)) < EXACT_MATHS


def test_ten_parameters_convert_to_the_inertia_and_back(state):
    """There and back."""
    for inertia in state.model.inertias:
        for one, other in zip(inertia_of(ten_numbers(inertia)), inertia):
            np.testing.assert_array_equal(one, other)


def test_inertia_rate_is_the_derivative_of_the_inertia_about_the_centre_of_mass(state):
    """Of mass, centre of mass and tensor, each alone and together."""
    rng = state.rng
    mass, com, tensor = 2.0, rng.normal(size=3), np.diag(rng.uniform(1.0, 2.0, 3))
    dmass, dcom, dtensor = rng.normal(), rng.normal(size=3), rng.normal(size=(3, 3))
    dtensor = dtensor + dtensor.T

    def ten(p, m, c, t):
        return ten_numbers(from_com(mass + p * m * dmass, com + p * c * dcom,
                                    tensor + p * t * dtensor))

    for m, c, t in np.vstack([np.eye(3), np.ones(3)]):
        rate = inertia_rate(mass, com, m * dmass, c * dcom, t * dtensor)
        quotient = (ten(STEP, m, c, t) - ten(-STEP, m, c, t)) / (2 * STEP)
        assert relative(rate, quotient) < RATE_BY_DIFFERENCES


def test_a_payload_is_a_direction_at_its_frame(state):
    """Torques are linear in its mass and quadratic in its place: differences are exact."""
    s = state
    mass, com, dcom, tensor = 1.5, np.array([0.1, -0.2, 0.3]), np.array([0.3, 0.1, -0.2]), np.eye(3)

    def torque(m, c):
        loaded = s.robot.with_payload('load', 'l5', m, c, tensor).model
        return inverse_dynamics(loaded, s.q, s.v, s.a)

    def rate(ten):
        loaded = s.robot.with_payload('load', 'l5', mass, com, tensor).model
        d = ParameterDirection(dinertias=body_inertia_rates(loaded, {'l5': ten}))
        return inverse_dynamics_directional_derivative(loaded, s.q, s.v, s.a, d)

    assert relative(rate(inertia_rate(mass, com, dmass=1.0)),
                    torque(mass + 1, com) - torque(mass, com)) < EXACT_MATHS
    assert relative(rate(inertia_rate(mass, com, dcom=dcom)),
                    (torque(mass, com + dcom) - torque(mass, com - dcom)) / 2) < EXACT_MATHS


@pytest.mark.parametrize('tree', [random_trees.TREES[0]], ids=str)
def test_the_inertia_of_the_fixed_base_does_not_matter(tree):
    """The base link of a fixed robot may weigh what it likes."""
    model = random_trees.make(tree).robot.model
    np.testing.assert_array_equal(body_inertia_rates(model, {'base': np.ones(10)}),
                                  np.zeros((len(model.bodies), 10)))


# The parts ----------------------------------------------------------------------------------------


def test_friction_along_is_the_derivative_of_friction_at_any_speed(state):
    """Also where the sign is smoothed, where finite steps are too long."""
    model, d = state.model, state.direction
    for v in (0 * state.v, model.friction_speed * state.v, state.v):
        step = 1j * TINY
        moved = model.with_(damping=model.damping + step * d.ddamping,
                            friction=model.friction + step * d.dfriction)
        expected = friction_torque(moved, v + step * d.dv).imag / TINY
        assert relative(friction_directional_derivative(model, v, d), expected) < EXACT_MATHS


@pytest.mark.parametrize('kind', KINDS)
def test_subspace_rate_along_is_the_derivative_of_the_subspace_rate(kind):
    """Of every joint type: along dq at constant v."""
    rng = np.random.default_rng(5)
    axis = rng.normal(size=3)
    joint = KINDS[kind](axis / np.linalg.norm(axis))
    q, v, dq = rng.normal(size=joint.nq), rng.normal(size=joint.nv), rng.normal(size=joint.nq)
    expected = joint.subspace_rate(q + 1j * TINY * dq, v).imag / TINY
    got = joint.subspace_rate_derivative(q, v, dq[:joint.nv])
    assert got.shape == (6, joint.nv)
    assert relative(got, expected) < EXACT_MATHS
