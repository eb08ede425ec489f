"""Test how the serving process waits for a reply of the torque process."""

import os
import threading
import time

import pytest

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque import process, watchdog_process
from dynamics_node.ros.torque.records import Setup
from dynamics_node.ros.torque.watchdog_process import WatchdogSetup

# A torque process that replies to each command with its name, but to the command 'silence'.
REPLIES = """
import queue, socket, sys
from dynamics_node.ros.process_link import Link
from dynamics_node.ros.torque.records import Command, Reply

def main():
    records = queue.SimpleQueue()
    link = Link(socket.socket(fileno=int(sys.argv[1])), records.put, lambda: records.put(None))
    for record in iter(records.get, None):
        if isinstance(record, Command) and record.name != 'silence':
            link.send(Reply(record.number, record.name))
"""
# A watchdog that ends with the connection to the serving process.
SLEEPS = """
import socket, sys

def main():
    socket.socket(fileno=int(sys.argv[1])).recv(1)
"""


class StoppedOnce(threading.Condition):
    """A condition whose first wait is as long as every patience, as if the process was stopped.

    All its threads stand still meanwhile, also the one that receives.
    """

    def __init__(self, stop):
        super().__init__()
        self._stop = stop   # [s]

    def wait(self, timeout=None):
        stop, self._stop = self._stop, 0.0
        if stop:
            time.sleep(stop)
            return False
        return super().wait(timeout)


@pytest.fixture
def started(monkeypatch, tmp_path):
    (tmp_path / 'replies.py').write_text(REPLIES)
    (tmp_path / 'sleeps.py').write_text(SLEEPS)
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(process, 'MODULE', 'replies')
    monkeypatch.setattr(watchdog_process, 'MODULE', 'sleeps')
    made = process.TorqueProcess(Setup('', '', {}, {}),
                                 WatchdogSetup('', '', '', '', 0, [], {}), [], lambda: None)
    assert made.call('hello') == 'hello'
    yield made
    made.close()


def test_a_reply_that_came_while_this_process_was_stopped_is_used(started):
    """The torque process has done nothing wrong: it must not be killed."""
    started._patience = 0.5
    started._changed = StoppedOnce(2 * started._patience)
    assert started.call('hello again') == 'hello again'
    assert not started.failure


def test_a_process_that_does_not_reply_is_killed(started):
    started._patience = 0.5
    with pytest.raises(DynamicsError, match='did not reply within 0.5 s and was killed'):
        started.call('silence')
    assert started.failure
