"""Test inverse dynamics with loops: the redundancy resolutions and their optimality."""

import numpy as np
import pytest
from support.bundled_mechanisms import load, standing
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import DynamicsError
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward, rank_deficient_hybrid
from dynamics_node.constrained.rows import rows

CHOICES = ('least_force', 'least_torque', 'weighted')


def some_motors(looped, most):
    """Return booleans, `most` passive joints at the most, whose columns of A are independent."""
    A = rows(looped.model, looped.q, looped.v, looped.constraints).A
    active = np.ones(looped.model.nv, dtype=bool)
    for k in looped.rng.permutation(looped.model.nv):
        trial = active.copy()
        trial[k] = False
        s = np.linalg.svd(A[:, ~trial], compute_uv=False)
        if (~trial).sum() <= most and len(s) == (~trial).sum() and s[-1] > 0.1 * s[0]:
            active = trial
    return active


def inverse(looped, active, **options):
    return constrained_inverse_dynamics(looped.model, looped.q, looped.v, looped.a,
                                        looped.constraints, active, wrenches=looped.wrenches,
                                        **{'passive_torques': looped.tau, **options})


def needs(looped):
    """Return (A, tau_r): the rows and the torques if there were no constraint forces."""
    found = rows(looped.model, looped.q, looped.v, looped.constraints)
    return found.A, inverse_dynamics(looped.model, looped.q, looped.v, looped.a, looped.wrenches)


@pytest.mark.parametrize('choice', CHOICES)
def test_every_resolution_gives_the_wanted_motion(looped, choice):
    """M a + b = tau + A' lambda with the passive torques given, and its acceleration comes back."""
    active = some_motors(looped, most=4)
    assert (~active).sum() >= 1
    result = inverse(looped, active, choice=choice)
    A, needed = needs(looped)
    assert relative(result.tau + A.T @ result.multipliers, needed) < SOLVED
    assert (result.tau[~active] == looped.tau[~active]).all()
    again = rank_deficient_forward(looped.model, looped.q, looped.v, result.tau, looped.constraints,
                                looped.wrenches)
    assert relative(again.a, looped.a) < SOLVED


@pytest.mark.parametrize('choice', CHOICES)
def test_every_resolution_minimises_its_cost(looped, choice):
    """The cost is stationary along multipliers that do not act on passive joints (KKT)."""
    active = some_motors(looped, most=4)
    A, _ = needs(looped)
    weights = {'torque_weights': looped.rng.uniform(0.2, 3.0, active.sum()),
               'force_weights': looped.rng.uniform(0.2, 3.0, len(A))}
    result = inverse(looped, active, choice=choice, **weights)
    W = weights['torque_weights'] * (choice != 'least_force')
    F = weights['force_weights'] * (choice != 'least_torque')
    gradient = F * result.multipliers - A[:, active] @ (W * result.tau[active])
    _, s, Vt = np.linalg.svd(A[:, ~active].T)
    unfelt = Vt[len(s):]
    assert len(unfelt) == len(A) - (~active).sum() > 0
    size = np.abs(F * result.multipliers).max() + np.abs(A[:, active] @ np.diag(W)).max() * np.abs(
        result.tau).max()
    assert np.abs(unfelt @ gradient).max() < SOLVED * size


def test_torques_follow_the_closed_formulas(looped):
    """Eq. 59-64, and eq. 65-66 where every joint has a motor, with numpy's pseudo-inverse."""
    active = some_motors(looped, most=4)
    A, needed = needs(looped)
    A_a, A_p = A[:, active], A[:, ~active]
    passive = np.linalg.pinv(A_p.T) @ (needed - looped.tau)[~active]
    least_force = needed[active] - A_a.T @ passive
    assert relative(inverse(looped, active).tau[active], least_force) < SOLVED
    _, s, Vt = np.linalg.svd(A_p.T)
    N = Vt[len(s):].T
    projector = np.eye(active.sum()) - A_a.T @ N @ np.linalg.pinv(A_a.T @ N)
    least = inverse(looped, active, choice='least_torque')
    assert relative(least.tau[active], projector @ least_force) < SOLVED
    everywhere = np.ones(looped.model.nv, dtype=bool)
    least = inverse(looped, everywhere, choice='least_torque')
    multipliers = np.linalg.solve(A @ A.T, A @ needed)
    assert relative(least.multipliers, multipliers) < SOLVED
    assert relative(least.tau, needed - A.T @ multipliers) < SOLVED


def test_inverse_after_forward_is_unique_where_passive_joints_match_the_rows():
    """M = n_p (eq. 58): the torques that were put in come out, on every bundled mechanism."""
    for name in ('four_bar', 'slider_crank', 'five_bar', 'stewart', 'delta', 'gripper'):
        mechanism = load(name)
        q, v, tau = standing(mechanism.model, mechanism.constraints, 5)
        moved = rank_deficient_forward(mechanism.model, q, v, tau, mechanism.constraints)
        result = constrained_inverse_dynamics(
            mechanism.model, q, v, moved.a, mechanism.constraints, mechanism.active, tau, 'unique')
        assert result.redundancy == 0
        assert relative(result.tau, tau) < SOLVED, name
        assert relative(result.multipliers, moved.multipliers) < SOLVED, name


