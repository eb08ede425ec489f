"""A real node as a process, a client in this one, on a ROS domain nobody else has."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def _claim_domain():
    """Return a free domain id and the socket that holds it for the life of this test process."""
    for domain in range(1, 102):
        lock = socket.socket()
        try:
            lock.bind(('127.0.0.1', 22119 + domain))
            return domain, lock
        except OSError:
            lock.close()
    raise RuntimeError('no free ROS domain')


@pytest.fixture(scope='session')
def ros_environment():
    """Set up this process and its children for ROS, before rclpy is imported."""
    domain, lock = _claim_domain()
    settings = {'ROS_DOMAIN_ID': str(domain), 'PYTHONUNBUFFERED': '1',
                'FASTRTPS_DEFAULT_PROFILES_FILE': str(HERE / 'fastdds.xml')}
    # LOCALHOST would make rmw_fastrtps replace our transport by its own
    saved = {key: os.environ.get(key) for key in [*settings, 'ROS_AUTOMATIC_DISCOVERY_RANGE']}
    os.environ.pop('ROS_AUTOMATIC_DISCOVERY_RANGE', None)
    os.environ.update(settings)
    yield
    for key, value in saved.items():
        os.environ.pop(key, None)
        if value is not None:
            os.environ[key] = value
    lock.close()


@pytest.fixture
def client(ros_environment):
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
    thread.join(5)
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture
def start_node(ros_environment, tmp_path):
    """Return a function that starts the node with ROS arguments; all are stopped at the end."""
    from ament_index_python import get_package_prefix
    executable = Path(get_package_prefix('dynamics_node'), 'lib/dynamics_node/dynamics_node')
    started = []

    def start(*parameters):
        log = (tmp_path / f'node{len(started)}.log').open('wb')
        arguments = [part for parameter in parameters for part in ('-p', parameter)]
        process = subprocess.Popen(
            [sys.executable, executable, '--ros-args', *arguments], stdout=log, stderr=log)
        started.append((process, log))
        process.log = lambda: Path(log.name).read_text()
        return process
    yield start
    for process, log in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
