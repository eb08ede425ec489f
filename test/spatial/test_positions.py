"""Test Cartesian, cylindrical and spherical coordinates: conversions and Hutter's equations."""

import numpy as np
import pytest
from support.cartesian_positions import to_cartesian

from dynamics_node.errors import DynamicsError
from dynamics_node.spatial.positions import POSITIONS, from_cartesian

ROUNDING = 1e-14
PLACES = np.concatenate([
    np.random.default_rng(2).normal(size=(100, 3)),
    [[0, 0, 0], [0, 0, 1], [0, 0, -2], [1e-300, 0, 1], [0, -1e-9, 3], [-1, 0, 0], [1e9, -1e9, 1]]])


@pytest.mark.parametrize('kind', POSITIONS)
def test_parameters_convert_back_to_the_position(kind):
    """Also on the axis, where an angle is not unique."""
    chi = from_cartesian(kind, PLACES)
    scale = np.maximum(1.0, np.abs(PLACES).max(axis=1, keepdims=True))
    np.testing.assert_allclose(to_cartesian(kind, chi) / scale, PLACES / scale, atol=ROUNDING)


def test_positions_are_those_of_hutter():
    """Eq. 2.6 and 2.8."""
    np.testing.assert_allclose(to_cartesian('cylindrical', [2.0, 0.3, -1.0]),
                               [2.0 * np.cos(0.3), 2.0 * np.sin(0.3), -1.0])
    np.testing.assert_allclose(
        to_cartesian('spherical', [2.0, 0.3, 0.8]),
        [2.0 * np.cos(0.3) * np.sin(0.8), 2.0 * np.sin(0.3) * np.sin(0.8), 2.0 * np.cos(0.8)])


def test_known_positions_have_known_coordinates():
    np.testing.assert_allclose(from_cartesian('cylindrical', [0.0, 2.0, 3.0]), [2, np.pi / 2, 3])
    np.testing.assert_allclose(from_cartesian('spherical', [-3.0, 0.0, 0.0]), [3, np.pi, np.pi / 2])
    np.testing.assert_array_equal(from_cartesian('spherical', [0.0, 0.0, -3.0]), [3, 0, np.pi])


@pytest.mark.parametrize('kind', POSITIONS)
def test_a_batch_gives_the_results_of_single_positions(kind):
    places = PLACES[:6].reshape(2, 3, 3)
    chi = from_cartesian(kind, places)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_array_equal(chi[i, j], from_cartesian(kind, places[i, j]))
    assert from_cartesian(kind, np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(('kind', 'chi', 'words'), [
    ('polar', [1, 2, 3], "'polar'; expected one of cartesian, cylindrical, spherical"),
    ('spherical', [1, 2], r'spherical: expected numbers of shape \(3,\)'),
    ('cylindrical', [1, np.inf, 0], 'cylindrical: every entry must be finite'),
])
def test_invalid_positions_are_refused_by_name(kind, chi, words):
    with pytest.raises(DynamicsError, match=words):
        to_cartesian(kind, chi)


def test_an_unknown_kind_is_refused_by_the_inverse():
    with pytest.raises(DynamicsError, match="'polar'; expected one of"):
        from_cartesian('polar', [1, 2, 3])
