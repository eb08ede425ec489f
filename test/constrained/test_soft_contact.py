"""Test the forces of soft contacts: against springs, friction, and the fall of a body."""

import math

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot, RobotLink, Spring
from dynamics_node.constrained.soft_contact import SoftContact, soft_force

K, C, MU = 5000.0, 40.0, 0.5
NOWHERE = np.full(3, np.nan)


def test_a_sticking_contact_is_a_spring_to_the_touch_point(tree):
    """Without damping it has the torques of a Spring of rest length zero between the two points."""
    robot, q, v = tree.robot, tree.q, tree.v
    point = (0.1, 0.05, -0.02)
    at = robot.frame_pose(q, 'l10') @ [*point, 1.0]
    n = np.array([1.0, 2.0, 2.0]) / 3.0
    contact = SoftContact('foot', 'l10', K, point=point, normal=n, height=n @ at[:3] + 0.01)
    touch = at[:3] + 0.01 * n + 0.004 * np.array([2.0, -1.0, 0.0])
    found = robot.soft_contact_forces(q, v, [contact], [touch])
    assert found.depth == pytest.approx([0.01])
    assert relative(found.touch, [touch]) < EXACT_MATHS
    spring = Spring('foot', K, frame='l10', point=point, to_point=touch)
    expected = robot.with_springs([spring]).inverse_dynamics(q, v, v)
    assert relative(robot.inverse_dynamics(q, v, v, found.wrenches), expected) < SOLVED


@pytest.fixture
def contact():
    return SoftContact('foot', 'body', K, C, MU)


def test_there_is_no_force_above_the_plane_and_none_that_pulls(contact):
    """Also where a damper would pull the point back."""
    above = soft_force(contact, np.array([0.0, 0.0, 0.001]), np.array([1.0, 0.0, -9.0]), NOWHERE)
    assert (above.force == 0.0).all() and np.isnan(above.touch).all()
    leaving = soft_force(contact, np.array([0.0, 0.0, -0.001]), np.array([1.0, 0.0, 9.0]), NOWHERE)
    assert (leaving.force == 0.0).all()


def test_a_sliding_contact_has_the_force_of_coulomb(contact):
    """Against the motion, and its spring stays at the limit: the next state has the same force."""
    r, v = np.array([0.3, 0.0, -0.002]), np.array([0.4, 0.3, 0.0])
    first = soft_force(contact, r, v, np.array([0.1, 0.1, 0.0]))
    assert np.linalg.norm(first.force[:2]) == pytest.approx(MU * first.force[2])
    moved = r
    for _ in range(2000):  # 1 m
        moved = moved + 0.00125 * v
        first = soft_force(contact, moved, v, first.touch)
    assert relative(first.force[:2], -MU * first.force[2] * v[:2] / 0.5) < SOLVED
    again = soft_force(contact, moved, v, first.touch)
    assert relative(again.force, first.force) < EXACT_MATHS
    assert first.touch[2] == pytest.approx(0.0)


def test_a_load_below_friction_is_carried_by_the_tangential_spring(contact):
    """At rest the displacement is F / k."""
    found = soft_force(contact, np.array([0.0002, 0.0, -0.002]), np.zeros(3), np.zeros(3))
    assert relative(found.force, [-1.0, 0.0, 10.0]) < EXACT_MATHS


def test_a_body_that_falls_comes_to_rest_at_the_depth_of_its_weight():
    """By steps of simulate with the wrenches of the contact; a batch is its states."""
    mass = 2.0
    robot = Robot.from_links([RobotLink('base'), RobotLink('body', 'base', 'prismatic', mass=mass)],
                             compile=False)
    ground = [SoftContact('foot', 'body', K, 100.0, MU)]
    q, v, touch = np.array([0.01]), np.zeros(1), None
    for _ in range(100):
        found = robot.soft_contact_forces(q, v, ground, touch)
        motion = robot.simulate(q, v, [0.0], [0.0, 0.004], step=0.002, wrenches=lambda t, q, v,
                                touch=found.touch: robot.soft_contact_forces(
                                    q, v, ground, touch).wrenches)
        q, v, touch = motion.q[-1], motion.v[-1], found.touch
    assert q[0] == pytest.approx(-mass * 9.81 / K, rel=1e-3)
    batch = robot.soft_contact_forces([[0.1], q], [0.0], ground)
    alone = robot.soft_contact_forces(q, [0.0], ground)
    assert relative(batch.force[1], alone.force) == 0.0
    assert batch.wrenches['body'].shape == (2, 6)


@pytest.mark.parametrize(('fields', 'words'), [
    ({'name': ''}, 'the name of a soft contact'), ({'stiffness': 0.0}, 'expected a positive'),
    ({'friction': -1.0}, 'friction is -1.0'), ({'friction': math.nan}, 'friction is nan'),
    ({'normal': (0, 0, 0)}, 'normal is zero'), ({'point': 3}, 'point is 3'),
])
def test_an_invalid_field_is_refused(fields, words):
    """By name."""
    with pytest.raises(DynamicsError) as refusal:
        SoftContact(**{'name': 's', 'frame': 'body', 'stiffness': 1.0, **fields})
    assert words in str(refusal.value)


def test_invalid_arguments_are_refused(arm):
    """By name."""
    q = np.zeros(7)
    for contacts, touch, words in (([], None, 'contacts is empty'), ([3], None, 'contacts'),
                                   ([SoftContact('a', 'x', 1.0)], None, "no frame 'x'"),
                                   ([SoftContact('a', 'tool0', 1.0)], [1.0], 'touch must have')):
        with pytest.raises(DynamicsError, match=words):
            arm.soft_contact_forces(q, q, contacts, touch)
