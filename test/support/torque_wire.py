"""Simulate the robot in the test: send joint states, check every torque on the wire."""

import os
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert
from dynamics_node.ros.parameters.declared import DEFAULTS, declared_name
from dynamics_node.ros.services.table import SERVICES
from support.remote_node import joint_state, wait_until
from support.torque_contract import ROUNDING, check_change, check_contract
from support.trajectories import trajectory

EFFORT = {'joint_1': 120.0, 'joint_2': 120.0, 'joint_3': 80.0, 'joint_4': 80.0, 'joint_5': 40.0,
          'joint_6': 20.0, 'joint_7': 20.0}   # as the URDF has it
ORDER = ['joint_4', 'joint_1', 'joint_7', 'joint_2', 'joint_6', 'joint_3', 'joint_5']
SETTINGS = {   # quick where nothing is at stake, patient where a loaded machine could stumble
    'torque.mode': 'gravity', 'torque.joints': ORDER, 'torque.gains': 'kp_kd',
    'torque.kp.default': 50.0, 'torque.kd.default': 5.0, 'torque.hold_reference': True,
    'torque.max_start_error': 0.1,
    'safety.ramp_in_time': 0.1, 'safety.ramp_out_time': 0.1, 'safety.hold_time': 0.05,
    'safety.slew_time': 0.1, 'safety.max_state_age': 1.0, 'safety.max_clock_step': 3.0,
    'safety.max_reference_age': 0.5, 'safety.safe_action': 'gravity',
    'safety.watchdog_time': 3.0, 'safety.exit_period': 0.005, 'safety.blind_gravity_time': 0.5,
    'safety.unknown_effort': 'refuse', 'observer.effort_meaning': 'unknown',
    'missing_velocity': 'difference', 'gravity': [0.0, 0.0, -9.81]}
OTHERS = ['shoulder', 'elbow']   # joints of a robot that takes the place of this one
PACE = 0.005       # [s] between two joint states
PATIENCE = 60.0    # [s] a deadline for a loaded machine, not a measurement
AGAIN = 5.0        # [s] without a reply until a request is sent again
DEEP = QoSProfile(depth=20000)   # reliable: what is published is heard, all of it
REST = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])   # a pose that needs torque
bundled_arm = cache(lambda: Robot.from_urdf(ARM7, compile=False))


class Heard(NamedTuple):
    """A received torque."""

    number: int          # of the message, as the publisher counts
    sent: int            # when, by the publisher's clock [ns]
    names: list
    effort: np.ndarray   # in the order of the command topic
    stamp: int           # of the state it was computed from [ns]


