"""Run a simulated arm and the dynamics node, one process each, in a closed loop in lockstep.

    with ClosedLoop('build/demo') as loop:
        loop.place(q)
        loop.enable({'torque.mode': 'gravity'})
        run = loop.run(3.0)                     # simulated seconds
        run.t, run.q, run.torque

The arm runs in lockstep: its time stops until it has the torque for its last state. That torque is
relayed by this process. Holding it back stops the simulation, so that a load can be attached for
arm and node at the same instant, and results do not depend on the speed of the machine.
"""

import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rclpy
from asking import PATIENCE, Asking, stamp_known_to, trajectory_message
from processes import Processes, program_of
from rclpy.duration import Duration
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.ros import DynamicsClient, convert
from dynamics_node.ros.spin import spin

ARM_NODE = Path(__file__).resolve().parent / 'sim' / 'arm_node.py'
ANSWER = 5.0         # [s] of wall time, from the node when it is idle
# While the brakes are closed simulated time goes on with the wall clock, and the first torques may
# wait for their kernels: a busy machine must not make a state too old, or the clock jump. At the
# end of a run the arm closes its own brakes; a controller without gravity could not brake it.
PATIENT = {'safety.max_state_age': 0.5, 'safety.max_clock_step': 3.0, 'safety.brake_time': 0.0}


class Run(NamedTuple):
    """Measured and wanted values over a time, N samples of n joints."""

    t: np.ndarray        # (N,) since the brakes opened [s]
    q: np.ndarray        # (N, n)
    torque: np.ndarray   # (N, n)


