"""Test the live page without a browser: words, robot, history, another description."""

import csv
import io
import json
import threading

import numpy as np
import pytest
from support.differences import relative
from support.folding_chain import chain, folding
from support.tolerances import EXACT_MATHS
from support.watched_stand_in import JOINTS, WatchedStandIn, model_of, named, now

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector import live_page
from dynamics_node.inspector.control_panel import NamedTrajectory
from dynamics_node.inspector.live_page import LivePage
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = [0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1]


@pytest.fixture
def watched():
    return WatchedStandIn()


@pytest.fixture
def page(watched):
    server = open_server(port=0)
    yield LivePage(server, watched)
    server.stop()


def test_a_node_that_appears_is_shown_and_one_that_goes_is_said_so(page, watched):
    page.update()
    assert 'Disconnected' in page._status._shown and page._view is None
    watched.live()
    page.update()
    assert 'Torques: enabled, mode gravity' in page._status._shown
    watched.state = watched.state._replace(node_exists=False)
    page.update()
    assert 'Disconnected' in page._status._shown


def test_torques_are_those_of_the_measured_state(page, watched):
    """The torque of the environment is a part; accelerations are those of the reference."""
    watched.live(external=now(1, 2, 3, 4, 5, 6, 7), acceleration=now(*[0.5] * 7),
                 reference=now(*Q), error=now(*[0.0] * 7))
    page.update()
    robot = Robot.from_urdf(ARM7, compile=False)
    expected = robot.inverse_dynamics(Q, np.zeros(7), [0.5] * 7) - np.arange(1.0, 8.0)
    assert relative(json.loads(page._view.record())['torque'], expected) < EXACT_MATHS


def test_the_last_minute_has_what_the_node_has_sent(page, watched):
    watched.live()
    page.update()
    head, row = csv.reader(io.StringIO(page._view.history.text()))
    values = dict(zip(head, row))
    assert values['measured_joint_2'] == '-19.0' and values['released_joint_4'] == '-7.6'
    assert values['external_joint_1'] == '' and values['error_joint_1'] == ''


def test_links_that_the_trajectory_lets_touch_are_named_above_its_buttons(watched):
    """In the tabs Control and Identify; a motion without a contact has no warning."""
    urdf, (times, q) = chain(), folding()
    robot = Robot.from_urdf(urdf, compile=False)
    server = open_server(port=0)
    try:
        for share, expected in ((1.0, 1), (0.5, 0)):
            points = TimedPoints(robot.joint_names, times, share * q, None, None)
            page = LivePage(server, watched, watched.allowed(NamedTrajectory('fold.csv', points)))
            watched.live(model=model_of(robot, urdf))
            page.update()
            page._checking.join(30.0)
            shown = [box._shown for box in page._view._touching]
            assert len(shown) == 2
            assert [text.count('fold.csv: self-collision: link_1 touches link_3 at ')
                    for text in shown] == [expected] * 2
            assert all(text == '' for text in shown) or expected
    finally:
        server.stop()


@pytest.fixture
def folding_page(watched):
    """A page with a trajectory; its robot is not drawn yet."""
    urdf, (times, q) = chain(), folding(11)
    robot = Robot.from_urdf(urdf, compile=False)
    points = TimedPoints(robot.joint_names, times, q, None, None)
    server = open_server(port=0)
    watched.live(model=model_of(robot, urdf))
    yield LivePage(server, watched, watched.allowed(NamedTrajectory('fold.csv', points)))
    server.stop()


def test_a_trajectory_that_cannot_be_checked_is_said_so(folding_page, monkeypatch):
    """Whatever the error is."""
    def fail(*arguments):
        raise RuntimeError('no memory')
    monkeypatch.setattr(live_page, 'trajectory_collisions', fail)
    folding_page.update()
    folding_page._checking.join(30.0)
    for box in folding_page._view._touching:
        assert 'fold.csv: self-collisions could not be checked: ' in box._shown
        assert 'no memory' in box._shown and 'looked for' not in box._shown


def test_warnings_about_a_robot_that_is_drawn_no_more_are_not_shown(
        folding_page, watched, monkeypatch):
    """Its boxes are gone: viser would raise an error in the thread."""
    going_on, errors, check = threading.Event(), [], live_page.trajectory_collisions
    monkeypatch.setattr(threading, 'excepthook', errors.append)
    monkeypatch.setattr(live_page, 'trajectory_collisions', lambda *arguments: (
        going_on.wait(30.0), check(*arguments))[1])
    folding_page.update()
    before, checking = folding_page._view, folding_page._checking
    text = chain().replace('mass value="1"', 'mass value="2"')
    watched.live(model=model_of(Robot.from_urdf(text, compile=False), text))
    folding_page.update()
    assert folding_page._view is not before
    going_on.set()
    for thread in (checking, folding_page._checking):
        thread.join(30.0)
    assert not errors
    assert all('link_1 touches link_3' in box._shown for box in folding_page._view._touching)