class TorqueProcessId(NamedTuple):
    """The torque process of a node, or its watchdog, which is no child of this process."""

    pid: int

    def is_running(self):
        """Return whether it exists; a zombie does not."""
        try:
            return Path(f'/proc/{self.pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
        except OSError:
            return False

    def send_signal(self, number):
        os.kill(self.pid, number)


class Arm:
    """A robot with a given state, driven by a node.

    :ivar q, v, effort: of the next joint states, in the model's order.
    :ivar ahead: what is added to their stamps [ns].
    :ivar spoil: what is done to each message before it is sent.
    :ivar order, limit, slew: of the torques that may come: names; {joint: effort}, {joint: slew}.
    :ivar heard: every message on ~/torque so far, and commands: on the command topic, (number,
        data).
    :ivar takeovers: how often the watchdog took over; the test sets what it expects.
    """

    def __init__(self, node, topic='commands', **settings):
        """Listen to a node; settings are those of all cases that differ from SETTINGS."""
        self.node, self.common = node, {**SETTINGS, **settings}
        self.settings = dict(self.common)
        self._ears = rclpy.create_node(f'ears_{time.monotonic_ns()}',
                                       context=node.client.context)
        self._topics = [self._ears.create_subscription(*what, lambda message: None, DEEP)
                        for what in ((JointState, f'{node.name}/torque'),
                                     (Float64MultiArray, f'{node.namespace}/{topic}'),
                                     (DiagnosticArray, '/diagnostics'))]
        self.heard, self.commands, self.statuses = [], [], []
        self.sent = set()     # stamps of the joint states
        self.enables = []     # (asked, answered [ns], torque to start from)
        self.described, self.described_first = False, ''   # another robot since; model_id
        self._gravity = None, None, None, None   # the last result, and for what it is
        self.rest()

    def close(self):
        self._ears.destroy_node()

    # What the robot does ---------------------------------------------------------------------

    def rest(self):
        """Set the measured state: at rest, all joints, now."""
        self.ahead, self.spoil, self.takeovers = 0, lambda message: None, 0
        self.robot = bundled_arm()
        self.order, self.limit, self.slew = ORDER, dict(EFFORT), {}
        self.q, self.v, self.effort = REST.copy(), np.zeros(7), ()

    def now(self):
        return time.time_ns()

    def step(self):
        """Send a joint state, and wait for the time of the next."""
        message = joint_state(self.now() + self.ahead, EFFORT, self.q, self.v, self.effort)
        self.spoil(message)
        self.sent.add(convert.nanoseconds(message.header.stamp))
        self.node.publish(message)
        time.sleep(PACE)
        self.listen()

    def run(self, steps):
        for _ in range(steps):
            self.step()

    def run_until(self, condition, what, step=None):
        """Send joint states until something is true; return it."""
        def stepped():
            (step or self.step)()
            self.node.assert_alive()
            return condition()
        return wait_until(stepped, what, PATIENCE)

    def listen(self):
        """Read the received torques."""
        torque, command, diagnostics = self._topics
        for message, info in _taken(torque, JointState):
            assert not (message.position or message.velocity)
            self.heard.append(Heard(
                info['publication_sequence_number'], self.time_of(info), message.name,
                np.array(message.effort), convert.nanoseconds(message.header.stamp)))
        for message, info in _taken(command, Float64MultiArray):
            self.commands.append((info['publication_sequence_number'], list(message.data)))
        for message, _ in _taken(diagnostics, DiagnosticArray):
            self.statuses += [status for status in message.status
                              if status.name == f'{self.node.name}: torque']

    def time_of(self, info):
        """Return when a message was sent [ns]."""
        return info['source_timestamp']

    # What the user asks ----------------------------------------------------------------------

    def ask(self, kind, service, request):
        """Return the reply of a service; joint states are sent meanwhile.

        The middleware drops the reply to a client that the server has not discovered yet: without
        a reply the request is sent again. All requests here may be repeated.
        """
        client, sent = self.node.ready(kind, service), []

        def replied():
            if not sent or time.monotonic() - sent[-1][0] > AGAIN:
                sent.append((time.monotonic(), client.call_async(request)))
            return next((future for _, future in sent if future.done()), None)
        return self.run_until(replied, service).result()

    def enable(self):
        """Return the reply to ~/enable."""
        measured = len(self.effort) and self.settings['observer.effort_meaning'] != 'unknown'
        asked, start = time.time_ns(), self.in_order(self.effort) if measured else self.gravity()
        reply = self.ask(SetBool, 'enable', SetBool.Request(data=True))
        if reply.success:
            self.enables.append((asked, time.time_ns(), start))
        return reply

    def disable(self):
        return self.ask(SetBool, 'enable', SetBool.Request(data=False))

    def storm(self, count):
        """Enable and disable by turns, all at once: faster than the replies."""
        service, asked = self.node.client.create_client(
            SetBool, f'{self.node.name}/enable', qos_profile=DEEP), time.time_ns()
        self.run_until(service.service_is_ready, 'enable')
        futures = [service.call_async(SetBool.Request(data=k % 2 == 0)) for k in range(count)]
        self.run_until(lambda: all(future.done() for future in futures), 'all answers')
        self.enables.append((asked, time.time_ns(), self.gravity()))
        self.node.client.destroy_client(service)

    def enabled(self):
        """Enable, and wait until the ramp in is over."""
        self.arrive()
        reply = self.run_until(lambda: (reply := self.enable()).success and reply, 'enable')
        assert reply.message in ('ramping in', 'enabled')
        self.run_until(lambda: self.said('enabled'), 'enabled')
        self.run(3)
        return self

    def enabled_and_disabled(self):
        """Enable and disable; again if a joint state was late meanwhile, on a busy machine."""
        def done():
            self.enabled().disable()
            self.until_silent()
            return not self.said('max_state_age')
        wait_until(done, 'torques without a late joint state', PATIENCE)

    def set(self, **values):
        """Return the reply to a change of parameters; __ stands for the dot in a name."""
        return self._set({name.replace('__', '.'): value for name, value in values.items()})

    def _set(self, values):
        request = SetParametersAtomically.Request(parameters=[
            Parameter(name, value=value).to_parameter_msg() for name, value in values.items()])
        result = self.ask(SetParametersAtomically, 'set_parameters_atomically', request).result
        if result.successful:
            self.settings.update(values)
        return result

    def follow(self, q, after=0.5, names=tuple(EFFORT)):
        """Send a reference of one point."""
        from trajectory_msgs.msg import JointTrajectory
        self.node.publisher(JointTrajectory, 'dynamics_node/reference').publish(
            trajectory(names, [after], positions=[list(q)]))

    def describe(self, text, both=True):
        """Publish a robot description; return when the node has it, or has refused it.

        :param both: whether to wait until the torque process has it too.
        """
        before = self.log()
        self.node.describe(text)
        self.described = True
        self.run_until(lambda: 'the robot is' in self.log()[len(before):]
                       or 'refused' in self.log()[len(before):], 'the description')
        if both:   # the serving process replies to no request before
            kind = SERVICES['model_report'].kind
            self.ask(kind, 'model_report', kind.Request())

    def model_id(self):
        return self.node.call('model_report').model_id

    def log(self):
        return self.node.process.log()

    def prepared(self, **values):
        """Begin a case: idle, at rest, with the common settings and some others."""
        self.rest()
        if self.described:
            self.node.describe(Path(ARM7).read_text())
            self.run_until(lambda: self.model_id() == self.described_first, 'the description')
            self.described = False
        self.disable()
        self.until_silent()
        self.described_first = self.described_first or self.model_id()
        of_joints = [name for name in self.settings if declared_name(name) and name not in DEFAULTS]
        result = self._set({**dict.fromkeys(of_joints), **self.common, **{
            name.replace('__', '.'): value for name, value in values.items()}})
        assert result.successful, result.reason
        self.refused = self.log().count('the reference was refused')
        for each in (self.heard, self.commands, self.enables, self.statuses):
            each.clear()
        return self

    # What is to be seen ----------------------------------------------------------------------

    def said(self, text):
        """Return the newest diagnostic status if its message has a text in it."""
        return next((status for status in self.statuses[-1:] if text in status.message), None)

    def counted(self, text):
        """Return what the newest diagnostics count under a name, 0 if nothing."""
        return sum(int(item.value) for status in self.statuses[-1:] for item in status.values
                   if text in item.key)

    def torque_process(self):
        """Return the TorqueProcessId of the node."""
        return self._process_id('process')

    def watchdog(self):
        """Return the TorqueProcessId of the watchdog."""
        return self._process_id('watchdog')

    def _process_id(self, key):
        self.run_until(lambda: self.statuses, 'diagnostics')
        return TorqueProcessId(next(int(item.value) for item in self.statuses[-1].values
                                    if item.key == key))

    def refused_references(self):
        """Wait for a reference to be refused; return how many were since the case began."""
        self.run_until(lambda: self.counted('references refused') > self.refused, 'a refusal')
        return self.counted('references refused') - self.refused

    def until_fault(self, reason, step=None):
        """Wait for a fault, and for the end of its ramp to the safe torque."""
        status = self.run_until(lambda: self.said('fault: '), 'a fault', step)
        assert reason in status.message and status.level == DiagnosticStatus.ERROR, status.message

    def until_silent(self):
        """Wait until joint states that have arrived cause no torque.

        The request to disable changes nothing; the torque process replies when it has processed the
        joint states before it.
        """
        def silent():
            self.listen()
            count = len(self.heard)
            for _ in range(3):
                self.arrive()
            self.disable()
            self.listen()
            return len(self.heard) == count
        wait_until(silent, 'silence', PATIENCE)

    def arrive(self):
        """Send a valid joint state until it has arrived, and return its stamp."""
        def arrived():
            stamp = time.time_ns()
            self.sent.add(stamp)
            self.node.publish(joint_state(
                stamp, [*EFFORT, *OTHERS], [*self.q, 0.0, 0.0], [*self.v, 0.0, 0.0],
                [*self.effort, 0.0, 0.0] if len(self.effort) else ()))
            return self.node.stamp_of(self.robot, list(EFFORT)) == stamp and stamp
        return wait_until(arrived, 'a joint state', PATIENCE)

    def in_order(self, x):
        """Return what belongs to the joints of the model in the order of the command topic."""
        place = {name: k for k, name in enumerate(EFFORT)}
        return np.array([x[place[name]] for name in self.order])

    def gravity(self):
        """Return the torque that holds the robot, as it is published."""
        robot, q, order, torque = self._gravity
        if robot is not self.robot or order != self.order or (q != self.q).any():
            torque = self.in_order(self.robot.gravity_torque(self.q))
            self._gravity = self.robot, self.q.copy(), list(self.order), torque
        return torque.copy()

    @property
    def last(self):
        return self.heard[-1].effort

    def is_held(self, extra=0.0):
        """Assert that the torque settles at that of gravity, plus a given one."""
        self.settles_at(self.gravity() + self.in_order(np.zeros(7) + extra))

    def settles_at(self, expected, within=1e-6):
        """Assert that the torque becomes the expected one; a busy machine may take longer."""
        deadline = time.monotonic() + PATIENCE
        while np.abs(self.last - expected).max() > within and time.monotonic() < deadline:
            self.step()
        np.testing.assert_allclose(self.last, expected, rtol=0.0, atol=within)

    def ended_safely(self, safe='gravity'):
        """Assert that the last message is the safe one, and nothing comes after it."""
        self.until_silent()
        expected = self.gravity() if safe == 'gravity' else np.zeros(7)

        def ended():
            return (np.abs(self.last - expected).max() <= ROUNDING
                    and self.commands[-1][0] == self.heard[-1].number)
        deadline = time.monotonic() + PATIENCE
        while not ended() and time.monotonic() < deadline:
            time.sleep(PACE)   # a message that was lost is sent again after the reply, and those
            self.listen()      # behind it wait for it
        np.testing.assert_allclose(self.last, expected, rtol=0.0, atol=ROUNDING,
                                   err_msg=self.statuses[-1].message if self.statuses else '')
        assert self.commands[-1][0] == self.heard[-1].number
        self.check()

    def check(self):
        """Check every message since the case began against the contract; return how many."""
        self.listen()
        check_contract(self)
        return len(self.heard)

    def check_change(self, k, slew, age, starts, source, where):
        """Check how far message k is from the one before."""
        check_change(self.heard, k, slew, age, starts, source, where, self.gravity)


def parameters(**changed):
    """Return the words of the command line for a node with the common settings; __ is a dot."""
    values = {**SETTINGS, 'robot_description': ARM7, 'torque.command_topic': 'commands',
              'shared_folders': [tempfile.gettempdir()],
              **{name.replace('__', '.'): value for name, value in changed.items()}}
    return [f"{name}:={value if value != '' else repr('')}" for name, value in values.items()]


def _taken(subscription, kind):
    while (taken := subscription.handle.take_message(kind, False)) is not None:
        yield taken
