"""Run the torque path in its process: joint states, references, laws, gate, `~/torque`.

The serving process sends Commands; each is carried out between two torques, as a whole or not at
all. This process sends TorqueStatus records and the lines of its log.
"""

from __future__ import annotations

import gc
import os
import select
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription

from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.code_line import logging_line
from dynamics_node.ros.current_robot import SharedRobot
from dynamics_node.ros.entities import Entities
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import NodeParameters
from dynamics_node.ros.parameters.torque import core_numbers
from dynamics_node.ros.sendable_messages import guard_replies
from dynamics_node.ros.state.base_state_subscription import BaseStateSubscription
from dynamics_node.ros.state.joint_state_bytes import Reading, ReceivedJointState
from dynamics_node.ros.state.joint_state_ring import RingWriter
from dynamics_node.ros.state.joint_state_subscription import JointStateSubscription
from dynamics_node.ros.state.stamp_clock import StampClock
from dynamics_node.ros.torque import realtime
from dynamics_node.ros.torque.change_checks import CHANGE_TIMES
from dynamics_node.ros.torque.external_torque import ExternalTorqueTopics
from dynamics_node.ros.torque.goal_execution import GoalExecution
from dynamics_node.ros.torque.huge_pages import use_huge_pages
from dynamics_node.ros.torque.records import (
    Command,
    GoalRequest,
    LogLine,
    Reply,
    Setup,
    TorqueStatus,
)
from dynamics_node.ros.torque.state_topic import StateTopic
from dynamics_node.ros.torque.topics import TorqueTopics
from dynamics_node.ros.torque.watched_loop import WatchedLoop

STDERR = 2      # file descriptor
CATCH_UP = 0.2  # [s] between two reads of waiting joint states: 200 at 1 kHz, see STATES
UNUSED = 1.0    # [s] after a request for joint states until they wait again
MEASURING = ('missing_velocity', 'velocity_filter_time')   # fixed while torques are published
CHANGE = 1.0    # [s] after a check within which the checked parameters must be used


class LinkLog:
    """The log of the node, written by the serving process."""

    def __init__(self, send: Callable[[Any], bool]) -> None:
        self._send = send

    def info(self, text: str) -> None:
        self._line('info', text)

    def warning(self, text: str) -> None:
        self._line('warning', text)

    def error(self, text: str) -> None:
        self._line('error', text)

    def _line(self, severity: str, text: str) -> None:
        line = LogLine(severity, text, logging_line())
        if not self._send(line):   # the serving process does not read
            _write_to_stderr(f'[{severity}] {text}\n')


def _write_to_stderr(text: str) -> None:
    """Write a text if that needs no waiting: a terminal or pipe may be closed, or not be read."""
    with suppress(OSError):
        if select.select([], [STDERR], [], 0.0)[1]:
            os.write(STDERR, text.encode(errors='replace')[:select.PIPE_BUF])   # at once, or not


