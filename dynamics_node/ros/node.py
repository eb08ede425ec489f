"""The node: a managed lifecycle node that holds a robot and serves its dynamics. Only wires."""

import os
import sys
import time
import traceback
from functools import partial

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy._rclpy_pybind11 import RCLError
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.logging import get_logger
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions

from dynamics_node.compiler import engine
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import parameters
from dynamics_node.ros.desk import Desk
from dynamics_node.ros.diagnostics import DiagnosticArray, diagnostics
from dynamics_node.ros.external_torque import ExternalTorque
from dynamics_node.ros.identify import Identifier
from dynamics_node.ros.inputs import Inputs
from dynamics_node.ros.markers import Markers
from dynamics_node.ros.services import SERVICES, Clerk
from dynamics_node.ros.spin import ignore_signals, spin, told_to_stop
from dynamics_node.ros.stamp_clock import StampClock
from dynamics_node.ros.torque import Torque

SECOND = 1.0
REFUSED = 2               # exit code
CROWD = QoSProfile(depth=1000)  # of services: with 10, the default, the 11th that waits is lost


def main(args=None):
    """Run the node until it is told to stop; return the exit code."""
    stop = told_to_stop()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = DynamicsNode()
        if node.get_parameter('autostart').value:
            node.bring_up()
        spin(node, until=stop)
    except ParameterException as error:  # started with one out of its range or of another type
        get_logger('dynamics_node').fatal(str(error))
        return REFUSED
    finally:
        ignore_signals()
        if node is not None:
            node.take_down()
            node.destroy_node()
        rclpy.try_shutdown()
    if engine.busy():  # a kernel in the midst of LLVM cannot be stopped, and nobody waits for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


