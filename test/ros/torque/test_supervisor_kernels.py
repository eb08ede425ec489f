"""Test faults of the kernel cache, and of requests while kernels are compiled or a process starts.

Every message on the wire is checked, see support/torque_wire.py.
"""

import shutil
import signal
from contextlib import suppress

import pytest
from geometry_msgs.msg import Inertia
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from std_srvs.srv import SetBool
from support.gate_states import RESTART, change
from support.remote_node import wait_until
from support.torque_wire import Arm, parameters

from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long


@pytest.fixture
def compiled(launch, tmp_path):
    """Return a function that starts a node that compiles, with a cache of its own: its Arm."""
    arms = []

    def start(cache):
        arms.append(Arm(launch(*parameters(), environment={
            'DYNAMICS_NODE_COMPILE': '1', 'DYNAMICS_NODE_CACHE': str(cache)})))
        return arms[-1]
    yield start
    for arm in arms:
        arm.close()


def payload(arm, mass):
    """Attach a box; return the reply."""
    kind = SERVICES['set_payload'].kind
    reply = arm.ask(kind, 'set_payload', kind.Request(
        name='box', frame='tool0', payload=Inertia(m=mass)))
    if reply.success:
        arm.robot = arm.robot.with_payload('box', 'tool0', mass)
    return reply


def held_with_payload(arm, mass):
    """Enable, change the payload, and end in the safe torque."""
    arm.prepared().enabled()
    arm.is_held()
    assert payload(arm, mass).success
    arm.is_held()
    arm.disable()
    arm.ended_safely()


def end_torque_process(arm):
    arm.torque_process().send_signal(signal.SIGTERM)
    arm.run_until(lambda: arm.said('the torque process exited'), 'the failure')


def spoil(folder):
    for path in folder.iterdir():
        path.write_bytes(b'garbage' * 1000)


def delete(folder):
    """Delete a folder that a process may be writing to."""
    wait_until(lambda: shutil.rmtree(folder, ignore_errors=True) or not folder.exists(), 'the end')


def copied(folder, goal):
    """Return a copy of a cache, empty if there is none; other tests may be writing to it."""
    goal.mkdir(mode=0o700)
    for path in [*folder.glob('*.kernel'), folder / 'secret']:
        with suppress(FileNotFoundError):
            shutil.copy2(path, goal / path.name)
    return goal


CACHE_FAULTS = {'deleted': delete, 'garbage': spoil}


def test_a_kernel_cache_that_cannot_be_written_does_not_prevent_torques(compiled, tmp_path):
    """As on a read-only disk: each process compiles for itself."""
    (tmp_path / 'file').write_text('not a folder')
    held_with_payload(compiled(tmp_path / 'file' / 'cache'), 1.0)


@pytest.mark.parametrize('name', CACHE_FAULTS)
def test_a_kernel_cache_that_is_lost_does_not_change_torques(compiled, kernel_cache, tmp_path,
                                                             name):
    """While torques are enabled; then before the next configure, and between it and enable."""
    cache = copied(kernel_cache, tmp_path / 'cache')
    arm = compiled(cache)
    arm.prepared().enabled()
    CACHE_FAULTS[name](cache)
    assert payload(arm, 1.0).success
    arm.is_held()
    arm.disable()
    arm.ended_safely()
    end_torque_process(arm)
    assert change(arm, *RESTART)   # a new one loads its kernels
    cache.mkdir(exist_ok=True)
    CACHE_FAULTS[name](cache)
    held_with_payload(arm, 2.0)


def test_a_cache_that_is_deleted_while_kernels_are_written_does_not_change_torques(compiled,
                                                                                  tmp_path):
    """It is empty when the node starts, so that all kernels are compiled meanwhile."""
    cache = tmp_path / 'cache'
    arm = compiled(cache)
    arm.prepared().enabled()
    arm.run_until(lambda: list(cache.glob('*.kernel')), 'kernels')
    for _ in range(5):
        delete(cache)
        arm.run(20)
    assert payload(arm, 1.0).success
    arm.is_held()
    arm.disable()
    arm.ended_safely()


def test_deactivation_while_enable_waits_for_kernels_prevents_torques(compiled, tmp_path):
    """Whatever comes first, nothing is published after it."""
    arm = compiled(tmp_path / 'cache')
    enable = arm.node.ready(SetBool, 'enable').call_async(SetBool.Request(data=True))
    arm.enables.append((arm.now(), arm.now() + 10**12, arm.in_order([0.0] * 7)))
    stop = arm.node.ready(ChangeState, 'change_state').call_async(ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_DEACTIVATE)))
    arm.run_until(lambda: enable.done() and stop.done(), 'both replies')
    assert stop.result().success
    arm.run(5)
    count = len(arm.heard)
    arm.run_until(lambda: list((tmp_path / 'cache').glob('*.kernel')), 'kernels')
    arm.run(100)
    assert len(arm.heard) == count
    arm.check()


def test_a_payload_sent_while_the_torque_process_is_replaced_is_compensated(driven_arm):
    """Before, during and after configure: what was accepted last is what the torque holds."""
    arm = driven_arm
    arm.prepared().enabled()
    end_torque_process(arm)
    assert payload(arm, 1.0).success
    assert change(arm, *RESTART[:2])
    arm.rest()
    service = f'{arm.node.name}/set_payload'
    arm.run_until(lambda: not arm.node.client.count_services(service), 'the end of the service')
    configure = arm.node.ready(ChangeState, 'change_state').call_async(ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_CONFIGURE)))
    early = payload(arm, 2.0)   # the node is inactive
    arm.run_until(configure.done, 'configure')
    assert configure.result().success
    assert not early.success
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    held_with_payload(arm, 3.0)
