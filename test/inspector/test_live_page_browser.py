"""Test the live page in a real browser: disconnected, live, fault, control refused, control."""

import threading
import time

import numpy as np
import pytest
from support.browser import (
    SIZE,
    browser,
    canvas_pixels,
    close_notices,
    open_page,
    open_tab,
    screenshot,
    shows,
    type_number,
)
from support.identifications import DONE, RUNNING
from support.watched_stand_in import CODE, WatchedStandIn, now

from dynamics_node.inspector.live_page import LivePage
from dynamics_node.inspector.live_state import LiveWrench
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.server import address_of, open_server
from dynamics_node.inspector.what_if_tab import SHOW

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])


def test_the_state_of_the_node_is_said_in_words():
    with browser() as chromium:
        watched, server = WatchedStandIn(), open_server(port=0, title='Inspector')
        try:
            live = LivePage(server, watched)
            live.update()
            page = open_page(chromium, address_of(server), 'Disconnected')
            shows(page, 'no node /arm/dynamics_node is running')
            watched.live()
            for _ in range(30):
                live.update()
            shows(page, 'joint states at the node: 500.0 Hz')
            page.wait_for_timeout(3000)
            close_notices(page)
            watched.live()
            live.update()
            shows(page, 'Torques: enabled, mode gravity')
            assert len(tab_rows(page)) == 1
            screenshot(page, 'inspector_live')
            open_tab(page, 'Control')
            shows(page, 'started without --allow-control')
            assert not page.get_by_role('button', name='Enable torques').count()
            watched.live(gate='fault', fault='velocity of joint_2 is beyond its limit')
            live.update()
            shows(page, 'FAULT: velocity of joint_2 is beyond its limit')
            screenshot(page, 'inspector_fault')
            assert page.errors == [] and watched.requests == []
        finally:
            server.stop()


def tab_rows(page):
    """Return the heights at which the tabs of the right panel stand."""
    boxes = [page.get_by_role('tab', name=name, exact=True).first.bounding_box()
             for name in ('Curves', 'What if', 'Control', 'Identify', 'View', 'Export')]
    return {round(box['y']) for box in boxes}


class Updating:
    """A page that is updated in a thread, as the command does; the state is always new."""

    def __init__(self, watched, live):
        self.watched, self.changes = watched, {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(live,))
        self._thread.start()

    def _run(self, live):
        phase = 0.0
        while not self._stopped.wait(0.1):
            phase += 0.1
            move = 0.2 * np.sin(phase)
            q = Q + move * np.array([1.0, 0.5, 0.3, -0.6, 0.4, 0.2, 0.8])
            self.watched.live(position=now(*q), **{
                name: make() for name, make in self.changes.items()})
            live.update()

    def stop(self):
        self._stopped.set()
        self._thread.join()


def green_pixels(page):
    """Return the number of pixels of the 3D view in the colour of forces."""
    red, green, blue = np.moveaxis(canvas_pixels(page), 2, 0)
    return int(((green > red + 40) & (green > blue + 5)).sum())


def test_a_case_is_compared_an_identification_watched_and_a_wrench_drawn():
    """One page for all panels, since a page in software takes long to open."""
    with browser() as chromium:
        watched, reports = WatchedStandIn(), ServedReports()
        server = open_server(port=0, title='Inspector', reports=reports)
        live = LivePage(server, watched, watched.allowed(), reports)
        updating = Updating(watched, live)
        try:
            page = open_page(chromium, address_of(server), 'Torques: enabled')
            page.wait_for_timeout(2000)
            close_notices(page)
            open_tab(page, 'What if')
            page.get_by_label(SHOW).first.click()
            type_number(page, 'Payload [kg]', 3)
            page.locator('rect[fill="#d55e00"]').first.wait_for(state='attached')
            shows(page, '(now ')
            close_notices(page)
            screenshot(page, 'inspector_live_what_if')
            page.get_by_label(SHOW).first.click()
            without = green_pixels(page)
            updating.changes = {
                'external': lambda: now(0, 25, 4, 12, 2, 1, 0),
                'contact': lambda: 'Contact at joint_2', 'contact_joints': lambda: ('joint_2',),
                'wrenches': lambda: {'estimated': LiveWrench('tool0', np.array([40.0, 60.0, 90.0]),
                                                             np.zeros(3), time.monotonic())}}
            open_tab(page, 'View')
            shows(page, 'external force')
            page.wait_for_timeout(3000)
            close_notices(page)
            screenshot(page, 'inspector_wrench')
            assert green_pixels(page) > 200 > 10 * without
            updating.changes = {}
            open_tab(page, 'Identify')
            watched.identifying.identification = RUNNING._replace(condition=57.0, residual=0.31)
            shows(page, 'Condition number 57')
            shows(page, 'Residual 0.31')
            watched.identifying.identification = DONE
            link = page.get_by_role('link', name='Report of the identification')
            link.wait_for()
            screenshot(page, 'inspector_identify')
            with page.context.expect_page() as opened:
                link.click()
            opened.value.get_by_text('report').first.wait_for()
            opened.value.close()
            open_tab(page, 'Control')
            shows(page, 'Gains in use')
            screenshot(page, 'inspector_control')
            for name, (width, height) in {'tablet': (1024, 768), 'portrait': (820, 1180)}.items():
                page.set_viewport_size({'width': width, 'height': height})
                page.wait_for_timeout(1500)
                assert page.get_by_text('Enable torques').first.is_visible()
                screenshot(page, f'inspector_{name}')
            page.set_viewport_size(SIZE)
            open_tab(page, 'View')
            page.get_by_label('Dark page').first.click()
            page.wait_for_timeout(1500)
            screenshot(page, 'inspector_dark')
            assert page.errors == [] and watched.requests == []
        finally:
            updating.stop()
            server.stop()


def test_the_code_opens_the_controls_in_the_page_that_has_typed_it():
    with browser() as chromium:
        watched, server = WatchedStandIn(), open_server(port=0, title='Inspector')
        try:
            live = LivePage(server, watched, watched.allowed())
            watched.live()
            live.update()
            first, second = (open_page(chromium, address_of(server), 'Torques: enabled')
                             for _ in range(2))
            for page in (first, second):
                open_tab(page, 'Control')
                page.get_by_role('button', name='Disable torques').wait_for()
            typed = first.locator('label', has_text='Code').first.locator(
                'xpath=ancestor::div[.//input][1]//input').first
            typed.fill(CODE)
            first.wait_for_timeout(500)
            first.get_by_role('button', name='Disable torques').click()
            shows(first, 'Answer of the node')
            assert typed.input_value() == ''
            second.get_by_role('button', name='Disable torques').click()
            shows(second, 'Refused: no code')
            assert watched.requests == [('enable', False)]
            assert first.errors == second.errors == []
        finally:
            server.stop()
