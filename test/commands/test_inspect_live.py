"""Test `dynamics_node inspect-live`: a node that is not there is said so, the code is printed."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.watched_stand_in import WatchedStandIn

from dynamics_node.commands import executable, inspect_live
from dynamics_node.inspector import live_page, server


@pytest.mark.parametrize('control', [False, True])
def test_the_code_is_printed_only_with_allow_control(ros_environment, control):
    pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
    from ament_index_python import get_package_prefix
    program = f'{get_package_prefix("dynamics_node")}/lib/dynamics_node/dynamics_node'
    words = ['inspect-live', '--node', '/absent', '--port', '0'] + ['--allow-control'] * control
    process = subprocess.Popen([sys.executable, program, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert any('/absent: open http' in line for line in process.stdout)
        if control:
            assert process.stdout.readline().startswith('code of the control panel: ')
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() == 130 and 'code' not in rest
    finally:
        process.kill()
        process.stdout.close()


def test_at_the_end_the_page_is_closed_before_the_requests(monkeypatch):
    pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
    closed = []

    class Closing(WatchedStandIn):
        def __init__(self, name, follow=None):
            super().__init__()
            self.kind = ('watched' if name != self.name else 'control' if follow is None
                         else 'identification')

        def read(self):
            raise KeyboardInterrupt

        def close(self):
            closed.append(self.kind)
    stopping = SimpleNamespace(stop=lambda: closed.append('page'), gui=None)
    monkeypatch.setattr(server, 'open_server', lambda *arguments: stopping)
    monkeypatch.setattr(server, 'address_of', lambda server: 'http://x')
    monkeypatch.setattr(live_page, 'LivePage', lambda page, watched, *rest: SimpleNamespace(
        run=lambda event: watched.read()))
    monkeypatch.setattr(inspect_live, 'import_ros', lambda *words: SimpleNamespace(
        WatchedNode=Closing, ControlRequests=Closing, IdentifyRequests=Closing))
    assert executable.main(('inspect-live', '--allow-control')) == 130
    assert closed == ['page', 'identification', 'control', 'watched']


def test_without_viser_the_message_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'viser', None)
    assert executable.main(('inspect-live',)) == 2
    assert "pip install 'dynamics_node[inspector]'" in capsys.readouterr().err


def test_a_trajectory_that_no_page_may_send_is_refused(tmp_path, capsys):
    assert executable.main(('inspect-live', '--trajectory', 'x.csv')) == 2
    assert '--allow-control' in capsys.readouterr().err
    assert executable.main(('inspect-live', '--allow-control', '--trajectory',
                            str(tmp_path / 'absent.csv'))) == 2
    assert 'absent.csv' in capsys.readouterr().err
