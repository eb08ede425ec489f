"""Test long requests to a real node: others are served meanwhile, limits, ends of all kinds.

Without kernels, a state of the arm takes half a millisecond: their number sets the duration.
"""

import inspect
import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from support.long_samples import target
from support.remote_node import PATIENCE, assert_close, wait_until
from support.reply_stamps import stamp_of
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.client import DynamicsClient
from dynamics_node.ros.parameters.service import ServiceParameters
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

ROBOT = f'robot_description:={ARM7}'
SMALL = {'position': [0.1] * 7, 'velocity': [0.2] * 7}
MINUTES = 'service.max_duration:=600.0'   # for a loaded machine
NAME = 'dynamics_worker'


@pytest.fixture(scope='module')
def shared(launch_once):
    """A node for the tests that leave it as it was."""
    return launch_once(ROBOT, MINUTES)


@contextmanager
def parameters(node, **values):
    """Change parameters of the services for a while."""
    default = ServiceParameters()
    assert node.set_parameters({f'service.{name}': value for name, value in values.items()}) == ''
    try:
        yield
    finally:
        assert node.set_parameters({f'service.{name}': getattr(default, name)
                                    for name in values}) == ''


def batch(states, question='inverse'):
    """Return the fields of a batch; 1000 states take 0.25 to 0.5 s."""
    numbers = np.linspace(-1.0, 1.0, 7 * states).tolist()
    return {'question': question, 'position': numbers, 'velocity': numbers}


ENDLESS = batch(10_000, 'terms')   # 20 s or longer


def send(client, **fields):
    """Send a batch; return its future."""
    return client.call_async(SERVICES['batch_dynamics'].kind.Request(**fields))


def new_client(node):
    """Return one more client of batch_dynamics."""
    made = node.new_client(SERVICES['batch_dynamics'].kind, 'batch_dynamics')
    wait_until(made.service_is_ready, 'the service')
    return made


def workers_of(node):
    """Return the ids of the worker processes of a node: those that write to its log."""
    numbers = [int(path.name) for path in Path('/proc').iterdir() if path.name.isdigit()]
    return [pid for pid in numbers if is_worker(pid) and writes_to(pid, node.process.log_file)]


def is_worker(pid):
    """Return whether a process exists and is a worker process."""
    try:
        return Path(f'/proc/{pid}/comm').read_text().strip() == NAME
    except OSError:   # it has ended
        return False


def writes_to(pid, file):
    try:
        return os.readlink(f'/proc/{pid}/fd/2') == file
    except OSError:   # it has ended
        return False


def three_endless(node):
    """Return the futures of three requests of one client: one runs, two wait."""
    client = new_client(node)
    futures = [send(client, **ENDLESS) for _ in range(3)]
    wait_for_requests(node, running=1, waiting=2)
    return futures


def wait_for_requests(node, running, waiting=0):
    """Wait until so many long requests run and wait; return the diagnostics."""
    return node.wait_for_diagnostics(
        lambda status: [values(status).get(f'long requests {what}')
                        for what in ('running', 'waiting')] == [str(running), str(waiting)],
        f'{running} running and {waiting} waiting')


def values(status):
    return {item.key: item.value for item in status.values}


def change(node, transition):
    return node.ask(ChangeState, 'change_state', ChangeState.Request(
        transition=Transition(id=transition))).success


def test_a_small_request_is_served_while_a_large_one_runs(launch):
    """In the node, which starts no process before the first long request."""
    node = launch(ROBOT, MINUTES)
    assert node.call('inverse_dynamics', **SMALL).success
    assert node.call('batch_dynamics', **batch(5)).success
    assert workers_of(node) == []
    large = send(new_client(node), **batch(4000))
    for _ in range(10):
        assert node.call('inverse_dynamics', **SMALL).success
        assert node.call('batch_dynamics', **batch(5)).success
    assert not large.done()
    assert values(wait_for_requests(node, running=1)).get('worker processes') == '1'
    reply = node.reply(large)
    assert (reply.success, reply.states, len(reply.effort)) == (True, 4000, 7 * 4000)
    assert len(workers_of(node)) == 1
    wait_for_requests(node, running=0)


