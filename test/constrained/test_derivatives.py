"""Test derivatives of constrained dynamics against complex steps, differences and Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from support import complex_steps, looped_trees, random_trees
from support.bundled_mechanisms import load, standing
from support.differences import STEP, relative, some_directions
from support.legged_robots import example, load_legged
from support.pinocchio_loops import KINDS, PinocchioLoops
from support.tolerances import PINOCCHIO, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError
from dynamics_node.algorithms.dual import Dual, configuration_rates, dual_vector, slopes_of
from dynamics_node.constrained.assembly import project_configuration, project_velocity
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.derivatives import (
    constrained_forward_dynamics_derivatives,
    constrained_inverse_dynamics_derivatives,
)
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward
from dynamics_node.constrained.rows import constraint_matrix, rows
from dynamics_node.model.configuration import difference, integrate

STABILISED = pytest.mark.parametrize('stabilisation', [None, (3.0, 4.0)],
                                     ids=['plain', 'baumgarte'])


@pytest.fixture(params=range(4), ids=lambda k: str(random_trees.TREES[k]))
def looped(request):
    """The random trees of each base, with and without mimics; one of the sets of loops."""
    k = request.param
    return looped_trees.make(random_trees.TREES[k], looped_trees.KINDS[k])


@STABILISED
def test_forward_derivatives_are_exact(looped, stabilisation):
    """Complex steps through the solver itself: no step size, only rounding."""
    model, q, v, tau = looped.model, looped.q, looped.v, looped.tau

    def solved(q, v, tau):
        result = constrained_forward_dynamics(model, q, v, tau, looped.constraints,
                                              looped.wrenches, stabilisation)
        return np.concatenate([result.a, result.multipliers])

    got = constrained_forward_dynamics_derivatives(model, q, v, tau, looped.constraints,
                                                   looped.wrenches, stabilisation)
    D = some_directions(model.nv)
    by_q = complex_steps.by_q(model, lambda x: solved(x, v, tau), q, D)
    by_v = complex_steps.by(lambda x: solved(q, x, tau), v, D)
    by_tau = complex_steps.by(lambda x: solved(q, v, x), tau, D)
    assert relative(np.vstack([got.dq, got.multipliers_dq]) @ D, by_q) < SOLVED
    assert relative(np.vstack([got.dv, got.multipliers_dv]) @ D, by_v) < SOLVED
    assert relative(np.vstack([got.dtau, got.multipliers_dtau]) @ D, by_tau) < SOLVED
    assert (got.dtau == got.dtau.T).all() and np.all(got.margin > 0.0)
    A = constraint_matrix(model, q, looped.constraints)
    assert np.abs(A @ got.dtau).max() < SOLVED  # no torque can break a constraint


@pytest.mark.parametrize('name', ['five_bar', 'delta'])
def test_forward_derivatives_along_the_manifold(name):
    """A mechanism that moves a little: projected back onto its loops, both ways."""
    mechanism = load(name)
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 3)
    moved = np.random.default_rng(0).normal(size=(2, model.nv))
    dq = project_velocity(model, q, moved[0], constraints)

    def state(step):
        there = project_configuration(model, integrate(model, q, dq, step), constraints,
                                      tolerance=1e-14)
        return there, project_velocity(model, there, v + step * moved[1], constraints)

    (q1, v1), (q0, v0) = state(STEP), state(-STEP)
    change = [constrained_forward_dynamics(model, *there, tau, constraints).a
              for there in ((q1, v1), (q0, v0))]
    got = constrained_forward_dynamics_derivatives(model, q, v, tau, constraints)
    expected = (change[0] - change[1]) / (2.0 * STEP)
    along = (got.dq @ difference(model, q0, q1) + got.dv @ (v1 - v0)) / (2.0 * STEP)
    assert relative(along, expected) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('choice', ['least_force', 'least_torque', 'weighted'])
def test_inverse_derivatives_by_differences(looped, choice):
    """Every redundancy resolution, off the manifold too: the formula is differentiated."""
    n = looped.model.nv
    model = looped.model.with_(friction=np.zeros(n))  # dry friction bends too fast for differences
    A = constraint_matrix(model, looped.q, looped.constraints)
    active = np.ones(n, dtype=bool)
    active[np.argmax(np.linalg.norm(A, axis=0))] = False
    weights = {'torque_weights': looped.rng.uniform(0.5, 2.0, active.sum()),
               'force_weights': looped.rng.uniform(0.5, 2.0, len(A))}
    anywhere = 1e9  # the tolerance: differences leave the manifold

    def solved(dq, dv, da):
        result = constrained_inverse_dynamics(
            model, integrate(model, looped.q, dq), looped.v + dv, looped.a + da,
            looped.constraints, active, looped.tau, choice, wrenches=looped.wrenches,
            tolerance=anywhere, **weights)
        return np.concatenate([result.tau, result.multipliers])

    got = constrained_inverse_dynamics_derivatives(
        model, looped.q, looped.v, looped.a, looped.constraints, active, looped.tau, choice,
        wrenches=looped.wrenches, **weights)
    exact = np.hstack([np.vstack([got.dq, got.multipliers_dq]),
                       np.vstack([got.dv, got.multipliers_dv]),
                       np.vstack([got.da, got.multipliers_da])])
    directions = looped.rng.normal(size=(6, 3 * n))
    for direction in directions:
        step = STEP * direction
        change = (solved(*np.split(step, 3)) - solved(*np.split(-step, 3))) / (2.0 * STEP)
        assert relative(exact @ direction, change) < RATE_BY_DIFFERENCES
    assert not got.dq[~active].any()


def test_inverse_after_forward_holds_to_first_order():
    """D tau = dq of ID + da of ID times dq of FD, ...: the two derivatives undo each other."""
    mechanism = load('five_bar')
    model, constraints, active = mechanism.model, mechanism.constraints, mechanism.active
    q, v, tau = standing(model, constraints, 3)
    a = constrained_forward_dynamics(model, q, v, tau, constraints).a
    forward = constrained_forward_dynamics_derivatives(model, q, v, tau, constraints)
    inverse = constrained_inverse_dynamics_derivatives(model, q, v, a, constraints, active, tau)
    chosen = np.diag(active * 1.0)
    assert relative((inverse.da @ forward.dtau @ chosen), chosen) < SOLVED
    assert relative(inverse.dq + inverse.da @ forward.dq, 0.0 * chosen) < SOLVED
    assert relative(inverse.dv + inverse.da @ forward.dv, 0.0 * chosen) < SOLVED


def test_redundant_rows_have_no_derivatives_of_their_forces():
    """The message says what to use instead."""
    mechanism = load('five_bar')
    q, v, tau = standing(mechanism.model, mechanism.constraints, 3)
    a = rank_deficient_forward(mechanism.model, q, v, tau, mechanism.constraints).a
    again = Constraint(**{**vars(mechanism.constraints[0]), 'name': 'again'})
    with pytest.raises(DynamicsError, match='drop redundant constraints'):
        constrained_inverse_dynamics_derivatives(
            mechanism.model, q, v, a, (*mechanism.constraints, again), mechanism.active,
            choice='least_torque')
    with np.errstate(all='ignore'):
        got = constrained_forward_dynamics_derivatives(
            mechanism.model, q, v, tau, (*mechanism.constraints, again))
    assert not np.all(got.margin > 0.0)


# Pinocchio ----------------------------------------------------------------------------------------

@pytest.mark.parametrize('name, speed', [('solo12', 1.0), ('bolt', 1.0), ('talos', 0.0)])
def test_pinocchio_agrees_on_legged_robots(name, speed):
    """Contacts at all feet, accelerations and their derivatives.

    Of flat contacts Pinocchio holds the rate of the twist, we the acceleration of the point: the
    derivatives by v are the same at rest only.
    """
    model, contacts = load_legged(name)
    rng = np.random.default_rng(1)
    q = integrate(model, np.r_[np.zeros(6), 1.0, np.zeros(model.nq - 7)],
                  rng.uniform(-0.8, 0.8, model.nv))
    v = speed * project_velocity(model, q, rng.normal(size=model.nv), contacts)
    tau = rng.normal(size=model.nv)
    theirs = PinocchioLoops(example(name).urdf, model, 'floating')
    held = pin.StdVec_RigidConstraintModel()
    for contact in contacts:
        held.append(pin.RigidConstraintModel(
            KINDS[contact.kind], theirs.model, *theirs.place(contact.frame, contact.pose),
            pin.ReferenceFrame.LOCAL))
    found = pin.StdVec_RigidConstraintData()
    for constraint in held:
        found.append(constraint.createData())
    pin.initConstraintDynamics(theirs.model, theirs.data, held, found)
    exactly = pin.ProximalSettings(1e-14, 1e-14, 0.0, 1)
    a = pin.constraintDynamics(theirs.model, theirs.data, theirs.configuration(q),
                               theirs.velocity(v), theirs.velocity(tau), held, found, exactly)
    result = constrained_forward_dynamics(model, q, v, tau, contacts)
    assert relative(result.a, theirs.back(a)) < PINOCCHIO
    pin.computeConstraintDynamicsDerivatives(theirs.model, theirs.data, held, found, exactly)
    got = constrained_forward_dynamics_derivatives(model, q, v, tau, contacts)
    ours = np.array([theirs.back(unit) for unit in np.eye(model.nv)]).T  # their order to ours
    for mine, its in ((got.dq, theirs.data.ddq_dq), (got.dv, theirs.data.ddq_dv),
                      (got.dtau, theirs.data.ddq_dtau)):
        assert relative(mine, ours @ its @ ours.T) < PINOCCHIO


# Dual numbers -------------------------------------------------------------------------------------

@pytest.mark.parametrize('f', [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: 2.0 + x, lambda x, y: 2.0 - x, lambda x, y: 2.0 * x, lambda x, y: 2.0 / x,
    lambda x, y: x + 2.0, lambda x, y: x - 2.0, lambda x, y: x * 2.0, lambda x, y: x / 2.0,
    lambda x, y: -x, lambda x, y: x ** 2, lambda x, y: np.sin(x), lambda x, y: np.cos(y),
    lambda x, y: np.sqrt(x), lambda x, y: np.array([1.0, 2.0]) @ np.array([x, y]),
    lambda x, y: (np.array([[1.0, 2.0]]) * x / y)[0, 1], lambda x, y: np.float64(3.0) * x])
def test_dual_numbers_follow_the_rules(f):
    """Value and slopes of every operation, by complex steps."""
    at = np.array([0.7, 1.3])
    x, y = dual_vector(at, np.eye(2))
    got = f(x, y)
    assert abs(got.value - f(*at)) < 1e-15
    expected = complex_steps.by(lambda z: f(*z), at.astype(complex))
    assert np.abs(got.slope - expected).max() < 1e-15


def test_dual_numbers_refuse_unknown_operations():
    """Powers but the second; and constants have no slope."""
    with pytest.raises(TypeError):
        Dual(2.0, np.ones(1)) ** 3
    assert (slopes_of(np.array([Dual(1.0, np.array([5.0, 6.0])), 7.0]), 2)
            == [[5.0, 6.0], [0.0, 0.0]]).all()


def test_configuration_rates_are_those_of_integration(tree):
    """dq/dt of each unit velocity."""
    expected = complex_steps.rates(tree.robot.model, tree.q)
    assert relative(configuration_rates(tree.robot.model, tree.q), expected) < SOLVED


def test_rows_run_on_dual_numbers_alone(looped):
    """dA/dq v is dA/dt: gamma comes out of the slopes of A."""
    model, v = looped.model, looped.v
    q = dual_vector(looped.q, (configuration_rates(model, looped.q) @ v)[:, None])
    rate = slopes_of(constraint_matrix(model, q, looped.constraints), 1)[..., 0]
    gamma = rows(model, looped.q, v, looped.constraints).gamma
    assert relative(rate @ v, gamma) < SOLVED
