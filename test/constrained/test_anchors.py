"""Test the anchors of contacts: inputs of kernels, so that a moved foot needs no new kernel."""

import time

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.constrained.anchors import anchors_of, at_anchors, has_anchor, without_anchors
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import rows
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.robot_kernels import MOST_SETS

SAME = 1e-9


def contact(place, kind='point_contact', **options):
    return Constraint('tip', kind, 'link_7', to_pose=place, **options)


def place_of(rng):
    return (*rng.normal(size=3), *0.3 * rng.normal(size=3))


def test_which_constraints_have_anchors():
    """Contacts with the world at a given place; no loops, no contacts of a link with a link."""
    assert has_anchor(contact((1.0, 2.0, 3.0)))
    assert not has_anchor(Constraint('free', 'point_contact', 'link_7'))
    assert not has_anchor(Constraint('loop', 'weld', 'link_7', to_pose=(1.0, 2.0, 3.0)))
    pair = Constraint('pair', 'point_contact', 'link_7', 'link_1', to_pose=(1.0, 2.0, 3.0))
    assert not has_anchor(pair)


def test_sets_that_differ_in_anchors_become_equal():
    """And sets without anchors stay the same object."""
    rng = np.random.default_rng(0)
    one, two = ((contact(place_of(rng)),) for _ in range(2))
    assert one != two and without_anchors(one) == without_anchors(two)
    loops = (Constraint('loop', 'weld', 'link_7', to_pose=(1.0, 2.0, 3.0)),)
    assert without_anchors(loops) is loops


@pytest.mark.parametrize('kind', ['point_contact', 'line_contact', 'flat_contact'])
def test_rows_at_other_anchors_are_those_of_a_contact_there(kind):
    """Residual, matrix and bias."""
    rng, robot = np.random.default_rng(1), Robot.from_urdf(ARM7, compile=False)
    q, v = rng.normal(size=(2, 7))
    options = {'axis': (1.0, 0.0, 0.0)} if kind == 'line_contact' else {}
    here, there = ((contact(place_of(rng), kind, **options),) for _ in range(2))
    moved = at_anchors(here, anchors_of(there))
    for mine, expected in zip(rows(robot.model, q, v, moved), rows(robot.model, q, v, there)):
        assert np.abs(mine - expected).max() <= 1e-14 * (1.0 + np.abs(expected).max())


def test_a_moved_foot_needs_no_new_kernel(kernels):
    """More places than MOST_SETS, one kernel; accelerations as of NumPy, stabilised too."""
    rng = np.random.default_rng(2)
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v, tau = 0.5 * rng.normal(size=(3, 7))
    places = [place_of(rng) for _ in range(MOST_SETS + 8)]
    for rates in (None, (3.0, 5.0)):
        fast.constrained_forward_dynamics(q, v, tau, (contact(places[0]),), stabilisation=rates)
    while fast.compiling:
        time.sleep(0.01)
    made = len(fast._dispatcher.kernels._done)
    for place in places:
        there = (contact(place),)
        for rates in (None, (3.0, 5.0)):
            found = fast.constrained_forward_dynamics(q, v, tau, there, stabilisation=rates)
            known = slow.constrained_forward_dynamics(q, v, tau, there, stabilisation=rates)
            for mine, expected in zip(found, known):
                assert np.abs(mine - expected).max() <= SAME * (1.0 + np.abs(expected).max())
    assert fast.compiling == 0 and len(fast._dispatcher.kernels._done) == made == 2
