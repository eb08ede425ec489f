"""The node: a managed lifecycle node that holds a robot and serves its dynamics. Only wires."""

import os
import sys
import time
import traceback
from functools import partial, wraps

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.logging import get_logger
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions

from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import check_file
from dynamics_node.kernels import robot_kernels
from dynamics_node.ros.diagnostics import DiagnosticArray, diagnostics
from dynamics_node.ros.entities import Entities
from dynamics_node.ros.identification.action import Identifier
from dynamics_node.ros.markers import Markers
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.outgoing import Log, guard_replies, publish
from dynamics_node.ros.parameters import declared
from dynamics_node.ros.services.table import SERVICES, ServiceRunner
from dynamics_node.ros.spin import ignore_signals, spin, told_to_stop
from dynamics_node.ros.state.stamp_clock import StampClock
from dynamics_node.ros.state.subscriptions import StateSubscriptions
from dynamics_node.ros.torque.external_torque import ExternalTorqueTopics
from dynamics_node.ros.torque.topics import TorqueTopics

SECOND = 1.0
REFUSED = 2               # exit code
# at start: a parameter out of its range or of another type, a bad parameters file or argument
REFUSALS = (ParameterException, FileError, RCLError, UnknownROSArgsError, UnicodeEncodeError)
MAX_PARAMS = 50_000_000   # bytes of a parameters file; a description may be in it
CROWD = QoSProfile(depth=1000)  # of services: with 10, the default, the 11th that waits is lost


def main(args=None):
    """Run the node until it is told to stop; return the exit code."""
    stop = told_to_stop()
    node = None
    try:
        for path in params_files(sys.argv if args is None else args):
            check_file(path, MAX_PARAMS)
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = DynamicsNode()
        if declared.values_of(node)['autostart'] is not False:
            node.bring_up()
        spin(node, until=stop)
    except REFUSALS as error:
        if node is not None:
            raise
        Log(get_logger('dynamics_node')).fatal(f'cannot be started: {error}')
        return REFUSED
    finally:
        ignore_signals()
        if node is not None:
            node.take_down()
            node.destroy_node()
        rclpy.try_shutdown()
    if robot_kernels.busy():  # LLVM cannot be stopped in the midst of a kernel
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    return 0


def params_files(words):
    """Return the parameters files that the words of a command line name."""
    return [path for word, path in zip(words, words[1:]) if word == '--params-file']


