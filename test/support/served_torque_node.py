"""A node of the torque process in this process, with its commands and what it has sent."""

import os
import time

from std_srvs.srv import SetBool

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters import declared
from dynamics_node.ros.process_link import pair
from dynamics_node.ros.state.joint_state_ring import RingReader, RingWriter, create_memory
from dynamics_node.ros.torque import last_torque
from dynamics_node.ros.torque.records import Command, Reply, Setup
from dynamics_node.ros.torque.watched_loop import WatchedLoop

LATE = 0.4      # [s] longer than the timer of torques waits, which is 2 LATE / 2.2


def parameters(**changed):
    """Return the NodeParameters with some changed; __ is a dot."""
    return declared.checked({
        **declared.DEFAULTS, 'compile': False, 'safety.unknown_start': 'zero',
        'torque.realtime_priority': 0, 'torque.command_topic': 'commands',
        'safety.max_state_age': 2 * LATE, 'safety.max_clock_step': 2 * LATE,
        **{name.replace('__', '.'): value for name, value in changed.items()}})


class Served:
    """A TorqueNode, and what it has sent."""

    def __init__(self, context):
        from dynamics_node.ros.torque.torque_node import TorqueNode
        self.sent, self.number = [], 0
        memory = create_memory()
        self.passed_on = RingReader(memory)
        shared = last_torque.create_memory()
        self.last_torque = last_torque.LastTorqueReader(shared)
        self.watchdog, self.watched = pair()
        names = {name: f'/dynamics_node/{name[2:]}' for name in ('~/torque', '~/enable')}
        self.node = TorqueNode(Setup('dynamics_node', '/', names, {'use_sim_time': False}),
                               lambda record: self.sent.append(record) or True, RingWriter(memory),
                               WatchedLoop(shared, self.watched), context=context)
        os.close(memory)
        os.close(shared)
        self.current = CurrentRobot(time.monotonic)

    def call(self, name, *arguments):
        """Return the Reply to a command."""
        self.number += 1
        self.node.execute(Command(self.number, name, arguments))
        reply = self.sent[-1]
        assert isinstance(reply, Reply) and reply.number == self.number
        return reply

    def ready(self, **changed):
        """Configure it with the bundled arm, at rest."""
        p = parameters(**changed)
        assert not self.call('configure', p).refusal
        self.current.load(str(ARM7), p.node)
        assert not self.call('set_robot', self.current.shared()).refusal
        assert not self.call('set_active', True).refusal
        self.measure()
        return self

    def measure(self):
        names = [f'joint_{k}' for k in range(1, 8)]
        self.node._node_state.measured_state.take(time.time_ns(), names, [0.1] * 7, [0.0] * 7)

    def enable(self):
        self.measure()
        reply = self.node._torque.on_enable(SetBool.Request(data=True), SetBool.Response())
        assert reply.success, reply.message

    def status(self):
        return self.call('status').result

    def released(self):
        return self.status().gate.released
