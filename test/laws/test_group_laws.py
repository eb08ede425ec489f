"""Test SO(3) and SE(3): the laws of the groups, of their algebras and of their actions."""

import numpy as np
import pytest
from support.adjoint_matrices import Ad_matrix, ad_matrix, hat, random_pose
from support.matrix_exponential import matrix_exponential
from support.tolerances import EXACT_MATHS

from dynamics_node.spatial import se3, so3

ROTATION_VECTORS = [
    [0.0, 0.0, 0.0], [1e-12, 0.0, 0.0], [1e-9, -2e-9, 1e-9], [1e-4, 2e-4, -3e-4],
    [0.99 * so3.SMALL_ANGLE, 0.0, 0.0], [1.99 * so3.SMALL_ANGLE, 0.0, 0.0],
    [2.01 * so3.SMALL_ANGLE, 0.0, 0.0], [0.3, -0.2, 0.9], [0.0, 0.0, 1.5], [2.0, 2.0, -1.0],
    [np.pi - 1e-6, 0.0, 0.0], [0.0, np.pi, 0.0], [1.8, 1.8, 1.8],
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_poses_form_a_group(rng):
    """Closure, associativity, identity, inverse."""
    A, B, C = (random_pose(rng) for _ in range(3))
    np.testing.assert_allclose(((A @ B) @ C).matrix(), (A @ (B @ C)).matrix(), atol=EXACT_MATHS)
    np.testing.assert_allclose((A @ B).matrix(), A.matrix() @ B.matrix(), atol=EXACT_MATHS)
    np.testing.assert_allclose((A @ A.inverse()).matrix(), np.eye(4), atol=EXACT_MATHS)
    np.testing.assert_array_equal((A @ se3.IDENTITY).matrix(), A.matrix())
    np.testing.assert_allclose(A.R @ A.R.T, np.eye(3), atol=EXACT_MATHS)
    assert np.linalg.det(A.R) == pytest.approx(1.0)


@pytest.mark.parametrize('w', ROTATION_VECTORS)
def test_exp_of_a_rotation_vector_is_the_matrix_exponential(w):
    """Also across the border of the small-angle series."""
    np.testing.assert_allclose(so3.exp(w), matrix_exponential(so3.skew(w)), atol=1e-14)
    V = np.array([*w, 0.4, -0.7, 1.3])
    np.testing.assert_allclose(se3.exp(V).matrix(), matrix_exponential(hat(V)), atol=1e-13)


@pytest.mark.parametrize('w', ROTATION_VECTORS)
def test_log_undoes_exp(w):
    """Up to half a turn; there w and -w are the same rotation."""
    back = so3.log(so3.exp(w))
    if np.linalg.norm(w) > np.pi - 1e-9:
        np.testing.assert_allclose(so3.exp(back), so3.exp(w), atol=1e-12)
    else:
        np.testing.assert_allclose(back, w, atol=1e-12)
        V = np.array([*w, 0.4, -0.7, 1.3])
        np.testing.assert_allclose(se3.log(se3.exp(V)), V, atol=1e-9)


@pytest.mark.parametrize('angle', [0.0, 1e-300, 1e-9, 1e-3, 1.0, 1.57, np.pi / 2, 1.58, 3.0])
def test_log_is_the_same_by_sine_and_by_quaternion(angle):
    """On both sides of the quarter turn, where the way to compute it changes."""
    R = so3.exp(angle * np.array([0.48, -0.6, 0.64]))
    by_quaternion = so3.quaternion_log(so3.to_quaternion(R))
    np.testing.assert_allclose(so3.log(R), by_quaternion, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize('angle', np.geomspace(1e-12, 1.0, 60))
def test_small_angles_keep_all_digits(angle):
    """On both sides of the border of the series, to the last digit."""
    axis = np.array([0.6, 0.0, -0.8])
    quaternion = np.append(np.sin(0.5 * angle) * axis, np.cos(0.5 * angle))
    np.testing.assert_allclose(so3.quaternion_exp(angle * axis), quaternion, rtol=1e-15)
    np.testing.assert_allclose(so3.quaternion_log(quaternion), angle * axis, rtol=1e-15)
    N = so3.skew(axis)
    V = (np.eye(3) + 2.0 * np.sin(0.5 * angle) ** 2 / angle * N
         + (1.0 - np.sin(angle) / angle) * (N @ N))
    np.testing.assert_allclose(so3.exp_jacobian(angle * axis), V, atol=5e-16)


def test_quaternions_and_matrices_are_the_same_rotations(rng):
    """Product, conversion both ways, and each branch of the conversion."""
    for _ in range(20):
        a, b = (q / np.linalg.norm(q) for q in rng.normal(size=(2, 4)))
        product = so3.from_quaternion(so3.quaternion_product(a, b))
        np.testing.assert_allclose(product, so3.from_quaternion(a) @ so3.from_quaternion(b),
                                   atol=EXACT_MATHS)
        np.testing.assert_allclose(so3.to_quaternion(so3.from_quaternion(a)),
                                   a if a[3] >= 0 else -a, atol=EXACT_MATHS)
    for axis in np.eye(3):
        half_turn = so3.about_axis(axis, np.pi)
        np.testing.assert_allclose(so3.from_quaternion(so3.to_quaternion(half_turn)), half_turn,
                                   atol=EXACT_MATHS)


def test_a_turn_about_an_axis_is_the_exponential(rng):
    """R(axis, angle) = exp(angle [axis])."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    np.testing.assert_allclose(so3.about_axis(axis, 0.7), so3.exp(0.7 * axis), atol=EXACT_MATHS)


def test_urdf_angles_are_fixed_axis_roll_pitch_yaw():
    """Roll about x, then pitch about the fixed y, then yaw about the fixed z."""
    quarter = np.pi / 2
    R = so3.from_rpy([quarter, 0.0, quarter])
    np.testing.assert_allclose(R @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(R @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)


def test_right_angles_of_a_urdf_are_exact():
    """No residue of pi/2 is left, and truncated pi stays the model's value."""
    exact = se3.from_xyz_rpy([0, 0, 0], [np.pi / 2, -np.pi / 2, np.pi]).R
    assert set(np.abs(exact).ravel()) == {0.0, 1.0}
    truncated = se3.from_xyz_rpy([0, 0, 0], [1.57079632679, 0, 0]).R
    assert truncated[1, 1] == pytest.approx(4.9e-12, rel=0.01)


def test_actions_are_their_matrices(rng):
    """Ad, Ad^-1, the dual of Ad^-1, ad and its dual, on vectors, and on four columns and one."""
    T, V, F = random_pose(rng), rng.normal(size=6), rng.normal(size=(6, 4))
    A = Ad_matrix(T)
    for action, matrix in [(se3.Ad, A), (se3.Ad_inv, np.linalg.inv(A)),
                           (se3.Ad_inv_dual, np.linalg.inv(A).T)]:
        np.testing.assert_allclose(action(T, V), matrix @ V, atol=EXACT_MATHS)
        for X in (F, F[:, :1]):
            assert action(T, X).shape == X.shape
            np.testing.assert_allclose(action(T, X), matrix @ X, atol=EXACT_MATHS)
    for X in (V, F, F[:, :1]):
        np.testing.assert_allclose(se3.ad(V, X), ad_matrix(V) @ X, atol=EXACT_MATHS)
        np.testing.assert_allclose(se3.ad_dual(V, X), ad_matrix(V).T @ X, atol=EXACT_MATHS)
        assert se3.ad(V, X).shape == se3.ad_dual(V, X).shape == X.shape


def test_adjoint_is_conjugation_and_bracket_the_commutator(rng):
    """Ad_T V = T V T^-1 (eq. 6), ad_V X = V X - X V, and Jacobi's identity."""
    T, (V, X, Y) = random_pose(rng), rng.normal(size=(3, 6))
    M = T.matrix()
    np.testing.assert_allclose(hat(se3.Ad(T, V)), M @ hat(V) @ np.linalg.inv(M), atol=EXACT_MATHS)
    np.testing.assert_allclose(hat(se3.ad(V, X)), hat(V) @ hat(X) - hat(X) @ hat(V),
                               atol=EXACT_MATHS)
    jacobi = (se3.ad(V, se3.ad(X, Y)) + se3.ad(X, se3.ad(Y, V)) + se3.ad(Y, se3.ad(V, X)))
    np.testing.assert_allclose(jacobi, 0.0, atol=EXACT_MATHS)


def test_bracket_is_the_rate_of_the_adjoint(rng):
    """d/dt Ad_{exp(tV)} X = ad_V X at t = 0."""
    V, X = rng.normal(size=(2, 6))
    h = 1e-6
    rate = (se3.Ad(se3.exp(h * V), X) - se3.Ad(se3.exp(-h * V), X)) / (2 * h)
    np.testing.assert_allclose(rate, se3.ad(V, X), atol=1e-8)
