"""Test the page in a real browser: pixels, numbers, payload, hostile names."""

import numpy as np
import pytest
from support.browser import (
    browser,
    canvas_pixels,
    close_notices,
    open_page,
    open_tab,
    screenshot,
    shows,
    type_number,
)
from support.nasty_robot import NASTY, NASTY_URDF

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.page import InspectorPage
from dynamics_node.inspector.server import address_of, open_server
from dynamics_node.reports.digits import shown

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])


@pytest.fixture(scope='module')
def chromium():
    with browser() as opened:
        yield opened


def served(chromium, robot, text, q=None):
    """Yield a page of the inspector in the browser."""
    server = open_server(port=0, title='Inspector')
    made = InspectorPage(server, robot, text, q=q)
    page = open_page(chromium, address_of(server), 'Why this torque')
    yield page
    page.close()
    made.close()
    server.stop()


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(ARM7, compile=False)


@pytest.fixture(scope='module')
def page(chromium, robot):
    yield from served(chromium, robot, ARM7.read_text(), Q)


def test_the_robot_is_drawn(page):
    """Without its bodies many pixels change; the first pictures may be drawn before the robot."""
    page.wait_for_timeout(3000)
    close_notices(page)
    screenshot(page, 'inspector_torque')
    drawn = canvas_pixels(page)
    open_tab(page, 'View')
    page.get_by_label('Bodies').first.click()
    page.wait_for_timeout(3000)
    gone = canvas_pixels(page)
    page.get_by_label('Bodies').first.click()
    assert (np.abs(drawn - gone).max(axis=2) > 20).mean() > 0.01


def test_a_slider_changes_a_number_to_what_the_library_answers(page, robot):
    open_tab(page, 'Pose')
    type_number(page, 'joint_2', 0.25)
    q = Q.copy()
    q[1] = 0.25
    torque = shown(robot.gravity_torque(q)[1], 4)
    shows(page, f'{torque} N m')


def test_a_payload_changes_the_bars(page):
    open_tab(page, 'What if')
    assert not page.locator('rect[fill="#d55e00"]').count()
    type_number(page, 'Payload [kg]', 3)
    page.locator('rect[fill="#d55e00"]').first.wait_for(state='attached')
    shows(page, 'payload')
    page.wait_for_timeout(1000)
    screenshot(page, 'inspector_what_if')


def test_mass_matrix_and_tool_are_shown(page):
    open_tab(page, 'Mass matrix')
    shows(page, 'Bright cells')
    screenshot(page, 'inspector_mass_matrix')
    open_tab(page, 'Tool')
    shows(page, 'effective mass along each axis')


def test_nothing_failed_on_the_page(page):
    assert page.errors == []


def test_names_of_a_urdf_do_not_become_html(chromium):
    """No dialog opens, no element of the names exists, and the names are readable."""
    robot = Robot.from_urdf(NASTY_URDF, compile=False)
    dialogs = []
    for page in served(chromium, robot, NASTY_URDF):
        page.on('dialog', lambda dialog: dialogs.append(dialog.dismiss()))
        for tab in ('What if', 'View', 'Mass matrix', 'Tool', 'Pose'):
            open_tab(page, tab)
        page.wait_for_timeout(500)
        assert dialogs == [] and page.errors == []
        inside = page.evaluate('[...document.querySelectorAll("body script")].map(s => s.text)')
        assert not any('alert("1")' in text for text in inside)
        assert NASTY[:7] in page.locator('body').inner_text()
