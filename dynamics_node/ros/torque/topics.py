"""Torques on topics: who hears the joint states, the references and the drive's releases."""

import time
import traceback
from array import array

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.errors import DynamicsError
from dynamics_node.msg import TaskReference
from dynamics_node.ros import convert
from dynamics_node.ros.torque.joint_trajectory import points_of
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.task_message import task_of

LOOKS = 2.2          # at the time within what the age of a state, and a step of the clock, may be
CROWD = QoSProfile(depth=1000)  # of ~/enable: who disables is heard, whatever waits before him
ALL_HEARD = 0.1      # [s] that the last message may take to be acknowledged


class TorqueTopics:
    """`~/torque` and the command topic, fed by a Drive; references and `~/enable`.

    :ivar active: whether the node is; else nothing can be enabled.
    :ivar on_awake: on_awake(whether torques are made of joint states), to be set.
    :ivar refused_references: number of them so far.
    """

    def __init__(self, node, desk, chosen, on_change, on_torque):
        """Take on_change(), for a change of the gate's state, and on_torque(names, efforts)."""
        self._node, self._desk = node, desk
        self._on_change, self._on_torque = on_change, on_torque
        self.on_awake = lambda awake: None
        self._log = node.log
        self.drive = TorquePipeline(desk, chosen.torque, chosen.safety, self._log.error)
        self.active, self.refused_references = False, 0
        self._seen = None         # state of the gate, when last looked at
        self._by_rate = chosen.torque.rate > 0.0
        self._names, self._ordered = (), None   # entries of a release, and how to order them
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        qos = QoSProfile(depth=1)  # reliable: the last message must arrive; the newest counts
        self._torque = node.create_publisher(JointState, '~/torque', qos)
        topic = chosen.torque.command_topic
        self._command = (node.create_publisher(Float64MultiArray, topic, qos) if topic else None)
        self._tick = node.create_timer(_tick_period(chosen.safety), self.on_tick, clock=steady,
                                       autostart=False)
        self.entities = [
            (node.destroy_publisher, self._torque),
            *([(node.destroy_publisher, self._command)] if self._command else []),
            (node.destroy_subscription, node.create_subscription(
                JointTrajectory, '~/reference', self.on_reference, 10)),
            (node.destroy_subscription, node.create_subscription(
                TaskReference, '~/task_reference', self.on_task_reference, 10)),
            (node.destroy_service, node.create_service(
                SetBool, '~/enable', self.on_enable, qos_profile=CROWD)),
            (node.destroy_timer, self._tick)]
        if self._by_rate:
            self.entities.append((node.destroy_timer, node.create_timer(
                1.0 / chosen.torque.rate, self._step)))

    def use(self, chosen):
        """Take other parameters, checked."""
        self.drive.use(chosen.torque, chosen.safety)
        self._tick.timer_period_ns = int(_tick_period(chosen.safety) * 1e9)
        self._names = ()  # their order may be another

    # What comes in ---------------------------------------------------------------------------

    def on_state(self):
        """Answer a joint state, if that is when torques are made."""
        if not self._by_rate:
            self._step()

    def on_tick(self):
        """Look whether states still come, and whether we are alone on the command topic."""
        if self.drive.gate.idle:
            self._tick.cancel()  # costs nothing until the next enable
        else:
            self._look_around()
            self._publish(self.drive.tick())

    def on_enable(self, request, response):
        """Enable or disable, as std_srvs/SetBool says."""
        try:
            if request.data:
                if not self.active:
                    raise DynamicsError('the node is inactive: ros2 lifecycle set <node> activate')
                self._look_around()
                self._desk.catch_up()
                self.drive.enable()
                if self._tick.is_canceled():  # else who enables all the time would put it off
                    self._tick.reset()
            else:
                self.drive.disable()
            response.success, response.message = True, self.drive.gate.state.value
        except DynamicsError as error:
            response.success, response.message = False, str(error)
            self._log.warning(f'not enabled: {error}')
        except Exception as error:  # a fault of ours must not take the node down
            response.success, response.message = False, f'internal error: {error!r}'
            self._log.error(f'~/enable failed, please report this:\n{traceback.format_exc()}')
        self._notice()
        return response

    def on_reference(self, message):
        """Follow a trajectory, or say why not and go on with the old one."""
        self._followed('reference', lambda: self.drive.follow(
            (message.joint_names, _start(message), *points_of(message))))

    def on_task_reference(self, message):
        """Follow a task reference, or say why not and go on with the old one."""
        self._followed('task reference', lambda: self.drive.follow_task(
            _start(message), **task_of(message)))

    def _followed(self, what, follow):
        try:
            follow()
        except DynamicsError as error:
            self._log.warning(f'the {what} was refused: {error}')
            self.refused_references += 1
        except Exception:
            self._log.error(f'the {what} could not be read, please report this:\n'
                            f'{traceback.format_exc()}')
            self.refused_references += 1

    # What goes out ---------------------------------------------------------------------------

    def finish(self):
        """Bring the torque to the safe one and say it last; takes less than a second."""
        period = self.drive.settings.exit_period
        for release in self.drive.last():
            self._publish(release)
            time.sleep(period)
        for publisher in filter(None, (self._command, self._torque)):
            publisher.wait_for_all_acked(Duration(seconds=ALL_HEARD))

    def _step(self):
        self._publish(self.drive.on_state())

    def _publish(self, stamped):
        if stamped is not None:
            release, stamp = stamped
            self._send(release, stamp)
        self._notice()

    def _send(self, release, stamp):
        if release.names is not self._names:
            self._arrange(release.names)
        effort = array('d', self._ordered(release.numbers))
        if self._command is not None:
            self._data.data = effort
            self._command.publish(self._data)
        if self._torque.get_subscription_count():  # else a sixth of the time would be for nobody
            self._state.header.stamp = convert.time(stamp)
            self._state.effort = effort
            self._torque.publish(self._state)
        self._on_torque(self._state.name, effort)

    def _arrange(self, names):
        """Find the order in which the controller wants the joints."""
        wanted = self.drive.joints
        place = {name: k for k, name in enumerate(names)}
        order = [place[name] for name in wanted]
        as_they_are = order == list(range(len(names)))
        self._names = names
        self._ordered = tuple if as_they_are else lambda numbers: [numbers[k] for k in order]
        self._data = Float64MultiArray()
        self._state = JointState(name=list(wanted))

    def _look_around(self):
        self.drive.other_publisher = bool(
            self._command and self._node.count_publishers(self._command.topic_name) > 1)

    def _notice(self):
        """Tell of a change of the gate's state; whatever may change it calls this afterwards."""
        self.on_awake(not self.drive.gate.idle)
        state = self.drive.gate.state
        if state is not self._seen:
            self._seen = state
            reason = self.drive.gate.status().reason
            if reason:
                self._log.error(f'torques: {state.value}: {reason}. They stay off until ~/enable')
            else:
                self._log.info(f'torques: {state.value}')
            self._on_change()


def _start(message):
    """Return the stamp of a message [ns], None where it has none."""
    return convert.nanoseconds(message.header.stamp) or None


def _tick_period(settings):
    """Return how often to look at the time [s]."""
    return min(settings.max_state_age, settings.max_clock_step) / LOOKS
