"""Test that rotation matrices are checked and orthonormalised."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, ModelError
from dynamics_node.spatial import so3
from dynamics_node.spatial.checked_rotation import EXACT, ORTHONORMAL, checked_rotation

RNG = np.random.default_rng(0)


def test_an_exact_rotation_is_returned_unchanged():
    R = so3.exp(RNG.normal(size=3))
    assert checked_rotation('pose', R) is R


def test_a_rounded_rotation_is_orthonormalised():
    R = so3.exp(RNG.normal(size=3))
    found = checked_rotation('pose', np.round(R, 7))
    assert EXACT < np.abs(np.round(R, 7) @ np.round(R, 7).T - np.eye(3)).max() < ORTHONORMAL
    assert np.abs(found @ found.T - np.eye(3)).max() < 1e-15
    assert np.abs(found - R).max() < 1e-6


@pytest.mark.parametrize('wrong', [np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 1.1]),
                                   np.zeros((3, 3)), np.eye(3) + 1e-5, np.full((3, 3), 1e200)])
def test_other_matrices_are_refused_by_name(wrong):
    with pytest.raises(DynamicsError, match='pose is not a rotation') as raised:
        checked_rotation('pose', wrong)
    assert type(raised.value) is DynamicsError
    with pytest.raises(ModelError):
        checked_rotation('pose', wrong, ModelError)
