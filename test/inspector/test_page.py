"""Test the page without a browser: controls change the figures, refusals are in words."""

import json

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.inspector.page import InspectorPage, last_frame
from dynamics_node.inspector.server import LOCAL, open_server
from dynamics_node.robot.task_space import TOLERANCE

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])


@pytest.fixture(scope='module')
def server():
    opened = open_server(port=0)
    yield opened
    opened.stop()


@pytest.fixture(scope='module')
def page(server):
    made = InspectorPage(server, Robot.from_urdf(ARM7, compile=False), ARM7.read_text(), q=Q)
    yield made
    made.close()


def shown(page):
    page.refresh()
    return json.loads(page.record())


def test_the_page_shows_the_pose_of_the_sliders(page):
    robot = Robot.from_urdf(ARM7, compile=False)
    assert relative(shown(page)['torque'], robot.gravity_torque(Q)) < EXACT_MATHS
    page.case.sliders['joint_2'].value = 0.25
    q = Q.copy()
    q[1] = 0.25
    assert relative(shown(page)['torque'], robot.gravity_torque(q)) < EXACT_MATHS
    page.case.set_configuration(Q)


def test_a_payload_and_a_motion_change_the_parts(page):
    page.case._mass.value, page.case._speed.value, page.case._acceleration.value = 2.0, 50.0, 1.0
    found = shown(page)
    parts = found['parts']
    assert all(np.any(parts[name]) for name in ('payload', 'coriolis', 'inertia', 'friction'))
    robot = Robot.from_urdf(ARM7, compile=False).with_payload('m', 'tool0', 2.0)
    state = (found[name] for name in ('position', 'velocity', 'acceleration'))
    assert relative(found['torque'], robot.inverse_dynamics(*state)) < EXACT_MATHS
    page.case._mass.value = page.case._speed.value = page.case._acceleration.value = 0.0


def test_a_dragged_tool_moves_the_joints(page):
    """To the pose itself; out of reach the page says so."""
    robot = Robot.from_urdf(ARM7, compile=False)
    goal = robot.frame_pose(Q + 0.05, 'tool0')
    page._gizmo.reach(goal)
    reached = robot.frame_pose(page.case.configuration(), 'tool0')
    assert np.abs(reached - goal).max() < TOLERANCE
    goal[:3, 3] = (9.0, 0.0, 0.0)
    page._gizmo.reach(goal)
    assert 'Not reached' in page.case.reached._shown
    page.case.set_configuration(Q)


def test_the_server_is_bound_to_this_machine_and_never_shared(server):
    assert server.get_host() == LOCAL
    assert server.request_share_url() is None


def test_a_mechanism_with_loops_follows_the_slider_of_its_motor():
    """The loops stay closed; the sum of the parts is the torque of the motor by virtual work."""
    urdf, loops = MECHANISMS['four_bar']
    robot = Robot.from_urdf(urdf, loops=loops, compile=False)
    server = open_server(port=0)
    page = InspectorPage(server, robot, urdf.read_text())
    (motor,) = page.case.sliders
    page.case.sliders[motor].value = 0.4
    page.refresh()
    record = json.loads(page.record())
    q = np.array(record['position'])
    assert q[robot.model.joint(motor).q.start] == 0.4
    assert np.abs(robot.constraint_rows(q, np.zeros(robot.nv)).residual).max() < 1e-9
    gravity = robot.closed_dynamics(q, np.zeros(robot.nv)).gravity
    k = robot.dof_names.index(motor)
    assert record['torque'][k] == pytest.approx(gravity[0], rel=SOLVED)
    assert np.delete(record['torque'], k).tolist() == [0.0, 0.0]
    assert record['mass_matrix_names'] == [motor]
    page.close()
    server.stop()


def test_the_tool_is_the_link_at_the_end_of_the_longest_chain():
    assert last_frame(Robot.from_urdf(ARM7, compile=False)) == 'tool0'