def test_redundant_rows_change_no_torque(looped):
    """Redundant rows are no redundant motors: the torques stay unique."""
    active = some_motors(looped, most=20)
    twice = looped._replace(constraints=looped.constraints + tuple(
        Constraint(**{**vars(constraint), 'name': constraint.name + '_again'})
        for constraint in looped.constraints))
    for choice in ('least_force', 'least_torque'):
        once, again = (inverse(robot, active, choice=choice) for robot in (looped, twice))
        assert again.redundancy == once.redundancy
        assert relative(again.tau, once.tau) < SOLVED


def test_redundant_motors_are_counted():
    """A five-bar needs two motors: the third is one too many, the fourth another."""
    mechanism = load('five_bar')
    q, v, tau = standing(mechanism.model, mechanism.constraints, 5)
    a = rank_deficient_forward(mechanism.model, q, v, tau, mechanism.constraints).a

    def asked(active, choice):
        return constrained_inverse_dynamics(mechanism.model, q, v, a, mechanism.constraints,
                                            active, choice=choice)
    for spare, passive in enumerate((2, 1, 0)):
        active = mechanism.active.copy()
        active[np.flatnonzero(~active)[passive:]] = True
        result = asked(active, 'least_torque')
        assert result.redundancy == spare
        if spare:
            with pytest.raises(DynamicsError, match=f'not unique: {spare} direction'):
                asked(active, 'unique')
            assert (np.linalg.norm(result.tau[active])
                    < np.linalg.norm(asked(active, 'least_force').tau[active]))


def test_a_structure_that_cannot_move_needs_no_torque():
    """Eq. 65: with the crank welded the least torques are zero, the bearings carry all."""
    mechanism = load('four_bar')
    q, _, _ = standing(mechanism.model, mechanism.constraints, 5)
    fixed = (*mechanism.constraints, Constraint('brake', 'flat_contact', 'crank'))
    everywhere, still = np.ones(3, dtype=bool), np.zeros(3)
    result = constrained_inverse_dynamics(mechanism.model, q, still, still, fixed, everywhere,
                                          choice='least_torque')
    weight = inverse_dynamics(mechanism.model, q, still, still)
    assert np.abs(weight).max() > 0.1
    assert np.abs(result.tau).max() < SOLVED


# Refusals -----------------------------------------------------------------------------------------

def test_an_underactuated_motion_is_refused_and_the_hybrid_one_offered():
    """A five-bar with one motor: the message names the free motion; hybrid dynamics solves it."""
    mechanism = load('five_bar')
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 5)
    a = rank_deficient_forward(model, q, v, tau, constraints).a
    active = np.arange(model.nv) == int(np.flatnonzero(mechanism.active)[0])
    with pytest.raises(DynamicsError,
                       match=r'rank\(A_p\) = 2 of 3 .*hybrid dynamics') as info:
        constrained_inverse_dynamics(model, q, v, a, constraints, active)
    loose = [joint.name for joint, motor in zip(model.joints, active) if not motor]
    assert all(name in str(info.value) for name in loose)
    offered = rank_deficient_hybrid(model, q, v, a, np.zeros(model.nv), active, constraints)
    found = rows(model, q, v, constraints)
    assert offered.a[active] == a[active] and not offered.tau[~active].any()
    assert relative(found.A @ offered.a, -found.gamma) < SOLVED
    assert relative(inverse_dynamics(model, q, v, offered.a),
                    offered.tau + found.A.T @ offered.multipliers) < SOLVED


@pytest.mark.parametrize('what', ['position', 'velocity', 'acceleration'])
def test_a_motion_that_breaks_the_constraints_is_refused_with_its_size(looped, what):
    """The message names the row; a wider tolerance accepts it."""
    push = 1e-3 * looped.rng.normal(size=looped.model.nv)
    broken = {'position': looped._replace(q=looped.robot.integrate(looped.q, push)),
              'velocity': looped._replace(v=looped.v + push),
              'acceleration': looped._replace(a=looped.a + push)}[what]
    found = rows(broken.model, broken.q, broken.v, broken.constraints)
    sizes = {'position': found.residual, 'velocity': found.A @ broken.v,
             'acceleration': found.A @ broken.a + found.gamma}[what]
    everywhere = np.ones(looped.model.nv, dtype=bool)
    if what == 'position' and not sizes.any():  # contacts are where they are: their v is broken
        what, sizes = 'velocity', found.A @ broken.v
    with pytest.raises(DynamicsError, match=f"the {what} violates constraint row '.*' by") as info:
        inverse(broken, everywhere)
    said = float(str(info.value).split(' by ')[1].split(';')[0])
    assert np.abs(sizes - said).min() < 1e-2 * abs(said)
    assert np.isfinite(inverse(broken, everywhere, tolerance=1.0).tau).all()


@pytest.mark.parametrize('options, reason', [
    ({'choice': 'cheapest'}, "'cheapest' is none of: least_force, least_torque, weighted, unique"),
    ({'choice': 'weighted', 'torque_weights': [-1.0, 1.0]}, r'torque_weights\[0\] is -1'),
    ({'choice': 'weighted', 'force_weights': [1.0, np.nan]}, r'force_weights\[1\] is nan'),
    ({'choice': 'weighted', 'force_weights': [1.0]}, r'force_weights must have shape \(2,\)')])
def test_invalid_resolutions_are_refused(options, reason):
    """By name, with the valid ones."""
    mechanism = load('five_bar')
    q, v, _ = standing(mechanism.model, mechanism.constraints, 5)
    a = rank_deficient_forward(mechanism.model, q, v, 0.0 * v, mechanism.constraints).a
    with pytest.raises(DynamicsError, match=reason):
        constrained_inverse_dynamics(mechanism.model, q, v, a, mechanism.constraints,
                                     mechanism.active, **options)
