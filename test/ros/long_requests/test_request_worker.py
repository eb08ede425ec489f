"""Test a worker process: its replies are those of the node, for every service and several robots.

Without ROS: the worker is given jobs directly.
"""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from support.legged_robots import example  # noqa: E402
from support.long_samples import long_services, request_of  # noqa: E402
from support.node_states import measure, node_state_of  # noqa: E402
from support.remote_node import wait_until  # noqa: E402
from support.tiny_robots import EVERY_KIND, TWO_JOINTS  # noqa: E402

from dynamics_node.errors import DynamicsError  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.robot.kernel_ready import kernel_ready  # noqa: E402
from dynamics_node.ros.identification.worker_process import WorkerMessage  # noqa: E402
from dynamics_node.ros.long_requests.request_job import request_job  # noqa: E402
from dynamics_node.ros.long_requests.request_worker import RequestWorker  # noqa: E402
from dynamics_node.ros.services.table import SERVICES  # noqa: E402

ROBOTS = {'arm7': (str(ARM7), 'fixed'), 'every kind of joint': (EVERY_KIND, 'fixed'),
          'solo12': (str(example('solo12').urdf), 'floating')}


@pytest.fixture(scope='module')
def worker():
    """A worker that computes the requests of all tests."""
    made = RequestWorker(lambda: None)
    yield made
    made.kill()


def measured(source, base='fixed', seed=0, **parameters):
    """Return the NodeState of a robot that is measured."""
    rng = np.random.default_rng(seed)
    node_state = node_state_of(source, base=base, **parameters)
    robot = node_state.robot
    tau = np.where([joint.kind == 'floating' for joint in robot.model.joints for _ in range(
        joint.v.stop - joint.v.start)], 0.0, rng.normal(size=robot.nv))
    measure(node_state, robot.random_configuration(rng), rng.normal(size=robot.nv), tau)
    return node_state


def from_worker(worker, node_state, service, request):
    """Return the last message of a worker."""
    worker.start(request_job(node_state, service, request, node_state.clocks.seconds))
    return wait_until(worker.message, f'the reply of {service}')


def from_node(node_state, service, request):
    """Return the same message, computed here."""
    kind, handler, _ = SERVICES[service]
    try:
        return WorkerMessage('done', (handler(node_state, request, kind.Response()),))
    except DynamicsError as error:
        return WorkerMessage('refused', (str(error),))


def assert_same(ours, theirs):
    """Compare to the bit; nan equals nan."""
    assert ours.kind == theirs.kind
    assert repr(ours.content[0]) == repr(theirs.content[0])   # of all digits


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('service', long_services())
def test_the_reply_is_that_of_the_node(worker, name, service):
    """All numbers, model_id and the age of the measured state."""
    node_state = measured(*ROBOTS[name])
    requests = [request_of(service, node_state.robot, np.random.default_rng(1)) for _ in range(2)]
    reply = from_worker(worker, node_state, service, requests[0])
    assert_same(reply, from_node(node_state, service, requests[1]))
    assert reply.kind == 'done', reply
    assert reply.content[0].model_id == node_state.current_robot.model_id


def test_the_robot_is_that_of_the_request(worker):
    """With payloads, also in transition, gravity and friction; a later change has no effect."""
    node_state = measured(str(ARM7))
    current = node_state.current_robot
    current.set_gravity((0.0, 1.0, -9.0))
    current.set_friction({'joint_1': 0.5}, {'joint_2': 0.25}, ())
    current.set_payload('cup', ('link_7', 2.0, (0.1, 0.0, 0.0), np.eye(3)), 4.0)
    node_state.clocks.seconds += 1.0   # a quarter of it is effective
    request = request_of('batch_dynamics', node_state.robot, np.random.default_rng(1))
    expected = from_node(node_state, 'batch_dynamics', request)
    job = request_job(node_state, 'batch_dynamics', request, node_state.clocks.seconds)
    node_state.clocks.seconds += 1.0
    current.set_payload('box', ('link_5', 1.0, (0.0, 0.0, 0.0), np.eye(3)), 0.0)
    worker.start(job)
    assert_same(wait_until(worker.message, 'the reply'), expected)
    later = from_worker(worker, node_state, 'batch_dynamics', request)
    assert_same(later, from_node(node_state, 'batch_dynamics', request))
    assert later.content[0].model_id != expected.content[0].model_id


def test_the_state_is_that_of_the_request(worker):
    """Measured values fill in what is missing; the age limit is applied at that time."""
    node_state = measured(TWO_JOINTS, max_state_age=1.0)
    request = SERVICES['batch_dynamics'].kind.Request(question='inverse', joint_names=['elbow'],
                                                    position=[0.1, 0.2], velocity=[0.0, 0.0])
    reply = from_worker(worker, node_state, 'batch_dynamics', request)
    assert_same(reply, from_node(node_state, 'batch_dynamics', request))
    node_state.clocks.now += 2_000_000_000
    reply = from_worker(worker, node_state, 'batch_dynamics', request)
    assert reply.kind == 'refused' and 'max_state_age is 1 s' in reply.content[0]


def test_a_bug_in_a_handler_is_reported_with_its_place(worker):
    """The process goes on."""
    node_state = measured(TWO_JOINTS)
    reply = from_worker(worker, node_state, 'batch_dynamics', SimpleNamespace())
    assert reply.kind == 'failed' and 'AttributeError' in reply.content[0]
    request = request_of('batch_dynamics', node_state.robot, np.random.default_rng(1))
    assert from_worker(worker, node_state, 'batch_dynamics', request).kind == 'done'


def test_kernels_are_those_of_the_node(monkeypatch, tmp_path):
    """To the bit; the node compiles those that a request needs, and has them afterwards."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    node_state = measured(TWO_JOINTS)
    robot, rng = node_state.robot, np.random.default_rng(1)
    robot.compile(wait=True)
    worker = RequestWorker(lambda: None)
    request = request_of('batch_dynamics', robot, rng, states=300)
    reply = from_worker(worker, node_state, 'batch_dynamics', request)
    assert_same(reply, from_node(node_state, 'batch_dynamics', request))
    request = request_of('inverse_kinematics', robot, rng)
    needed = 'newton_step', (((robot.frame_names[-1], 'position'),),)
    assert not kernel_ready(robot, needed)
    reply = from_worker(worker, node_state, 'inverse_kinematics', request)
    assert kernel_ready(robot, needed)
    assert_same(reply, from_node(node_state, 'inverse_kinematics', request))
    worker.kill()


def test_the_end_of_a_worker_is_noticed():
    """With the reason; it has a lower priority than the node while it runs."""
    told = []
    worker = RequestWorker(lambda: told.append(worker.failure))
    node_state = measured(TWO_JOINTS)
    request = request_of('batch_dynamics', node_state.robot, np.random.default_rng(1))
    assert from_worker(worker, node_state, 'batch_dynamics', request).kind == 'done'
    assert os.getpriority(os.PRIO_PROCESS, worker.pid) == min(
        19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: worker.failure, 'the end')
    assert worker.failure == 'was ended by SIGKILL' and worker.ended
    wait_until(lambda: worker.failure in told, 'the message')


def test_a_worker_ends_with_its_connection():
    """As when the node was killed."""
    worker = RequestWorker(lambda: None)
    time.sleep(0.1)
    worker._link.close()
    wait_until(lambda: worker.failure, 'the end')
    assert worker.failure == 'exited with 0'