class DynamicsNode(LifecycleNode):
    """Configured: it listens and its services are there. Active: they answer."""

    def __init__(self, **kwargs):
        super().__init__('dynamics_node', **kwargs)
        parameters.declare(self)
        self._forget()
        self._source = None   # the description that was tried last
        self._counted = time.monotonic(), 0   # joint states, when last looked at
        self._made = []       # (destroy, entity) of what configure made
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._use_parameters)
        self._service_change_state.callback = self._tolerant(self._service_change_state.callback)

    @property
    def subscriptions(self):
        """Those that an executor is to wait for."""
        asleep = self.inputs.asleep if self.inputs else None
        return (each for each in super().subscriptions if each is not asleep)

    # Lifecycle -------------------------------------------------------------------------------

    def bring_up(self):
        """Configure and activate, as a lifecycle manager would."""
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def on_configure(self, state):
        try:
            chosen = parameters.read(self)
        except DynamicsError as error:
            self.get_logger().error(f'cannot be configured: {error}')
            return TransitionCallbackReturn.FAILURE
        clock = StampClock(self.get_clock())
        self.desk = Desk(clock, time.monotonic, chosen.node)
        self.desk.observer = chosen.observer
        self.clerk = Clerk(self.desk, self.get_logger().error)
        self._publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._made.append((self.destroy_publisher, self._publisher))
        if chosen.node.robot_description:
            self._load(chosen.node.robot_description)
        self.markers = Markers(self, self.desk)
        self.torque = Torque(self, self.desk, chosen, self._diagnose, self.markers.on_torque)
        self.external = ExternalTorque(self, self.desk, chosen.observer, self._diagnose)
        self._made += [*self.markers.entities, *self.torque.entities, *self.external.entities]
        self.inputs = Inputs(self, self.desk, clock, lambda text: self._load(text.encode()),
                             self.markers.on_wrench, listener=self)
        self._made += [(self.destroy_subscription, each) for each in self.inputs.subscriptions]
        self._made += [(self.destroy_timer, self.inputs.timer), (Inputs.close, self.inputs)]
        self.torque.on_awake = partial(self.inputs.set_awake, who='torque')
        self.external.on_awake = self._hear_all
        services = {name: self.create_service(
            kind, f'~/{name}', self.clerk.serves(handler), qos_profile=CROWD)
            for name, (kind, handler) in SERVICES.items()}
        self._made += [(self.destroy_service, each) for each in services.values()]
        self.identifier = Identifier(self, self.desk, self.clerk, self._may_apply, self._hold)
        self.identifier.defer(services['identify_payload'])
        self._made += self.identifier.entities
        self._made.append((self.destroy_timer, self.create_timer(
            SECOND, self._every_second, clock=Clock(clock_type=ClockType.STEADY_TIME))))
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        self.clerk.active = self.torque.active = True
        self.external.set_active(True)
        self._diagnose()
        return super().on_activate(state)

    def on_deactivate(self, state):
        self.torque.finish()
        self.identifier.give_up('the node was deactivated')
        self.clerk.active = self.torque.active = False
        self.external.set_active(False)
        self._diagnose()
        return super().on_deactivate(state)

    def on_cleanup(self, state):
        self.take_down()
        return super().on_cleanup(state)

    def on_shutdown(self, state):
        self.take_down()
        return super().on_shutdown(state)

    def on_error(self, state):
        self.take_down()
        return super().on_error(state)

    def take_down(self):
        """Undo what configure made; the last torque is the safe one."""
        if self.torque is not None:
            self.torque.finish()
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)
        self._forget()

    def _forget(self):
        self.desk = self.clerk = self.inputs = self.torque = self.external = None
        self.identifier = None

    def _tolerant(self, change_state):
        """Return the service callback; rclpy's raises at an invalid transition, ending the node."""
        def answer(request, response):
            try:
                return change_state(request, response)
            except RCLError as error:
                self.get_logger().warning(f'no such transition from here: {error}')
                response.success = False
                return response
        return answer

    def on_state(self):
        """Make a torque of a joint state, which is waited for; then look who pushes."""
        self.torque.on_state()
        if self.external.lookout.on:
            self.external.on_state()

    def _hear_all(self, awake):
        """Hear of every joint state as long as efforts are known to mean something; keep them."""
        self.inputs.set_awake(awake, who='observer')
        self.desk.tape.run(awake)

    # The robot -------------------------------------------------------------------------------

    def _load(self, source):
        """Hold the robot of a description, or say why not and keep the old one."""
        self._source = source
        try:
            if self.desk.load(source):
                self.get_logger().info(f'holding {self.desk.robot!r}, '
                                       f'model_id {self.desk.held.model_id}')
                if self.torque is not None:
                    self.torque.drive.robot_changed()
                    self.external.robot_changed()
        except DynamicsError:
            self.get_logger().error(self.desk.held.refusal)
        except Exception:  # a fault of ours: the old robot stays, and the node does
            self.desk.held.refusal = 'the robot description could not be read; see the log'
            self.get_logger().error(f'please report this:\n{traceback.format_exc()}')
        self._diagnose()

    def _may_apply(self):
        """Refuse to hold another robot while torques are made for this one."""
        if not self.torque.drive.gate.idle:
            raise DynamicsError('torque is enabled: disable it first, by ~/enable')

    def _hold(self, outcome):
        """Hold an identified robot: description, rotors and friction at once, by parameters."""
        losses = {name: ' '.join(f'{joint}={value:.9g}' for joint, value in values.items())
                  for name, values in outcome.losses.items()}
        taken = self.set_parameters_atomically([
            Parameter(name, value=value) for name, value in
            {'robot_description': outcome.urdf, 'friction': True, **losses}.items()])
        if not taken.successful:
            raise DynamicsError(taken.reason)
        self.desk.held.set_friction({}, {}, reset=self.desk.robot.joint_names)

    # Parameters ------------------------------------------------------------------------------

    def _check_parameters(self, changes):
        """Refuse a change that is invalid, or that the robot cannot be made with.

        rclpy declares parameters of its own, for a subscription's quality of service, while the
        node is configured: settings that forbid ~/enable do not forbid these.
        """
        if not any(p.name in parameters.NAMES for p in changes):
            return SetParametersResult(successful=True)
        try:
            self._changed(changes)
        except DynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _changed(self, changes):
        """Return the Parameters after a change, or raise what is wrong with it."""
        ours = {p.name: p.value for p in changes if p.name in parameters.NAMES}
        values = {name: self.get_parameter(name).value for name in parameters.NAMES}
        chosen = parameters.checked({**values, **ours})
        refused = self.desk is not None and self.desk.held.refusal
        source = ours.get('robot_description') or (not refused and self._source)
        if self.desk is not None and source:
            self.desk.held.try_load(source, chosen.node)
        if self.torque is not None:
            self.torque.drive.check(chosen.torque, chosen.safety)
            self.external.lookout.check(chosen.observer)
        return chosen

    def _use_parameters(self, changes):
        """Put a change to use; one that concerns the robot makes it anew."""
        ours = {p.name: p.value for p in changes if p.name in parameters.NAMES}
        if self.desk is None or not ours:
            return
        chosen = self._changed(changes)
        self.desk.use(chosen.node)
        self.desk.observer = chosen.observer
        self.torque.use(chosen)
        self.external.use(chosen.observer)
        source = ours.get('robot_description') or self._source
        if source:
            self._load(source)

    # Diagnostics -----------------------------------------------------------------------------

    def _every_second(self):
        self._diagnose()
        self.markers.look()

    def _diagnose(self):
        """Say how the node is."""
        if self.clerk is None:
            return
        then, before = self._counted
        now, received = time.monotonic(), self.inputs.received if self.inputs else 0
        self._counted = now, received
        self._publisher.publish(diagnostics(
            self.get_fully_qualified_name(), self.desk, self.clerk,
            max(0.0, received - before) / max(now - then, 1e-3),
            tuple(self.inputs.refusals.values()) if self.inputs else (), self.torque,
            self.external.lookout if self.external else None))


if __name__ == '__main__':
    main()
