"""Test ~/operational_space: results of the library in the order of the reply."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.differences import relative
from support.node_states import ask, refused, scene, tree_scene
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert


def matrices(reply):
    """Return (J, J-bar, N, Lambda) of a reply in their shapes."""
    m = len(reply.axes) * len(reply.frames)
    n = len(reply.jacobian) // m
    return (np.reshape(reply.jacobian, (m, n)), np.reshape(reply.consistent_inverse, (n, m)),
            np.reshape(reply.null_space, (n, n)), np.reshape(reply.inertia, (m, m)))


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_numbers_are_those_of_the_robot_in_the_order_of_the_reply(tree):
    """Of two links, for some joints named and the others measured."""
    s = tree_scene(tree)
    names, frames = s.some_joints(), list(map(str, s.rng.permutation(s.robot.frame_names)[:2]))
    reply = ask(s.node_state, 'operational_space', joint_names=names, frames=frames)
    order = s.of(s.reply_order(names), np.arange(s.robot.nv))
    found = s.robot.operational_space(s.q, s.v, frames)
    J, inverse, N, inertia = matrices(reply)
    assert (reply.joint_names, reply.frames) == (s.reply_order(names), frames)
    assert (found.jacobian[:, order] == J).all()
    assert (inverse == found.consistent_inverse[order]).all()
    assert (found.null_space[np.ix_(order, order)] == N).all()
    assert (inertia == found.inertia).all()
    for field in ('bias', 'gravity', 'bias_acceleration', 'singular_values', 'damping', 'lost'):
        assert np.array(getattr(reply, field)).tolist() == getattr(found, field).tolist()
    assert list(reply.directions) == found.directions.ravel().tolist()
    for pose, twist, frame in zip(reply.poses, reply.twists, frames):
        T = s.robot.frame_pose(s.q, frame)
        assert relative(convert.xyz(pose.position), T[:3, 3]) < EXACT_MATHS
        R = Rotation.from_quat(convert.xyzw(pose.orientation)).as_matrix()
        assert relative(R, T[:3, :3]) < EXACT_MATHS
        assert relative([*convert.xyz(twist.linear), *convert.xyz(twist.angular)],
                        s.robot.frame_twist(s.q, s.v, frame)) < EXACT_MATHS


def test_the_reply_alone_obeys_the_equation_of_motion():
    """Torques J' F + N' tau_0 of a reply give the wanted acceleration in forward dynamics."""
    s = scene(ARM7.read_text())
    names = [str(name) for name in s.rng.permutation(s.robot.joint_names)]
    q = np.array([0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1])
    state = {'joint_names': names, 'position': s.of(names, q, 'q'), 'velocity': s.of(names, s.v)}
    reply = ask(s.node_state, 'operational_space', frames=['tool0'], **state)
    assert not np.any(reply.damping)
    J, _, N, inertia = matrices(reply)
    wanted, tau_0 = s.rng.normal(size=6), s.rng.normal(size=7)
    force = inertia @ wanted + reply.bias + reply.gravity
    losses = ask(s.node_state, 'dynamics_terms', **state).friction
    effort = J.T @ force + N.T @ tau_0 + losses
    a = ask(s.node_state, 'forward_dynamics', effort=effort, **state).acceleration
    assert relative(J @ a + reply.bias_acceleration, wanted) < SOLVED


def test_chosen_axes_are_the_rows():
    """Of each link; an arm of two joints cannot move along six, and the reply reports it."""
    s, axes = scene(TWO_JOINTS), ['z', 'rx']
    reply = ask(s.node_state, 'operational_space', frames=['elbow_link'], axes=axes)
    found = s.robot.operational_space(s.q, s.v, 'elbow_link', axes)
    J, inverse, N, inertia = matrices(reply)
    assert list(reply.axes) == axes and inertia.shape == (2, 2)
    assert (inertia == found.inertia).all() and (found.jacobian == J).all()
    whole = ask(s.node_state, 'operational_space', frames=['elbow_link'])
    assert list(whole.axes) == ['x', 'y', 'z', 'rx', 'ry', 'rz'] and sum(whole.lost) >= 4
    lost = np.reshape(whole.directions, (6, 6))[:, np.array(whole.lost)]
    assert np.abs(lost.T @ matrices(whole)[0]).max() < 1e-6
    assert len(whole.twists) == len(reply.twists) == 1
    message = refused(s.node_state, 'operational_space', frames=['elbow_link'], axes=['w'])
    assert message == "axes has 'w'; expected some of: x, y, z, rx, ry, rz"


def test_unknown_and_missing_links_are_named():
    """With the known ones."""
    s = scene(TWO_JOINTS)
    assert refused(s.node_state, 'operational_space') == (
        'frames is empty; expected at least one of: base, shoulder_link, elbow_link')
    message = refused(s.node_state, 'operational_space', frames=['elbow_link', 'hand'])
    assert "'hand'" in message and 'shoulder_link' in message


def test_manipulability_on_request_is_that_of_the_robot():
    """To the last digit; without the request the fields are empty."""
    s, axes = scene(ARM7.read_text()), ['x', 'y', 'z']
    reply = ask(s.node_state, 'operational_space', frames=['tool0'], axes=axes, manipulability=True)
    found = s.robot.manipulability(s.q, 'tool0', axes)
    for field in ('mobility', 'velocity_axes', 'velocity_radii', 'dynamic_axes', 'dynamic_radii'):
        assert list(getattr(reply, field)) == getattr(found, field).ravel().tolist()
    for field in ('velocity_measure', 'dynamic_measure', 'condition_number'):
        assert getattr(reply, field) == getattr(found, field) > 0.0
    plain = ask(s.node_state, 'operational_space', frames=['tool0'], axes=axes)
    assert not plain.mobility and plain.velocity_measure == 0.0
