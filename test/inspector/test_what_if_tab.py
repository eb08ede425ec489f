"""Test the supposed case beside a running robot: compared with now, off at first."""

import json

import numpy as np
import pytest
from support.differences import relative
from support.tiny_robots import chain
from support.tolerances import EXACT_MATHS
from support.watched_stand_in import ARM, WatchedStandIn, model_of

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.live_page import LivePage
from dynamics_node.inspector.live_state import LiveBase
from dynamics_node.inspector.server import open_server
from dynamics_node.inspector.what_if_tab import WhatIfTab

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])


@pytest.fixture
def page():
    server, watched = open_server(port=0), WatchedStandIn()
    watched.live()
    made = LivePage(server, watched)
    made.update()
    yield made
    server.stop()


def shown_torques(page, monkeypatch):
    """Return (figures, those of now) that the torque panel is given by the next update."""
    given = []
    show = page._view._torques.show
    monkeypatch.setattr(page._view._torques, 'show', lambda *arguments: (
        given.append(arguments), show(*arguments)))
    page._watched.live()   # drawing may have taken longer than a state is new
    page.update()
    _, found, now, *_ = given[-1]
    return found, now


def test_nothing_is_supposed_at_first(page, monkeypatch):
    found, now = shown_torques(page, monkeypatch)
    assert now is None and relative(found.torque, ARM.gravity_torque(Q)) < EXACT_MATHS


def test_the_case_is_compared_with_the_robot_now(page, monkeypatch):
    """It begins at the measured pose; a payload and an acceleration change the case alone."""
    supposed = page._view._supposed
    supposed.shown.value = True
    supposed.case._mass.value, supposed.case._acceleration.value = 2.0, 0.5
    found, now = shown_torques(page, monkeypatch)
    loaded = ARM.with_payload('x', 'tool0', 2.0)
    expected = loaded.inverse_dynamics(Q, np.zeros(7), np.full(7, 0.5))
    assert relative(found.torque, expected) < EXACT_MATHS
    assert relative(now.torque, ARM.gravity_torque(Q)) < EXACT_MATHS
    assert relative(json.loads(page._view.record())['torque'], now.torque) < EXACT_MATHS
    assert all(mesh.visible for mesh in supposed._ghost.meshes)


def test_the_ghost_can_be_posed_and_set_back_to_the_robot(page, monkeypatch):
    supposed = page._view._supposed
    supposed.shown.value = True
    supposed.case.sliders['joint_2'].value = -0.4
    found, _ = shown_torques(page, monkeypatch)
    q = Q.copy()
    q[1] = -0.4
    assert relative(found.torque, ARM.gravity_torque(q)) < EXACT_MATHS
    supposed._copy_pose()
    found, _ = shown_torques(page, monkeypatch)
    assert relative(found.torque, ARM.gravity_torque(Q)) < EXACT_MATHS


def test_a_case_that_cannot_be_computed_is_said_and_the_robot_is_shown(page, monkeypatch):
    supposed = page._view._supposed
    supposed.shown.value, supposed.case._gravity.value = True, (0.0, 0.0, np.nan)
    found, now = shown_torques(page, monkeypatch)
    assert now is None and relative(found.torque, ARM.gravity_torque(Q)) < EXACT_MATHS
    assert 'cannot be computed: gravity' in supposed._problem._shown
    assert 'cannot be shown' not in page._status._shown
    supposed.case._gravity.value = (0.0, 0.0, -9.81)
    found, now = shown_torques(page, monkeypatch)
    assert now is not None and supposed._problem._shown == ''


def test_a_floating_base_of_the_case_is_that_of_the_robot_now(page):
    """It has no slider; it moves on while the case is shown."""
    robot = Robot.from_urdf(ARM7, base='floating', compile=False)
    model = model_of(robot)._replace(key='floating')
    for turn in ([0.0, 0.0, 0.0, 1.0], [0.6, 0.0, 0.0, 0.8]):
        base = LiveBase(robot.joint_names[0], '/odom', np.array([1.0, 2.0, 3.0, *turn]),
                        np.zeros(6), np.inf)
        page._watched.live(model=model, base=base)
        page.update()
        page._watched.live(model=model, base=base)
        page.update()
        supposed = page._view._supposed
        supposed.shown.value = True
        q = np.array([*base.q, *Q])
        assert relative(json.loads(page._view.record())['torque'],
                        robot.gravity_torque(q)) < EXACT_MATHS
        _, state, found = supposed.of(robot, q)
        assert relative(state.q, q) < EXACT_MATHS
        assert relative(found.torque, robot.gravity_torque(q)) < EXACT_MATHS


def test_a_joint_of_several_coordinates_further_out_stays_as_in_the_case(page):
    """The base alone is measured; a loop is closed near the case before."""
    robot = Robot.from_urdf(chain(('arm', 'revolute'), ('plate', 'planar')), base='floating',
                            compile=False)
    gui = page._server.gui
    case = WhatIfTab(page._server, robot, [], gui.add_tab_group(), robot.frame_names[0])
    before, measured = (robot.random_configuration(np.random.default_rng(i)) for i in range(2))
    case._loops.last = before
    case.of(robot, measured)
    assert case._loops.last.tolist() == [*measured[:7], *before[7:]]
