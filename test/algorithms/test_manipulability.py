"""Test ellipsoids and measures of manipulability: closed forms, spheres, a push."""

import numpy as np
import pytest
from support.differences import relative
from support.planar_arms import planar_arm
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError


def test_an_arm_of_two_links_has_the_closed_form():
    """|sin q2| for links of one metre (Yoshikawa); singular when stretched."""
    arm = planar_arm()
    for bend in (0.3, -1.2, 2.5):
        found = arm.manipulability([0.4, bend], 'tip', ('x', 'y'))
        assert relative(found.velocity_measure, abs(np.sin(bend))) < EXACT_MATHS
    stretched = arm.manipulability([0.4, 0.0], 'tip', ('x', 'y'))
    assert stretched.velocity_measure == stretched.dynamic_measure == 0.0
    assert np.isinf([stretched.condition_number, stretched.force_radii[1]]).all()
    along = np.array([np.cos(0.4), np.sin(0.4)])   # no joint moves the tip along the arm
    assert abs(stretched.velocity_axes[:, 0] @ along) < EXACT_MATHS
    assert relative(stretched.velocity_radii, [np.sqrt(5.0), 0.0]) < EXACT_MATHS
    assert stretched.effective_mass(along) > 1e12


def test_the_unit_sphere_of_joints_fills_the_ellipsoids(arm, states):
    """The radius along each axis is the greatest that unit velocities or torques reach."""
    q, v, *_ = states
    found = arm.manipulability(q, 'tool0', ('x', 'y', 'z'))
    J, inverse = arm.jacobian(q, 'tool0')[:, :3], arm.mass_matrix_inverse(q)
    for A, axes, radii in ((J, found.velocity_axes, found.velocity_radii),
                           (J @ inverse, found.dynamic_axes, found.dynamic_radii)):
        along = axes.swapaxes(1, 2) @ A   # row k: what each joint does along axis k
        assert relative(np.linalg.norm(along, axis=2), radii) < EXACT_MATHS
        assert relative(axes @ axes.swapaxes(1, 2), [np.eye(3)] * len(q)) < EXACT_MATHS
        inside = along @ v[..., None] / np.linalg.norm(v, axis=1)[:, None, None]
        assert (np.linalg.norm(inside[..., 0] / radii, axis=1) <= 1.0 + EXACT_MATHS).all()
    squares = np.linalg.det(J @ J.swapaxes(1, 2))
    assert relative(found.velocity_measure ** 2, squares) < EXACT_MATHS
    assert relative(found.condition_number, np.linalg.cond(J)) < SOLVED
    assert relative(found.force_radii * found.velocity_radii, np.ones((4, 3))) < EXACT_MATHS


def test_a_push_meets_the_effective_mass(arm):
    """At rest, without gravity and friction: force / acceleration along the force."""
    rng = np.random.default_rng(0)
    robot = arm.with_gravity(np.zeros(3))
    q, rest = robot.random_configuration(rng), np.zeros(7)
    for _ in range(3):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        push = robot.link_wrenches(q, {'tool0': [*(5.0 * d), 0.0, 0.0, 0.0]})
        a = robot.forward_dynamics(q, rest, rest, push)
        acceleration = d @ robot.frame_acceleration(q, rest, a, 'tool0')[:3]
        mass = robot.manipulability(q, 'tool0').effective_mass(7.0 * d)
        assert relative(mass, 5.0 / acceleration) < SOLVED


def test_more_rows_than_joints_have_radii_zero(arm):
    """Two frames have twelve rows, the arm seven joints."""
    found = arm.manipulability(arm.neutral(), ['tool0', 'link_4'], None)
    assert found.velocity_radii.shape == (12,) and not found.velocity_radii[7:].any()
    assert found.velocity_measure == 0.0


def test_bad_input_is_refused_by_name(arm):
    found = arm.manipulability(arm.neutral(), 'tool0')
    with pytest.raises(DynamicsError, match='direction is zero'):
        found.effective_mass(np.zeros(3))
    with pytest.raises(DynamicsError, match='direction must have shape'):
        found.effective_mass(np.ones(4))
    with pytest.raises(DynamicsError, match="axes has 'w'"):
        arm.manipulability(arm.neutral(), 'tool0', ['w'])
