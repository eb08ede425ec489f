"""Test signals to either process in every state of the gate, and the end of what started the node.

Every orderly end is a ramp to the safe torque; every message on the wire is checked.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.gate_states import GATE_STATES, RESTART, bring, change
from support.remote_node import PATIENCE, wait_until
from support.torque_wire import ROUNDING, Arm, TorqueProcessId, parameters

pytestmark = pytest.mark.long

# One handler takes all signals, and does not look at which it is: each in one state is enough.
SIGNALS = pytest.mark.parametrize(('state', 'name'), [
    *((state, 'SIGTERM') for state in GATE_STATES), ('ramping in', 'SIGINT'),
    ('ramping in', 'SIGHUP')])   # there it is far from the safe torque


@pytest.fixture
def started(launch):
    """Return a function that starts a node of its own and returns its Arm."""
    arms = []

    def start(**options):
        arms.append(Arm(launch(*parameters(), **options)))
        return arms[-1]
    yield start
    for arm in arms:
        arm.close()


def ends_safely(arm, processes):
    """Send joint states until the processes have ended, in the safe torque."""
    arm.node.assert_alive = lambda: None
    wait_until(lambda: arm.step() or not any(each.is_running() for each in processes), 'the end')
    arm.listen()
    np.testing.assert_allclose(arm.last, arm.gravity(), rtol=0.0, atol=ROUNDING)
    assert arm.commands[-1] == (arm.heard[-1].number, arm.last.tolist())
    arm.check()


@SIGNALS
def test_a_signal_to_the_torque_process_ends_in_the_safe_torque(driven_arm, state, name):
    """It is reported; a new process is started by configure alone, and is disabled."""
    arm = driven_arm
    bring(arm, state)
    process = arm.torque_process()
    process.send_signal(getattr(signal, name))
    wait_until(lambda: arm.step() or not process.is_running(), 'the end of the torque process')
    arm.run_until(lambda: arm.said('the torque process exited with 0'), 'the failure')
    np.testing.assert_allclose(arm.last, arm.gravity(), rtol=0.0, atol=ROUNDING)
    arm.check()
    count = len(arm.heard)
    assert not arm.enable().success
    assert change(arm, *RESTART)
    arm.rest()
    arm.arrive()
    arm.run(10)
    assert len(arm.heard) == count
    assert 'Traceback' not in arm.log()


@pytest.mark.parametrize('walked', range(4), ids=['active', 'inactive', 'unconfigured',
                                                  'configured'])
def test_a_torque_process_killed_in_any_lifecycle_state_is_replaced_by_configure(
        driven_arm, walked):
    """The next one alone serves ~/enable. Each round the failure is the same as before."""
    arm = driven_arm.prepared()
    process = arm.torque_process()
    assert change(arm, *RESTART[:walked])
    before = arm.log().count('was ended by SIGKILL')   # diagnostics need a configured node
    process.send_signal(signal.SIGKILL)
    arm.run_until(lambda: arm.log().count('was ended by SIGKILL') > before, 'the failure')
    assert change(arm, *RESTART[walked:])
    if walked == 3:   # activated without a torque process
        assert 'SIGKILL' in arm.enable().message
        assert change(arm, *RESTART)
    arm.run_until(lambda: arm.node.client.count_services(f'{arm.node.name}/enable') == 1,
                  'one ~/enable')
    assert not arm.heard
    arm.enabled_and_disabled()
    arm.ended_safely()


@SIGNALS
def test_a_signal_to_the_serving_process_ends_in_the_safe_torque(started, state, name):
    arm = started()
    bring(arm, state)
    processes = arm.torque_process(), arm.watchdog()
    arm.node.process.send_signal(getattr(signal, name))
    ends_safely(arm, processes)
    assert arm.node.process.wait(PATIENCE) == 0
    assert 'Traceback' not in arm.log()


# What started the node ---------------------------------------------------------------------------

def test_a_closed_terminal_ends_in_the_safe_torque(started):
    """The serving process gets SIGHUP; nothing can be written to the terminal any more."""
    ours, its = os.openpty()
    arm = started(through=['setsid', '--ctty'], stdin=its, stdout=its, stderr=its)
    os.close(its)
    bring(arm, 'ramping in')   # far from the safe torque
    processes = arm.torque_process(), arm.watchdog()
    os.close(ours)
    ends_safely(arm, processes)
    assert arm.node.process.wait(PATIENCE) == 0


@pytest.fixture
def orphan(started):
    """An arm ramping in whose launcher was killed; it read the log by a pipe.

    :ivar serving, process, watched_by: TorqueProcessIds of the node; pipe: the two ends.
    """
    reader, writer = os.pipe()
    arm = started(through=['sh', '-c', '"$@"; exit', 'sh'], stdout=writer, stderr=writer)
    bring(arm, 'ramping in')   # far from the safe torque
    launcher, arm.process, arm.pipe = arm.node.process, arm.torque_process(), (reader, writer)
    arm.watched_by = arm.watchdog()
    children = Path(f'/proc/{launcher.pid}/task/{launcher.pid}/children').read_text()
    arm.serving = TorqueProcessId(int(children))
    launcher.kill()
    launcher.wait()
    arm.node.assert_alive = lambda: None
    yield arm
    for each in (arm.serving, arm.process):
        if each.is_running():
            each.send_signal(signal.SIGKILL)


@pytest.mark.parametrize('end', ['disable', 'SIGTERM', 'SIGKILL'])
def test_a_killed_launcher_does_not_end_torques(orphan, end):
    """The pipe is broken now; the node can be stopped as before."""
    for each in orphan.pipe:
        os.close(each)
    count = len(orphan.heard)
    orphan.run_until(lambda: len(orphan.heard) > count + 10, 'torques')
    if end == 'disable':
        assert orphan.disable().success
        orphan.ended_safely()
    orphan.serving.send_signal(signal.SIGTERM if end == 'disable' else getattr(signal, end))
    ends_safely(orphan, [orphan.serving, orphan.process, orphan.watched_by])


def test_a_full_pipe_for_the_log_does_not_stop_the_torque_process(orphan):
    """The serving process is killed too: the torque process cannot write its log anywhere."""
    reader, writer = orphan.pipe
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, b'x'):
            pass
    os.set_blocking(writer, True)
    orphan.serving.send_signal(signal.SIGKILL)
    ends_safely(orphan, [orphan.serving, orphan.process])
    for each in (reader, writer):
        os.close(each)
