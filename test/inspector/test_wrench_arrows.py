"""Test the arrows: where they begin and point, how long they are, which are not drawn."""

import numpy as np
import pytest
from support.watched_stand_in import ARM, JOINTS

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.inspector.live_state import LiveWrench
from dynamics_node.inspector.scene import robot_size
from dynamics_node.inspector.server import open_server
from dynamics_node.inspector.wrench_arrows import WrenchArrows, arrow_key

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])
LIMIT, NONE = np.array([120, 120, 80, 80, 40, 20, np.nan]), np.zeros(7)
POSES = body_poses(ARM.model, joints_at(ARM.model, Q)[0])


@pytest.fixture(scope='module')
def server():
    opened = open_server(port=0)
    yield opened
    opened.stop()


@pytest.fixture
def arrows(server):
    server.scene.reset()
    return WrenchArrows(server.scene, ARM)


def test_a_force_is_drawn_at_its_link_in_its_axes(arrows):
    """Half the weight of the robot is half as long as the robot; a small moment is not drawn."""
    force = np.array([0.0, 0.3, 0.4]) * 9.81 * ARM.total_mass
    arrows.draw(POSES, {'estimated': LiveWrench('tool0', force, np.full(3, 1e-3), 0.0)}, NONE,
                LIMIT, ())
    T = ARM.frame_pose(Q, 'tool0')
    (start, end), = arrows._arrows['force'].points
    assert np.allclose(start, T[:3, 3], atol=1e-6)
    assert np.allclose(end - start, T[:3, :3] @ [0.0, 0.3, 0.4] * robot_size(ARM), atol=1e-6)
    assert 'moment' not in arrows._arrows
    text = arrows._labels['/wrenches/estimated_force'].text
    assert text.startswith('estimated force ') and text.endswith(' N')


def test_a_great_force_is_as_long_as_the_robot_at_most(arrows):
    wrench = LiveWrench('tool0', np.array([1e6, 0.0, 0.0]), np.zeros(3), 0.0)
    arrows.draw(POSES, {'given': wrench}, NONE, LIMIT, ())
    (start, end), = arrows._arrows['force'].points
    assert np.linalg.norm(end - start) == pytest.approx(robot_size(ARM), rel=1e-5)


def test_external_torques_and_contacts_are_drawn_at_their_joints(arrows):
    external = np.array([0.0, -60.0, 0.1, 0.0, 0.0, 0.0, 25.0])
    arrows.draw(POSES, {}, external, LIMIT, (JOINTS[1],))
    points = arrows._arrows['joint torque'].points
    axis = POSES[1].R @ ARM.model.bodies[1].joint.axis
    assert len(points) == 2   # 0.1 N m is little; an unknown limit has an arrow
    assert np.allclose(points[0][1] - points[0][0], -0.5 * robot_size(ARM) * axis, atol=1e-6)
    assert arrows._labels['/wrenches/contact_1'].text == 'contact'
    arrows.draw(POSES, {}, NONE, LIMIT, ())
    assert arrows._arrows == {} and arrows._labels == {}


def test_an_unknown_link_is_not_drawn_and_arrows_can_be_hidden(arrows):
    wrench = LiveWrench('nowhere', np.full(3, 100.0), np.zeros(3), 0.0)
    arrows.draw(POSES, {'given': wrench}, NONE, LIMIT, ())
    arrows.show(False)
    arrows.draw(POSES, {'given': wrench._replace(frame='tool0')}, NONE, LIMIT, ())
    assert arrows._arrows == {} and arrows._labels == {}


def test_the_legend_names_every_arrow():
    assert all(word in arrow_key() for word in ('force', 'moment', 'torque of a joint'))
