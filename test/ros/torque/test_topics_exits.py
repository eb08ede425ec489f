"""Test every way to end: signals, lifecycle, kill -9; and nodes with a clock or rate of their own.

The last message of every orderly exit is the safe one, and nothing comes after it.
"""

import signal

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from std_srvs.srv import SetBool
from support.gate_states import change
from support.remote_node import wait_until
from support.simulated_arm import SECOND, SimulatedArm
from support.torque_wire import REST, ROUNDING, Arm, parameters

pytestmark = pytest.mark.long


@pytest.fixture
def driven(launch):
    """Return a function that starts a node of its own and returns its Arm, enabled."""
    arms = []

    def start(kind=Arm, **changed):
        arms.append(kind(launch(*parameters(**changed))))
        arms[-1].settings.update({k.replace('__', '.'): v for k, v in changed.items()})
        return arms[-1]
    yield start
    for arm in arms:
        arm.close()


def ended(arm, code=0):
    """Wait for the process to end, with joint states all the while."""
    def over():
        arm.step()
        return arm.node.process.poll() is not None
    wait_until(over, 'the end')
    assert arm.node.process.returncode == code, arm.log()
    assert 'Traceback' not in arm.log()
    arm.listen()
    arm.check()


def safe(arm, action):
    expected = arm.gravity() if action == 'gravity' else np.zeros(7)
    np.testing.assert_allclose(arm.last, expected, rtol=0.0, atol=ROUNDING)
    assert arm.commands[-1] == (arm.heard[-1].number, arm.last.tolist())


SIGNALS = {'SIGTERM': [signal.SIGTERM], 'SIGINT': [signal.SIGINT],
           'SIGTERM twice': [signal.SIGTERM] * 2, 'both': [signal.SIGINT, signal.SIGTERM]}


@pytest.mark.parametrize('name, action', [
    ('SIGTERM', 'zero'), ('SIGINT', 'hold'), ('SIGTERM twice', 'zero'), ('both', 'gravity')])
def test_a_signal_while_enabled_ends_in_the_safe_torque(driven, name, action):
    arm = driven(safety__safe_action=action)
    arm.enabled()
    for each in SIGNALS[name]:
        arm.node.process.send_signal(each)
    ended(arm)
    safe(arm, action)


def test_a_signal_without_joint_states_ends_in_zero(driven):
    """In a fault: gravity is not known any more."""
    arm = driven(safety__hold_time=10.0)
    arm.enabled()
    arm.until_fault('max_state_age', step=arm.listen)
    arm.node.process.send_signal(signal.SIGTERM)
    arm.step = arm.listen
    ended(arm)
    safe(arm, 'zero')


def test_a_signal_before_the_first_torque_publishes_nothing(driven):
    arm = driven()
    arm.prepared()
    arm.node.process.send_signal(signal.SIGTERM)
    ended(arm)
    assert not arm.heard and not arm.commands


def test_a_killed_and_restarted_node_is_disabled(driven, launch):
    """The torque process of the killed node ends in the safe torque; the next publishes nothing."""
    arm = driven()
    arm.enabled()
    torque_process = arm.torque_process()
    arm.node.process.kill()
    ended(arm, -signal.SIGKILL)
    wait_until(lambda: arm.step() or not torque_process.is_running(), 'the torque process to end')
    arm.listen()
    arm.check()
    safe(arm, 'gravity')
    count = len(arm.heard)
    again = Arm(launch(*parameters(), namespace=arm.node.namespace))
    again.run_until(lambda: again.said('disabled'), 'diagnostics of the new one')
    again.run(40)
    arm.listen()
    assert len(arm.heard) == count and not again.heard and not again.commands
    again.close()


# Lifecycle ---------------------------------------------------------------------------------------

def quiet(arm):
    """Assert that joint states cause no torque."""
    arm.listen()
    count = len(arm.heard)
    arm.run(20)
    arm.node.ready(ChangeState, 'change_state')
    arm.run(5)
    assert len(arm.heard) == count


def test_deactivation_while_enabled_ends_in_the_safe_torque(driven_arm):
    """Inactive it refuses; active again it waits for enable."""
    arm = driven_arm.prepared()
    arm.enabled()
    assert not change(arm, Transition.TRANSITION_CLEANUP)  # there is no such way from here
    arm.run(5)
    arm.is_held()
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    safe_and_checked(arm)
    reply = arm.enable()
    assert not reply.success and 'the node is inactive' in reply.message
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    quiet(arm)
    arm.enabled_and_disabled()
    arm.ended_safely()


def test_a_reconfigured_node_is_disabled(driven_arm):
    arm = driven_arm.prepared()
    arm.enabled()
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    assert change(arm, Transition.TRANSITION_CLEANUP)
    safe_and_checked(arm)
    assert change(arm, Transition.TRANSITION_CONFIGURE)
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    arm.arrive()
    quiet(arm)


def test_shutdown_while_enabled_ends_in_the_safe_torque(driven):
    arm = driven()
    arm.enabled()
    assert change(arm, Transition.TRANSITION_ACTIVE_SHUTDOWN)
    safe_and_checked(arm)
    arm.node.process.send_signal(signal.SIGTERM)
    ended(arm)


def safe_and_checked(arm):
    quiet(arm)
    safe(arm, 'gravity')
    arm.check()


# Another clock, another rate ---------------------------------------------------------------------

@pytest.mark.parametrize('seconds', [100.0, -100.0, -0.02])
def test_a_jump_of_the_clock_is_a_fault(driven, seconds):
    """Forward, and back as when a simulation restarts: the arm is held in the end."""
    arm = driven(SimulatedArm, use_sim_time=True)
    arm.run_until(lambda: arm.enable().success, 'enable')
    arm.run_until(lambda: arm.said('enabled'), 'enabled')
    arm.is_held()
    arm.time += int(seconds * SECOND)
    arm.until_fault('')
    arm.run(60)   # until the ramp to the safe torque is over
    arm.is_held()
    quiet(arm)
    arm.check()
    assert arm.ask(SetBool, 'enable', SetBool.Request(data=True)).success
    arm.run_until(lambda: arm.said('enabled'), 'enabled')


def test_torques_at_a_fixed_rate_stop_with_the_states(driven):
    """They come between the states too."""
    arm = driven(torque__rate=200.0)
    arm.enabled()
    arm.is_held()
    count = len(arm.heard)
    wait_until(lambda: arm.listen() or len(arm.heard) > count + 10, 'torques without a state')
    arm.until_fault('max_state_age', step=arm.listen)
    wait_until(lambda: arm.listen() or not arm.last.any(), 'zero')
    arm.check()
    arm.enabled_and_disabled()
    arm.ended_safely()


def test_at_a_fixed_rate_torques_without_states_only_decay(driven):
    """A moving reference would change the torque."""
    arm = driven(torque__rate=200.0, torque__mode='impedance')
    arm.enabled()
    arm.follow(REST + 0.5 * (np.arange(1, 8) == 7), 2.0)
    before = arm.last
    arm.run_until(lambda: np.abs(arm.last - before).max() > 0.5, 'the reference')
    arm.until_fault('max_state_age', step=arm.listen)
    wait_until(lambda: arm.listen() or not arm.last.any(), 'zero')
    arm.check()
