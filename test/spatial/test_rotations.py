"""Test eight parametrisations of rotations against SciPy and Hutter 2017, and back."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.tolerances import EXACT_MATHS

from dynamics_node.errors import DynamicsError
from dynamics_node.spatial import rotations
from dynamics_node.spatial.rotations import SIZES, from_matrix, to_matrix

KINDS = tuple(SIZES)
EULER = ('euler_zyx', 'euler_xyz', 'euler_zyz', 'euler_zxz')
ROUNDING = 1e-14  # of some products of numbers up to 1
# Where a kind is not unique, nearly not, and in the last bits not: locks, no turn, half turns.
NEARLY = (0.0, 1e-16, 1e-12, 1e-8, 1e-4)
SPECIAL = [about @ other @ about for quarter in range(-2, 3) for near in NEARLY
           for first, second in ((0, 1), (1, 2), (2, 0), (2, 1))
           for about, other in [(rotations.about(first, np.pi / 4 * quarter),
                                 rotations.about(second, np.pi / 2 * quarter + near))]]


@pytest.fixture
def turns():
    """Random rotations and special ones, (N, 3, 3)."""
    return np.concatenate([Rotation.random(200, rng=3).as_matrix(), SPECIAL])


def in_scipy(kind, chi):
    """Return scipy's Rotation of the parameters."""
    if kind in EULER:
        return Rotation.from_euler(kind[-3:].upper(), chi)  # upper case: about the body's axes
    if kind == 'angle_axis':
        return Rotation.from_rotvec(chi[..., :1] * chi[..., 1:])
    return {'matrix': Rotation.from_matrix, 'quaternion': Rotation.from_quat,
            'rotation_vector': Rotation.from_rotvec}[kind](chi)


def parameters(kind, rng, n):
    """Return any valid parameters, not only those that from_matrix returns."""
    if kind == 'matrix':
        return Rotation.random(n, rng=rng).as_matrix()
    chi = rng.uniform(-9.0, 9.0, (n, *SIZES[kind]))
    unit = {'quaternion': slice(0, 4), 'angle_axis': slice(1, 4)}.get(kind)
    if unit is not None:
        chi[:, unit] /= np.linalg.norm(chi[:, unit], axis=1, keepdims=True)
    return chi


@pytest.mark.parametrize('kind', KINDS)
def test_the_matrix_is_that_of_scipy(kind):
    chi = parameters(kind, np.random.default_rng(1), 100)
    np.testing.assert_allclose(to_matrix(kind, chi), in_scipy(kind, chi).as_matrix(),
                               atol=ROUNDING)


@pytest.mark.parametrize('kind', KINDS)
def test_parameters_convert_back_to_the_matrix(kind, turns):
    """To the last digits, also where they are not unique."""
    chi = from_matrix(kind, turns)
    assert chi.shape == (len(turns), *SIZES[kind])
    np.testing.assert_allclose(to_matrix(kind, chi), turns, atol=ROUNDING)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('to', KINDS)
def test_every_kind_converts_into_every_other(kind, to, turns):
    """And back, since from_matrix is deterministic."""
    turns = turns[:50]
    chi = from_matrix(kind, turns)
    there = from_matrix(to, to_matrix(kind, chi))
    np.testing.assert_allclose(to_matrix(to, there), turns, atol=ROUNDING)
    np.testing.assert_allclose(from_matrix(kind, to_matrix(to, there)), chi, atol=EXACT_MATHS)


def test_ambiguous_parameters_follow_the_documented_rule(turns):
    assert (from_matrix('quaternion', turns)[:, 3] >= 0.0).all()
    assert (np.linalg.norm(from_matrix('rotation_vector', turns), axis=1) <= np.pi + 1e-15).all()
    angle, *axis = from_matrix('angle_axis', turns).T
    assert ((angle >= 0.0) & (angle <= np.pi + 1e-15)).all()
    np.testing.assert_allclose(np.linalg.norm(axis, axis=0), 1.0)
    np.testing.assert_array_equal(from_matrix('angle_axis', np.eye(3)), [0.0, 0.0, 0.0, 1.0])
    for kind in EULER[:2]:
        assert (np.abs(from_matrix(kind, turns)[:, 1]) <= np.pi / 2).all()
    for kind in EULER[2:]:
        middle = from_matrix(kind, turns)[:, 1]
        assert ((middle >= 0.0) & (middle <= np.pi)).all()


