"""Publish torques on `~/torque` and the command topic; receive `~/enable`."""

from __future__ import annotations

import gc
import time
import traceback
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import NodeParameters
from dynamics_node.ros.rclpy_internals import send_bytes, wrap_send_response
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.topic_qos import TORQUE, overridable
from dynamics_node.ros.torque.command_bytes import command_writer
from dynamics_node.ros.torque.last_torque import ExitRules
from dynamics_node.ros.torque.mode_reference import RUNNING
from dynamics_node.ros.torque.other_publishers import OtherPublishers
from dynamics_node.ros.torque.pipeline import StampedRelease, TorquePipeline
from dynamics_node.ros.torque.predicted_state import without_kernels
from dynamics_node.ros.torque.reference_topics import ReferenceTopics
from dynamics_node.ros.torque.watched_loop import WatchedLoop
from dynamics_node.safety import Release, SafetySettings, State
from dynamics_node.safety.faults import CONTACT, OUTSIDE, STATE_DISPUTED

TICKS = 2.2          # number of ticks within max_state_age, and within max_clock_step
LONGEST_TICK = 0.01  # [s]; a silence is bridged with a torque per tick
BRAKED = 0.5         # [s] after brake_time until braking is given up: simulated time may not run
MANY_REQUESTS = QoSProfile(depth=1000)  # of ~/enable: a request to disable must not be lost
KERNELS = 10.0       # [s] that a request to enable waits for its kernels
POLL = 0.05          # [s] between two checks of these kernels
ALL_RECEIVED = 0.1   # [s] to wait until the last message is acknowledged
SIGNS = 5            # number of signs of life within watchdog_time
SIMULATED = 2.0      # [s] least watchdog_time with simulated time