def test_a_fault_is_said_in_words(page, watched):
    watched.live(gate='fault', fault='velocity of joint_2 is beyond its limit')
    page.update()
    assert 'FAULT: velocity of joint_2 is beyond its limit' in page._status._shown


def test_another_description_replaces_the_robot(page, watched):
    watched.live()
    page.update()
    before = page._view
    text = ARM7.read_text().replace('mass value="5.0"', 'mass value="6.0"')
    watched.live(model=model_of(Robot.from_urdf(text.encode(), compile=False), text))
    page.update()
    assert page._view is not before
    assert page._view.robot.total_mass == pytest.approx(before.robot.total_mass + 1.0)


def test_settings_of_the_node_are_used_without_drawing_anew(page, watched):
    """Gravity and friction of the node change; the robot is the same one on the page."""
    watched.live()
    page.update()
    before = page._view
    robot = Robot.from_urdf(ARM7, compile=False).with_gravity((0.0, 0.0, -1.6))
    watched.live(model=model_of(robot, note='The node says something'))
    page.update()
    assert page._view is before and 'The node says something' in page._status._shown
    assert relative(json.loads(page._view.record())['torque'],
                    robot.gravity_torque(Q)) < EXACT_MATHS


def test_a_description_that_cannot_be_shown_is_said_so(page, watched):
    watched.live(model=None, refusal='it is no URDF')
    for _ in range(2):
        page.update()
        assert 'The robot description cannot be shown: it is no URDF' in page._status._shown


def test_a_robot_that_cannot_be_drawn_is_said_so_once(page, watched, monkeypatch):
    tries = []

    def refuse(*arguments):
        tries.append(arguments)
        raise DynamicsError('no shape')
    monkeypatch.setattr(live_page, 'LivePanels', refuse)
    watched.live()
    for _ in range(2):
        page.update()
        assert 'The robot description cannot be shown: no shape' in page._status._shown
    assert len(tries) == 1


def test_the_payloads_of_the_node_are_a_part_of_the_torque(page, watched):
    """A payload at a frame that the description does not have is left out."""
    load = 2.0, np.zeros(3), np.zeros((3, 3))
    watched.live(payloads={'cup': ('tool0', *load), 'other': ('nowhere', *load)})
    page.update()
    robot = Robot.from_urdf(ARM7, compile=False)
    expected = robot.with_payload('cup', 'tool0', 2.0).gravity_torque(Q) - robot.gravity_torque(Q)
    assert relative(json.loads(page._view.record())['parts']['payload'], expected) < EXACT_MATHS


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_position_that_is_not_finite_is_said_so_and_the_page_goes_on(page, watched, bad):
    watched.live()
    page.update()
    record = page._view.record()
    watched.live(position=now(bad, *Q[1:]))
    page.update()
    assert 'The position of joint_1 is not a finite number' in page._status._shown
    assert page._view.record() == record
    watched.live(reference=now(bad, *Q[1:]), velocity=now(*[bad] * 7), external=now(*[bad] * 7))
    page.update()
    assert 'Torques: enabled' in page._status._shown and 'nan' not in page._view.record()


def test_a_state_that_cannot_be_shown_is_said_so_beside_the_fault(page, watched, monkeypatch):
    watched.live(gate='fault', fault='joint_2 is too fast')
    page.update()

    def refuse(state, curves):
        raise DynamicsError('no such frame')
    monkeypatch.setattr(page._view, 'show', refuse)
    page.update()
    assert 'FAULT: joint_2 is too fast' in page._status._shown
    assert 'The state cannot be shown: no such frame' in page._status._shown


def test_old_torques_and_references_are_not_shown(page, watched):
    old = named(dict.fromkeys(JOINTS, 5.0), now(0.0).arrived[JOINTS[0]] - 60.0)
    watched.live(wanted=old, released=old, reference=old, external=old)
    page.update()
    head, row = csv.reader(io.StringIO(page._view.history.text()))
    values = dict(zip(head, row))
    assert values['wanted_joint_2'] == values['released_joint_2'] == ''
    assert values['external_joint_2'] == '' and values['measured_joint_2'] == '-19.0'