def test_matrices_are_those_of_hutter():
    """Eq. 2.33, 2.37 (its entry (1, 2) corrected), 2.41, 2.44, 2.48, 2.54."""
    (a, b, c), n, angle = (0.3, -1.1, 2.0), np.array([2.0, -1.0, 2.0]) / 3.0, 0.7
    (ca, cb, cc), (sa, sb, sc) = np.cos([a, b, c]), np.sin([a, b, c])
    nx, ny, nz = n
    ct, st, one = np.cos(angle), np.sin(angle), 1.0 - np.cos(angle)
    w, (x, y, z) = np.cos(angle / 2), np.sin(angle / 2) * n
    printed = {
        'euler_zyz': [[cb * ca * cc - sa * sc, -cc * sa - cb * ca * sc, ca * sb],
                      [ca * sc + cb * cc * sa, ca * cc - cb * sa * sc, sb * sa],
                      [-cc * sb, sb * sc, cb]],
        'euler_zxz': [[ca * cc - cb * sa * sc, -ca * sc - cb * sa * cc, sb * sa],
                      [cc * sa + cb * ca * sc, cb * ca * cc - sa * sc, -ca * sb],
                      [sb * sc, cc * sb, cb]],
        'euler_zyx': [[cb * ca, ca * sc * sb - cc * sa, sc * sa + cc * ca * sb],
                      [cb * sa, cc * ca + sc * sb * sa, cc * sb * sa - ca * sc],
                      [-sb, cb * sc, cc * cb]],
        'euler_xyz': [[cb * cc, -cb * sc, sb],
                      [ca * sc + cc * sa * sb, ca * cc - sa * sb * sc, -cb * sa],
                      [sa * sc - ca * cc * sb, cc * sa + ca * sb * sc, ca * cb]],
    }
    for kind, R in printed.items():
        np.testing.assert_allclose(to_matrix(kind, [a, b, c]), R, atol=ROUNDING)
    np.testing.assert_allclose(to_matrix('angle_axis', [angle, *n]), [
        [nx * nx * one + ct, nx * ny * one - nz * st, nx * nz * one + ny * st],
        [nx * ny * one + nz * st, ny * ny * one + ct, ny * nz * one - nx * st],
        [nx * nz * one - ny * st, ny * nz * one + nx * st, nz * nz * one + ct]], atol=ROUNDING)
    np.testing.assert_allclose(to_matrix('quaternion', [x, y, z, w]), [
        [w * w + x * x - y * y - z * z, 2 * x * y - 2 * w * z, 2 * w * y + 2 * x * z],
        [2 * w * z + 2 * x * y, w * w - x * x + y * y - z * z, 2 * y * z - 2 * w * x],
        [2 * x * z - 2 * w * y, 2 * w * x + 2 * y * z, w * w - x * x - y * y + z * z]],
        atol=ROUNDING)


@pytest.mark.parametrize('kind', KINDS)
def test_a_batch_gives_the_results_of_single_rotations(kind, turns):
    turns = turns[:6].reshape(2, 3, 3, 3)
    chi = from_matrix(kind, turns)
    assert chi.shape == (2, 3, *SIZES[kind])
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(chi[i, j], from_matrix(kind, turns[i, j]), atol=1e-15)
        np.testing.assert_allclose(to_matrix(kind, chi)[i, j], to_matrix(kind, chi[i, j]),
                                   atol=1e-15)
    assert from_matrix(kind, np.empty((0, 3, 3))).shape == (0, *SIZES[kind])


@pytest.mark.parametrize(('kind', 'chi', 'words'), [
    ('euler_yxz', [0, 0, 0], "'euler_yxz'; expected one of matrix, quaternion"),
    (None, [0, 0, 0], 'None; expected one of'),
    ('quaternion', [0, 0, 1], r'quaternion: expected numbers of shape \(4,\)'),
    ('matrix', [[1, 0], [0, 1]], r'matrix: expected numbers of shape \(3, 3\) or \(.., 3, 3\)'),
    ('euler_zyx', ['a', 'b', 'c'], 'euler_zyx: expected numbers'),
    ('euler_zyx', [0.0, np.nan, 0.0], 'euler_zyx: every entry must be finite'),
    ('quaternion', [0, 0, 0, 1.1], 'quaternion: a length of 1.1, expected 1'),
    ('angle_axis', [1.0, 0, 0, 0], 'angle_axis: a length of 0, expected 1'),
    ('matrix', 2.0 * np.eye(3), 'not a rotation'),
    ('matrix', -np.eye(3), 'determinant'),
])
def test_invalid_rotations_are_refused_by_name(kind, chi, words):
    with pytest.raises(DynamicsError, match=words):
        to_matrix(kind, chi)


def test_an_unknown_kind_is_refused_by_the_inverse():
    with pytest.raises(DynamicsError, match="'rpy'; expected one of"):
        from_matrix('rpy', np.eye(3))
