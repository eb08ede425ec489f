"""Provide fixtures: a real node as a process, a client here, on a ROS domain of their own."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from processes import Processes, own_domain

from support.node_forks import NodeForks

# [s] A loaded machine may compile kernels for long; most tests send a joint state once.
PATIENT = 'service.max_duration:=60.0', 'max_state_age:=0.0'
LEFT = 20.0   # [s] for threads of the module before to end
_numbers = itertools.count()  # of namespaces: what one test leaves on the wire, no other one hears


@pytest.fixture(scope='session')
def ros_environment():
    """Set up this process and its children for ROS, before rclpy begins."""
    with own_domain():
        yield


@pytest.fixture(scope='module', autouse=True)
def no_participant_is_left():
    """Fail if a DDS participant of an earlier module is left: it would still send and receive.

    rclpy destroys it with the last entity that refers to it. A lifecycle node and an action client
    are garbage in a reference cycle then, which spin() has frozen if it was called meanwhile. A
    thread that is about to end may refer to one a moment longer.
    """
    deadline = time.monotonic() + LEFT
    while _participants() and time.monotonic() < deadline:
        gc.unfreeze()
        gc.collect()
        time.sleep(0.05)
    assert _participants() == 0, [thread.name for thread in threading.enumerate()]


def _participants():
    """Return the number of participants of Fast DDS in this process: of their event threads."""
    names = []
    for path in Path('/proc/self/task').glob('*/comm'):
        with suppress(OSError):   # the thread has ended
            names.append(path.read_text())
    return sum(name.startswith('dds.ev') for name in names)


@contextmanager
def _spinning_client():
    """A node of this process that spins in a thread."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.experimental import EventsExecutor
    from rclpy.task import Future
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('test_client', context=context)
    executor = EventsExecutor(context=context)
    executor.add_node(node)
    stop = Future()

    def loop():
        try:
            while context.ok() and not stop.done():
                executor.spin_until_future_complete(stop, timeout_sec=3600.0)
        except ExternalShutdownException:
            pass
    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    yield node
    stop.set_result(None)
    thread.join()
    executor.shutdown()   # it keeps all entities of the node until then
    node.destroy_node()
    rclpy.shutdown(context=context)


def _executable():
    from ament_index_python import get_package_prefix
    return Path(get_package_prefix('dynamics_node'), 'lib/dynamics_node/dynamics_node')


@contextmanager
def _node_starter(folder, forks):
    """A function that starts the node; all that it started are stopped at the end.

    It takes parameters, 'name:=value'; namespace; arguments, more words of the command line;
    environment, {name: value}, None takes the variable away; through, words of a program that
    starts the node; more options of Popen. The node and its other processes are forked; new
    interpreters run them with one of the last two, or with a PYTHONPATH.
    """
    started = []

    def start(*parameters, namespace='', arguments=(), environment=None, through=(), **options):
        log = (folder / f'node{len(started)}.log').open('wb')
        words = [part for parameter in parameters for part in ('-p', parameter)]
        if namespace:
            words += ['-r', f'__ns:={namespace}']
        words = ['--ros-args', *words, *arguments]
        variables = {key: value for key, value in {**os.environ, **(environment or {})}.items()
                     if value is not None}
        if through or options or 'PYTHONPATH' in (environment or {}):
            process = subprocess.Popen(
                [*through, sys.executable, _executable(), *words],
                **{'stdout': log, 'stderr': log, 'env': variables, **options})
        else:
            process = forks.start(_executable(), words, log, variables)
        started.append((process, log))
        process.log_file = log.name
        process.log = lambda: Path(log.name).read_text()
        return process
    yield start
    for process, _ in started:  # all at once, then wait for each
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    for process, log in started:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


@pytest.fixture
def client(ros_environment):
    """A node of this process that spins in a thread."""
    with _spinning_client() as node:
        yield node


@pytest.fixture(scope='session')
def node_forks(ros_environment):
    """The process that nodes are forked from."""
    forks = NodeForks()
    yield forks
    forks.close()


@pytest.fixture(scope='module')
def forked_loops(node_forks):
    """Let a ClosedLoop of the examples fork its arm and its node."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Processes, 'popen', node_forks.start)
        yield


@pytest.fixture
def start_node(node_forks, tmp_path):
    """Return a function that starts the node as a process, see _node_starter."""
    with _node_starter(tmp_path, node_forks) as start:
        yield start


@pytest.fixture
def launch(client, start_node):
    """Return a function that starts the node in a namespace of its own: a RemoteNode."""
    return lambda *parameters, **options: _remote(client, start_node, parameters, options)


@pytest.fixture(scope='module')
def launch_once(node_forks, tmp_path_factory):
    """Return the same as `launch`, for nodes that serve a whole module."""
    folder = tmp_path_factory.mktemp('nodes')
    with _spinning_client() as client, _node_starter(folder, node_forks) as start:
        yield lambda *parameters, **options: _remote(client, start, parameters, options)


@pytest.fixture(scope='module')
def arm(launch_once):
    """The bundled arm, served by a node that has measured all of it: a Served."""
    from dynamics_node import Robot
    from dynamics_node.example_robots import ARM7
    from support.remote_node import Served
    return Served.by(launch_once(f'robot_description:={ARM7}'), Robot.from_urdf(ARM7), seed=0)


@pytest.fixture(scope='module')
def driven_arm(request, launch_once):
    """The bundled arm, simulated by the test and driven by a node: an Arm of torque_wire.

    A module may have SETTINGS of its own: parameters of all its cases; and THROUGH = ('env',): the
    node is then a program of its own, which prepares its processes as it does for users.
    """
    from support.torque_wire import Arm, parameters
    node = launch_once(*parameters(), through=getattr(request.module, 'THROUGH', ()))
    arm = Arm(node, **getattr(request.module, 'SETTINGS', {}))
    yield arm
    arm.close()


def _remote(client, start, parameters, options):
    from support.remote_node import RemoteNode
    namespace = options.pop('namespace', f'/test_{next(_numbers)}')
    return RemoteNode(client, start(*PATIENT, *parameters, namespace=namespace, **options),
                      namespace)
