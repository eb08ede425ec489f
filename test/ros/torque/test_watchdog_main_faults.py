"""Test the watchdog by faults of every process of a node, over the wire.

Every message is checked, see support/torque_wire.py. A message of the torque process after the
first one of the watchdog would have a newer stamp: joint states are sent all the time.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from support.gate_states import GATE_STATES, RESTART, bring, change
from support.remote_node import wait_until
from support.simulated_arm import SimulatedArm
from support.torque_wire import ROUNDING, Arm, parameters

pytestmark = pytest.mark.long

SETTINGS = {'safety.watchdog_time': 1.0}
# In the torque process, which is forked, as soon as a file exists: a publish that does not return,
# or a call that holds the interpreter.
BLOCKED = """
import ctypes, os, sys, threading, time
def block():
    module = 'dynamics_node.ros.torque.process_main'
    while not os.path.exists({file!r}) or module not in sys.modules:
        time.sleep(0.01)
    if open({file!r}).read() == 'publish':
        from dynamics_node.ros.torque.topics import TorqueTopics
        TorqueTopics._publish = lambda *_: time.sleep(3600.0)
    else:
        ctypes.PyDLL(None).sleep(3600)
os.register_at_fork(after_in_child=lambda: threading.Thread(target=block, daemon=True).start())
"""


@pytest.fixture
def arm(driven_arm):
    """The arm of a node that serves the module; a case may end all its processes but the first."""
    yield driven_arm
    assert change(driven_arm, *RESTART)


@pytest.fixture
def started(launch):
    """Return a function that starts a node of its own and returns its Arm."""
    arms = []

    def start(make=lambda node: Arm(node, **SETTINGS), environment=None, **values):
        values.update({name.replace('.', '__'): value for name, value in SETTINGS.items()})
        arms.append(make(launch(*parameters(**values), environment=environment)))
        return arms[-1]
    yield start
    for arm in arms:
        arm.close()


def until_ended(arm, *processes):
    """Send joint states until processes have ended."""
    wait_until(lambda: arm.step() or not any(each.is_running() for each in processes), 'the end')
    arm.listen()


def assert_taken_over(arm, safe='gravity'):
    """Assert that the last messages are those of the watchdog alone, within the contract."""
    arm.takeovers = 1
    arm.check()
    first = next(k for k in range(1, len(arm.heard))
                 if arm.heard[k].number <= arm.heard[k - 1].number)
    by_watchdog = arm.heard[first:]
    assert {one.stamp for one in by_watchdog} == {by_watchdog[0].stamp}
    assert by_watchdog[0].stamp >= arm.heard[first - 1].stamp
    torques = np.array([one.effort for one in by_watchdog])
    assert not torques[-1].any()
    assert not any(arm.commands[-1][1])
    if safe == 'gravity':
        assert (np.abs(torques - arm.gravity()).max(axis=1) < ROUNDING).any()


# The torque process ------------------------------------------------------------------------------

@pytest.mark.parametrize('name', ['SIGKILL', 'SIGSTOP'])
@pytest.mark.parametrize('state', GATE_STATES)
def test_the_watchdog_publishes_the_last_torques_of_a_torque_process(arm, state, name):
    """A stopped one cannot continue: it is killed first. ~/enable is refused with the reason."""
    bring(arm, state)
    before = arm.log().count('the watchdog publishes the last torques')
    process, watchdog = arm.torque_process(), arm.watchdog()
    process.send_signal(getattr(signal, name))
    until_ended(arm, process, watchdog)
    # A moving arm is braked by the model, to a position that this test does not know.
    assert_taken_over(arm, 'braked' if arm.v.any() else 'gravity')
    reason = 'SIGKILL' if name == 'SIGKILL' else 'stood still for 1'
    message = arm.run_until(lambda: arm.said('the watchdog publishes'), 'the report').message
    assert reason in message
    reply = arm.ask(SetBool, 'enable', SetBool.Request(data=True))
    assert not reply.success and reply.message in message
    assert arm.log().count('the watchdog publishes the last torques') == before + 1
    count = len(arm.heard)
    arm.run(20)
    assert len(arm.heard) == count


@pytest.mark.parametrize('action', ['zero', 'hold'])
def test_other_safe_actions(arm, action):
    bring(arm, 'enabled', safety__safe_action=action)
    process, watchdog = arm.torque_process(), arm.watchdog()
    process.send_signal(signal.SIGKILL)
    until_ended(arm, process, watchdog)
    assert_taken_over(arm, action)


@pytest.mark.parametrize('what', ['publish', 'interpreter'])
def test_a_blocked_loop_is_noticed(started, tmp_path, what):
    """The main thread alone, or all threads of Python."""
    (tmp_path / 'sitecustomize.py').write_text(BLOCKED.format(file=str(tmp_path / 'block')))
    arm = started(environment={
        'PYTHONPATH': f'{tmp_path}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'})
    bring(arm, 'enabled')
    process, watchdog = arm.torque_process(), arm.watchdog()
    (tmp_path / 'block').write_text(what)
    until_ended(arm, process, watchdog)
    assert_taken_over(arm)


def test_a_torque_process_that_is_idle_may_be_killed_or_stopped(arm):
    """No torque is published; the watchdog ends with the process."""
    bring(arm, 'enabled')
    arm.disable()
    arm.ended_safely()
    process, watchdog, count = arm.torque_process(), arm.watchdog(), len(arm.heard)
    process.send_signal(signal.SIGSTOP)
    arm.run(round(1.5 / 0.005))
    assert process.is_running() and watchdog.is_running()
    process.send_signal(signal.SIGKILL)
    until_ended(arm, process, watchdog)
    assert len(arm.heard) == count
    assert 'the watchdog' not in arm.run_until(lambda: arm.said('SIGKILL'), 'the end').message


def test_without_a_watchdog_nothing_follows_the_last_torque(arm):
    bring(arm, 'enabled', safety__watchdog_time=0.0)
    process = arm.torque_process()
    process.send_signal(signal.SIGKILL)
    until_ended(arm, process, arm.watchdog())
    arm.check()
    np.testing.assert_allclose(arm.last, arm.gravity(), rtol=0.0, atol=1e-6)


# The other processes -----------------------------------------------------------------------------

@pytest.mark.parametrize('stopped', [False, True])
def test_the_watchdog_alone_is_left(started, stopped):
    """Both other processes are killed, or one is killed and the other one stopped."""
    arm = started()
    bring(arm, 'enabled')
    process, watchdog = arm.torque_process(), arm.watchdog()
    process.send_signal(signal.SIGSTOP if stopped else signal.SIGKILL)
    arm.node.process.kill()
    arm.node.process.wait()
    until_ended(arm, process, watchdog)
    assert_taken_over(arm)


def test_no_process_is_left_of_an_idle_node(started):
    """The torque process is stopped when the serving process is killed."""
    arm = started()
    process, watchdog = arm.torque_process(), arm.watchdog()
    process.send_signal(signal.SIGSTOP)
    arm.node.process.kill()
    arm.node.process.wait()
    until_ended(arm, process, watchdog)
    assert not arm.heard


def test_signals_that_end_a_node_do_not_end_its_watchdog(arm):
    """As a service manager sends them, to all processes: it has to see how the others end."""
    bring(arm, 'enabled')
    watchdog = arm.watchdog()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        watchdog.send_signal(each)
    arm.run(100)
    assert watchdog.is_running()
    process = arm.torque_process()
    process.send_signal(signal.SIGKILL)
    until_ended(arm, process, watchdog)
    assert_taken_over(arm)


def test_a_killed_watchdog_is_reported_and_torques_go_on(arm):
    """A healthy arm has no fault; the next ~/enable is refused until a new watchdog runs."""
    bring(arm, 'enabled')
    first = arm.watchdog()
    before = arm.log().count('the watchdog process was ended by SIGKILL')
    first.send_signal(signal.SIGKILL)
    arm.run_until(lambda: arm.log().count('the watchdog process was ended by SIGKILL') > before,
                  'the report')
    arm.run_until(lambda: any('SIGKILL' in item.value for item in arm.statuses[-1].values
                              if item.key == 'watchdog'), 'diagnostics')
    assert arm.statuses[-1].level == b'\x01' and arm.said('enabled')
    count = len(arm.heard)
    arm.run_until(lambda: len(arm.heard) > count + 50, 'torques')
    arm.disable()
    arm.ended_safely()
    assert 'the watchdog process has ended' in arm.enable().message
    assert change(arm, *RESTART)
    arm.statuses.clear()
    assert arm.watchdog() != first
    assert arm.torque_process().is_running()


@pytest.mark.parametrize('killed', [False, True])
def test_another_publisher_is_found_beside_the_watchdog(arm, killed):
    bring(arm, 'enabled')
    if killed:
        watchdog = arm.watchdog()
        watchdog.send_signal(signal.SIGKILL)
        until_ended(arm, watchdog)
    arm.run(200)
    assert arm.said('enabled')
    topic = f'{arm.node.namespace}/commands'
    other = arm.node.client.create_publisher(Float64MultiArray, topic, QoSProfile(depth=1))
    arm.until_fault('another publisher')
    arm.node.client.destroy_publisher(other)
    arm.check()


def test_a_paused_simulation_is_no_silence(started):
    """The sign of life does not depend on /clock."""
    arm = started(SimulatedArm, use_sim_time=True)
    arm.run_until(lambda: arm.enable().success, 'enable')
    arm.run_until(lambda: arm.said('enabled'), 'enabled')
    process = arm.torque_process()
    time.sleep(3.0 * SETTINGS['safety.watchdog_time'])
    assert process.is_running()
    arm.is_held()
    arm.check()


def test_the_watchdog_has_no_compiler_until_torques_begin():
    """It loads kernels then; see test_watchdog_kernels.py."""
    loaded = subprocess.run(
        [sys.executable, '-c', 'import dynamics_node.ros.torque.watchdog_main, sys; '
         'print(*sys.modules)'], capture_output=True, text=True, check=True).stdout.split()
    assert 'rclpy' in loaded
    for name in ('dynamics_node.kernels.build', 'llvmlite'):
        assert name not in loaded, name
