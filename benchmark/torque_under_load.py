"""Measure torques while clients call every service without pause.

python benchmark/torque_under_load.py [--seconds 60] [--rate 500 1000]    prints JSON, as
ros_calls.py does: first nothing else runs, then four clients, see CLIENTS.
"""

import argparse
import gc
import itertools
import json
import subprocess
import sys
import tempfile
import time
from array import array
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import rclpy
from identification import recorded
from rclpy.action import ActionClient
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_calls import PATIENCE, Caller, server
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from dynamics_node import Robot, srv
from dynamics_node.action import Identify
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.recording import raw_recording
from dynamics_node.msg import FrameTarget
from dynamics_node.ros import convert
from dynamics_node.ros.rclpy_internals import receive_info
from dynamics_node.ros.services.table import SERVICES
from dynamics_node.ros.torque import realtime

SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOINTS = [f'joint_{k}' for k in range(1, 8)]
KINDS = ('position', 'orientation', 'pose')
DRIVER = 60   # real-time priority of the simulated driver, where it is granted
STATES = 100_000
SAMPLES = 10_000   # of the recording, 1 ms apart


class Torques(NamedTuple):
    """What a driver has received."""

    delays: np.ndarray    # of each joint state with a torque [s]
    gap: float            # greatest time between two torques [s]
    published_gap: float  # between these two when they were published
    states_gap: float     # between the joint states that they were computed from
    sent_gap: float       # greatest of joint states: the delay of the machine and of the driver
    missed: int           # joint states without a torque
    faults: int


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--rate', type=float, nargs='+', default=[500.0, 1000.0])
    parser.add_argument('--priority', type=int, default=50, help='of the torque process; 0: none')
    parser.add_argument('--client', choices=list(CLIENTS))
    parser.add_argument('--recording', help='of the client that identifies the arm')
    options = parser.parse_args()
    rclpy.init()
    try:
        if options.client:
            load(options.client, options.recording)
        else:
            print(json.dumps(measure(options)))
    finally:
        rclpy.try_shutdown()


