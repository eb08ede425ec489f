"""Test `dynamics_node inspect-live`: a node that is not there is said so, the code is printed."""

import signal
import subprocess
import sys

import pytest

from dynamics_node.commands import executable


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


def test_without_viser_the_message_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'viser', None)
    assert executable.main(('inspect-live',)) == 2
    assert "pip install 'dynamics_node[inspector]'" in capsys.readouterr().err
