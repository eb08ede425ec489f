"""Test `dynamics_node inspector`: the address is printed and served, Ctrl-C ends it, refusals."""

import signal
import subprocess
import sys
import urllib.request

import pytest

from dynamics_node.commands import executable
from dynamics_node.example_robots import ARM7

PROGRAM = 'import sys; from dynamics_node.commands.executable import main; sys.exit(main())'


def test_the_page_is_served_until_ctrl_c():
    pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')
    words = ['inspector', str(ARM7), '--port', '0', '--at', 'joint_2=0.5']
    process = subprocess.Popen([sys.executable, '-c', PROGRAM, *words], stdout=subprocess.PIPE,
                               text=True)
    try:
        address = next(line for line in process.stdout if 'open http' in line).split()[2]
        with urllib.request.urlopen(address) as reply:
            assert reply.status == 200 and b'<html' in reply.read()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    finally:
        process.kill()
        process.stdout.close()


def test_without_viser_the_message_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'viser', None)
    assert executable.main(('inspector', str(ARM7))) == 2
    assert "pip install 'dynamics_node[inspector]'" in capsys.readouterr().err


def test_an_unknown_joint_is_refused(capsys):
    assert executable.main(('inspector', str(ARM7), '--at', 'joint_9=1')) == 2
    assert 'joint_9' in capsys.readouterr().err
