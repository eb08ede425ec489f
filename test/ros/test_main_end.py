"""Test that all processes of a node are gone soon after it is told to end, whatever it does."""

import os
import signal
import time
from pathlib import Path

import pytest
from support.remote_node import wait_until

from dynamics_node.example_robots import ARM7

SOON = 8.0   # [s] beside other tests; alone it takes 0.2 s
MOMENTS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.3, 1.6, 2.0, 3.0)   # [s] after the start


def family(pid):
    """Return a process and its descendants, as long as they run."""
    try:
        tasks = list(Path(f'/proc/{pid}/task').glob('*/children'))
        children = [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:   # it has ended meanwhile
        return []
    return [pid, *(each for child in children for each in family(child))]


def is_running(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def handles_signals(pid):
    """Return whether the program has set what SIGTERM does; before, the interpreter decides."""
    status = Path(f'/proc/{pid}/status').read_text()
    caught = next(line for line in status.splitlines() if line.startswith('SigCgt'))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_node_is_gone_soon_after_it_is_told_to_end(start_node, number):
    """At any moment: while it imports, joins the ROS graph, starts its processes, or runs."""
    nodes = [(start_node(f'robot_description:={ARM7}', namespace=f'/end_{k}', through=('env',)),
              moment) for k, moment in enumerate(MOMENTS)]
    begin, processes, ready = time.monotonic(), [], []
    for node, moment in nodes:
        time.sleep(max(0.0, begin + moment - time.monotonic()))
        processes += family(node.pid)
        ready.append(handles_signals(node.pid))
        os.kill(node.pid, number)
    last = time.monotonic()
    for (node, _), handled in zip(nodes, ready):
        assert node.wait(SOON) == 0 or not handled, node.log()
    wait_until(lambda: not any(map(is_running, processes)), 'the other processes', SOON)
    assert time.monotonic() - last < SOON


def test_a_node_that_runs_ends_with_its_processes(launch):
    """Code 0, and the log says nothing of a destructor that hangs."""
    node = launch(f'robot_description:={ARM7}', through=('env',))
    assert node.call('model_report').success
    processes = family(node.process.pid)
    assert len(processes) == 3
    node.process.send_signal(signal.SIGTERM)
    assert node.process.wait(SOON) == 0
    wait_until(lambda: not any(map(is_running, processes)), 'the other processes', SOON)
    assert 'Timeout' not in node.process.log()
