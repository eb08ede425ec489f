"""Test E and its inverse: complex steps, differences, Hutter 2017; singularities raise."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.cartesian_positions import to_cartesian
from support.complex_steps import STEP
from support.differences import STEP as DIFFERENCE
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.errors import DynamicsError, SingularParametrisation
from dynamics_node.spatial import rotations, so3
from dynamics_node.spatial.positions import POSITIONS, from_cartesian
from dynamics_node.spatial.rate_maps import SINGULAR, inverse_rate_map, rate_map
from dynamics_node.spatial.rotations import SIZES, from_matrix, to_matrix

ROTATIONS = tuple(SIZES)
LOCKED = {'euler_zyx': [0.3, np.pi / 2, 0.2], 'euler_xyz': [0.3, -np.pi / 2, 0.2],
          'euler_zyz': [0.3, 0.0, 0.2], 'euler_zxz': [0.3, np.pi, 0.2],
          'angle_axis': [0.0, 0.6, 0.0, 0.8], 'rotation_vector': [2 * np.pi, 0.0, 0.0],
          'cylindrical': [0.0, 0.4, 1.0], 'spherical': [2.0, 0.4, 0.0]}


@pytest.fixture
def turns():
    return Rotation.random(30, rng=7).as_matrix()


@pytest.mark.parametrize('kind', ROTATIONS[1:])
def test_angular_velocity_is_that_of_the_matrix(kind, turns):
    """[omega] = R' R^T (eq. 2.72) along every parameter, by complex steps: all columns of E."""
    for chi in from_matrix(kind, turns):
        E = rate_map(kind, chi)
        for k, unit in enumerate(np.eye(len(chi))):
            rate = to_matrix(kind, chi + 1j * STEP * unit).imag / STEP
            np.testing.assert_allclose(E[:, k], so3.unskew(rate @ to_matrix(kind, chi).T),
                                       atol=EXACT_MATHS)


@pytest.mark.parametrize('kind', POSITIONS)
def test_velocity_is_that_of_the_position(kind):
    for chi in from_cartesian(kind, np.random.default_rng(0).normal(size=(30, 3))):
        rates = [to_cartesian(kind, chi + 1j * STEP * unit).imag / STEP for unit in np.eye(3)]
        np.testing.assert_allclose(rate_map(kind, chi), np.transpose(rates), atol=EXACT_MATHS)


@pytest.mark.parametrize('kind', ROTATIONS)
def test_parameters_follow_a_turning_body(kind, turns):
    """d/dt from_matrix(R(t)) = E^-1 omega, by central differences.

    These err by the third derivative, which grows with the third power of 1 / clearance.
    """
    w = np.array([0.3, -0.5, 0.8])
    ahead, behind = (from_matrix(kind, so3.exp(step * w) @ turns)
                     for step in (DIFFERENCE, -DIFFERENCE))
    rate = ((ahead - behind) / (2 * DIFFERENCE)).reshape(len(turns), -1)
    matrix, clearance = inverse_rate_map(kind, from_matrix(kind, turns))
    assert (np.abs(rate - matrix @ w).max(axis=1) <= RATE_BY_DIFFERENCES / clearance ** 3).all()


@pytest.mark.parametrize('kind', ROTATIONS + POSITIONS)
def test_the_inverse_map_inverts_the_rate_map(kind, turns):
    """E E^-1 = 1; E^-1 E = 1 on the rates of real motions; |E^-1| = 1 / clearance."""
    chi = (from_matrix(kind, turns) if kind in ROTATIONS
           else from_cartesian(kind, turns[:, 0]))
    E, (back, clearance) = rate_map(kind, chi), inverse_rate_map(kind, chi)
    size = 1.0 / clearance[:, None, None]
    np.testing.assert_allclose(E @ back / size, np.eye(3) / size, atol=EXACT_MATHS)
    np.testing.assert_allclose(back @ E @ back / size, back / size, atol=EXACT_MATHS)
    np.testing.assert_allclose(np.linalg.norm(back, 2, axis=(1, 2)) * clearance, 1.0)


def test_rates_keep_unit_lengths_and_right_angles(turns):
    """E^-1 respects the constraints of redundant parametrisations."""
    for R in turns:
        q, (_, *n) = from_matrix('quaternion', R), from_matrix('angle_axis', R)
        assert np.abs(q @ inverse_rate_map('quaternion', q).matrix).max() < EXACT_MATHS
        rates = inverse_rate_map('angle_axis', from_matrix('angle_axis', R)).matrix[1:]
        assert np.abs(n @ rates).max() < EXACT_MATHS
        for rate in inverse_rate_map('matrix', R).matrix.T:
            turning = rate.reshape(3, 3) @ R.T
            np.testing.assert_allclose(turning, -turning.T, atol=EXACT_MATHS)