def measure(options):
    """Return {what: [value, unit, bar]}."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, server(parameters=(
            '-p', f'torque.realtime_priority:={options.priority}',
            '-p', f'shared_folders:=[{folder}]')) as process:
        recording = f'{folder}/motion.csv'
        write_recording(recording)
        driver = Driver(process)
        granted = realtime.request(DRIVER) if options.priority else 'not requested'
        gc.freeze()    # a collection stops the simulated driver for 40 ms, which no driver in C++
        gc.disable()   # does; its joint states would be late, and their torques
        for rate in options.rate:
            idle = driver.run(rate, options.seconds)
            with clients(recording):
                busy = driver.run(rate, options.seconds)
            found.update(rows(f'{rate:g} Hz', idle, busy, 'no SCHED_FIFO' not in granted))
    return found


def rows(rate, idle, busy, granted):
    """Return the rows of one rate; bars where real-time priority is granted."""
    percentiles = {name: np.percentile(each.delays, (50, 99, 99.9)) * 1e6
                   for name, each in (('idle', idle), ('load', busy))}
    found = {}
    for name, each in (('idle', idle), ('load', busy)):
        for percent, value in zip((50, 99, 99.9), percentiles[name]):
            bar = 2000.0 if (name, percent) == ('load', 99) and granted else None
            found[f'{rate}, {name}: joint state to torque, p{percent:g}'] = [value, 'us', bar]
        found[f'{rate}, {name}: greatest gap between torques'] = [
            each.gap * 1e3, 'ms', 20.0 if granted else None]
        found[f'{rate}, {name}: greatest gap, when its torques were published'] = [
            each.published_gap * 1e3, 'ms', None]
        found[f'{rate}, {name}: greatest gap, between the joint states of its torques'] = [
            each.states_gap * 1e3, 'ms', None]
        found[f'{rate}, {name}: greatest gap between joint states'] = [
            each.sent_gap * 1e3, 'ms', None]
        found[f'{rate}, {name}: joint states without a torque'] = [
            each.missed, '', 0.5 if granted else None]
        found[f'{rate}, {name}: faults'] = [each.faults, '', 0.5]
    found[f'{rate}: p99 under load over idle'] = [
        percentiles['load'][1] / percentiles['idle'][1], 'x', 2.0 if granted else None]
    return found


class Driver:
    """The driver of the arm: publishes joint states at a rate, receives torques."""

    def __init__(self, process):
        self.caller = Caller()
        self.caller.wait_until_idle(process)
        self.node = rclpy.create_node('driver')
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.states = self.node.create_publisher(JointState, '/joint_states', SENSOR)
        receive_info(self.node.create_subscription(
            JointState, '/dynamics_node/torque', self.on_torque, 1000))
        self.enabler = self.caller.client(SetBool, '/dynamics_node/enable')
        self.message = JointState(name=JOINTS, position=array('d', [0.3] * 7),
                                  velocity=array('d', [0.0] * 7), effort=array('d', [0.0] * 7))
        self.heard = []   # (stamp, publication, arrival [ns])

    def on_torque(self, received):
        message, info = received
        self.heard.append((convert.nanoseconds(message.header.stamp), info['source_timestamp'],
                           time.time_ns()))

    def send(self):
        """Publish a joint state; return its stamp."""
        stamp = time.time_ns()
        self.message.header.stamp = convert.time(stamp)
        self.states.publish(self.message)
        return stamp

    def enable(self, wanted=True):
        deadline = time.monotonic() + PATIENCE
        while True:
            self.send()
            _, response = self.caller.call(self.enabler, SetBool.Request(data=wanted))
            if response.success:
                return
            assert time.monotonic() < deadline, response.message

    def run(self, rate, seconds):
        """Return the Torques of joint states at a rate."""
        self.enable()
        self.pace(rate, 1.0)   # the ramp in, and a warm cache
        self.heard.clear()
        sent = self.pace(rate, seconds)
        deadline = time.monotonic() + 1.0
        while len(self.heard) < len(sent) and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.05)
        arrived = {stamp: when for stamp, _, when in self.heard}
        answered = [stamp for stamp in sent if stamp in arrived]
        faults = int(len(answered) == 0 or answered[-1] < sent[-1] - 1_000_000_000)
        delays = np.array([arrived[stamp] - stamp for stamp in answered]) * 1e-9
        found = Torques(delays, *greatest_gap(self.heard),
                        float(np.diff(sent).max(initial=0)) * 1e-9, len(sent) - len(answered),
                        faults)
        self.enable(False)
        return found

    def pace(self, rate, seconds):
        """Publish joint states at a rate; return their stamps."""
        sent, start = [], time.perf_counter()
        for k in range(int(seconds * rate)):
            sent.append(self.send())
            while (left := start + (k + 1) / rate - time.perf_counter()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
        return sent


def greatest_gap(heard):
    """Return the greatest gap between arrivals, its publications and its joint states [s].

    :param heard: (stamp, publication, arrival) of each torque [ns].
    """
    if len(heard) < 2:
        return 0.0, 0.0, 0.0
    gaps = np.diff(np.array(heard), axis=0) * 1e-9
    states, published, arrived = gaps[gaps[:, 2].argmax()].tolist()
    return arrived, published, states


# Clients, each a process ------------------------------------------------------------------------

@contextmanager
def clients(recording):
    """Run the four clients."""
    started = [subprocess.Popen([sys.executable, __file__, '--client', name, '--recording',
                                 recording], start_new_session=True) for name in CLIENTS]
    time.sleep(5.0)   # until they call
    try:
        yield
        ended = [name for name, each in zip(CLIENTS, started) if each.poll() is not None]
        assert not ended, f'clients that ended early, so there was less load: {ended}'
    finally:
        for process in started:
            process.kill()
            process.wait()


def load(name, recording):
    """Call services without pause, until killed."""
    caller = Caller()
    caller.recording = recording
    for k in itertools.count():
        CLIENTS[name](caller, k)


def every_service(caller, k):
    """Call each service with an empty request: the measured state, or a refusal."""
    for name, (kind, _, _) in SERVICES.items():
        caller.call(caller.client(kind, f'/dynamics_node/{name}'), kind.Request())


def batches(caller, k):
    """Send 100,000 states at once."""
    rng = np.random.default_rng(k)
    numbers = {field: array('d', rng.normal(size=7 * STATES))
               for field in ('position', 'velocity', 'acceleration')}
    caller.call(caller.client(srv.BatchDynamics, '/dynamics_node/batch_dynamics'),
                srv.BatchDynamics.Request(question='inverse', **numbers))


def new_kernels(caller, k):
    """Inverse kinematics of links and kinds not used before; the self-test."""
    link, kind = f'link_{1 + k % 7}', KINDS[k // 7 % len(KINDS)]
    target = FrameTarget(frame=link, kind=kind)
    target.pose.orientation.w = 1.0
    caller.call(caller.client(srv.InverseKinematics, '/dynamics_node/inverse_kinematics'),
                srv.InverseKinematics.Request(targets=[target]))
    caller.call(caller.client(srv.DynamicsDerivatives, '/dynamics_node/dynamics_derivatives'),
                srv.DynamicsDerivatives.Request(question=('inverse', 'forward')[k % 2]))
    caller.call(caller.client(srv.SelfTest, '/dynamics_node/self_test'), srv.SelfTest.Request())


def files_and_garbage(caller, k):
    """Identify the arm from a file; publish 10 MB that are no robot and no joint state."""
    if k == 0:
        caller.identify = ActionClient(caller.node, Identify, '/dynamics_node/identify')
        assert caller.identify.wait_for_server(PATIENCE)
        # reliable: received by every subscription, whatever it asks for
        caller.states = caller.node.create_publisher(JointState, '/joint_states', 1)
        caller.texts = caller.node.create_publisher(String, '/robot_description', LATCHED)
    goal = caller.wait(caller.identify.send_goal_async(Identify.Goal(recording=caller.recording)))
    found = caller.wait(goal.get_result_async()).result
    assert found.samples, found.message   # it has read the file and fitted the robot
    caller.states.publish(JointState(name=['x' * 10_000_000]))
    caller.texts.publish(String(data='<' * 10_000_000))


def write_recording(path):
    """Write a recording of the arm."""
    robot = Robot.from_urdf(ARM7)
    recording, _ = recorded(robot, SAMPLES)
    write_csv(path, raw_recording(robot.joint_names, recording.time, recording.q, recording.tau,
                                  recording.v))


CLIENTS = {'services': every_service, 'batches': batches, 'new kernels': new_kernels,
           'files': files_and_garbage}


if __name__ == '__main__':
    main()
