"""Signal the real processes of the node while it drives an arm in MuJoCo, in real time.

The arm is simulated by the wall clock in this process, as in event_rig.py: no friction, no end
stops. Lockstep is not possible here, since a process that ends publishes its last torques by the
wall clock. So the figures depend on the machine; the same events are in event_list.py without
processes, and do not.

Used by torque_events.py --processes.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from event_list import HALF, REST
from event_motion import SHARE
from event_rig import Trace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'examples'))
from arm import SimulatedArm  # noqa: E402
from processes import Processes, own_domain, program_of  # noqa: E402

PATIENCE = 60.0     # [s] for the node to be ready
WINDOW = 1.0        # [s] after the event
SETTLE = 1.0        # [s] enabled before it, as long as the default ramp: kernels are loaded
SEEN = 0.01         # [s] in which the arm moves before it: its velocity is measured
RATE = 2            # [ms] between two joint states
STOPPED = 0.4       # [s] for which a process is stopped
TIMEOUT = {'holds': np.inf, 'times out': 0.1}   # [s] of the driver


class ProcessEvent(NamedTuple):
    """A signal to one of the two processes."""

    group: str
    name: str
    process: str       # 'torque' or 'serving'
    number: int        # of the signal


EVENTS = [ProcessEvent('real process', f'{name} of the {process} process, real time', process,
                       number)
          for process in ('torque', 'serving')
          for name, number in (('SIGKILL', signal.SIGKILL), ('SIGSTOP, 400 ms,', signal.SIGSTOP))]


def measure(bench, folder):
    """Return the Rows of all events, for the robot of a Bench.

    The mode is gravity. Torques go on while the serving process is stopped, and an arm without
    friction that moves in mode gravity is too fast after a while by itself: only at rest.
    """
    return [_row(bench, event, motion, driver, folder) for event in EVENTS
            for motion in ((REST,) if _goes_on(event) else (REST, HALF)) for driver in TIMEOUT]


def _goes_on(event):
    return event.process == 'serving' and event.number == signal.SIGSTOP


def _row(bench, event, motion, driver, folder):
    with own_domain():
        processes = Processes(folder / 'processes')
        try:
            processes.start('node', program_of('dynamics_node'), {
                'torque.command_topic': 'commands', 'friction': 'false',
                'safety.ramp_in_time': 0.05})
            arm = RealTimeArm(bench, TIMEOUT[driver])
            try:
                arm.enable()
                q, trace = arm.disturbed(event, motion, processes)
            finally:
                arm.close()
            words = _last_words(processes)
        finally:
            processes.close()
    v = SHARE * bench.subject.direction * bench.velocity if motion == HALF else np.zeros(len(q))
    return bench.row(event, motion, driver, trace, q, bench.stopped_path(q, v, len(trace.q)),
                     'enabled' if _goes_on(event) else 'ended', words, '')


def _last_words(processes):
    """Return what the log of the node says about torques in the end."""
    lines = [line for line in processes.tail('node', 50).splitlines() if 'torque' in line]
    return lines[-1].split('] ')[-1].split(']: ')[-1] if lines else ''


class RealTimeArm:
    """An arm that moves by the wall clock, its driver, and the node of a user, in one thread."""

    def __init__(self, bench, timeout):
        import rclpy
        from rclpy.experimental import EventsExecutor
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray, String
        from std_srvs.srv import SetBool
        subject = bench.subject
        self.bench, self.timeout = bench, timeout
        self.arm = SimulatedArm(subject.text, damping=False, dry_friction=False, stops=False)
        self.arm.braked = True
        self.arm.set(subject.pose)
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('arm', context=self.context)
        self.executor = EventsExecutor(context=self.context)
        self.executor.add_node(self.node)
        latched = rclpy.qos.QoSProfile(
            depth=1, durability=rclpy.qos.DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_publisher(String, 'robot_description', latched).publish(
            String(data=subject.text))
        self.states = self.node.create_publisher(JointState, 'joint_states', 10)
        self.node.create_subscription(Float64MultiArray, 'commands', self._take, 10)
        self.enabler = self.node.create_client(SetBool, 'dynamics_node/enable')
        self.message = JointState(name=list(self.arm.joint_names))
        self.command, self.command_at = np.zeros(self.arm.n), 0
        self.silence, self.rows, self.published = 0, [], []
        self.origin = time.monotonic()

    def close(self):
        import rclpy
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)

    def enable(self):
        """Enable the node as soon as it can be."""
        from std_srvs.srv import SetBool
        deadline, success = time.monotonic() + PATIENCE, False
        while not success:
            assert time.monotonic() < deadline, 'the node could not be enabled'
            self.run(0.1)
            if self.enabler.service_is_ready():
                future = self.enabler.call_async(SetBool.Request(data=True))
                while not future.done() and time.monotonic() < deadline:
                    self.run(0.01)
                success = future.result().success
        self.run(SETTLE)

    def disturbed(self, event, motion, processes):
        """Return (q at the event, Trace after it)."""
        assert not self.arm.braked, 'no torque came'
        serving = processes.pid('node')
        target = {'serving': serving, 'torque': _child(serving)}[event.process]
        if motion == HALF:
            self.arm.set(self.arm.q, SHARE * self.bench.subject.direction * self.bench.velocity)
            self.run(SEEN)
        q, self.rows, self.silence = self.arm.q, [], 0
        self.published = [self.command]
        os.kill(target, event.number)
        if event.number == signal.SIGSTOP:
            self.run(STOPPED)
            os.kill(target, signal.SIGCONT)
            self.run(WINDOW - STOPPED)
        else:
            self.run(WINDOW)
        return q, Trace(*map(np.array, zip(*self.rows)), np.array(self.published), None,
                        1e-3 * self.silence)

    def run(self, seconds):
        """Simulate, and exchange messages, by the wall clock."""
        end = self.arm.steps + round(seconds * 1e3)
        while self.arm.steps < end:
            self.executor.spin_once(timeout_sec=0.0)
            if time.monotonic() - self.origin < 1e-3 * self.arm.steps:
                time.sleep(2e-4)
                continue
            if self.arm.steps % RATE == 0:
                self._send()
            self._step()

    def _send(self):
        self.message.header.stamp = self.node.get_clock().now().to_msg()
        self.message.position, self.message.velocity = self.arm.q.tolist(), self.arm.v.tolist()
        self.message.effort = self.arm.effort.tolist()
        self.states.publish(self.message)

    def _take(self, message):
        self.silence = max(self.silence, self.arm.steps - self.command_at)
        self.command, self.command_at = np.array(message.data), self.arm.steps
        self.published.append(self.command)
        self.arm.release()

    def _step(self):
        late = 1e-3 * (self.arm.steps - self.command_at) > self.timeout
        self.arm.step(np.zeros(self.arm.n) if late else self.command)
        self.rows.append((self.arm.q, self.arm.v,
                          self.arm.frame_pose(self.bench.subject.tool)[:3, 3]))


def _child(pid):
    """Return the id of the torque process of a node: its child with that name."""
    for child in Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
        if Path(f'/proc/{child}/comm').read_text() == 'dynamics_torque\n':
            return int(child)
    raise RuntimeError('the node has no torque process')
