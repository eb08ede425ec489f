"""Test the panel Identify: what it requests, what it shows while it runs and at the end."""

import numpy as np
import pytest
from support.html_checks import Page
from support.identifications import DONE, FOUND, RUNNING
from support.watched_stand_in import CODE, JOINTS, WatchedStandIn

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.control_guard import ControlGuard
from dynamics_node.inspector.control_panel import NamedTrajectory
from dynamics_node.inspector.guarded_requests import GuardedRequests
from dynamics_node.inspector.identify_panel import IdentifyPanel, IdentifyView, identify_view
from dynamics_node.inspector.identify_state import IdentifyState
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
SWING = NamedTrajectory('swing.yaml', TimedPoints(
    JOINTS, np.array([0.0, 12.5]), np.zeros((2, 7)), None, None))


@pytest.fixture(scope='module')
def server():
    opened = open_server(port=0)
    yield opened
    opened.stop()


def panel_of(server, watched, trajectory=None):
    requests = GuardedRequests(server.gui, ControlGuard(CODE), 3, lambda: True)
    return IdentifyPanel(server.gui, watched.identifying, requests, lambda: watched.state,
                         trajectory)


def confirm(panel):
    panel._requests.typed.value, panel._requests.sure.value = CODE, True
    panel.begin(3)


def test_nothing_is_recorded_without_a_confirmation_and_the_code(server):
    watched = WatchedStandIn()
    watched.live()
    panel = panel_of(server, watched)
    panel.begin(3)
    assert 'tick the box' in panel._requests.answer._shown
    panel._requests.sure.value = True
    panel.begin(3)
    assert 'no code' in panel._requests.answer._shown and watched.requests == []
    confirm(panel)
    assert watched.requests == [('begin', 30.0, None)]


def test_the_motion_is_sent_only_while_torques_are_enabled(server):
    watched = WatchedStandIn()
    watched.live(gate='disabled')
    panel = panel_of(server, watched, SWING)
    confirm(panel)
    assert 'torques are not enabled' in panel._requests.answer._shown and watched.requests == []
    watched.live()
    confirm(panel)
    assert watched.requests == [('begin', 12.5, SWING.points)]


def test_progress_condition_and_residual_are_shown_while_it_runs():
    text = Page(identify_view(RUNNING)).text
    assert 'Recording, 120 samples' in text and 'Condition number: not known yet' in text
    assert 'width:25%' in identify_view(RUNNING)
    text = Page(identify_view(RUNNING._replace(condition=512.0, residual=0.25))).text
    assert 'Condition number 512 (good motions have less than 300)' in text
    assert 'Residual 0.25' in text


def test_before_and_after_are_compared_per_joint_and_names_are_text():
    markup = identify_view(DONE, '/reports/x/identification.html')
    page = Page(markup)
    assert '2 \N{RIGHTWARDS ARROW} 0.2' in page.text and '1 \N{RIGHTWARDS ARROW} 0.1' in page.text
    assert 'Error 10 times smaller: 3 %' in page.text and 'the noise is large' in page.text
    assert '1 parameter changed' in page.text   # lower.m is not determined, mcx is the same
    assert '2 \N{RIGHTWARDS ARROW} 2.5 kg' in page.text and not page.of('script')
    assert page.of('a')[0]['href'] == '/reports/x/identification.html'


def test_the_report_is_served_once_and_linked(server):
    reports = ServedReports()
    view = IdentifyView(server.gui, reports)
    for _ in range(3):
        view.show(DONE)
    (path,) = reports._pages
    assert f'href="{path}"' in view._box._shown and reports.page(path) == FOUND.report
    view.show(DONE._replace(found=FOUND._replace(report=None)))
    assert 'Files on the machine of the node: /a/report.html' in view._box._shown


def test_a_refusal_is_said():
    refused = FOUND._replace(success=False, joint_names=[], files=[], report=None)
    state = IdentifyState('ended without success: no effort', found=refused)
    assert 'Ended without success: no effort' in Page(identify_view(state)).text
