"""Test faults of the two processes: each survives the other, and no torque is outside the contract.

Every message on the wire is checked, see support/torque_wire.py.
"""

import os
import resource
import signal
import threading
import time
from array import array
from pathlib import Path

import pytest
from geometry_msgs.msg import Inertia
from std_srvs.srv import SetBool
from support.gate_states import RESTART, change
from support.remote_node import joint_state, wait_until
from support.torque_wire import EFFORT, Arm, parameters

from dynamics_node.ros import convert
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

ENOUGH_FOR_A_WHILE = 20_000_000   # bytes of memory
THROUGH = ('env',)   # nodes with prepared processes, see driven_arm


@pytest.fixture
def arm(driven_arm):
    """An arm whose torques are enabled; a case may end the torque process of its node."""
    yield driven_arm.prepared().enabled()
    assert change(driven_arm, *RESTART)


@pytest.fixture
def started(launch):
    """Return a function that starts a node of its own; its Arm, whose torques are enabled."""
    arms = []

    def start(**options):
        arms.append(Arm(launch(*parameters(), **options)))
        return arms[-1].enabled()
    yield start
    for arm in arms:
        arm.close()


def until_ended(arm, process):
    """Send joint states until the torque process has ended."""
    wait_until(lambda: arm.step() or not process.is_running(), 'the end of the torque process')
    arm.listen()


def until_failed(arm, how):
    """Wait until the node reports that its torque process has ended; return the message."""
    status = arm.run_until(lambda: arm.said('the torque process'), 'the failure')
    assert how in status.message, status.message
    assert status.level == b'\x02'
    return status.message


@pytest.mark.parametrize('name', ['SIGKILL', 'SIGSEGV', 'SIGABRT'])
def test_an_ended_torque_process_is_reported_and_not_started_again(arm, name):
    """At once; ~/enable is refused with the reason; services go on."""
    process = arm.torque_process()
    process.send_signal(getattr(signal, name))
    watchdog = arm.watchdog()
    message = until_failed(arm, name)
    until_ended(arm, watchdog)
    arm.takeovers = 1
    arm.check()
    count = len(arm.heard)
    reply = arm.ask(SetBool, 'enable', SetBool.Request(data=True))
    assert not reply.success
    assert reply.message in message
    assert arm.node.call('model_report').success
    arm.run(20)
    assert len(arm.heard) == count


def test_an_ended_torque_process_is_started_again_by_configure_alone(arm):
    first = arm.torque_process()
    first.send_signal(signal.SIGKILL)
    until_failed(arm, 'SIGKILL')
    assert change(arm, *RESTART)
    for each in (arm.heard, arm.commands, arm.enables, arm.statuses):
        each.clear()
    arm.run(20)
    assert not arm.heard            # disabled
    assert arm.torque_process() != first
    arm.enabled()
    arm.is_held()
    arm.disable()
    arm.ended_safely()


def test_a_stopped_torque_process_is_killed_and_reported(arm):
    """SIGSTOP: it does not reply, and must not continue later. This is without the watchdog."""
    arm.prepared(safety__watchdog_time=0.0).enabled()
    process = arm.torque_process()
    process.send_signal(signal.SIGSTOP)
    until_failed(arm, 'did not reply within 5 s and was killed')
    assert not process.is_running()
    arm.check()


def test_a_stopped_serving_process_does_not_disturb_torques(arm):
    """SIGSTOP, longer than every limit; ~/enable is served by the torque process."""
    serving = arm.node.process.pid
    os.kill(serving, signal.SIGSTOP)
    try:
        arm.run(400)
        arm.is_held()
        before = len(arm.heard)
        arm.run(50)
        assert len(arm.heard) > before + 25
        assert arm.disable().success
        arm.run(60)
    finally:
        os.kill(serving, signal.SIGCONT)
    arm.ended_safely()


