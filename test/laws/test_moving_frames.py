"""Test frames on moving bodies: laws of composition, derivatives of the composed pose."""

from typing import NamedTuple

import numpy as np
import pytest
from support.complex_steps import STEP
from support.differences import STEP as DIFFERENCE
from support.moving_frames import Motion, point_acceleration, point_velocity, seen_from
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.spatial import so3
from dynamics_node.spatial.rotations import to_matrix


class Curve(NamedTuple):
    """A pose that moves: polynomials of Euler angles and position, (3, 4) each."""

    angles: np.ndarray
    position: np.ndarray

    def pose(self, t):
        powers = t ** np.arange(4)
        return to_matrix('euler_zyx', self.angles @ powers), self.position @ powers


def curve(rng):
    return Curve(*rng.normal(size=(2, 3, 4)))


def velocity(pose, t):
    """Return (v, w) by a complex step."""
    R, p = pose(t + 1j * STEP)
    return p.imag / STEP, so3.unskew(R.imag / STEP @ R.real.T)


def motion(pose, t):
    """Return the Motion of a pose: velocities by complex steps, whose differences are the rest."""
    R, p = pose(t)
    v, w = velocity(pose, t)
    ahead, behind = (np.array(velocity(pose, t + h)) for h in (DIFFERENCE, -DIFFERENCE))
    return Motion(R, p, v, w, *((ahead - behind) / (2 * DIFFERENCE)))


def composed(first, second):
    def pose(t):
        (R1, p1), (R2, p2) = first(t), second(t)
        return R1 @ R2, p1 + R1 @ p2
    return pose


def inverted(pose):
    def inverse(t):
        R, p = pose(t)
        return R.T, -(R.T @ p)
    return inverse


def assert_same(ours, theirs, tolerance):
    for name, mine, its in zip(Motion._fields, ours, theirs):
        scale = max(1.0, np.abs(its).max())
        np.testing.assert_allclose(mine / scale, its / scale, atol=tolerance, err_msg=name)


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def test_motions_compose_as_the_poses_do(rng):
    A, B = curve(rng).pose, curve(rng).pose
    assert_same(motion(A, 0.4) @ motion(B, 0.4), motion(composed(A, B), 0.4), RATE_BY_DIFFERENCES)


def test_an_observer_on_the_body_sees_the_inverse(rng):
    A = curve(rng).pose
    assert_same(motion(A, 0.4).inverse(), motion(inverted(A), 0.4), RATE_BY_DIFFERENCES)


def test_a_motion_seen_from_a_moving_frame_and_back_is_unchanged(rng):
    """And back in the world."""
    A, B = curve(rng).pose, curve(rng).pose
    ours = seen_from(motion(A, 0.4), motion(B, 0.4))
    assert_same(ours, motion(composed(inverted(A), B), 0.4), RATE_BY_DIFFERENCES)
    assert_same(motion(A, 0.4) @ ours, motion(B, 0.4), EXACT_MATHS)


def test_motions_form_a_group(rng):
    A, B, C = (motion(curve(rng).pose, 0.2) for _ in range(3))
    rest = Motion(np.eye(3), *np.zeros((5, 3)))
    assert_same((A @ B) @ C, A @ (B @ C), EXACT_MATHS)
    assert_same(A @ A.inverse(), rest, EXACT_MATHS)
    assert_same(A.inverse() @ A, rest, EXACT_MATHS)
    assert_same((A @ B).inverse(), B.inverse() @ A.inverse(), EXACT_MATHS)


def test_a_point_of_the_body_is_a_frame_at_rest_in_it(rng):
    """Eq. 2.121 and 2.122 are the composition without relative motion."""
    A, r = motion(curve(rng).pose, 0.4), rng.normal(size=3)
    point = A @ Motion(np.eye(3), r, *np.zeros((4, 3)))
    np.testing.assert_allclose(point_velocity(A.v, A.w, A.R @ r), point.v)
    np.testing.assert_allclose(point_acceleration(A.a, A.w, A.dw, A.R @ r), point.a)


def test_a_carousel_has_centripetal_and_coriolis_acceleration():
    """At w, inwards w^2 r; a point that moves outwards gets 2 w v sideways."""
    still = np.zeros(3)
    carousel = Motion(np.eye(3), still, still, np.array([0.0, 0.0, 2.0]), still, still)
    x = np.array([1.0, 0.0, 0.0])
    walker = Motion(np.eye(3), 3.0 * x, 0.5 * x, still, still, still)
    np.testing.assert_allclose((carousel @ walker).a, [-12.0, 2.0, 0.0])
    np.testing.assert_allclose((carousel @ walker).v, [0.5, 6.0, 0.0])


def test_a_batch_gives_the_results_of_single_states(rng):
    pairs = [(motion(curve(rng).pose, 0.1), motion(curve(rng).pose, 0.1)) for _ in range(4)]
    A, B = (Motion(*(np.stack(parts) for parts in zip(*side))) for side in zip(*pairs))
    for k, (a, b) in enumerate(pairs):
        assert_same(Motion(*(part[k] for part in A @ B)), a @ b, EXACT_MATHS)
        assert_same(Motion(*(part[k] for part in A.inverse())), a.inverse(), EXACT_MATHS)