class TorqueTopics:
    """Publishers of `~/torque` and the command topic; references; the service `~/enable`.

    :ivar active: whether the node is active; otherwise torques cannot be enabled.
    :ivar references: ReferenceTopics.
    :ivar release: Release that was published last; None before the first one.
    """

    def __init__(self, node: Node, node_state: NodeState, parameters: NodeParameters,
                 watched: WatchedLoop, on_change: Callable[[], None],
                 on_awake: Callable[[bool], None], steady: Callable[[], float | None],
                 disputed: Callable[[], str]) -> None:
        """Create publishers, subscriptions, service and timers.

        :param watched: shows the watchdog the last torque, and that the loop runs.
        :param steady: see TorquePipeline.
        :param on_change: called when the state of the gate changes.
        :param on_awake: called with whether torques need every joint state from now on.
        :param disputed: returns a text that names the joints with two publishers of joint states,
            and these publishers; '' if there are none.
        """
        self._node, self._node_state, self._watched = node, node_state, watched
        self._on_change, self._on_awake, self._disputed = on_change, on_awake, disputed
        self._other_publishers = OtherPublishers(node, watched.publishers)
        self._log = node.log
        self.pipeline = TorquePipeline(
            node_state.current_robot, node_state.clock, parameters.torque, parameters.safety,
            self._log.error, steady)
        self.references = ReferenceTopics(node, node_state, self.pipeline, self._measured)
        self.active = False
        self.release: Release | None = None
        self._gate_state: State | None = None   # last state that was reported
        self._awake, self._finishing = False, False
        self._effort: Sequence[float] = ()      # published last
        self._refused_until = 0.0               # [s], steady clock: parameters are being changed
        self._waiting: list[tuple[float, Callable]] = []   # (deadline, send) of ~/enable
        self._by_rate = parameters.torque.rate > 0.0
        self._names: Sequence[str] = ()         # entries of a release
        self._ordered: Callable[[Any], Any] = tuple   # puts them in the order of publication
        self._state = JointState()              # published last
        steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._torque = node.create_publisher(JointState, '~/torque', **overridable(TORQUE))
        topic = parameters.torque.command_topic
        self._command = (node.create_publisher(Float64MultiArray, topic, **overridable(TORQUE))
                         if topic else None)
        self._send_command = send_bytes(self._command) if self._command else None
        self._tick = node.create_timer(_tick_period(parameters.safety), self.on_tick,
                                       clock=steady_clock, autostart=False)
        self._after_braking: list[Callable[[], None]] = []
        self._shown: Any = None        # Controller that the watchdog knows
        self._last_valid: Any = None   # LastValid of the last torque
        self._give_up = node.create_timer(parameters.safety.brake_time + BRAKED, self._braked,
                                          clock=steady_clock, autostart=False)
        self._poll = node.create_timer(POLL, self._check_waiting, clock=steady_clock,
                                       autostart=False)
        self._sign = node.create_timer(_sign_period(parameters.safety), self._give_sign,
                                       clock=steady_clock, autostart=False)
        enable = node.create_service(SetBool, '~/enable', self.on_enable,
                                     qos_profile=MANY_REQUESTS)
        wrap_send_response(enable, self._reply_later)
        self.entities = [
            (node.destroy_publisher, self._torque),
            *([(node.destroy_publisher, self._command)] if self._command else []),
            *self.references.entities,
            (node.destroy_service, enable),
            *((node.destroy_timer, each)
              for each in (self._tick, self._sign, self._poll, self._give_up))]
        if self._by_rate:
            self.entities.append((node.destroy_timer, node.create_timer(
                1.0 / parameters.torque.rate, self._on_rate)))

    def use(self, parameters: NodeParameters) -> None:
        """Use other parameters, checked."""
        self.pipeline.use(parameters.torque, parameters.safety)
        self._tick.timer_period_ns = int(_tick_period(parameters.safety) * 1e9)
        self._give_up.timer_period_ns = int((parameters.safety.brake_time + BRAKED) * 1e9)
        self._sign.timer_period_ns = int(_sign_period(parameters.safety) * 1e9)
        self._names = ()  # their order may differ

    # Input -----------------------------------------------------------------------------------

    def on_state(self, measured: MeasuredSnapshot) -> None:
        """Publish the torque of a measured state, unless torque.rate is set."""
        if not self._by_rate:
            self._publish(self.pipeline.on_state(measured))

    def _on_rate(self) -> None:
        if not self.pipeline.gate.idle:
            self._publish(self.pipeline.on_state(self._node_state.snapshot()))

    def on_tick(self) -> None:
        """Check that joint states still arrive, and that no other node publishes commands."""
        if self.pipeline.gate.idle:
            self._tick.cancel()  # until the next enable
        else:
            self._count_publishers()
            self._publish(self.pipeline.tick())

    def check_disputed(self) -> None:
        """Enter a fault if two publishers have the same joint: its state is not known."""
        if not self.pipeline.gate.idle and (text := self._disputed()):
            self._publish(self.pipeline.report_fault(text, STATE_DISPUTED))

    def on_enable(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        """Enable or disable torques; return None if the request has to wait for kernels."""
        try:
            if request.data:
                self._enable()
            else:
                self._refuse_waiting('torques were disabled meanwhile')
                self.pipeline.disable()
            response.success, response.message = True, self.pipeline.gate.state.value
        except DynamicsError as error:
            if request.data and self.active and self.pipeline.compiling:
                return None
            response.success, response.message = False, str(error)
            self._log.warning(f'not enabled: {error}')
        except Exception as error:  # a bug must not end the node
            response.success, response.message = False, f'internal error: {error!r}'
            self._log.error(f'~/enable failed, please report this:\n{traceback.format_exc()}')
        self.report_changes()
        return response

    def _reply_later(self, send: Callable) -> Callable:
        """Return send_response of ~/enable; a request without a reply waits for its kernels."""
        def send_or_wait(response: SetBool.Response | None, header: Any) -> None:
            if response is not None:
                send(response, header)
                return
            self._log.info(f'~/enable waits up to {KERNELS:g} s: {self.pipeline.missing_kernels()}')
            self._waiting.append((time.monotonic() + KERNELS, lambda reply: send(reply, header)))
            self._poll.reset()
        return send_or_wait

    def _check_waiting(self) -> None:
        """Enable torques for the requests that wait, if their kernels are ready now."""
        if self.pipeline.compiling and time.monotonic() < self._waiting[0][0]:
            return
        waiting, self._waiting = self._waiting, []
        for deadline, send in waiting:
            reply = self.on_enable(SetBool.Request(data=True), SetBool.Response())
            if reply is not None:
                send(reply)
            elif time.monotonic() < deadline:
                self._waiting.append((deadline, send))
            else:
                send(SetBool.Response(success=False, message=self.pipeline.missing_kernels()))
        if not self._waiting:
            self._poll.cancel()

    def _refuse_waiting(self, reason: str) -> None:
        """Refuse the requests that wait for kernels: torques must not be enabled later."""
        waiting, self._waiting = self._waiting, []
        for _, send in waiting:
            send(SetBool.Response(success=False, message=reason))
        self._poll.cancel()

    def refuse_until(self, until: float) -> None:
        """Refuse to enable torques until a time of the steady clock [s]."""
        self._refused_until = until

    def _enable(self) -> None:
        if not self.active:
            raise DynamicsError('the node is inactive: ros2 lifecycle set <node> activate')
        if time.monotonic() < self._refused_until:
            raise DynamicsError('parameters are being changed: try again')
        if self.pipeline.gate.state in RUNNING:
            return
        self._other_publishers.forget()
        self._count_publishers()
        if text := self._disputed():
            raise DynamicsError(text)
        self.pipeline.enable(self._measured(), self._node_state.observer_parameters)
        self.references.order.refuse_waiting()   # they were sent before
        self._start_watching()
        if self._tick.is_canceled():  # frequent requests must not postpone the tick for ever
            self._tick.reset()

    def _start_watching(self) -> None:
        """Give the watchdog the rules of the torques just enabled; disable them if that fails."""
        self._arrange(self.pipeline.limits.joints.names)
        try:
            self._write_rules()
        except DynamicsError:
            self.pipeline.disable()
            raise

    def _write_rules(self) -> None:
        """Write limits and model to the memory that the watchdog reads."""
        limits, self._shown = self.pipeline.limits, self.pipeline.controller
        self._watched.use(ExitRules(
            list(self.pipeline.joints), self._ordered(range(len(limits.effort))),
            replace(limits, settings=self._watchdog_settings(limits.settings)),
            without_kernels(self._shown)))

    def _give_sign(self) -> None:
        """Renew the sign of life for the watchdog; write the model again if it has changed."""
        self._watched.renew()
        controller = self.pipeline.controller
        if controller not in (self._shown, None) and not self._node_state.current_robot.changing:
            try:
                self._write_rules()
            except DynamicsError as error:   # a healthy arm goes on; tried once per controller
                self._log.error(f'the watchdog does not have the changed model: {error}')

    def _watchdog_settings(self, settings: SafetySettings) -> SafetySettings:
        """Return the settings, with a longer watchdog_time for a simulation.

        It competes with this process for the processor, and no arm can fall meanwhile.
        """
        if not settings.watchdog_time or not self._node.get_parameter('use_sim_time').value:
            return settings
        return replace(settings, watchdog_time=max(settings.watchdog_time, SIMULATED))

    def _measured(self) -> MeasuredSnapshot | None:
        """Return the measured state, None while there is no robot: the pipeline refuses then."""
        return self._node_state.snapshot() if self._node_state.current_robot.exists else None

    # Output ----------------------------------------------------------------------------------

    def brake(self, then: Callable[[], None]) -> None:
        """Disable torques; call a function once no joint is braked any more, perhaps at once."""
        self.pipeline.disable()
        if self.pipeline.gate.braking:
            self._after_braking.append(then)
            self._give_up.reset()
        else:
            then()

    def _braked(self) -> None:
        """Call the functions that wait until no joint is braked."""
        self._give_up.cancel()
        waiting, self._after_braking = self._after_braking, []
        for then in waiting:
            then()

    def stop_at_contact(self, joints: Sequence[str]) -> None:
        """End torques because of a contact: brake first."""
        self.stop(f'contact at {", ".join(joints) or "the robot"}', CONTACT)

    def stop(self, reason: str, kind: str = OUTSIDE) -> None:
        """End torques by a fault after which joint states are still valid: brake first."""
        self._publish(self.pipeline.report_fault(reason, kind))

    def finish(self) -> None:
        """Publish a ramp that ends in the safe torque; needs less than a second."""
        self._refuse_waiting('torques were stopped meanwhile')
        period = self.pipeline.settings.exit_period
        self._finishing = True   # the gate is idle at once, but torques are published
        for release in self.pipeline.shutdown_sequence():
            self._publish(release)
            time.sleep(period)
        self._finishing = False
        self._watched.rest()
        for publisher in filter(None, (self._command, self._torque)):
            publisher.wait_for_all_acked(Duration(seconds=ALL_RECEIVED))

    def _publish(self, stamped: StampedRelease | None) -> None:
        if stamped is not None:
            release, stamp = stamped
            if release.names is not self._names:
                self._arrange(release.names)
            pipeline, effort = self.pipeline, self._ordered(release.numbers)
            last_valid = pipeline.gate.last_valid()
            if last_valid is None:   # this torque ends a stop: its state is that of the one before
                last_valid = self._last_valid._replace(torque=release.numbers)
            self._watched.show(stamp, last_valid, pipeline.gravity.tolist())
            if self._send_command is not None:
                self._send_command(self._command_bytes(effort))
            # All that the torque does not need follows here.
            if self._torque.get_subscription_count():  # saves a sixth of the time without one
                self._state.header.stamp = convert.time(stamp)
                self._state.effort = array('d', effort)
                self._torque.publish(self._state)
            self._effort, self.release, self._last_valid = effort, release, last_valid
        self.report_changes()

    def published(self) -> dict[str, float]:
        """Return {joint: torque} as published last."""
        return dict(zip(self._state.name, self._effort))

    def _arrange(self, names: Sequence[str]) -> None:
        """Find the order in which the controller expects the joints."""
        wanted = self.pipeline.joints
        place = {name: k for k, name in enumerate(names)}
        order = [place[name] for name in wanted]
        in_order = order == list(range(len(names)))
        self._names = names
        self._ordered = tuple if in_order else lambda numbers: [numbers[k] for k in order]
        self._command_bytes = command_writer(len(wanted))
        self._state = JointState(name=list(wanted))

    def _count_publishers(self) -> None:
        self.pipeline.other_publisher = any(
            self._other_publishers.on(each.topic_name)
            for each in (self._command, self._torque) if each)

    def report_changes(self) -> None:
        """Report a changed state of the gate; called after everything that may change it."""
        gate = self.pipeline.gate
        if self._after_braking and not gate.braking:
            # not here: they may destroy objects that the caller still uses
            self._node.executor.create_task(self._braked)
        if gate.idle is self._awake:
            self._awake = not self._awake
            (gc.disable if self._awake else gc.enable)()   # a collection delays a torque
            (self._sign.reset if self._awake else self._sign.cancel)()
            if not self._awake and not self._finishing:
                self._watched.rest()
            self._on_awake(self._awake)
        state = gate.state
        if state is not self._gate_state:
            self._gate_state = state
            reason = gate.status().reason
            if reason:
                self._log.error(f'torques: {state.value}: {reason}. Disabled until ~/enable')
            else:
                self._log.info(f'torques: {state.value}')
            self._on_change()


def _tick_period(settings: SafetySettings) -> float:
    """Return the period of the tick [s]."""
    return min(LONGEST_TICK, settings.max_state_age / TICKS, settings.max_clock_step / TICKS)


def _sign_period(settings: SafetySettings) -> float:
    """Return the period of the sign of life [s]; any if there is no watchdog."""
    return (settings.watchdog_time or 1.0) / SIGNS