def test_clients_take_turns(shared):
    """With one process, a client waits for one request of another that has sent many."""
    node, ended = shared, []

    def note(name):
        return lambda _: ended.append(name)
    with parameters(node, workers=1):
        many, few = new_client(node), new_client(node)
        futures = [send(many, **batch(400)) for _ in range(6)]
        wait_until(lambda: workers_of(node), 'the worker')
        futures.append(send(few, **batch(100)))
        for k, future in enumerate(futures):
            future.add_done_callback(note(k))
        for future in futures:
            assert node.reply(future).success
    assert ended.index(6) <= 2
    assert [k for k in ended if k != 6] == list(range(6))
    status = wait_for_requests(node, running=0)
    assert float(values(status).get('long requests, longest wait [s]')) > 0.0


def test_a_second_process_serves_the_other_client(shared):
    """While the first client keeps its own process busy."""
    node = shared
    clients = new_client(node), new_client(node)
    first = send(clients[0], **batch(20_000))
    wait_for_requests(node, running=1)   # requests of two clients have no order
    second = send(clients[1], **batch(100))
    assert node.reply(second).success
    assert not first.done()
    assert len(workers_of(node)) == 2
    assert change(node, Transition.TRANSITION_DEACTIVATE)
    assert 'deactivated' in node.reply(first).message
    assert change(node, Transition.TRANSITION_ACTIVATE)


def test_refusals_name_the_size_and_the_limit(launch):
    """Each parameter can be changed while the node runs; the diagnostics count refusals."""
    node = launch(ROBOT, 'service.max_states:=1000')
    reply = node.call('batch_dynamics', **batch(1001))
    assert (reply.success, reply.message) == (
        False, 'states: 1001, at most 1000 (service.max_states)')
    assert node.set_parameters({'service.max_states': 100_000, 'service.max_duration': 2.0}) == ''
    reply = node.call('batch_dynamics', **batch(10_000, 'terms'))
    assert 'would take: 37.1, at most 2 (service.max_duration)' in reply.message
    robot = Robot.from_urdf(ARM7)
    far = target(robot, 'link_7', np.random.default_rng(0))
    far.pose.position.x += 100.0
    reply = node.call('inverse_kinematics', targets=[far, far], restarts=1000, tolerance=1e-9)
    assert 'the request was stopped after 2' in reply.message, reply
    assert 'service.max_duration is 2 s' in reply.message
    assert node.call('batch_dynamics', **batch(100)).success   # by a new process
    assert 'service.workers out of range' in node.set_parameters({'service.workers': 0})
    node.wait_for_diagnostics(lambda status: (
        values(status).get('refused by service.max_states'),
        values(status).get('refused by service.max_duration')) == ('1', '2'), 'three refusals')
    assert 'Traceback' not in node.process.log()


def test_only_some_requests_of_a_client_may_wait(shared):
    """The others are refused, in time for the client to send fewer."""
    node = shared
    greedy, other = new_client(node), new_client(node)
    with parameters(node, max_waiting=2):
        futures = [send(greedy, **batch(1500)) for _ in range(5)]
        for future in futures[3:]:
            assert node.reply(future).message == (
                'waiting long requests of this client: 3, at most 2 (service.max_waiting)')
        assert node.reply(send(other, **batch(100))).success
        assert all(node.reply(future).success for future in futures[:3])


def test_a_killed_process_is_a_refusal(shared):
    """As when memory runs out; the next long request starts another one."""
    node = shared
    future = send(new_client(node), **ENDLESS)
    wait_for_requests(node, running=1)
    workers = workers_of(node)
    for worker in workers:   # one of them computes
        os.kill(worker, signal.SIGKILL)
    reply = node.reply(future)
    assert (reply.success, reply.message) == (False, (
        'the worker process was ended by SIGKILL before it replied; the next request starts a new '
        'one'))
    # The other one was killed too: the node may notice that by a refusal.
    wait_until(lambda: node.call('batch_dynamics', **batch(100)).success, 'a new process')
    assert not set(workers) & set(workers_of(node))


