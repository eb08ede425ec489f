"""Test Pan's universal form [-I C; C' 0] against the O(n) passes over joint coordinates."""

import numpy as np
import pytest
from support import looped_trees, random_trees
from support.bundled_mechanisms import load, standing
from support.differences import relative
from support.massless_links import MASSLESS
from support.rigid_robots import body, point, still
from support.universal_form import free_bodies, universal_form

from dynamics_node import Robot
from dynamics_node.algorithms.inverse_dynamics import needed_wrench, newton_euler_motions
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.constrained.classification import EXACTLY, FAILURES, OVER, UNDER
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.constraint_report import report
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.hybrid import constrained_hybrid_dynamics
from dynamics_node.spatial.se3 import Ad_inv_dual

DUAL_PATHS = 1e-9  # two paths with nothing in common but a body and a row; conditions up to 1e5


def solve_universal(looped, given):
    return universal_form(looped.model, looped.q, looped.v, looped.a, looped.tau, given,
                            looped.constraints, looped.wrenches)


def test_forward_dynamics_agrees(looped):
    """Problem 8: accelerations and loop forces."""
    solution = solve_universal(looped, np.zeros(looped.model.nv, dtype=bool))
    expected = constrained_forward_dynamics(looped.model, looped.q, looped.v, looped.tau,
                                            looped.constraints, looped.wrenches)
    assert relative(solution.a, expected.a) < DUAL_PATHS
    assert relative(solution.multipliers, expected.multipliers) < DUAL_PATHS
    assert solution.failure == 0 and FAILURES[solution.failure] == ''
    assert solution.classification.kind == UNDER
    assert solution.classification.free == looped.model.nv - len(solution.multipliers)


def test_hybrid_dynamics_agrees(looped):
    """A prescribed acceleration is one more constraint, its torque one more multiplier."""
    given = looped_trees.some_prescribed(looped)
    expected = constrained_hybrid_dynamics(looped.model, looped.q, looped.v, looped.a, looped.tau,
                                           given, looped.constraints, looped.wrenches)
    solution = solve_universal(looped, given)
    for field in ('a', 'tau', 'multipliers'):
        assert relative(getattr(solution, field), getattr(expected, field)) < DUAL_PATHS


@pytest.mark.parametrize('name', ['four_bar', 'slider_crank', 'five_bar', 'stewart', 'delta',
                                  'gripper'])
def test_mechanisms_agree(name):
    """Forward, and driven at their motors: then they are exactly constrained."""
    mechanism = load(name)
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 2)
    nothing = np.zeros(model.nv, dtype=bool)
    expected = constrained_forward_dynamics(model, q, v, tau, constraints)
    solution = universal_form(model, q, v, 0.0 * v, tau, nothing, constraints)
    assert relative(solution.a, expected.a) < DUAL_PATHS
    driven = universal_form(model, q, v, expected.a, tau, mechanism.active, constraints)
    assert relative(driven.tau, tau) < DUAL_PATHS
    assert driven.classification.kind == EXACTLY
    assert driven.classification.grounded
    assert driven.classification.kind == report(model, q, v, constraints,
                                                mechanism.active).driven.kind


def test_bearings_balance_every_body():
    """Without loops the reactions are those of the Newton-Euler recursion."""
    for tree in random_trees.TREES[:3:2]:
        specimen = random_trees.make(tree)
        model = specimen.robot.model
        everything = np.ones(model.nv, dtype=bool)
        solution = universal_form(model, specimen.q, specimen.v, specimen.a, specimen.tau,
                                  everything, ())
        T, S = joints_at(model, specimen.q)
        motions = newton_euler_motions(model, T, S, specimen.q, specimen.v, specimen.a)
        F = [needed_wrench(inertia, motion)
             for inertia, motion in zip(model.inertias, motions[:-1])] + [np.zeros(6)]
        for i in reversed(range(len(model.bodies))):
            F[model.bodies[i].parent] += Ad_inv_dual(T[i], F[i])
        for reaction, passed, subspace in zip(solution.reactions, F, S):
            across = np.eye(6) - subspace @ np.linalg.pinv(subspace)
            assert relative(reaction, across @ passed) < DUAL_PATHS


def test_free_bodies_have_the_masses_and_frames_of_the_robot(tree):
    """Six coordinates each."""
    free = free_bodies(tree.robot.model)
    assert free.nv == 6 * len(tree.robot.model.bodies)
    assert free.frames == tree.robot.model.frames


# Classes and failures -----------------------------------------------------------------------------

def test_a_four_bar_with_hinges_in_space_is_over_constrained():
    """Pan's own example: driven, every motion is determined, and three rows are redundant."""
    mechanism = load('four_bar')
    q, v, tau = standing(mechanism.model, mechanism.constraints, 2)
    pin = mechanism.constraints[0]
    hinge = (Constraint('tip', 'revolute', pin.frame, pin.to, pin.pose, pin.to_pose,
                        axis=(0.0, 1.0, 0.0)),)
    expected = constrained_forward_dynamics(mechanism.model, q, v, tau, mechanism.constraints)
    solution = universal_form(mechanism.model, q, v, expected.a, tau, mechanism.active, hinge)
    assert solution.classification.kind == OVER and solution.classification.redundant == 3
    assert solution.failure == 0
    assert relative(solution.a, expected.a) < DUAL_PATHS
    assert relative(solution.tau, tau) < DUAL_PATHS


def test_a_legged_robot_without_contacts_is_under_constrained():
    """With every motor locked: rank(C) <= m - 6."""
    solution = universal_form(body().model, still(), np.zeros(6), np.zeros(6), np.zeros(6),
                              np.zeros(6, dtype=bool), ())
    assert not solution.classification.grounded
    assert relative(solution.a, [0.0, 0.0, -9.81, 0.0, 0.0, 0.0]) < DUAL_PATHS


def test_a_contradiction_is_failure_condition_1():
    """A rod that spins between two fixed pins: c_a is not in the range of C."""
    ends = (point('left', (-0.4, 0.0, 0.0)), point('right', (0.4, 0.0, 0.0)))
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    solution = universal_form(body().model, still(), v, np.zeros(6), np.zeros(6),
                              np.zeros(6, dtype=bool), ends)
    assert solution.failure == 1
    assert np.isfinite(solution.a).all() and np.isfinite(solution.multipliers).all()


def test_a_torque_without_inertia_is_failure_condition_2():
    """A massless link has no acceleration; without the torque it has any."""
    model = Robot.from_urdf(MASSLESS, compile=False).model
    free, zero = np.zeros(2, dtype=bool), np.zeros(2)
    loaded = universal_form(model, zero, zero, zero, np.array([0.0, 1.0]), free, ())
    assert loaded.failure == 2 and 'failure condition 2' in FAILURES[2]
    left = universal_form(model, zero, zero, zero, np.array([1.0, 0.0]), free, ())
    assert left.failure == 0
    assert np.isfinite(left.a).all() and abs(left.a[0] - 1.0) < DUAL_PATHS
