"""Simulate the robot of torque_wire.py in simulated time, also step by step with its node."""

import time

import numpy as np
from rosgraph_msgs.msg import Clock

from dynamics_node.ros import convert
from support.remote_node import RELIABLE, joint_state, wait_until
from support.torque_wire import EFFORT, PACE, ROUNDING, Arm

SECOND = 1_000_000_000  # [ns]
PERIOD = 2_000_000      # [ns] of joint states in lockstep: 500 Hz


class SimulatedArm(Arm):
    """An arm whose time is on /clock. The latency of a torque is not known."""

    def __init__(self, node):
        self.time = 1000 * SECOND
        super().__init__(node)

    def now(self):
        return self.time

    def step(self):
        self.time += int(PACE * SECOND)
        self.node.publish(Clock(clock=convert.time(self.time)), topic='/clock')
        super().step()

    def time_of(self, info):
        return self.time

    def check_change(self, k, slew, age, starts, source, where):
        if k:
            change = np.abs(self.heard[k].effort - self.heard[k - 1].effort)
            lost = self.heard[k].number - self.heard[k - 1].number
            assert (change <= slew * age * lost + ROUNDING).all(), where


class LockstepArm(SimulatedArm):
    """An arm whose next joint state is sent when the torque of the last one has arrived.

    :ivar lockstep: whether to wait for the torque.
    """

    lockstep = False

    def step(self):
        self.time += PERIOD
        self.sent.add(self.time)
        for message, topic in ((Clock(clock=convert.time(self.time)), '/clock'),
                               (joint_state(self.time, EFFORT, self.q, self.v), 'joint_states')):
            self.node.publish(message, topic=topic, qos=RELIABLE)
        if self.lockstep:
            wait_until(lambda: self.listen() or self.heard and self.heard[-1].stamp == self.time,
                       'the torque of a joint state')
        else:
            time.sleep(PACE)
            self.listen()

    def check_change(self, k, slew, age, starts, source, where):
        """Slew, by the time between two joint states."""
        if k:
            passed = (self.heard[k].stamp - self.heard[k - 1].stamp) / SECOND
            change = np.abs(self.heard[k].effort - self.heard[k - 1].effort)
            assert passed >= 0.0, where
            assert (change <= slew * passed + ROUNDING).all(), where
