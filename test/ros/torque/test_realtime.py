"""Test requests for real-time scheduling, in a process of their own."""

import os
import subprocess
import sys

import pytest

ASK = """import os, threading
from dynamics_node.ros.torque import realtime
stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
{first}
print(realtime.request({priority}, {cores}))
print([os.sched_getscheduler(int(t)) & 7 for t in os.listdir('/proc/self/task')])
print(sorted(os.sched_getaffinity(0)))
stop.set()
"""


def asked(priority, cores=(), first=''):
    """Return (what was granted, policies of the threads, cores) of a new process."""
    done = subprocess.run([sys.executable, '-c', ASK.format(
        priority=priority, cores=cores, first=first)], capture_output=True, text=True, timeout=60,
        check=True)
    granted, policies, where = done.stdout.splitlines()
    return granted, eval(policies), eval(where)


def test_nothing_is_requested_by_zero():
    granted, policies, _ = asked(0)
    assert (granted, set(policies)) == ('not requested', {os.SCHED_OTHER})


def test_every_thread_gets_the_priority_or_the_reason_is_told():
    """As root, or with the limits of docs/torque.md, it is granted."""
    granted, policies, _ = asked(20)
    if granted.startswith('SCHED_FIFO 20'):
        assert set(policies) == {os.SCHED_FIFO}
    else:
        assert granted.startswith('no SCHED_FIFO 20: Operation not permitted')
        assert set(policies) == {os.SCHED_OTHER}


def test_without_permission_all_is_refused_with_reasons():
    """The limits are taken from the process first."""
    drop = ('import resource, os\n'
            'resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))\n'
            'resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))\n'
            'os.getuid() == 0 and os.setuid(65534)')
    granted, policies, _ = asked(20, first=drop)
    assert 'no SCHED_FIFO 20: Operation not permitted' in granted
    assert 'no memory locked: ' in granted
    assert set(policies) == {os.SCHED_OTHER}


def test_cores_are_chosen_and_wrong_ones_refused():
    core = min(os.sched_getaffinity(0))
    assert asked(0, (core,))[::2] == (f'cores {core}', [core])
    assert asked(0, (4000,))[0].startswith('no cores 4000: ')


@pytest.mark.parametrize('value', [
    'one', '2 3', [-2], [1.5], [99999], ['2'], [True], 3, 2.5, True, None, b'\x02'])
def test_core_numbers_that_are_none_are_refused(value):
    from dynamics_node.errors import DynamicsError
    from dynamics_node.ros.parameters.torque import core_numbers
    with pytest.raises(DynamicsError, match='torque.cpu'):
        core_numbers('torque.cpu', value)


def test_core_numbers_are_read_and_any_core_is_none():
    from dynamics_node.ros.parameters.torque import core_numbers
    assert core_numbers('torque.cpu', [2, 3]) == [2, 3]
    assert core_numbers('torque.cpu', [-1]) == core_numbers('torque.cpu', []) == []