class ClosedLoop(AbstractContextManager):
    """The two processes, and the torques on their way from one to the other."""

    def __init__(self, folder, rate=500.0, arm=None, node=None, remap=None):
        """Start them.

        :param folder: for their logs.
        :param arm, node: more parameters of the simulated arm and of the dynamics node.
        :param remap: {topic: other name} of the dynamics node.
        """
        self._lock, self._stopped = threading.RLock(), threading.Event()
        self._state = self._torque = self._until = self._zero = None
        self._rows, self._thread = [], None
        self.processes = Processes(folder)
        try:
            self.processes.start('arm', ARM_NODE, {
                'mode': 'lockstep', 'rate': rate, 'answer_topic': 'conductor/torque',
                'deadline': PATIENCE, **(arm or {})})
            self.processes.start('node', program_of('dynamics_node'), {
                'use_sim_time': 'true', **PATIENT, **(node or {})}, remap)
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self):
        """Start a node that subscribes to both."""
        self._context, self._done = rclpy.Context(), Future()
        rclpy.init(context=self._context)
        node = self._node = rclpy.create_node('conductor', context=self._context)
        self._ask = Asking(node, self.processes)
        self._out = node.create_publisher(JointState, '~/torque', 10)
        self._reference = node.create_publisher(JointTrajectory, 'dynamics_node/reference', 1)
        heard = [node.create_subscription(JointState, 'joint_states', self._on_state, 10),
                 node.create_subscription(JointState, 'dynamics_node/torque', self._on_torque, 10)]
        self._thread = threading.Thread(target=spin, args=(node, self._done), daemon=True)
        self._thread.start()
        self.client = DynamicsClient(node, timeout=ANSWER)
        self._ask.wait(lambda: all([
            *(each.get_subscription_count() for each in (self._out, self._reference)),
            *(each.get_publisher_count() for each in heard)]), 'both nodes')
        self._ask.wait(lambda: stamp_known_to(self.client) >= 0, 'a joint state of a known robot')

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End both processes, also after an error."""
        self.processes.close()
        if self._thread:
            self._done.set_result(None)
            self._thread.join()   # nothing may be destroyed while a callback uses it
            self._node.destroy_node()
            rclpy.try_shutdown(context=self._context)

    # Requests to both processes ----------------------------------------------------------------

    def place(self, q):
        """Place the arm unloaded, at rest, brakes closed; wait until the node has measured it."""
        self.disable()
        self._detach()   # before the reset: closed brakes measure the weight of a load as effort
        self._ask.set('simulated_arm', {'initial_position': [float(x) for x in q]})
        self._ask.call(Trigger, 'simulated_arm/reset')
        there = self._ask.wait(lambda: self._stamp_at(q), 'the arm in its place')
        self._ask.wait(lambda: stamp_known_to(self.client) >= there, 'the node to know of it')

    def _stamp_at(self, q):
        state = self._state or JointState()
        return np.array_equal(state.position, q) and convert.nanoseconds(state.header.stamp)

    def enable(self, parameters):
        """Let the node drive the arm by its parameters; time stands at its first torques."""
        self._ask.set('dynamics_node', parameters)
        with self._lock:
            self._rows, self._zero, self._until = [], None, 0
            self._stopped.clear()
        self._enable(True)
        self._ask.wait(self._stopped.is_set, 'the first torque')

    def change(self, parameters):
        """Change parameters of the node while it drives the arm; time stands meanwhile."""
        self._ask.set('dynamics_node', parameters, again_if='being compiled')

    def disable(self):
        """Let the node ramp out; the arm stands or falls meanwhile."""
        with self._lock:
            self._until = None
            self._pass_on()
        self._ask.wait(lambda: self._enable(False) == 'disabled', 'the torques to be ramped out')

    def _enable(self, whether):
        """Return the state of the gate."""
        return self._ask.call(SetBool, 'dynamics_node/enable', again_if='being compiled',
                              data=whether)

    def follow(self, spline, start):
        """Let the node follow a motion that starts at a given time [s]."""
        self._reference.publish(trajectory_message(
            spline, self._state.name, self._zero + round(start * convert.BILLION)))
        self._reference.wait_for_all_acked(Duration(seconds=PATIENCE))

    def attach(self, frame, mass, known):
        """Attach a load to the arm, and optionally to the model of the node."""
        self._ask.set('simulated_arm', {'payload_frame': frame, 'payload_mass': mass})
        self._ask.call(Trigger, 'simulated_arm/attach_payload')
        if known:
            self.client.set_payload('load', frame, mass)

    def _detach(self):
        """Remove the load from the arm and from the model of the node."""
        self._ask.call(Trigger, 'simulated_arm/detach_payload')
        if 'load' in self.client.list_payloads().names:
            self.client.remove_payload('load')

    def run(self, seconds, glance=lambda t: None):
        """Let that much simulated time pass, then stop; return the Run since enable.

        :param glance: called with the time since then [s], now and then.
        """
        with self._lock:
            self._until += round(seconds * convert.BILLION)
            self._stopped.clear()
            self._pass_on()

        def meanwhile():
            glance(self._rows[-1][0])
            return len(self._rows)
        self._ask.wait(self._stopped.is_set, 'the next torque', meanwhile)
        t, q, torque = map(np.array, zip(*self._rows))
        return Run(t, q, torque)

    # The torques on their way ----------------------------------------------------------------

    def _on_state(self, message):
        with self._lock:
            self._state = message
            self._pass_on()

    def _on_torque(self, message):
        with self._lock:
            self._torque = message
            self._pass_on()

    def _pass_on(self):
        """Forward the torque if it belongs to the last state, so that time can advance."""
        state, torque = self._state, self._torque
        if state is None or torque is None or torque.header.stamp != state.header.stamp:
            return
        stamp = convert.nanoseconds(state.header.stamp)
        if self._until is not None:
            if self._zero is None:   # the one that opens the brakes; from here on time can stand
                self._zero = stamp
            elif stamp > self._zero and stamp - self._zero >= self._until:
                self._until = stamp - self._zero   # the brakes take a while to open
                self._stopped.set()
                return
            self._record((stamp - self._zero) / convert.BILLION)
        self._torque = None
        self._out.publish(torque)

    def _record(self, t):
        if not self._rows or self._rows[-1][0] < t:   # else it was lost, and is asked for again
            self._rows.append((t, np.array(self._state.position), np.array(self._torque.effort)))
