"""Connect the parts of the node: lifecycle transitions, joint states, parameters, diagnostics."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.subscription import Subscription
from std_msgs.msg import String

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.child_process import Start, start_child
from dynamics_node.ros.current_robot import Plan
from dynamics_node.ros.diagnostics import DiagnosticArray, diagnostics
from dynamics_node.ros.entities import Entities
from dynamics_node.ros.free_memory import MemoryReturn
from dynamics_node.ros.health import Reminder, health
from dynamics_node.ros.identification.action import IdentificationServer
from dynamics_node.ros.identification.jobs import Outcome
from dynamics_node.ros.logged_transition import logged
from dynamics_node.ros.long_requests.long_requests import LongRequests
from dynamics_node.ros.markers import Markers
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters import on_node
from dynamics_node.ros.parameters.caps import caps_of
from dynamics_node.ros.parameters.declared import NodeParameters, checked, declared_name
from dynamics_node.ros.parameters.declaring_node import DeclaringNode
from dynamics_node.ros.parameters.robot_mismatch import check_fit, torque_misfits
from dynamics_node.ros.rclpy_internals import parameter_overrides, tolerate_invalid_transitions
from dynamics_node.ros.sendable_messages import Log, guard_replies, publish
from dynamics_node.ros.services.runner import ServiceRunner
from dynamics_node.ros.services.table import SERVICES
from dynamics_node.ros.shared_folders import IS_PATH, ParameterFiles, SharedFolders
from dynamics_node.ros.state.base_state_subscription import BaseStateSubscription
from dynamics_node.ros.state.joint_state_bytes import Reading
from dynamics_node.ros.state.stamp_clock import StampClock
from dynamics_node.ros.topic_qos import LATCHED, declare_topic_qos, overridable
from dynamics_node.ros.torque.joint_state_source import JointStateSource
from dynamics_node.ros.torque.supervisor import TorqueSupervisor
from dynamics_node.ros.trajectory_action import TrajectoryServer

SECOND = 1.0
CATCH_UP = 0.2   # [s] between two reads of waiting joint states
MANY_REQUESTS = QoSProfile(depth=1000)  # with 10, the default, the 11th waiting request is lost
PARTS = ('joint_states', 'node_state', 'service_runner', 'long_requests', 'markers', 'base_state',
         'identification', 'trajectories')


class DynamicsNode(DeclaringNode):
    """The lifecycle node.

    Configured: subscriptions and services exist; every request is refused. Active: services reply,
    and torques can be enabled.
    """

    # The parts: created by configure, None before it and after cleanup.
    joint_states: JointStateSource
    node_state: NodeState
    service_runner: ServiceRunner
    long_requests: LongRequests
    markers: Markers
    base_state: BaseStateSubscription
    identification: IdentificationServer
    trajectories: TrajectoryServer

    def __init__(self, arguments: Sequence[str] = (), start: Start = start_child,
                 **kwargs: Any) -> None:
        """Create the node, unconfigured.

        :param arguments: arguments of the command line, for rclpy in the torque process.
        :param start: starts that process and its watchdog.
        """
        super().__init__('dynamics_node', allow_undeclared_parameters=True, **kwargs)
        self.log = Log(self.get_logger())
        self.torque = TorqueSupervisor(self, arguments, self._on_torque_status, self._on_goal,
                                       start)
        on_node.declare(self, parameter_overrides(self))
        at_launch = on_node.values_of(self)
        self._files = ParameterFiles(at_launch, SharedFolders.of(at_launch['shared_folders']))
        self._clear()
        self._parameters_in_use: Any = None   # NodeParameters
        self._misfits: tuple[str, ...] = ()   # why some of them do not fit the robot
        self._source: str | bytes | None = None   # the description that was loaded or refused last
        self._counted = time.monotonic(), 0   # time and joint states at the last diagnostics
        self._made = Entities()   # created by configure
        self._memory, self._reminder = MemoryReturn(), Reminder()
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._use_parameters)
        tolerate_invalid_transitions(self, self.log.warning)

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """The subscriptions that an executor shall wait for."""
        asleep = self.joint_states.asleep if self.joint_states else None
        return (each for each in super().subscriptions if each is not asleep)

    def create_service(self, *arguments: Any, **options: Any) -> Service:
        """Create a service whose replies can always be sent; rclpy calls this for its own too."""
        return guard_replies(super().create_service(*arguments, **options), lambda: self.log)

    # Lifecycle -------------------------------------------------------------------------------

    def bring_up(self) -> None:
        """Configure and activate, as a lifecycle manager would."""
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    @logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self._configure(on_node.read(self))
            return TransitionCallbackReturn.SUCCESS
        except DynamicsError as error:
            self.log.error(f'cannot be configured: {error}. The node stays unconfigured: correct '
                           f'the parameters, then: ros2 lifecycle set '
                           f'{self.get_fully_qualified_name()} configure, then activate')
            self.take_down()
            return TransitionCallbackReturn.FAILURE

    def _configure(self, parameters: NodeParameters) -> None:
        """Create all parts and their topics, services and timers."""
        declare_topic_qos(self, parameters.torque.command_topic)
        clock = StampClock(self.get_clock())
        self._made.add(StampClock.close, clock)
        self.joint_states = self._made.add_part(JointStateSource(
            self, clock, self.torque, self._on_joint_state))
        self.node_state = NodeState(clock, time.monotonic, parameters.node, parameters.observer,
                                    self.joint_states.waiting, share=self.torque.send_robot,
                                    fetch=self.torque.fetch_joint_states, files=self._files)
        self._use_caps(parameters)
        self.service_runner = ServiceRunner(self.node_state, self.log.error)
        self._publisher = self.create_publisher(DiagnosticArray, '/diagnostics',
                                                **overridable(QoSProfile(depth=10)))
        self._made.add(self.destroy_publisher, self._publisher)
        self._configure_topics(parameters)
        self._parameters_in_use = parameters
        self.torque.configure(parameters)
        if parameters.node.robot_description:
            self._load(parameters.node.robot_description)
        self._configure_services(parameters)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._made.add(self.destroy_timer,
                       self.create_timer(CATCH_UP, self.node_state.catch_up, clock=steady),
                       self.create_timer(SECOND, self._every_second, clock=steady))

    def _configure_topics(self, parameters: NodeParameters) -> None:
        self.markers = self._made.add_part(Markers(self, self.node_state, self.torque.efforts))
        self.base_state = self._made.add_part(BaseStateSubscription(self, self.node_state))
        self._made.add(self.destroy_subscription, self.create_subscription(
            String, 'robot_description', lambda message: self._load(message.data.encode()),
            **overridable(LATCHED)))

    def _configure_services(self, parameters: NodeParameters) -> None:
        long_requests = LongRequests(self, self.node_state, self.service_runner,
                                     parameters.service)
        services = {name: self.create_service(
            each.kind, f'~/{name}', self.service_runner.callback(long_requests.handler(name)),
            qos_profile=MANY_REQUESTS) for name, each in SERVICES.items()}
        self._made.add(self.destroy_service, *services.values())
        self.long_requests = self._made.add_part(long_requests)   # ends before the services do
        for name, each in SERVICES.items():
            if each.duration is not None:
                long_requests.defer(services[name])
        self.identification = self._made.add_part(IdentificationServer(
            self, self.node_state, self.service_runner, self.torque.check_idle, self._apply))
        self.identification.defer(services['identify_payload'])
        self.trajectories = self._made.add_part(TrajectoryServer(
            self, self.node_state, self.torque, lambda: self._parameters_in_use.trajectory))


    @logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.service_runner.active = True
        self.torque.tell('set_active', True)
        self._observe(True)
        self._publish_diagnostics()
        return super().on_activate(state)

    @logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.torque.tell('set_active', False)
        self.identification.abort('the node was deactivated')
        self.long_requests.abort('the node was deactivated')
        self.service_runner.active = False
        self._observe(False)
        self._publish_diagnostics()
        return super().on_deactivate(state)

    @logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.take_down()
        return super().on_cleanup(state)

    @logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.take_down()
        return super().on_shutdown(state)

    @logged
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.take_down()
        return super().on_error(state)

    def take_down(self) -> None:
        """Let the torques end in the safe torque; destroy everything that configure created."""
        self.torque.cleanup()
        self._made.destroy()
        self._clear()

    def destroy_node(self) -> None:
        """End the torque process, then destroy the node."""
        self.torque.close()
        super().destroy_node()

    def _clear(self) -> None:
        for part in PARTS:
            setattr(self, part, None)

    # Joint states ----------------------------------------------------------------------------

    def _on_joint_state(self, stamp: int, reading: Reading | None, data: bytes) -> None:
        self.node_state.take(stamp, reading, data)

    def _observe(self, active: bool) -> None:
        """Receive and store every joint state while the meaning of efforts is known."""
        on = active and self._parameters_in_use.observer.effort_meaning != 'unknown'
        self.node_state.catch_up()
        self.joint_states.receive_every(on)
        self.node_state.buffer.run(on)

    # The robot -------------------------------------------------------------------------------

    def _load(self, source: str | bytes) -> None:
        """Use the robot of a description, or log why not and keep the old one."""
        self._source = source
        current = self.node_state.current_robot
        try:
            if self.node_state.load(source):
                self.base_state.robot_changed()
                compiled = '' if current.robot.compilation_enabled else ', not compiled'
                self.log.info(f'the robot is {current.robot!r}, model_id {current.model_id}'
                              f'{compiled}')
            self.torque.send_robot(current, checked=True)
            self._report_misfits()
        except DynamicsError as error:   # refused, or the torque process has ended
            self.log.error(current.refusal or str(error))
        except Exception:  # a bug: the old robot stays, and the node goes on
            current.refusal = 'the robot description could not be read; see the log'
            self.log.error(f'please report this:\n{traceback.format_exc()}')
        self._publish_diagnostics()

    def _report_misfits(self) -> None:
        """Find the parameters of torques that do not fit the robot; log a change."""
        p = self._parameters_in_use
        found = tuple(each.reason
                      for each in torque_misfits(self.node_state.robot, p.torque, p.safety))
        if found and found != self._misfits:
            self.log.warning('torques cannot be enabled until these parameters fit the robot: '
                             + '; '.join(found))
        self._misfits = found

    def _apply(self, outcome: Outcome) -> None:
        """Use an identified robot: description, rotors and friction at once, by parameters."""
        drive = {f'{name}.{joint}': float(value) for name, values in outcome.drive.items()
                 for joint, value in values.items()}
        result = self.set_parameters_atomically([
            Parameter(name, value=value) for name, value in
            {'robot_description': outcome.urdf, 'friction': True, **drive}.items()])
        if not result.successful:
            raise DynamicsError(result.reason)
        current = self.node_state.current_robot
        current.set_friction({}, {}, reset=current.robot.joint_names)

    # Parameters ------------------------------------------------------------------------------

    def _check_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Refuse a change that is invalid, or with which the robot cannot be built."""
        try:
            values = on_node.changed_values(self, changes)
            if values:
                self._check_change(values)
        except DynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        except Exception as error:  # a bug: nothing changes, and the node goes on
            self.log.error(f'the parameters could not be checked, please report this:\n'
                           f'{traceback.format_exc()}')
            return SetParametersResult(successful=False, reason=f'internal error: {error!r}')
        return SetParametersResult(successful=True)

    def _check_change(self, values: dict[str, Any]) -> None:
        """Raise a DynamicsError if parameters cannot be changed to these values."""
        parameters = checked({**on_node.values_of(self), **values})
        for name in IS_PATH:
            self._files.permitted(name, getattr(parameters.node, name))
        if self.node_state is None:
            return
        current, plan = self.node_state.current_robot, self._planned(values, parameters)
        if plan is not None or current.exists:
            check_fit(plan.robot if plan else current.robot, parameters, values)
        self.torque.check(parameters, plan and current.shared_after(plan))

    def _planned(self, values: dict[str, Any], parameters: NodeParameters) -> Plan | None:
        """Return the robot that changed parameters lead to; None if there is no description.

        :raise DynamicsError: the robot cannot be built. While the newest description is refused,
            parameters may change step by step, until it can be.
        """
        current, given = self.node_state.current_robot, values.get('robot_description')
        source = given or self._source
        try:
            return current.try_load(source, parameters.node, caps_of(
                parameters.service, parameters.model)) if source else None
        except DynamicsError:
            if given or not current.refusal:
                raise
            return None

    def _use_caps(self, parameters: NodeParameters) -> None:
        """Use the caps of parameters; lower ones while torques are enabled."""
        status = self.torque.status
        caps = caps_of(parameters.service, parameters.model,
                       status is not None and not status.gate.idle)
        self.node_state.caps = caps
        self.node_state.buffer.most_bytes = caps.most['service.max_recording']

    def _use_parameters(self, changes: Sequence[Parameter]) -> None:
        """Use changed parameters; load the robot again, as its parameters may have changed."""
        for p in changes:
            if p.name == 'use_sim_time':
                self.torque.tell('set_sim_time', p.value)
        values = {p.name: p.value for p in changes if declared_name(p.name)}
        if self.node_state is None or not values:
            return
        parameters = on_node.read(self)
        self._parameters_in_use = parameters
        self._use_caps(parameters)
        self.node_state.use(parameters.node, parameters.observer)
        self.torque.tell('use', parameters)
        self.long_requests.pool.limits = parameters.service
        self._observe(self.service_runner.active)
        source = values.get('robot_description') or self._source
        if source:
            self._load(source)

    # Diagnostics -----------------------------------------------------------------------------

    def _on_torque_status(self) -> None:
        if self.node_state is not None:
            self._use_caps(self._parameters_in_use)
        self._publish_diagnostics()

    def _on_goal(self) -> None:
        if self.trajectories is not None:
            self.trajectories.read_records()

    def _every_second(self) -> None:
        self._memory.check()
        self.torque.refresh()
        self.torque.read_messages()
        self.markers.check_subscribers()
        self._remind()

    def _remind(self) -> None:
        """Log what is missing, at the times of the Reminder, while the node is active."""
        found = health(self.node_state, self._base_refusals)
        text = self._reminder.check(found, time.monotonic()) if self.service_runner.active else ''
        if text:
            (self.log.warning if found.kind else self.log.info)(text)

    @property
    def _base_refusals(self) -> tuple[str, ...]:
        return tuple(self.base_state.refusals.values()) if self.base_state else ()

    def _publish_diagnostics(self) -> None:
        if self.service_runner is None:
            return
        then, before = self._counted
        now, received = time.monotonic(), self.node_state.received
        self._counted = now, received
        publish(self._publisher.publish, diagnostics(
            self.get_fully_qualified_name(), self.node_state, self.service_runner,
            self.long_requests.pool if self.long_requests else None,
            max(0.0, received - before) / max(now - then, 1e-3),
            self._base_refusals, self.torque, self._parameters_in_use, self._misfits), self.log)
