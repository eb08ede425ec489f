"""Test that inertia regrouped to the parent changes no torque, for any axes."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative

from dynamics_node import Robot
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.model.joints import Revolute
from dynamics_node.model.regrouped_inertia import regrouped

EXACT = 1e-13   # sums in another order


def inertial_numbers(model):
    return sum(np.count_nonzero(inertia.moment) + np.count_nonzero(np.triu(inertia.tensor))
               + (inertia.mass != 0.0) for inertia in model.inertias)


def chain(axis):
    """Return three links in a row, all turning about one axis, none of them symmetric."""
    joint = ('<joint name="j{0}" type="continuous"><parent link="l{1}"/><child link="l{0}"/>'
             '<origin xyz="0.1 0.2 0.3"/><axis xyz="{2} {3} {4}"/></joint>')
    link = ('<link name="l{}"><inertial><origin xyz="0.3 0.1 0.2" rpy="1 2 3"/><mass value="2"/>'
            '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="1.2" iyz="0.3" izz="1.4"/></inertial>'
            '</link>')
    return Robot.from_urdf('\n'.join([
        '<robot name="chain">', *map(link.format, range(4)),
        *(joint.format(k, k - 1, *axis) for k in (1, 2, 3)), '</robot>'])).model


@pytest.mark.parametrize('hair', [0.0, 1e-16, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize('place', range(3))
def test_axes_close_to_those_of_the_frame_keep_their_torques(place, hair):
    """An axis that is 1e-8 off has a largest component of exactly 1, but is not along the frame."""
    axis = np.eye(3)[place] + hair * np.roll([1.0, 0.0, -2.0], place)
    model = chain(axis)
    q, v, a = np.random.default_rng(place).normal(size=(3, 3))
    want = inverse_dynamics(model, q, v, a)
    assert relative(inverse_dynamics(regrouped(model), q, v, a), want) < EXACT
    simpler = inertial_numbers(regrouped(model)) < inertial_numbers(model)
    assert simpler == (hair == 0.0)


def test_any_tree_keeps_its_torques(tree):
    """Every kind of joint, arbitrary axes and special ones."""
    model = tree.robot.model
    want = inverse_dynamics(model, tree.q, tree.v, tree.a)
    assert relative(inverse_dynamics(regrouped(model), tree.q, tree.v, tree.a), want) < EXACT


def test_random_trees_have_axes_along_the_frame_and_close_to_it():
    """What the laws are tested on: each of random_trees.HAIRS."""
    off = [np.sort(np.abs(body.joint.axis))[1] for tree in random_trees.TREES
           for body in random_trees.make(tree).robot.model.bodies
           if isinstance(body.joint, Revolute)]
    nearest = [min(random_trees.HAIRS[1:], key=lambda hair: abs(np.log(one / hair))) if one else 0.0
               for one in off if one < 1e-6]
    assert len(off) - len(nearest) >= 10
    for hair in random_trees.HAIRS:
        assert hair in nearest
