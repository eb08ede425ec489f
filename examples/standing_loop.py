"""Drive a simulated robot with a floating base by the node, in lockstep.

    with StandingLoop('build/foot-step', urdf, contacts, rate=250.0, effort=2.7) as loop:
        loop.enable(q, v)
        torque = loop.torque(q, v)      # of this state; simulated time goes on by a period

The caller simulates. This process publishes /clock, odom and joint_states, and waits for the torque
with the same stamp: results do not depend on the speed of the machine.
"""

import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import rclpy
from asking import PATIENCE, Asking
from nav_msgs.msg import Odometry
from processes import Processes, program_of
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import SetBool

from dynamics_node import Robot
from dynamics_node.constrained.read_loops import to_yaml
from dynamics_node.msg import TorqueState, WholeBodyReference
from dynamics_node.ros import convert
from dynamics_node.ros.spin import spin

AGAIN = 0.05   # [s] of wall time, until a state is sent again; then twice as long, and so on
MICRO = 1000   # [ns]
START = 1_000_000_000   # [ns] first stamp


class StandingLoop(AbstractContextManager):
    """A node in mode whole_body, and the states and torques between it and a simulation."""

    def __init__(self, folder, urdf, contacts, rate, effort, node=None):
        """Start the node.

        :param folder: for its log and the list of contacts.
        :param contacts: Constraints, those that the robot stands on.
        :param rate: of joint states [Hz]; effort: limit of all joints [N m].
        :param node: more parameters of the node.
        """
        self._robot = Robot.from_urdf(urdf, base='floating', compile=False)
        self._period, self._stamp = round(convert.BILLION / rate), START
        self._torque = self._state = self._thread = None
        self.processes = Processes(folder)
        path = Path(folder) / 'contacts.yaml'
        path.write_text(to_yaml(contacts))
        joints = self._robot.joint_names[1:]
        try:
            self.processes.start('node', program_of('dynamics_node'), {
                'use_sim_time': 'true', 'robot_description': urdf, 'base': 'floating',
                'constraints': path, 'friction': 'false', 'torque.mode': 'whole_body',
                'torque.state_rate': 1000.0, 'safety.max_state_age': 0.5,
                'safety.max_clock_step': 3.0, 'safety.ramp_in_time': 0.2,
                **{f'torque.effort_limits.{name}': float(effort) for name in joints},
                **(node or {})})
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self):
        self._context, self._done = rclpy.Context(), Future()
        rclpy.init(context=self._context)
        node = self._node = rclpy.create_node('simulation', context=self._context)
        self._ask = Asking(node, self.processes)
        self._out = {topic: node.create_publisher(kind, topic, 10) for topic, kind in (
            ('/clock', Clock), ('odom', Odometry), ('joint_states', JointState),
            ('dynamics_node/whole_body_reference', WholeBodyReference))}
        node.create_subscription(JointState, 'dynamics_node/torque', self._on_torque, 10)
        node.create_subscription(TorqueState, 'dynamics_node/state', self._on_state, 10)
        self._thread = threading.Thread(target=spin, args=(node, self._done), daemon=True)
        self._thread.start()
        # odom: both processes of the node subscribe once they have the robot
        self._ask.wait(lambda: all(each.get_subscription_count() for each in self._out.values()),
                       'the node')

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the node, also after an error."""
        self.processes.close()
        if self._thread:
            self._done.set_result(None)
            self._thread.join()
            self._node.destroy_node()
            rclpy.try_shutdown(context=self._context)

    def enable(self, q, v):
        """Enable torques at a state; the simulation stands meanwhile."""
        deadline, answer = time.monotonic() + PATIENCE, None
        client = self._node.create_client(SetBool, 'dynamics_node/enable')
        self._ask.wait(client.service_is_ready, 'enable')
        while answer is None or not answer.success:
            future = client.call_async(SetBool.Request(data=True))
            while not future.done():
                self._publish(q, v)
                time.sleep(self._period / convert.BILLION)
            answer = future.result()
            if time.monotonic() > deadline:
                raise RuntimeError(f'enable: {answer.message}')

    def send(self, message, run):
        """Send a reference until it is followed; raise the reason of a refusal.

        :param run: lets some simulated time pass: the node reports with the torques.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            before = self._state.refused_references
            self._out['dynamics_node/whole_body_reference'].publish(message)
            run()
            if self._state.refused_references == before:
                return
            if 'being compiled' not in self._state.last_refusal or time.monotonic() > deadline:
                raise RuntimeError(f'the reference was refused: {self._state.last_refusal}')

    def torque(self, q, v):
        """Return the torque for a state, (n,); simulated time goes on by a period."""
        stamp = self._publish(q, v)
        again, wait, shift = time.monotonic() + AGAIN, AGAIN, 0

        def arrived():
            nonlocal again, wait, shift
            torque = self._torque
            if torque is not None and convert.nanoseconds(torque.header.stamp) == stamp:
                return [np.array(torque.effort)]
            if time.monotonic() > again:   # lost, or odom came after the joint states
                # longer each time: a slow node must not have more states waiting than it answers
                wait, shift = 2.0 * wait, shift + MICRO
                again = time.monotonic() + wait
                self._publish_states(stamp, stamp + shift, q, v)
            return None
        return self._ask.wait(arrived, 'the next torque')[0]

    def _publish(self, q, v):
        """Publish a state; return its stamp [ns]."""
        self._stamp += self._period
        self._publish_states(self._stamp, self._stamp, q, v)
        return self._stamp

    def _publish_states(self, base_stamp, stamp, q, v):
        self._out['/clock'].publish(Clock(clock=convert.time(stamp)))
        base = Odometry(child_frame_id='base_link')
        base.header.stamp = convert.time(base_stamp)
        base.pose.pose.position = convert.point(q[:3])
        turn, twist = base.pose.pose.orientation, base.twist.twist
        turn.x, turn.y, turn.z, turn.w = q[3:7].tolist()
        for part, values in ((twist.linear, v[:3]), (twist.angular, v[3:6])):
            part.x, part.y, part.z = values.tolist()
        self._out['odom'].publish(base)
        self._out['joint_states'].publish(JointState(
            header=Header(stamp=convert.time(stamp)),
            name=list(self._robot.joint_names[1:]), position=q[7:].tolist(),
            velocity=v[6:].tolist()))

    def _on_torque(self, message):
        self._torque = message

    def _on_state(self, message):
        self._state = message
