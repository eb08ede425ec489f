"""Measure the time from a joint state to its torque, against a bare relay; and 1 kHz operation.

python benchmark/ros_torques.py [--states 3000] [--seconds 60]    prints JSON, as ros_calls.py does.
"""

import argparse
import json
import random
import time
from array import array

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_calls import PATIENCE, Caller, server
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
DRIVEN = ('-p', 'torque.command_topic:=driven/commands', '-p', 'safety.max_state_age:=1.0',
          '-p', 'safety.max_clock_step:=10.0')
RATE = 1000.0  # [Hz]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--states', type=int, default=3000, help='of each kind')
    parser.add_argument('--seconds', type=float, default=60.0, help='at 1 kHz')
    options = parser.parse_args()
    rclpy.init()
    try:
        with server(parameters=DRIVEN) as process, server('--relay') as _:
            print(json.dumps(measure(options, process)))
    finally:
        rclpy.try_shutdown()


def measure(options, process):
    """Return {what: [value, unit, bar]}."""
    robot = Arm(process)
    robot.enable()
    seconds = robot.take_turns(options.states)
    p50, p99 = ({name: np.percentile(times, percent) for name, times in seconds.items()}
                for percent in (50, 99))
    missed = robot.hold(options.seconds)
    return {'joint state through a bare relay, p50': [p50['relay'] * 1e6, 'us', None],
            'joint state to torque over the relay, p50': [p50['driven'] / p50['relay'], 'x', 1.2],
            'joint state to torque over the relay, p99': [p99['driven'] / p99['relay'], 'x', 1.2],
            f'joint states at {RATE:g} Hz for {options.seconds:g} s without a command': [
                missed, '', 1.0]}


class Arm:
    """The robot: publishes joint states, receives commands."""

    def __init__(self, process):
        caller = Caller()
        caller.wait_until_idle(process)
        self.caller = caller
        robot = Robot.from_urdf(ARM7, compile=False)
        self.message = JointState(name=list(robot.joint_names), position=array('d', [0.3] * 7),
                                  velocity=array('d', [0.0] * 7), effort=array('d', [0.0] * 7))
        self.executor = EventsExecutor()
        self.heard = {'driven': 0, 'relay': 0}
        self.node = rclpy.create_node('arm')
        self.executor.add_node(self.node)
        self.publishers = {
            'driven': self.node.create_publisher(JointState, '/joint_states', SENSOR),
            'relay': self.node.create_publisher(JointState, '/relayed_states', SENSOR)}
        for name in self.heard:
            self.node.create_subscription(Float64MultiArray, f'/{name}/commands',
                                          lambda _, name=name: self.hear(name), 1000, raw=True)
        self.enabler = caller.client(SetBool, '/dynamics_node/enable')   # waits for the service

    def hear(self, name):
        self.heard[name] += 1

    def send(self, name):
        self.message.header.stamp = self.node.get_clock().now().to_msg()
        self.publishers[name].publish(self.message)

    def enable(self):
        """Wait for the relay; enable the node, which needs a recent joint state."""
        deadline = time.monotonic() + PATIENCE
        self.send_until_heard('relay')
        while True:
            self.send('driven')
            _, response = self.caller.call(self.enabler, SetBool.Request(data=True))
            if response.success:
                break
            assert time.monotonic() < deadline, response.message
        self.send_until_heard('driven')

    def send_until_heard(self, name):
        while not self.heard[name]:
            self.send(name)
            self.executor.spin_once(timeout_sec=0.05)

    def take_turns(self, states, warm_up=200):
        """Return {name: seconds from a state to its command}; the names alternate."""
        seconds = {name: [] for name in self.heard}
        order, shuffle = list(seconds), random.Random(1).shuffle
        for k in range(-warm_up, states):
            shuffle(order)
            for name in order:
                took = self.time(name)
                if k >= 0:
                    seconds[name].append(took)
        return seconds

    def time(self, name):
        """Return the seconds from publishing a state to receiving its command."""
        before, start = self.heard[name], time.perf_counter()
        self.send(name)
        while self.heard[name] == before:
            self.executor.spin_once(timeout_sec=1.0)
            assert time.perf_counter() - start < PATIENCE, f'{name}: no command'
        return time.perf_counter() - start

    def hold(self, seconds):
        """Return how many states at 1 kHz got no command."""
        before, start, n = self.heard['driven'], time.perf_counter(), int(seconds * RATE)
        for k in range(n):
            self.send('driven')
            while (left := start + (k + 1) / RATE - time.perf_counter()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
        deadline = time.perf_counter() + 1.0
        while self.heard['driven'] - before < n and time.perf_counter() < deadline:
            self.executor.spin_once(timeout_sec=0.05)
        return n - (self.heard['driven'] - before)


if __name__ == '__main__':
    main()
