"""Test the controls: no request without permission, code, node and confirmation."""

import time

import numpy as np
import pytest
from support.page_socket import PageSocket
from support.watched_stand_in import ARM, CODE, JOINTS, WatchedStandIn

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.control_guard import LOCKED, ControlGuard
from dynamics_node.inspector.control_panel import REFUSED, ControlPanel, NamedTrajectory
from dynamics_node.inspector.guarded_requests import SURE, GuardedRequests
from dynamics_node.inspector.live_page import LivePage
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
MOTION = NamedTrajectory('swing.yaml', TimedPoints(
    JOINTS, np.array([0.0, 2.0]), np.zeros((2, 7)), None, None))


@pytest.fixture
def server():
    opened = open_server(port=0)
    yield opened
    opened.stop()


def panel_of(server, control, connected=True):
    control.live()
    requests = GuardedRequests(server.gui, ControlGuard(CODE), 3, lambda: connected)
    return ControlPanel(server.gui, ARM, control, requests, 'tool0', lambda: control.state, MOTION)


@pytest.mark.parametrize(('code', 'sure', 'connected', 'said'), [
    ('', True, True, 'no code'), ('kq7mzd2wxh9q', True, True, 'the code is wrong'),
    (CODE, False, True, 'tick the box'), (CODE, True, False, 'not running')])
def test_torques_are_not_enabled(server, code, sure, connected, said):
    control = WatchedStandIn()
    panel = panel_of(server, control, connected)
    requests = panel._requests
    requests.typed.value, requests.sure.value = code, sure
    panel.enable(3)
    assert control.requests == [] and said in requests.answer._shown


def test_each_enabling_is_confirmed_anew_and_the_code_is_cleared(server):
    control = WatchedStandIn()
    panel = panel_of(server, control)
    panel._requests.typed.value, panel._requests.sure.value = f' {CODE} ', True
    panel.enable(3)
    assert panel._requests.typed.value == ''
    panel.enable(3)
    assert control.requests == [('enable', True)]
    panel.disable(3)
    assert control.requests == [('enable', True), ('enable', False)]


def test_the_click_of_another_client_does_nothing(server):
    control = WatchedStandIn()
    panel = panel_of(server, control)
    panel._requests.typed.value, panel._requests.sure.value = CODE, True
    for client in (4, None):
        panel.enable(client)
        panel.disable(client)
    assert control.requests == [] and panel._requests.typed.value == CODE


def test_a_gain_of_all_joints_or_of_one_is_set_after_a_confirmation(server):
    control = WatchedStandIn()
    panel = panel_of(server, control)
    panel._requests.typed.value = CODE
    assert panel._present() == 100.0
    panel._value.value = 150.0
    panel._requests.confirmed(3, panel._set_gain)
    assert control.requests == [] and 'tick the box' in panel._requests.answer._shown
    panel._requests.sure.value = True
    panel._requests.confirmed(3, panel._set_gain)
    panel._gain.value, panel._joint.value, panel._requests.sure.value = 'kd', JOINTS[2], True
    panel._value.value = 7.0
    panel._requests.confirmed(3, panel._set_gain)
    assert control.requests == [('set_gains', 'kp', dict.fromkeys(JOINTS, 150.0)),
                                ('set_gains', 'kd', {JOINTS[2]: 7.0})]


def test_a_gain_that_is_no_longer_in_use_is_refused_and_those_in_use_are_offered(server):
    """torque.gains of the node has changed, or was not known when the page was opened."""
    control = WatchedStandIn()
    panel = panel_of(server, control)
    control.live(gains={'frequency': dict.fromkeys(JOINTS, 3.0)})
    panel._requests.typed.value, panel._requests.sure.value = CODE, True
    panel._requests.confirmed(3, panel._set_gain)
    assert control.requests == [] and 'are frequency now' in panel._requests.answer._shown
    assert panel._gain.options == ('frequency',) and panel._gain.value == 'frequency'
    assert panel._value.value == 3.0
    control.live(gains={})
    panel._requests.sure.value = True
    panel._requests.confirmed(3, panel._set_gain)
    assert control.requests == [] and 'not known' in panel._requests.answer._shown


def test_the_trajectory_of_the_command_line_is_sent_after_a_confirmation(server):
    watched = WatchedStandIn()
    watched.live()
    LivePage(server, watched, watched.allowed(MOTION)).update()
    client = PageSocket(server)
    client.put(client.wait_for('Code'), CODE)
    time.sleep(0.2)
    button = client.wait_for('Send swing.yaml')
    client.put(button, True)
    client.read(0.5)
    assert watched.requests == []
    client.put(client.wait_for(SURE), True)
    time.sleep(0.2)
    client.put(button, True)
    until(lambda: watched.requests == [('follow', 2)])
    client.close()


def test_without_permission_a_client_is_sent_no_button(server):
    watched = WatchedStandIn()
    watched.live()
    LivePage(server, watched).update()
    client = PageSocket(server)
    client.read(1.0)
    assert any(REFUSED in text for text in client.texts)
    assert 'Enable torques' not in client.uuids and 'Code' not in client.uuids
    client.close()


def until(condition):
    end = time.monotonic() + 10.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_the_code_of_one_client_is_unknown_to_others_and_opens_nothing_to_them(server):
    """Clients that were there before, and that connect later, see no code and cannot click."""
    watched = WatchedStandIn()
    page = LivePage(server, watched, watched.allowed())
    before = PageSocket(server)
    operator = PageSocket(server)
    watched.live()
    page.update()
    operator.put(operator.wait_for('Code'), CODE)
    operator.put(operator.wait_for(SURE), True)
    time.sleep(0.3)
    operator.put(operator.wait_for('Enable torques'), True)
    until(lambda: watched.requests == [('enable', True)])
    after = PageSocket(server)
    for other in (before, after):
        button = other.wait_for('Disable torques')
        other.put(button, True)
        other.put(operator.uuids['Disable torques'], True)
        other.read(0.7)
        assert button != operator.uuids['Disable torques'] and CODE not in other.texts
    assert watched.requests == [('enable', True)]
    operator.put(operator.uuids['Disable torques'], True)   # opened: no code again
    until(lambda: watched.requests == [('enable', True), ('enable', False)])
    for each in (before, operator, after):
        each.close()


def test_guessing_locks_the_controls(server):
    watched = WatchedStandIn()
    watched.live()
    LivePage(server, watched, watched.allowed()).update()
    client = PageSocket(server)
    code, button = client.wait_for('Code'), client.wait_for('Attach payload')
    for guess in range(8):
        client.put(code, f'guess{guess}')
        time.sleep(0.1)
        client.put(button, True)
        time.sleep(0.1)
    client.put(code, CODE)
    time.sleep(0.1)
    client.put(button, True)
    client.read(0.7)
    assert any(LOCKED in text for text in client.texts) and watched.requests == []
    client.close()
