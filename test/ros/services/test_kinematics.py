"""Test the analytic Jacobians of ~/kinematics: those of the library in the order of the reply."""

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, refused, scene, tree_scene
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

from dynamics_node.spatial.rotations import SIZES

FRAMES = ['l9', 'l5']


@pytest.mark.parametrize('rotation', SIZES)
def test_analytic_jacobians_are_those_of_the_robot(rotation):
    """Of every parametrisation; positions are cartesian if not named."""
    s = tree_scene(one_of_each_sort()[1])
    names, nv = s.some_joints(), s.robot.nv
    order = s.of(s.reply_order(names), np.arange(nv))
    for position in ('', 'cylindrical', 'spherical'):
        reply = ask(s.node_state, 'kinematics', joint_names=names, position=s.of(names, s.q, 'q'),
                    frames=FRAMES, rotation_parameters=rotation, position_parameters=position)
        want = np.array([s.robot.analytic_jacobian(s.q, frame, rotation, position or 'cartesian')
                         for frame in FRAMES])
        assert reply.rows == want.shape[1] == 3 + np.prod(SIZES[rotation])
        got = np.reshape(reply.analytic_jacobians, want.shape)
        assert relative(got, want[..., order]) < EXACT_MATHS


def test_without_a_parametrisation_there_are_none():
    """And a singular one is refused with its name: the base is at the root."""
    s = scene(TWO_JOINTS)
    reply = ask(s.node_state, 'kinematics')
    assert (reply.rows, len(reply.analytic_jacobians)) == (0, 0)
    assert 'cylindrical is singular' in refused(
        s.node_state, 'kinematics', frames=['base'], rotation_parameters='matrix',
        position_parameters='cylindrical')
