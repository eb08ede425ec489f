"""Run the torque code of the node in one process with a MuJoCo arm, in lockstep, in simulated time.

The code is the node's own: the robot and its services as in the serving process, the measured state
and the TorquePipeline (law, gate) as in the torque process. Left out are messages, threads and the
wall clock: a joint state reaches the pipeline, and its torque the arm, without delay.

The arm has neither friction nor end stops, and no brakes once the first torque has come: nothing
but torques slow it. Its driver keeps the last torque for ever, as a forward_command_controller
does, or goes to zero torque when none has come for a time.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'examples' / 'sim'))
from arm import SimulatedArm  # noqa: E402
from robots import urdf  # noqa: E402

from dynamics_node.errors import DynamicsError  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.model.urdf_text import urdf_text  # noqa: E402
from dynamics_node.ros.node_state import NodeState  # noqa: E402
from dynamics_node.ros.parameters.declared import ModelParameters  # noqa: E402
from dynamics_node.ros.parameters.torque import TorqueParameters  # noqa: E402
from dynamics_node.ros.services.runner import ServiceRunner  # noqa: E402
from dynamics_node.ros.services.table import SERVICES  # noqa: E402
from dynamics_node.ros.torque.change_checks import CHANGE_TIMES  # noqa: E402
from dynamics_node.ros.torque.last_torque import ExitRules, LastTorque  # noqa: E402
from dynamics_node.ros.torque.pipeline import TorquePipeline  # noqa: E402
from dynamics_node.ros.torque.predicted_state import without_kernels  # noqa: E402
from dynamics_node.ros.torque.topics import LONGEST_TICK, TICKS  # noqa: E402
from dynamics_node.ros.torque.watchdog import LOOK, LastTorques  # noqa: E402
from dynamics_node.safety import SafetySettings  # noqa: E402
from dynamics_node.safety.effort_and_slew_limits import limit_effort  # noqa: E402
from dynamics_node.safety.faults import OUTSIDE  # noqa: E402

MS = 1_000_000                   # [ns]; one step of MuJoCo
START = 1_700_000_000_000 * MS   # [ns] on the clock of the stamps
QUEUE = 100                      # joint states that wait for a stopped process, by their QoS
PATIENCE = 120.0                 # [s] of wall time for the kernels
NOTICED = 15                     # [ms] until the watchdog publishes, after the end of the process


class Subject(NamedTuple):
    """A robot, a pose in which gravity loads it, and the direction of a motion through it."""

    name: str
    text: str               # URDF
    tool: str               # the link whose distance is measured
    pose: np.ndarray        # (n,)
    direction: np.ndarray   # (n,) share of each velocity limit, -1 to 1


def subjects():
    """Return {name: Subject}: the bundled arm and a Panda with locked fingers."""
    ones = np.ones(7)
    return {
        'arm7': Subject('arm7', urdf_text(ARM7), 'tool0',
                        np.array([0.0, 1.0, 0.0, -0.6, 0.0, 0.5, 0.0]), ones),
        'panda': Subject('panda', urdf('panda'), 'panda_hand_tcp',
                         np.array([0.0, 0.5, 0.0, -1.3, 0.0, 1.8, 0.78]), ones)}


class Trace(NamedTuple):
    """What has happened since `Rig.mark`, one row per millisecond."""

    q: np.ndarray         # (N, n)
    v: np.ndarray         # (N, n)
    tool: np.ndarray      # (N, 3) [m]
    messages: np.ndarray  # (K, n) torques as published; the first is the one before
    ended: int | None     # row at which torques ceased to follow the law; None: never
    silence: float        # longest time without a torque [s]


class Rig:
    """The node's two halves, an arm and its driver, in simulated time.

    :ivar arm: SimulatedArm.
    :ivar pipeline: TorquePipeline.
    :ivar spoil: changes (q, v, effort) of a joint state before it is sent; effort may be ().
    :ivar clock_offset: of the machine's clock [ns]; stamp_offset: of the driver's, beside it.
    :ivar silent: whether joint states are withheld.
    :ivar running: whether the torque process runs.
    :ivar refused: why a request or change was refused, the last one.
    :ivar motion, motion_start: Spline that the arm follows, since that time [ms]; None: it rests.
    """

    def __init__(self, subject, timeout=None, rate=500, table=None, torque=None, safety=None,
                 compiled=True):
        """Build everything, the arm at its pose, brakes closed, torques disabled.

        :param timeout: after which the driver goes to zero torque [s]; None: never.
        :param rate: of joint states [Hz].
        :param table: its height [m], see SimulatedArm.
        :param torque, safety: parameters that differ from the defaults.
        :param compiled: whether torques are computed by kernels; they are the same in NumPy.
        """
        self.subject, self.timeout, self.ms = subject, timeout, 0
        self.arm = SimulatedArm(subject.text, damping=False, dry_friction=False, stops=False,
                                table=table)
        self.arm.braked = True
        self.arm.set(subject.pose)
        self._period = round(1000 / rate)
        self.clock_offset = self.stamp_offset = 0
        self.silent, self.running, self.refused = False, True, ''
        self._alive, self._silence, self._ending = True, 0, False
        self._shown = None   # LastValid and gravity that the watchdog knows
        self.spoil = lambda q, v, effort: (q, v, effort)
        self._held, self._waiting, self._later, self._published = [], [], [], []
        self._command, self._command_at = np.zeros(self.arm.n), 0
        self.motion, self.motion_start = None, 0
        self.other_command = None   # of a second publisher, which comes after each of ours
        self.mark()
        self._make_node(torque or {}, safety or {}, compiled)

    def _make_node(self, torque, safety, compiled):
        self.model_parameters = ModelParameters(friction=False, compile=compiled)   # as the arm
        self.torque_parameters = TorqueParameters(**torque)
        self.settings = SafetySettings(**safety)
        self._sent, self._next_robot, self.errors = 0, None, []
        self.torque_state = NodeState(self.clock, self.steady, self.model_parameters)
        self.pipeline = TorquePipeline(self.torque_state.current_robot, self.clock,
                                       self.torque_parameters, self.settings, self.errors.append,
                                       self.steady)
        self.serving = NodeState(self.clock, self.steady, self.model_parameters,
                                 share=self._send_robot)
        self.load(self.subject.text)
        self._send_state()
        self._next_tick = 0
        deadline = time.monotonic() + PATIENCE
        while self.pipeline.request_kernels(self.subject.pose):
            assert time.monotonic() < deadline, 'the kernels were not compiled'
            time.sleep(0.02)

    # Time and clocks -------------------------------------------------------------------------

    def clock(self):
        """Return the time of the machine's clock [ns]."""
        return START + self.ms * MS + self.clock_offset

    def steady(self):
        """Return the time of a clock that never steps [s]."""
        return self.ms * 1e-3

    # The node, as its two processes connect the parts -----------------------------------------

    @property
    def robot(self):
        """The Robot of the node."""
        return self.torque_state.robot

    def load(self, text):
        """Send a robot description, as DynamicsNode._load does; a refusal is kept."""
        try:
            self.serving.load(text)
            self._send_robot(self.serving.current_robot, checked=True)
        except DynamicsError as error:
            self.refused = str(error)

    def _send_robot(self, current, checked=False):
        """Give the torque process a robot, as TorqueNode.set_robot does.

        Another robot ends torques by a fault, and is used afterwards.
        """
        shared = current.shared(self._sent)
        if shared.described is None and not checked:
            self.pipeline.check(self.torque_parameters, self.settings, self._robots_of(shared))
        self._sent = shared.serial
        if shared.described is not None and not self.pipeline.gate.idle:
            self._next_robot = shared
            self._publish_release(self.pipeline.report_fault('the model or its limits changed',
                                                             OUTSIDE))
        else:
            self._use_robot(shared)

    def _use_robot(self, shared):
        self._next_robot = None
        if self.torque_state.adopt(shared):
            self.pipeline.robot_changed()

    def _robots_of(self, shared):
        return self.torque_state.current_robot.robots_of(shared, *CHANGE_TIMES)

    def set_parameters(self, node=None, torque=None, safety=None):
        """Change parameters, as DynamicsNode does; a refusal is kept."""
        node = replace(self.model_parameters, **(node or {}))
        torque = replace(self.torque_parameters, **(torque or {}))
        safety = replace(self.settings, **(safety or {}))
        try:
            current = self.serving.current_robot
            shared = current.shared_after(current.try_load(self.subject.text, node))
            self.pipeline.check(torque, safety, self._robots_of(shared),
                                shared.described is not None)
        except DynamicsError as error:
            self.refused = str(error)
            return
        self.model_parameters, self.torque_parameters, self.settings = node, torque, safety
        self.serving.use(node)
        self.torque_state.use(node)
        self.pipeline.use(torque, safety)
        self.load(self.subject.text)

    def call(self, service, **fields):
        """Call a service of the serving process, again while kernels compile; keep a refusal."""
        kind, handler, _ = SERVICES[service]
        runner = ServiceRunner(self.serving, self.errors.append)
        runner.active = True
        deadline = time.monotonic() + PATIENCE
        while True:   # simulated time stands still
            reply = runner.callback(handler)(kind.Request(**fields), kind.Response())
            self.refused = '' if reply.success else reply.message
            if 'being compiled' not in self.refused or time.monotonic() > deadline:
                return
            time.sleep(0.02)

    def enable(self):
        """Enable torques; a refusal is kept."""
        try:
            self.pipeline.enable(self.torque_state.snapshot())
            self._next_tick = self.ms + self._tick_period()
        except DynamicsError as error:
            self.refused = str(error)

    @property
    def state(self):
        """State of the gate; 'no process' once the torque process has ended."""
        return self.pipeline.gate.state.value if self._alive else 'no process'

    def kill(self, watchdog=False):
        """End the torque process without a last torque.

        :param watchdog: whether the watchdog takes over.
        """
        self.running = self._alive = False
        self._ended = len(self._rows)
        if watchdog and self._shown is not None:
            self._take_over(NOTICED)

    def stand_still(self):
        """Stop the torque process for ever; the watchdog takes over after watchdog_time."""
        self.running = self._alive = False
        self._ended = len(self._rows)
        self._take_over(NOTICED + round(self.settings.watchdog_time * 1e3))

    def _take_over(self, ms):
        """Publish what the watchdog does, from ms after now on.

        It gets no joint states, so all of it is known now.
        """
        period, limits = max(1, round(self.settings.exit_period * 1e3)), self.pipeline.limits
        last_valid, gravity = self._shown
        rules = ExitRules(limits.joints.names, range(self.arm.n), limits,
                          without_kernels(self.pipeline.controller))
        time = [0.0]
        watchdog = LastTorques(LastTorque(rules, 0, last_valid, limit_effort(limits, gravity)[0],
                                          0.0), lambda: time[0])
        for time[0] in np.arange(0.0, 1e-3 * ms, LOOK):
            watchdog.predict()
        time[0] = 1e-3 * ms
        self._held = []
        for torque in watchdog.torques():
            self._held.append((self.ms + round(1e3 * time[0]), np.array(torque)))
            time[0] += 1e-3 * period

    def end(self):
        """End the torque process, as process_main does: brake, then ramp to the safe torque."""
        self.pipeline.disable()
        self._ending = True

    def _finish(self):
        """End in the safe torque, as TorqueTopics.finish does."""
        self._ending = False
        period = max(1, round(self.settings.exit_period * 1e3))
        self._held = [(self.ms + k * period, release.effort)
                      for k, (release, _) in enumerate(self.pipeline.shutdown_sequence())]
        self.kill()

    def resume(self):
        """Let a stopped torque process continue: it takes the joint states that have waited."""
        self.running = True
        for waiting in self._waiting:
            self._receive(*waiting)
        self._waiting = []
        self._tick()

    # Lockstep --------------------------------------------------------------------------------

    def run(self, seconds, each=None):
        """Let simulated time pass.

        :param each: called before every millisecond.
        """
        for _ in range(round(seconds * 1e3)):
            for what in [what for when, what in self._later if when == self.ms]:
                what()
            if each is not None:
                each()
            if self.ms % self._period == 0 and not self.silent:
                self._send_state()
            if self.running and self.ms >= self._next_tick and not self.pipeline.gate.idle:
                self._tick()
                self._next_tick += self._tick_period()
            if self._ending and not self.pipeline.gate.braking:
                self._finish()
            while self._held and self.ms >= self._held[0][0]:
                self._publish(self._held.pop(0)[1])
            if self.other_command is not None:
                self._take(self.other_command)
            self._step()

    def after(self, ms, what):
        """Call a function that many milliseconds from now."""
        self._later.append((self.ms + ms, what))

    def _tick_period(self):
        # as topics.py sets its timer
        shortest = min(self.settings.max_state_age, self.settings.max_clock_step)
        return round(1e3 * min(LONGEST_TICK, shortest / TICKS))

    def _send_state(self):
        arm = self.arm
        q, v, effort = self.spoil(arm.q, arm.v, arm.effort.copy())
        state = self.clock() + self.stamp_offset, arm.joint_names, q, v, effort
        if self.running:
            self._receive(*state)
        else:
            self._waiting = [*self._waiting[1 - QUEUE:], state]

    def _receive(self, stamp, names, q, v, effort):
        self.torque_state.measured_state.take(stamp, names, q, v, effort)
        self._publish_release(self.pipeline.on_state(self.torque_state.snapshot()))

    def _tick(self):
        self._publish_release(self.pipeline.tick())

    def _publish_release(self, stamped):
        if stamped is not None:
            if not self.pipeline.gate.idle:
                self._shown = self.pipeline.gate.last_valid(), self.pipeline.gravity.tolist()
            self._publish(stamped[0].effort)
        if self._next_robot is not None and self.pipeline.gate.idle:
            self._use_robot(self._next_robot)
        if self._ended is None and self.pipeline.gate.state.value not in ('ramping in', 'enabled'):
            self._ended = len(self._rows)

    def _publish(self, torque):
        self._published.append(torque)
        self._take(torque)

    def _take(self, torque):
        """Let the driver take a torque; the first one opens the brakes."""
        self._note_silence()
        self._command, self._command_at = torque, self.ms
        self.arm.release()

    def _note_silence(self):
        self._silence = max(self._silence, self.ms - self._command_at)

    def _step(self):
        late = self.timeout is not None and (self.ms - self._command_at) * 1e-3 > self.timeout
        self.arm.step(np.zeros(self.arm.n) if late else self._command)
        self.ms += 1
        self._rows.append((self.arm.q, self.arm.v, self.arm.frame_pose(self.subject.tool)[:3, 3]))

    # Recording -------------------------------------------------------------------------------

    def mark(self):
        """Begin the trace here."""
        self._rows, self._ended, self._silence = [], None, 0
        self._published = [self.arm.effort.copy()]

    def trace(self):
        """Return the Trace since `mark`."""
        self._note_silence()
        return Trace(*map(np.array, zip(*self._rows)), np.array(self._published), self._ended,
                     1e-3 * self._silence)
