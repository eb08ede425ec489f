"""Test the live page in a real browser: disconnected, live, fault, control refused, control."""

import pytest
from support.browser import browser, close_notices, open_page, open_tab, screenshot, shows
from support.watched_stand_in import CODE, WatchedStandIn

from dynamics_node.inspector.live_page import LivePage
from dynamics_node.inspector.server import address_of, open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')


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
            shows(page, 'Torques: enabled, mode gravity')
            shows(page, 'joint states at the node: 500.0 Hz')
            page.wait_for_timeout(3000)
            close_notices(page)
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