def test_a_killed_serving_process_ends_in_the_safe_torque(started):
    own_arm = started(through=THROUGH)
    process = own_arm.torque_process()
    own_arm.node.process.kill()
    own_arm.node.process.wait()
    until_ended(own_arm, process)
    own_arm.node.assert_alive = lambda: None
    assert abs(own_arm.last - own_arm.gravity()).max() < 1e-9
    own_arm.check()


def test_payloads_can_be_set_while_there_is_no_torque_process(arm):
    """Services go on without torques."""
    arm.torque_process().send_signal(signal.SIGKILL)
    until_failed(arm, 'SIGKILL')
    reply = arm.node.call('set_payload', name='box', frame='tool0', payload=Inertia(m=0.5))
    assert reply.success, reply.message
    assert list(arm.node.call('list_payloads').names) == ['box']
    assert arm.node.call('set_payload', name='box', remove=True).success


@pytest.mark.parametrize('pause', [0.02, 0.2])
def test_short_stops_of_the_torque_process_keep_the_contract(arm, pause):
    """SIGSTOP and SIGCONT ten times: no message outside the contract, no restart."""
    process = arm.torque_process()
    for _ in range(10):
        process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + pause
        while time.monotonic() < end:
            arm.step()
        process.send_signal(signal.SIGCONT)
        arm.run(10)
    assert process.is_running()
    arm.run(20)
    arm.check()


CYCLES = int(os.environ.get('LIFECYCLE_CYCLES', 20))   # 1000 by hand: 3 minutes


def test_the_lifecycle_is_walked_under_joint_states_at_1_khz(arm):
    """Enabled in every round; neither process ends, no callback meets a destroyed entity."""
    process = arm.torque_process()
    stop, sent = threading.Event(), []

    def flood():
        while not stop.wait(0.001):
            message = joint_state(time.time_ns(), EFFORT, arm.q, arm.v)
            sent.append(convert.nanoseconds(message.header.stamp))
            arm.node.publish(message)
    thread = threading.Thread(target=flood)
    thread.start()
    try:
        for k in range(CYCLES):
            if k % 2:
                arm.ask(SetBool, 'enable', SetBool.Request(data=True))
            assert change(arm, *RESTART)
    finally:
        stop.set()
        thread.join()
    arm.node.assert_alive()
    assert process.is_running()
    assert 'Traceback' not in arm.log()
    assert arm.node.call('model_report').success


def test_a_serving_process_without_memory_does_not_disturb_torques(started):
    """Batches need more than is left. It may end: then the torque ends in the safe one."""
    own_arm = started()
    serving, process = own_arm.node.process, own_arm.torque_process()
    report = SERVICES['model_report'].kind
    reports = own_arm.node.ready(report, 'model_report')
    pages = int(Path(f'/proc/{serving.pid}/statm').read_text().split()[0])
    before = resource.prlimit(serving.pid, resource.RLIMIT_AS)
    resource.prlimit(serving.pid, resource.RLIMIT_AS,
                     (pages * resource.getpagesize() + ENOUGH_FOR_A_WHILE, before[1]))
    own_arm.node.assert_alive = lambda: None
    kind = SERVICES['batch_dynamics'].kind
    numbers = array('d', bytes(8 * 7 * 100_000))
    batches = own_arm.node.ready(kind, 'batch_dynamics')
    for _ in range(5):
        batches.call_async(kind.Request(question='inverse', position=numbers, velocity=numbers,
                                        acceleration=numbers))
        own_arm.run(20)
    reply = reports.call_async(report.Request())   # after the batches, if the process survives
    own_arm.run_until(lambda: reply.done() or serving.poll() is not None, 'a reply or the end')
    if serving.poll() is None:
        resource.prlimit(serving.pid, resource.RLIMIT_AS, before)
        own_arm.is_held()
        own_arm.disable()
        own_arm.ended_safely()
    else:
        until_ended(own_arm, process)
        assert abs(own_arm.last - own_arm.gravity()).max() < 1e-9
        own_arm.check()
