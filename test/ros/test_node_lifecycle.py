"""Test the managed node: start by itself or by transitions, and stop on request."""

import re
import signal
import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import ListParameters
from support.remote_node import PATIENCE, joint_state, wait_until

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

NAP = 0.01
PROMPT = 15.0   # [s] see `stopped`; a quiet machine takes 0.2 to 1 s, one that hangs for ever
GROWN = 4.5   # [MB] in twenty cycles at most: it is 1.8, and 10 if a robot stays in each
ROBOT = f'robot_description:={ARM7}'
JOINTS = [f'joint_{k}' for k in range(1, 8)]
STATE = {'position': [0.1] * 7, 'velocity': [0.2] * 7}


def change(node, transition):
    """Return whether the node made a transition."""
    request = ChangeState.Request(transition=Transition(id=transition))
    return node.ask(ChangeState, 'change_state', request).success


def state(node):
    return node.ask(GetState, 'get_state', GetState.Request()).current_state.id


def served(node):
    """Return which services of the package are in the graph."""
    return {name for name in SERVICES if node.client.count_services(f'{node.name}/{name}')}


@pytest.fixture(scope='module')
def running(launch_once):
    """A node with a robot; first_state: before any transition by request."""
    node = launch_once(ROBOT)
    node.first_state = state(node)
    return node


@pytest.fixture
def active(running):
    """The same; a test that uses it leaves it active."""
    yield running
    assert state(running) == State.PRIMARY_STATE_ACTIVE


def test_the_node_activates_itself_by_default(running):
    """Without transition requests."""
    assert running.first_state == State.PRIMARY_STATE_ACTIVE
    assert running.call('inverse_dynamics', **STATE).success


def test_a_client_cannot_create_qos_overrides(launch):
    """Neither before nor after configure: they would be passed on to the torque process."""
    node = launch(ROBOT, 'autostart:=false', 'torque.command_topic:=/commands')
    command = 'qos_overrides./commands.publisher.reliability'
    unknown = {'qos_overrides.whatever': 1_000_000 * 'x',
               'qos_overrides./other.publisher.depth': 5}
    for name, value in {**unknown, command: 'best_effort'}.items():
        assert f"no parameter '{name}'; ros2 param list" in node.set_parameters({name: value})
    assert change(node, Transition.TRANSITION_CONFIGURE)
    for name, value in unknown.items():
        assert f"no parameter '{name}'; ros2 param list" in node.set_parameters({name: value})
    assert 'read-only' in node.set_parameters({command: 'best_effort'})
    listed = node.ask(ListParameters, 'list_parameters', ListParameters.Request()).result.names
    assert command in listed and not set(unknown) & set(listed)