def test_a_payload_set_meanwhile_does_not_change_the_reply(shared):
    """Torques and model_id are those of the robot when the request arrived."""
    node, robot = shared, Robot.from_urdf(ARM7)
    fields = batch(8000)   # longer than a second, after which diagnostics tell
    before = node.call('model_report').model_id
    dynamics = DynamicsClient(node.client, node.name, timeout=PATIENCE)
    future = send(new_client(node), **fields)
    wait_for_requests(node, running=1)
    after = dynamics.set_payload('cup', 'link_7', mass=3.0).model_id
    reply = node.reply(future)
    assert (reply.success, reply.model_id) == (True, before)
    q = np.reshape(fields['position'], (-1, 7))
    assert_close(reply.effort[:70], robot.inverse_dynamics(q, q, 0.0 * q)[:10], EXACT_MATHS)
    later = node.call('batch_dynamics', **batch(100))
    assert later.model_id == after != before
    assert dynamics.remove_payload('cup').model_id == before


def test_the_age_of_the_state_is_that_at_the_reply(shared):
    """The stamp is that of the measured state when the request arrived."""
    node, robot, stamp = shared, Robot.from_urdf(ARM7), time.time_ns()
    node.measure(robot, stamp, robot.joint_names, [0.1] * 7, [0.2] * 7)
    sent = time.time_ns()
    reply = node.call('batch_dynamics', question='inverse', position=batch(2000)['position'])
    assert reply.success, reply.message
    assert stamp_of(reply) == stamp
    # a second for the process and its work; without them it would be the age when it was sent
    assert sent - stamp + 100_000_000 < reply.state_age * 1e9 < time.time_ns() - stamp


def test_the_client_waits_for_a_long_request(shared):
    """By default, longer than such a request may take."""
    default = inspect.signature(DynamicsClient).parameters['timeout'].default
    assert default > ServiceParameters().max_duration
    dynamics = DynamicsClient(shared.client, shared.name, timeout=PATIENCE)
    reply = dynamics.batch_dynamics('inverse', q=np.zeros((500, 7)), v=np.zeros((500, 7)))
    assert reply.effort.shape == (500, 7)
    assert dynamics.self_test(samples=3).passed


def test_requests_that_wait_are_refused_by_deactivating(shared):
    """Cleaning up ends the processes; the node can be configured again."""
    node = shared
    futures = three_endless(node)
    assert change(node, Transition.TRANSITION_DEACTIVATE)
    for future in futures:
        reply = node.reply(future)
        assert (reply.success, reply.message) == (False, 'the node was deactivated')
    assert change(node, Transition.TRANSITION_ACTIVATE)
    assert node.call('batch_dynamics', **batch(100)).success
    assert change(node, Transition.TRANSITION_DEACTIVATE)
    assert change(node, Transition.TRANSITION_CLEANUP)
    wait_until(lambda: workers_of(node) == [], 'no worker')
    assert change(node, Transition.TRANSITION_CONFIGURE)
    assert change(node, Transition.TRANSITION_ACTIVATE)
    assert node.call('batch_dynamics', **batch(100)).success
    assert 'Traceback' not in node.process.log()


def test_shutting_down_refuses_the_requests(launch):
    """From the active state; the process goes on."""
    node = launch(ROBOT, MINUTES)
    futures = three_endless(node)
    assert change(node, Transition.TRANSITION_ACTIVE_SHUTDOWN)
    for future in futures:
        assert node.reply(future).message == 'the node was cleaned up, or has ended'
    state = node.ask(GetState, 'get_state', GetState.Request()).current_state.id
    assert state == State.PRIMARY_STATE_FINALIZED
    wait_until(lambda: workers_of(node) == [], 'no worker')
    assert 'Traceback' not in node.process.log()


@pytest.mark.parametrize('how', [signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_the_processes_end_with_the_node(launch, how):
    """While requests run and wait."""
    node = launch(ROBOT, MINUTES)
    three_endless(node)
    (worker,) = workers_of(node)
    node.process.send_signal(how)
    code = node.process.wait(PATIENCE)
    assert code == (-how if how == signal.SIGKILL else 0), node.process.log()
    wait_until(lambda: not is_worker(worker), 'the end of the worker')
    assert 'Traceback' not in node.process.log()