def logged(transition):
    """Return a lifecycle transition whose exceptions are logged; rclpy passes over them."""
    @wraps(transition)
    def run(self, state):
        try:
            return transition(self, state)
        except Exception:
            self.log.error(f'{transition.__name__} failed, please report this:\n'
                           f'{traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR
    return run


class DynamicsNode(LifecycleNode):
    """Configured: it listens and its services are there. Active: they answer."""

    def __init__(self, **kwargs):
        super().__init__('dynamics_node', **kwargs)
        self.log = Log(self.get_logger())
        declared.declare(self)
        self._forget()
        self._source = None   # the description that was tried last
        self._counted = time.monotonic(), 0   # joint states, when last looked at
        self._made = Entities()   # by configure
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._use_parameters)
        self._service_change_state.callback = self._tolerant(self._service_change_state.callback)

    @property
    def subscriptions(self):
        """Those that an executor is to wait for."""
        asleep = self.inputs.asleep if self.inputs else None
        return (each for each in super().subscriptions if each is not asleep)

    def create_service(self, *arguments, **options):
        """Create a service whose replies can always be sent; also those of parameters."""
        return guard_replies(super().create_service(*arguments, **options), lambda: self.log)

    # Lifecycle -------------------------------------------------------------------------------

    def bring_up(self):
        """Configure and activate, as a lifecycle manager would."""
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    @logged
    def on_configure(self, state):
        try:
            chosen = declared.read(self)
        except DynamicsError as error:
            self.log.error(f'cannot be configured: {error}')
            return TransitionCallbackReturn.FAILURE
        clock = StampClock(self.get_clock())
        self._made.add(StampClock.close, clock)
        self.desk = NodeState(clock, time.monotonic, chosen.node)
        self.desk.observer = chosen.observer
        self.clerk = ServiceRunner(self.desk, self.log.error)
        self._publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._made.add(self.destroy_publisher, self._publisher)
        if chosen.node.robot_description:
            self._load(chosen.node.robot_description)
        self.markers = Markers(self, self.desk)
        self._made.extend(self.markers.entities)
        self.torque = TorqueTopics(self, self.desk, chosen, self._diagnose, self.markers.on_torque)
        self._made.extend(self.torque.entities)
        self.external = ExternalTorqueTopics(self, self.desk, chosen.observer, self._diagnose)
        self._made.extend(self.external.entities)
        self.inputs = StateSubscriptions(self, self.desk, clock,
                                         lambda text: self._load(text.encode()),
                             self.markers.on_wrench, listener=self)
        self._made.add(self.destroy_subscription, *self.inputs.subscriptions)
        self._made.extend([(self.destroy_timer, self.inputs.timer), (StateSubscriptions.close,
                                                                     self.inputs)])
        self.torque.on_awake = partial(self.inputs.set_awake, who='torque')
        self.external.on_awake = self._hear_all
        services = {name: self.create_service(
            kind, f'~/{name}', self.clerk.serves(handler), qos_profile=CROWD)
            for name, (kind, handler) in SERVICES.items()}
        self._made.add(self.destroy_service, *services.values())
        self.identifier = Identifier(self, self.desk, self.clerk, self._may_apply, self._hold)
        self.identifier.defer(services['identify_payload'])
        self._made.extend(self.identifier.entities)
        self._made.add(self.destroy_timer, self.create_timer(
            SECOND, self._every_second, clock=Clock(clock_type=ClockType.STEADY_TIME)))
        return TransitionCallbackReturn.SUCCESS

    @logged
    def on_activate(self, state):
        self.clerk.active = self.torque.active = True
        self.external.set_active(True)
        self._diagnose()
        return super().on_activate(state)

    @logged
    def on_deactivate(self, state):
        self.torque.finish()
        self.identifier.give_up('the node was deactivated')
        self.clerk.active = self.torque.active = False
        self.external.set_active(False)
        self._diagnose()
        return super().on_deactivate(state)

    @logged
    def on_cleanup(self, state):
        self.take_down()
        return super().on_cleanup(state)

    @logged
    def on_shutdown(self, state):
        self.take_down()
        return super().on_shutdown(state)

    @logged
    def on_error(self, state):
        self.take_down()
        return super().on_error(state)

    def take_down(self):
        """Undo what configure made; the last torque is the safe one."""
        if self.torque is not None:
            self.torque.finish()
        self._made.destroy()
        self._forget()

    def _forget(self):
        self.desk = self.clerk = self.inputs = self.torque = self.external = None
        self.identifier = self.markers = None

    def _tolerant(self, change_state):
        """Return the service callback; rclpy's raises at an invalid transition, ending the node."""
        def answer(request, response):
            try:
                return change_state(request, response)
            except RCLError as error:
                self.log.warning(f'no such transition from here: {error}')
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
                self.log.info(f'holding {self.desk.robot!r}, model_id {self.desk.held.model_id}')
                if self.torque is not None:
                    self.torque.drive.robot_changed()
                    self.external.robot_changed()
        except DynamicsError:
            self.log.error(self.desk.held.refusal)
        except Exception:  # a fault of ours: the old robot stays, and the node does
            self.desk.held.refusal = 'the robot description could not be read; see the log'
            self.log.error(f'please report this:\n{traceback.format_exc()}')
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
        if not any(p.name in declared.NAMES for p in changes):
            return SetParametersResult(successful=True)
        try:
            self._changed(changes)
        except DynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        except Exception as error:  # a fault of ours: nothing changes, and the node goes on
            self.log.error(f'the parameters could not be checked, please report this:\n'
                           f'{traceback.format_exc()}')
            return SetParametersResult(successful=False, reason=f'internal error: {error!r}')
        return SetParametersResult(successful=True)

    def _changed(self, changes):
        """Return the Parameters after a change, or raise what is wrong with it."""
        ours = {p.name: p.value for p in changes if p.name in declared.NAMES}
        chosen = declared.checked({**declared.values_of(self), **ours})
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
        ours = {p.name: p.value for p in changes if p.name in declared.NAMES}
        if self.desk is None or not ours:
            return
        chosen = declared.read(self)  # files are read by _load: one may have changed since
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
        publish(self._publisher.publish, diagnostics(
            self.get_fully_qualified_name(), self.desk, self.clerk,
            max(0.0, received - before) / max(now - then, 1e-3),
            tuple(self.inputs.refusals.values()) if self.inputs else (), self.torque,
            self.external.lookout if self.external else None), self.log)


if __name__ == '__main__':
    main()