def test_the_node_follows_every_transition(launch):
    """Unconfigured: no services. Inactive: they refuse. Active: they serve. And back."""
    node = launch(ROBOT, 'autostart:=false')
    assert state(node) == State.PRIMARY_STATE_UNCONFIGURED
    assert served(node) == set()
    efforts = []
    for _ in range(2):
        assert change(node, Transition.TRANSITION_CONFIGURE)
        assert state(node) == State.PRIMARY_STATE_INACTIVE
        wait_until(lambda: served(node) == set(SERVICES), 'all services')
        for service in SERVICES:
            reply = node.call(service)
            assert reply == type(reply)(success=False, message=reply.message), service
            assert 'inactive' in reply.message and 'activate' in reply.message
        assert change(node, Transition.TRANSITION_ACTIVATE)
        assert state(node) == State.PRIMARY_STATE_ACTIVE
        efforts.append(list(node.call('inverse_dynamics', **STATE).effort))
        assert change(node, Transition.TRANSITION_DEACTIVATE)
        assert not node.call('inverse_dynamics', **STATE).success
        assert change(node, Transition.TRANSITION_ACTIVATE)
        efforts.append(list(node.call('inverse_dynamics', **STATE).effort))
        assert change(node, Transition.TRANSITION_DEACTIVATE)
        assert change(node, Transition.TRANSITION_CLEANUP)
        assert state(node) == State.PRIMARY_STATE_UNCONFIGURED
        wait_until(lambda: served(node) == set(), 'no services')
    assert len(efforts[0]) == 7
    assert all(effort == efforts[0] for effort in efforts)
    assert change(node, Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
    assert state(node) == State.PRIMARY_STATE_FINALIZED
    node.assert_alive()
    assert 'Traceback' not in node.process.log()


@pytest.mark.parametrize('transition', [Transition.TRANSITION_ACTIVE_SHUTDOWN,
                                        Transition.TRANSITION_INACTIVE_SHUTDOWN])
def test_shutdown_removes_the_services(launch, transition):
    """In every state; the process ends by a signal."""
    node = launch(ROBOT)
    assert node.call('inverse_dynamics', **STATE).success
    if transition == Transition.TRANSITION_INACTIVE_SHUTDOWN:
        assert change(node, Transition.TRANSITION_DEACTIVATE)
    assert change(node, transition)
    assert state(node) == State.PRIMARY_STATE_FINALIZED
    wait_until(lambda: served(node) == set(), 'no services')
    assert stopped(node, signal.SIGTERM) < PROMPT


def test_an_inactive_node_measures(active):
    """It has the state when it is activated, and its diagnostics say inactive."""
    node = active
    assert change(node, Transition.TRANSITION_DEACTIVATE)
    node.wait_for_diagnostics(
        lambda status: status.level == DiagnosticStatus.OK and ('active', 'False') in [
            (item.key, item.value) for item in status.values],
        'that it is inactive and all is measured',
        lambda: node.publish(joint_state(1, JOINTS, [0.1] * 7)))
    assert change(node, Transition.TRANSITION_ACTIVATE)
    assert node.call('inverse_dynamics').success


def test_an_invalid_transition_is_refused(active):
    """The process continues."""
    node = active
    before = node.call('inverse_dynamics', **STATE)
    for transition in (Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_CONFIGURE,
                       Transition.TRANSITION_CLEANUP, Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
                       99, 255):
        assert not change(node, transition)
        assert state(node) == State.PRIMARY_STATE_ACTIVE
    assert node.call('inverse_dynamics', **STATE) == before
    assert 'Traceback' not in node.process.log()


def test_invalid_parameters_keep_the_node_unconfigured(launch):
    """Configuring fails with a reason in the log; corrected, it succeeds."""
    node = launch(ROBOT, 'base:=swinging')
    assert state(node) == State.PRIMARY_STATE_UNCONFIGURED
    assert "base is 'swinging'; valid choices are fixed, floating" in node.process.log()
    assert f'then: ros2 lifecycle set {node.name} configure, then activate' in node.process.log()
    assert not change(node, Transition.TRANSITION_CONFIGURE)
    assert "'swinging'" in node.set_parameters({'max_state_age': 1.0})
    assert node.set_parameters({'base': 'floating'}) == ''
    assert change(node, Transition.TRANSITION_CONFIGURE)
    assert change(node, Transition.TRANSITION_ACTIVATE)
    assert node.call('model_report').joint_types == ['floating', *['revolute'] * 7]
    assert 'Traceback' not in node.process.log()


@pytest.mark.parametrize('line', ['gravity: []', 'torque: {mode: []}', 'autostart: []'])
def test_a_parameter_without_a_value_keeps_the_node_unconfigured(launch, tmp_path, line):
    """ROS gives [] no type, hence no value."""
    file = tmp_path / 'params.yaml'
    file.write_text(f'/**:\n  ros__parameters:\n    {line}\n')
    node = launch(ROBOT, arguments=['--params-file', str(file)])
    assert state(node) == State.PRIMARY_STATE_UNCONFIGURED
    assert 'cannot be configured: ' in node.process.log()
    assert 'has no value, as [] in a parameters file; expected one such as' in node.process.log()
    assert 'Traceback' not in node.process.log()


def memory(node):
    """Return what a node has in memory [MB]."""
    status = Path(f'/proc/{node.process.pid}/status').read_text()
    return int(re.search(r'VmRSS:\s+(\d+) kB', status).group(1)) / 1000.0


def test_repeated_configuring_does_not_grow_memory(launch):
    """Forty times; callbacks on the node's clock before are not called any more."""
    node = launch(ROBOT, 'compile:=false')
    cycle = (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
             Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    assert node.call('inverse_dynamics', **STATE).success
    used = []
    for _ in range(40):
        assert all(change(node, transition) for transition in cycle)
        used.append(memory(node))
    for simulated in (True, False, True, False):
        assert node.set_parameters({'use_sim_time': simulated}) == ''
        assert node.call('inverse_dynamics', **STATE).success
    assert used[-1] - used[19] < GROWN, used
    assert 'already added' not in node.process.log() and 'Traceback' not in node.process.log()


def stopped(node, how):
    """Send a signal, wait for a clean end, and return how long it took [s].

    In naps of this thread: other work on the machine lengthens them as it delays the node.
    """
    deadline, took = time.monotonic() + PATIENCE, 0.0
    node.process.send_signal(how)
    while node.process.poll() is None:
        assert time.monotonic() < deadline, node.process.log()
        time.sleep(NAP)
        took += NAP
    assert node.process.returncode == 0, node.process.log()
    assert 'Traceback' not in node.process.log()
    return took


# One handler takes both signals, and does not look at which it is: each is sent in some cases.

@pytest.mark.parametrize(('parameters', 'how', 'where'), [
    ([ROBOT], signal.SIGINT, State.PRIMARY_STATE_ACTIVE),
    ([], signal.SIGTERM, State.PRIMARY_STATE_ACTIVE),
    ([ROBOT, 'autostart:=false'], signal.SIGINT, State.PRIMARY_STATE_UNCONFIGURED)],
    ids=['active', 'no robot', 'unconfigured'])
def test_the_node_stops_promptly_on_a_signal(launch, parameters, how, where):
    """Ctrl-C and a service manager: exit code 0, no traceback."""
    node = launch(*parameters)
    assert state(node) == where
    assert stopped(node, how) < PROMPT


def test_the_node_stops_promptly_under_load(launch):
    """With requests under way."""
    node = launch(ROBOT)
    kind = SERVICES['batch_dynamics'].kind
    service = node.ready(kind, 'batch_dynamics')
    many = kind.Request(question='inverse', position=[0.1] * 700, velocity=[0.1] * 700)
    assert node.reply(service.call_async(many)).success
    for _ in range(5):
        service.call_async(many)
    assert stopped(node, signal.SIGTERM) < PROMPT


def test_the_node_stops_promptly_while_kernels_are_compiled(launch, tmp_path):
    """LLVM cannot be interrupted, and is not waited for."""
    node = launch(ROBOT, environment={'DYNAMICS_NODE_COMPILE': None,
                                      'DYNAMICS_NODE_CACHE': str(tmp_path / 'kernels')})
    wait_until(lambda: any(tmp_path.glob('kernels/*')), 'the first kernel')
    assert not node.call('model_report').compiled
    assert stopped(node, signal.SIGINT) < PROMPT


def test_the_node_stops_promptly_while_it_starts(launch):
    """As soon as it is in the graph."""
    node = launch(ROBOT)
    wait_until(lambda: node.client.count_services(f'{node.name}/get_state'), 'the node')
    assert stopped(node, signal.SIGTERM) < PROMPT