class TorqueNode(Node):
    """The node of the torque process. Its name is hidden: users see the serving node alone."""

    def __init__(self, setup: Setup, send: Callable[[Any], bool], passed_on: RingWriter,
                 watched: WatchedLoop, **options: Any) -> None:
        """Create the node without entities.

        :param send: sends a record to the serving process without waiting.
        :param passed_on: takes the joint states for the serving process.
        :param watched: shows the watchdog the last torque, and that the loop runs.
        """
        self._names = setup.names
        super().__init__(
            f'_{setup.name}_torque', namespace=setup.namespace, use_global_arguments=False,
            enable_rosout=False, start_parameter_services=False, parameter_overrides=[
                Parameter(name, value=value) for name, value in setup.overrides.items()], **options)
        self.log = LinkLog(send)
        self.send, self._passed_on, self._watched = send, passed_on, watched
        self._made, self._realtime = Entities(), ''
        self._contact = False   # whether there was one at the last joint state
        self._clear()

    def _clear(self) -> None:
        """Have no parts, as before `configure`."""
        self._joint_states: Any = None   # the parts; their types: see configure
        self._node_state: Any = None
        self._torque: Any = None
        self._external: Any = None
        self._base_state: Any = None
        self._state_topic: Any = None
        self._goals: Any = None

    # Names: those of the serving node ----------------------------------------------------------

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """The subscriptions that an executor shall wait for."""
        asleep = self._joint_states.asleep if getattr(self, '_joint_states', None) else None
        return (each for each in super().subscriptions if each is not asleep)

    def create_publisher(self, kind: Any, topic: str, *arguments: Any, **options: Any) -> Any:
        """Create a publisher with the name that the topic has for the serving node."""
        return super().create_publisher(kind, self._names.get(topic, topic), *arguments, **options)

    def create_subscription(self, kind: Any, topic: str, *arguments: Any, **options: Any) -> Any:
        """Create a subscription with the name that the topic has for the serving node."""
        return super().create_subscription(kind, self._names.get(topic, topic), *arguments,
                                           **options)

    def create_service(self, kind: Any, name: str, *arguments: Any, **options: Any) -> Any:
        """Create a service with the name that it has for the serving node."""
        return guard_replies(super().create_service(
            kind, self._names.get(name, name), *arguments, **options), lambda: self.log)

    # Commands --------------------------------------------------------------------------------

    def execute(self, command: Command) -> None:
        """Carry out a command and send the reply; brake first if the command ends torques.

        Another robot ends them by a fault: the arm is braked and held by the model of the old one.
        """
        if self._replaces_robot(command):
            self._torque.stop('the model or its limits changed')
            self._torque.brake(lambda: self._execute(command))
        elif self._ends_torques(command):
            self._torque.brake(lambda: self._execute(command))
        else:
            self._execute(command)

    def _ends_torques(self, command: Command) -> bool:
        return self._torque is not None and (
            command.name in ('cleanup', 'configure')
            or (command.name == 'set_active' and not command.arguments[0])
            or (command.name == 'set_sim_time' and self._changes_time(*command.arguments)))

    def _replaces_robot(self, command: Command) -> bool:
        return (self._torque is not None and command.name == 'set_robot'
                and command.arguments[0].described is not None
                and not self._torque.pipeline.gate.idle)

    def _execute(self, command: Command) -> None:
        try:
            reply = Reply(command.number, COMMANDS[command.name](self, *command.arguments))
        except DynamicsError as error:
            reply = Reply(command.number, None, str(error))
        except Exception as error:   # a bug must not end the process
            self.log.error(f'{command.name} failed in the torque process, please report this:\n'
                           f'{traceback.format_exc()}')
            reply = Reply(command.number, None, f'internal error: {error!r}')
        self.send(reply)

    def configure(self, parameters: NodeParameters) -> str:
        """Create topics, service and timers; return what real-time scheduling was granted."""
        self.cleanup()
        clock = StampClock(self.get_clock())
        self._made.add(StampClock.close, clock)
        self._joint_states = self._made.add_part(JointStateSubscription(
            self, clock, self._on_joint_state, lambda: self._torque.check_disputed()))
        self._node_state = NodeState(clock, time.monotonic, parameters.node, parameters.observer,
                                     self._waiting)
        self._torque = self._made.add_part(TorqueTopics(
            self, self._node_state, parameters, self._watched, self._report,
            on_awake=lambda awake: self._set_awake('torque', awake), steady=clock.steady,
            disputed=self._joint_states.disputed))
        self._goals = GoalExecution(self._torque.pipeline, self.send)
        self._state_topic = self._made.add_part(StateTopic(
            self, self._node_state.current_robot, self._torque, parameters.torque.state_rate))
        self._external = self._made.add_part(ExternalTorqueTopics(
            self, self._node_state.current_robot, parameters.observer, self._report,
            on_awake=lambda awake: self._set_awake('observer', awake),
            frame_prefix=parameters.node.frame_prefix))
        self._base_state = self._made.add_part(BaseStateSubscription(self, self._node_state))
        self._observer = parameters.observer
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._unused = self.create_timer(UNUSED, self._on_unused, clock=steady, autostart=False)
        self._made.add(self.destroy_timer, self._unused, self.create_timer(
            CATCH_UP, self._catch_up, clock=steady))
        p = parameters.torque
        self._realtime = realtime.request(p.realtime_priority, core_numbers('torque.cpu', p.cpu))
        gc.collect()
        gc.freeze()
        if p.realtime_priority:
            self._realtime += f', {use_huge_pages() or "no"} huge pages'
        return self._realtime

    def cleanup(self) -> None:
        """Destroy all that configure created."""
        if self._torque is not None:
            self._torque.finish()
        self._made.destroy()
        self._passed_on.set_awake(False)
        self._clear()

    def set_robot(self, state: SharedRobot, checked: bool = False) -> None:
        """Use a robot, or raise a DynamicsError and keep the old one.

        :param checked: whether `check` has accepted the robot already.
        """
        node_state, pipeline = self._node_state, self._torque.pipeline
        if state.described is None and not node_state.current_robot.is_changed_by(state):
            return   # a client may repeat a setting: that must cost the torques no time
        if state.described is None and not checked:
            pipeline.check(pipeline.parameters, pipeline.settings, self._robots_of(state))
        if state.described is not None and not pipeline.gate.idle:
            self._torque.finish()   # in the safe torque of the old robot
        if node_state.adopt(state):
            self._joint_states.publishers.watch(node_state.robot.joint_names)
            self._base_state.robot_changed()
            pipeline.robot_changed()
            self._external.robot_changed()
            self._torque.report_changes()

    def _robots_of(self, state: SharedRobot) -> list[Robot]:
        return self._node_state.current_robot.robots_of(state, *CHANGE_TIMES)

    def check(self, parameters: NodeParameters, state: SharedRobot | None = None) -> None:
        """Raise a DynamicsError if other parameters cannot be used now.

        Torques cannot be enabled until the parameters are used, or a second is over.

        :param state: the robot with these parameters; None if there is none.
        """
        pipeline, old = self._torque.pipeline, self._node_state.parameters
        another = (state is not None and state.described is not None) or any(
            getattr(parameters.node, name) != getattr(old, name) for name in MEASURING)
        pipeline.check(parameters.torque, parameters.safety,
                       self._robots_of(state) if state and not pipeline.gate.idle else (), another)
        self._torque.refuse_until(time.monotonic() + CHANGE)

    def use(self, parameters: NodeParameters) -> None:
        """Use other parameters, checked."""
        self._node_state.use(parameters.node, parameters.observer)
        self._torque.use(parameters)
        self._external.use(parameters.observer)
        self._observer = parameters.observer
        self._record()
        self._torque.refuse_until(0.0)

    def set_active(self, active: bool) -> None:
        """Permit torques and estimates, or publish the ramp to the safe torque and refuse both."""
        if not active:
            self._torque.finish()
        self._torque.active = active
        self._external.set_active(active)
        self._record()

    def fetch_joint_states(self) -> None:
        """Pass on the waiting joint states; for UNUSED seconds, each one when it arrives."""
        self._set_awake('services', True)
        self._unused.reset()

    def set_sim_time(self, simulated: bool) -> None:
        """Use simulated time or not, as the serving node.

        Torques end in the safe torque first: simulated time may stand still, and a ramp with it.
        """
        if self._changes_time(simulated):
            self.finish()
            self.set_parameters([Parameter('use_sim_time', value=simulated)])

    def _changes_time(self, simulated: bool) -> bool:
        return simulated != self.get_parameter('use_sim_time').value

    def follow_goal(self, request: GoalRequest) -> None:
        """Follow a trajectory, and report on it; or raise a DynamicsError and change nothing."""
        self._goals.follow(request)

    def cancel_goal(self, number: int) -> None:
        """Stop and hold the joints of a goal."""
        self._goals.cancel(number)

    def follow_seen_from(self, wanted: Any, pose: Any, refusal: str) -> None:
        """Follow a reference whose frame has this pose in the root, or refuse it; FrameWanted."""
        self._torque.references.follow_seen_from(wanted, pose, refusal)

    def status(self) -> TorqueStatus | None:
        """Return the status; None before `configure`."""
        if self._torque is None:
            return None
        return TorqueStatus(
            self._torque.pipeline.gate.status(), self._torque.references.refused,
            self._torque.references.last_refusal, self._torque.published(),
            self._external.status(), self._torque.pipeline.missing_kernels(),
            self._realtime)

    # Flow ------------------------------------------------------------------------------------

    def brake(self, then: Callable[[], None]) -> None:
        """Disable torques; call a function once no joint is braked any more, perhaps at once."""
        if self._torque is None:
            then()
        else:
            self._torque.brake(then)

    def finish(self) -> None:
        """Publish the ramp to the safe torque."""
        if self._torque is not None:
            self._torque.finish()

    def _on_joint_state(self, stamp: int, reading: Reading | None, data: bytes) -> None:
        """Compute the torque first, then all that may come later."""
        self._node_state.take(stamp, reading, data)
        if self._node_state.measured_state is not None:
            measured = self._node_state.measured_state.snapshot()
            self._torque.on_state(measured)
            if self._external.estimator.on:
                self._external.on_state(measured)
                self._stop_at_contact()
            self._goals.on_state(measured)
            self._state_topic.show(measured)
        self._passed_on.append(stamp, data)

    def _stop_at_contact(self) -> None:
        """End torques at the beginning of a contact, if observer.contact_action is stop."""
        estimator = self._external.estimator
        contact = bool(estimator.flag.contact)
        if contact and not self._contact and self._observer.contact_action == 'stop':
            names = estimator.observer.robot.dof_names
            self._torque.stop_at_contact(
                [name for name, on in zip(names, estimator.flag.joints) if on])
        self._contact = contact

    def _catch_up(self) -> None:
        """Read the waiting joint states; show the state while no torque is published."""
        self._node_state.catch_up()
        measured = self._node_state.measured_state
        self._state_topic.show_idle(None if measured is None else measured.snapshot())

    def _waiting(self) -> Iterator[ReceivedJointState]:
        """Yield the waiting joint states, and pass them on."""
        for received in self._joint_states.waiting():
            self._passed_on.append(received.stamp, received.data)
            yield received

    def _set_awake(self, user: str, awake: bool) -> None:
        """Receive every joint state at once as long as at least one user needs it."""
        self._node_state.catch_up()
        self._joint_states.set_awake(user, awake)
        self._passed_on.set_awake(self._joint_states.awake)

    def _record(self) -> None:
        """Receive every joint state while the serving process stores them for identification."""
        self._set_awake('buffer', self._torque.active
                        and self._observer.effort_meaning != 'unknown')

    def _on_unused(self) -> None:
        self._unused.cancel()
        self._set_awake('services', False)

    def _report(self) -> None:
        """Send the status: it has changed. A goal ends with the torques."""
        if self._goals is not None:
            self._goals.check_gate()
        if self._external is not None:
            self.send(self.status())


COMMANDS: dict[str, Callable] = {each.__name__: each for each in (
    TorqueNode.configure, TorqueNode.cleanup, TorqueNode.set_robot, TorqueNode.check,
    TorqueNode.use, TorqueNode.set_active, TorqueNode.set_sim_time, TorqueNode.status,
    TorqueNode.fetch_joint_states, TorqueNode.follow_goal, TorqueNode.cancel_goal,
    TorqueNode.follow_seen_from)}
