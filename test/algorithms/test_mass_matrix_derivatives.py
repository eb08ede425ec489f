"""Test Christoffel symbols, derivatives of M and gravity stiffness on random trees."""

import numpy as np
from support import complex_steps
from support.differences import gradient, relative, some_directions
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import Robot
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.inverse_dynamics import bias_torque, gravity_torque
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.algorithms.kinematics_derivatives import (
    frame_pose_derivatives,
    frame_twist_derivatives,
)
from dynamics_node.algorithms.linearization import velocity_brackets
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.mass_matrix_derivatives import mass_matrix_derivatives


def moves_by_rates(model):
    """Return which velocities are dq/dt: all but a floating joint's, (nv,)."""
    plain = np.ones(model.nv, dtype=bool)
    for joint in model.joints:
        if joint.kind == 'floating':
            plain[joint.v] = False
    return plain


def test_mass_matrix_derivatives_are_complex_steps(tree):
    """First index: by which coordinate."""
    model, q = tree.robot.model, tree.q
    D = some_directions(model.nv)
    expected = complex_steps.by_q(model, lambda x: mass_matrix(model, x), q, D)
    assert relative(np.tensordot(D.T, mass_matrix_derivatives(model, q), axes=1),
                    np.moveaxis(expected, -1, 0)) < EXACT_MATHS


def test_mass_matrix_derivatives_are_central_differences(tree):
    """Along the configuration manifold."""
    model, q = tree.robot.model, tree.q
    D = some_directions(model.nv)
    expected = gradient(tree.robot, lambda x: mass_matrix(model, x), q, D)
    assert relative(np.tensordot(D.T, mass_matrix_derivatives(model, q), axes=1),
                    np.moveaxis(expected, -1, 0)) < RATE_BY_DIFFERENCES


def test_mass_matrix_rate_is_the_coriolis_matrix_and_its_transpose(tree):
    """Sum of dM/dq_k v_k = C + C'."""
    model, q, v = tree.robot.model, tree.q, tree.v
    C = coriolis_matrix(model, q, v)
    rate = np.tensordot(v, mass_matrix_derivatives(model, q), axes=1)
    assert relative(rate, C + C.T) < EXACT_MATHS


def test_christoffel_symbols_make_the_coriolis_matrix_and_the_bias(tree):
    """C_ij = sum Gamma_ijk v_k, and Gamma v v + g = bias."""
    model, q, v = tree.robot.model, tree.q, tree.v
    Gamma = christoffel_symbols(model, q)
    assert relative(Gamma @ v, coriolis_matrix(model, q, v)) < EXACT_MATHS
    assert relative(Gamma @ v @ v + gravity_torque(model, q),
                    bias_torque(model, q, v)) < EXACT_MATHS


def test_christoffel_symbols_follow_their_definition(tree):
    """1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) for coordinates whose rates are velocities."""
    model, q = tree.robot.model, tree.q
    slope = complex_steps.by_q(model, lambda x: mass_matrix(model, x), q)
    expected = 0.5 * (slope + slope.transpose(0, 2, 1) - slope.transpose(2, 1, 0))
    plain = np.ix_(*3 * [moves_by_rates(model)])
    assert relative(christoffel_symbols(model, q)[plain], expected[plain]) < EXACT_MATHS


def test_christoffel_symbols_are_symmetric_but_for_the_bracket(tree):
    """Gamma_ijk - Gamma_ikj = (M ad_{e_k} e_j)_i: zero without floating joints, no torsion."""
    model, q = tree.robot.model, tree.q
    Gamma = christoffel_symbols(model, q)
    torsion = Gamma - Gamma.transpose(0, 2, 1)
    expected = np.einsum('il,klj->ijk', mass_matrix(model, q), velocity_brackets(model))
    assert relative(torsion, expected) < EXACT_MATHS


def test_gravity_stiffness_is_the_derivative_of_gravity_torque(tree):
    """By complex steps, and along the configuration manifold."""
    model, q = tree.robot.model, tree.q
    stiffness = gravity_stiffness(model, q)
    D = some_directions(model.nv)
    assert relative(stiffness @ D, complex_steps.by_q(
        model, lambda x: gravity_torque(model, x), q, D)) < EXACT_MATHS
    assert relative(stiffness @ D, gradient(
        tree.robot, lambda x: gravity_torque(model, x), q, D)) < RATE_BY_DIFFERENCES


def test_gravity_stiffness_is_a_hessian_where_velocities_are_rates(tree):
    """Symmetric: gravity does no work on a loop."""
    model = tree.robot.model
    plain = moves_by_rates(model)
    stiffness = gravity_stiffness(model, tree.q)[np.ix_(plain, plain)]
    assert relative(stiffness, stiffness.T) < EXACT_MATHS


def test_gravity_stiffness_of_a_floating_joint_is_skew_by_the_bracket(tree):
    """K_jk - K_kj = g . ad_{e_k} e_j."""
    model, q = tree.robot.model, tree.q
    K = gravity_stiffness(model, q)
    expected = np.einsum('l,klj->jk', gravity_torque(model, q), velocity_brackets(model))
    assert relative(K - K.T, expected) < EXACT_MATHS


def test_a_robot_that_cannot_move_has_empty_derivatives():
    """No coordinate, no entry, no error."""
    model = Robot.from_urdf('<robot name="rock"><link name="rock"/></robot>', compile=False).model
    none = np.zeros(0)
    assert christoffel_symbols(model, none).shape == (0, 0, 0)
    assert mass_matrix_derivatives(model, none).shape == (0, 0, 0)
    assert gravity_stiffness(model, none).shape == (0, 0)
    for part in inverse_dynamics_derivatives(model, none, none, none):
        assert part.shape == (0, 0)
    for part in forward_dynamics_derivatives(model, none, none, none)[:3]:
        assert part.shape == (0, 0)
    assert frame_pose_derivatives(model, none, 'rock').shape == (0, 4, 4)
    assert frame_twist_derivatives(model, none, none, 'rock').dq.shape == (6, 0)