def test_inverse_maps_are_those_of_hutter():
    """Eq. 2.14, 2.17, 2.87, 2.89, 2.91, 2.93, 2.99, 2.103, 2.107."""
    a, b, c = chi = np.array([0.7, 0.4, -1.2])
    (ca, cb), (sa, sb) = np.cos([a, b]), np.sin([a, b])
    rho, r = 1.3, 1.7
    cp, sp = np.cos(0.9), np.sin(0.9)
    n, angle = np.array([2.0, -1.0, 2.0]) / 3.0, 0.8
    N, t = so3.skew(n), np.linalg.norm(chi)
    x, y, z, w = q = np.array([0.1, -0.7, 0.5, 0.5])
    cases = [
        ('cylindrical', [rho, a, 0.2], [[ca, sa, 0], [-sa / rho, ca / rho, 0], [0, 0, 1]]),
        ('spherical', [r, a, 0.9], [[ca * sp, sp * sa, cp], [-sa / (r * sp), ca / (r * sp), 0],
                                    [cp * ca / r, cp * sa / r, -sp / r]]),
        ('euler_zyx', chi, [[ca * sb / cb, sb * sa / cb, 1], [-sa, ca, 0], [ca / cb, sa / cb, 0]]),
        ('euler_xyz', chi, [[1, sa * sb / cb, -ca * sb / cb], [0, ca, sa],
                            [0, -sa / cb, ca / cb]]),
        ('euler_zyz', chi, [[-cb * ca / sb, -cb * sa / sb, 1], [-sa, ca, 0],
                            [ca / sb, sa / sb, 0]]),
        ('euler_zxz', chi, [[-cb * sa / sb, cb * ca / sb, 1], [ca, sa, 0],
                            [sa / sb, -ca / sb, 0]]),
        ('quaternion', q, 0.5 * np.array([[w, z, -y], [-z, w, x], [y, -x, w], [-x, -y, -z]])),
        ('angle_axis', [angle, *n],
         [n, *(-0.5 * np.sin(angle) / (1 - np.cos(angle)) * N @ N - 0.5 * N)]),
        ('rotation_vector', chi, np.eye(3) - 0.5 * so3.skew(chi) + so3.skew(chi) @ so3.skew(chi)
         / t ** 2 * (1 - t / 2 * np.sin(t) / (1 - np.cos(t)))),
    ]
    for kind, parameters, printed in cases:
        np.testing.assert_allclose(inverse_rate_map(kind, parameters).matrix, printed,
                                   atol=EXACT_MATHS, err_msg=kind)


@pytest.mark.parametrize('kind', LOCKED)
def test_a_singularity_raises(kind):
    """The error has the kind, the value and the clearance; E itself is still defined."""
    chi = np.array(LOCKED[kind])
    assert np.isfinite(rate_map(kind, chi)).all()
    with pytest.raises(SingularParametrisation, match=f'{kind} is singular at') as caught:
        inverse_rate_map(kind, np.stack([chi + 0.3 if 'axis' not in kind else [1, 0, 0, 1], chi]))
    assert isinstance(caught.value, DynamicsError)
    assert caught.value.kind == kind and caught.value.clearance < 1e-15
    np.testing.assert_array_equal(caught.value.value, chi)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.clearance == caught.value.clearance


@pytest.mark.parametrize('kind', LOCKED)
def test_the_clearance_falls_to_zero_with_the_distance(kind):
    """In proportion, near a singularity."""
    shift = np.zeros(len(LOCKED[kind]))
    shift[0 if kind in ('angle_axis', 'rotation_vector', 'cylindrical') else
          (2 if kind == 'spherical' else 1)] = 1.0
    far, near = (inverse_rate_map(kind, LOCKED[kind] + distance * shift).clearance
                 for distance in (-1e-2, -1e-4))
    assert near == pytest.approx(0.01 * far, rel=1e-2)
    with pytest.raises(SingularParametrisation):
        inverse_rate_map(kind, LOCKED[kind] + 0.1 * SINGULAR * shift)


def test_quaternions_and_matrices_are_never_singular(turns):
    assert inverse_rate_map('quaternion', from_matrix('quaternion', turns)).clearance == (
        pytest.approx(2.0))
    assert inverse_rate_map('matrix', turns).clearance == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize('kind', ROTATIONS + POSITIONS)
def test_a_batch_gives_the_results_of_single_states(kind, turns):
    turns = turns[:6].reshape(2, 3, 3, 3)
    chi = from_matrix(kind, turns) if kind in SIZES else from_cartesian(kind, turns[..., 0])
    E, (back, clearance) = rate_map(kind, chi), inverse_rate_map(kind, chi)
    for at in np.ndindex(2, 3):
        np.testing.assert_allclose(E[at], rate_map(kind, chi[at]), atol=1e-15)
        one = inverse_rate_map(kind, chi[at])
        np.testing.assert_allclose(back[at], one.matrix, atol=EXACT_MATHS)
        assert clearance[at] == pytest.approx(one.clearance)
    none = chi.reshape(6, *chi.shape[2:])[:0]
    assert inverse_rate_map(kind, none).matrix.shape == (0, *back.shape[2:])


def test_an_unknown_kind_is_refused():
    with pytest.raises(DynamicsError, match="'rpy'; expected one of"):
        rate_map('rpy', [0, 0, 0])
    assert rotations.SIZES.keys().isdisjoint(POSITIONS)
