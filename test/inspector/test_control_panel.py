"""Test the control panel: no request without permission, code, node and confirmation."""

import pytest
from support import small_robots
from support.watched_stand_in import WatchedStandIn

from dynamics_node.inspector.control_panel import REFUSED, ControlPanel, new_code
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')


@pytest.fixture(scope='module')
def gui():
    server = open_server(port=0)
    yield server.gui
    server.stop()


def panel_of(gui, control, connected=True):
    return ControlPanel(gui, small_robots.arm(compile=False), control, '123456', 'lower',
                        lambda: connected)


def test_without_permission_there_is_no_button(gui):
    panel = panel_of(gui, None)
    assert REFUSED in panel._answer._shown
    assert not hasattr(panel, '_typed')


@pytest.mark.parametrize(('code', 'sure', 'connected', 'said'), [
    ('', True, True, 'the code is wrong'), ('123457', True, True, 'the code is wrong'),
    ('123456', False, True, 'tick the box'), ('123456', True, False, 'not running')])
def test_torques_are_not_enabled(gui, code, sure, connected, said):
    control = WatchedStandIn()
    panel = panel_of(gui, control, connected)
    panel._typed.value, panel._sure.value = code, sure
    panel._enable(control)
    assert control.requests == [] and said in panel._answer._shown


def test_each_enabling_is_confirmed_anew(gui):
    control = WatchedStandIn()
    panel = panel_of(gui, control)
    panel._typed.value, panel._sure.value = ' 123456 ', True
    panel._enable(control)
    panel._enable(control)
    assert control.requests == [('enable', True)]


def test_codes_differ():
    assert len({new_code() for _ in range(50)}) > 40
