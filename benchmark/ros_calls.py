"""Measure the time of service calls relative to an empty service; the two alternate.

python benchmark/ros_calls.py [--calls 2000]    prints JSON; run.py starts it as its own process,
since ROS needs an environment that the other measurements do not.
"""

import argparse
import contextlib
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault('ROS_DOMAIN_ID', '99')
os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')  # the default transports

import numpy as np  # noqa: E402
import rclpy  # noqa: E402
from rclpy.executors import ExternalShutdownException  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from dynamics_node import Robot, srv  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402

STATES = 1000
BOTH = (50, 99)
BARS = {'inverse_dynamics': (1.3, BOTH), 'inverse_dynamics, joints not named': (None, BOTH),
        'forward_dynamics': (None, BOTH), 'dynamics_terms': (None, BOTH),
        f'batch_dynamics of {STATES} states': (3.0, (50,)), 'bare': (None, (50,))}
PATIENCE = 60.0     # [s]
IDLE_SECONDS = 10.0
RATE = 100.0        # of joint states [Hz]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--calls', type=int, default=2000, help='of each kind')
    calls = parser.parse_args().calls
    rclpy.init()
    try:
        print(json.dumps(measure(calls)))
    except ExternalShutdownException:
        sys.exit(1)
    finally:
        rclpy.try_shutdown()


def measure(calls):
    """Return {what: [value, unit, bar]}; each kind alternates with the empty call."""
    with server() as ours, server('--bare') as _:
        caller = Caller()
        caller.wait_until_idle(ours)
        kinds = caller.kinds()
        found, empty = {}, []
        for name, (bar, which) in BARS.items():
            seconds = take_turns(caller, {'empty': kinds['empty'], name: kinds[name]}, calls)
            empty += seconds['empty']
            for percent in which:
                ratio = (np.percentile(seconds[name], percent)
                         / np.percentile(seconds['empty'], percent))
                found[f'{name} over an empty call, p{percent}'] = [ratio, 'x', bar]
        found['an empty call, the node with no service but that over ours, p50'] = [
            *found.pop('bare over an empty call, p50')[:2], None]
        found[f'CPU with joint states at {RATE:g} Hz'] = [100.0 * idle_cpu(caller, ours), '%', 2.0]
    return {'an empty call, p50': [np.percentile(empty, 50) * 1e6, 'us', None],
            'an empty call, p99': [np.percentile(empty, 99) * 1e6, 'us', None], **found}


@contextlib.contextmanager
def server(*arguments, parameters=()):
    """Run ros_server.py; yield the process."""
    process = subprocess.Popen([sys.executable, HERE / 'ros_server.py', *arguments, '--ros-args',
                                '--log-level', 'warn', '-p', f'robot_description:={ARM7}',
                                *parameters])
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Caller:
    """A client that makes one call at a time."""

    def __init__(self):
        self.node = rclpy.create_node('caller')
        self._executor = EventsExecutor()
        self._executor.add_node(self.node)
        self._clients = {}

    def client(self, kind, name):
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
            assert self._clients[name].wait_for_service(PATIENCE), name
        return self._clients[name]

    def call(self, client, request):
        """Return (seconds, response)."""
        start = time.perf_counter()
        response = self.wait(client.call_async(request))
        return time.perf_counter() - start, response

    def wait(self, future):
        """Return the result of a future."""
        self._executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        return future.result()

    def wait_until_compiled(self):
        """Wait until the kernels are ready."""
        report = self.client(srv.ModelReport, '/dynamics_node/model_report')
        deadline = time.monotonic() + PATIENCE
        while not self.call(report, srv.ModelReport.Request())[1].compiled:
            assert time.monotonic() < deadline, 'the kernels were not ready'
            time.sleep(0.1)

    def wait_until_idle(self, process):
        """Wait until the node has all kernels, also those not used yet."""
        self.wait_until_compiled()
        before, now = -1.0, cpu_seconds(process.pid)
        while now - before > 0.02:
            time.sleep(0.5)
            before, now = now, cpu_seconds(process.pid)

    def kinds(self):
        """Return {name: (client, request)}."""
        robot = Robot.from_urdf(ARM7, compile=False)
        rng = np.random.default_rng(0)
        names = list(robot.joint_names)
        state = {field: array('d', rng.normal(size=robot.nv)) for field in
                 ('position', 'velocity', 'acceleration', 'effort')}
        many = {field: array('d', rng.normal(size=STATES * robot.nv)) for field in
                ('position', 'velocity', 'acceleration')}

        def ours(name, kind, **fields):
            return self.client(kind, f'/dynamics_node/{name}'), kind.Request(**fields)

        def some(*fields):
            return {field: state[field] for field in fields}
        inverse = some('position', 'velocity', 'acceleration')
        forward = some('position', 'velocity', 'effort')
        return {
            'empty': (self.client(Trigger, '/dynamics_node/empty'), Trigger.Request()),
            'bare': (self.client(Trigger, '/bare/empty'), Trigger.Request()),
            'inverse_dynamics': ours('inverse_dynamics', srv.InverseDynamics, joint_names=names,
                                     **inverse),
            'inverse_dynamics, joints not named': ours('inverse_dynamics', srv.InverseDynamics,
                                                       **inverse),
            'forward_dynamics': ours('forward_dynamics', srv.ForwardDynamics, joint_names=names,
                                     **forward),
            'dynamics_terms': ours('dynamics_terms', srv.DynamicsTerms, joint_names=names,
                                   **some('position', 'velocity')),
            f'batch_dynamics of {STATES} states': ours(
                'batch_dynamics', srv.BatchDynamics, question='inverse', **many)}


def take_turns(caller, kinds, calls, warm_up=200):
    """Return {name: seconds of each call}; the kinds take turns, call by call.

    So all have the same noise. In blocks of 50 calls the machine drifts between the blocks, and
    the ratio of two medians by 0.05.
    """
    seconds = {name: [] for name in kinds}
    order, shuffle = list(kinds), random.Random(1).shuffle
    gc.collect()
    gc.disable()
    for k in range(-warm_up, calls):
        shuffle(order)
        for name in order:
            client, request = kinds[name]
            took, response = caller.call(client, request)
            assert response.success, f'{name}: {response.message}'
            if k >= 0:
                seconds[name].append(took)
    gc.enable()
    return seconds


def idle_cpu(caller, process):
    """Return the share of a core that the node uses when it receives only joint states."""
    publisher = caller.node.create_publisher(JointState, '/joint_states', 10)
    robot = Robot.from_urdf(ARM7, compile=False)
    message = JointState(name=list(robot.joint_names), position=[0.1] * robot.nv,
                         velocity=[0.0] * robot.nv, effort=[0.0] * robot.nv)
    start, before = time.monotonic(), cpu_seconds(process.pid)
    for k in range(int(IDLE_SECONDS * RATE)):
        message.header.stamp = caller.node.get_clock().now().to_msg()
        publisher.publish(message)
        time.sleep(max(0.0, start + (k + 1) / RATE - time.monotonic()))
    return (cpu_seconds(process.pid) - before) / (time.monotonic() - start)


def cpu_seconds(pid):
    """Return the time that a process and its children have used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK') + sum(
        map(cpu_seconds, children))


if __name__ == '__main__':
    main()
