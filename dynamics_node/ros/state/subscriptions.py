"""What the node listens to: the description, the joint states, a floating base."""

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.state.base_state import base_configuration, base_joint, base_velocity
from dynamics_node.ros.state.joint_state_bytes import JointStateReader

# A source that was held up sends its states in a burst. What does not fit is lost, and 30 ms at
# 1 kHz is no rare hiccup of a machine.
STATES = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                     reliability=ReliabilityPolicy.RELIABLE)
MOST_WAITING = 1000   # that are read in one go
LOOK = 0.1            # [s] between two looks for joint states that wait
SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class StateSubscriptions:
    """Subscriptions of a node that fill a desk.

    :ivar awake: whether every joint state is heard of at once.
    :ivar received: number of joint states so far.
    :ivar refusals: why the newest message about the base was refused, by its type.
    """

    def __init__(self, node, desk, clock, on_description, on_wrench, listener):
        """Take what to call: on_description(text), on_wrench(message).

        :param clock: the StampClock of the desk.
        :param listener: listener.on_state() is told of every joint state while `awake`.
        """
        self._node, self._desk, self._clock, self._listener = node, desk, clock, listener
        self.awake, self._wakers = False, set()
        desk.catch_up = self.catch_up
        self.received, self.refusals = 0, {}
        self._reader = JointStateReader()

        def listen(kind, topic, callback, qos=SENSOR, raw=False):
            return node.create_subscription(
                kind, topic, callback, qos, raw=raw,
                qos_overriding_options=QoSOverridingOptions.with_default_policies())
        self._states = listen(JointState, 'joint_states', self.on_joint_state, STATES, raw=True)
        self.subscriptions = [
            listen(String, 'robot_description', lambda message: on_description(message.data),
                   LATCHED),
            self._states, listen(WrenchStamped, '~/external_wrench', on_wrench)]
        if desk.parameters.base_state == 'odometry':
            self.subscriptions.append(listen(Odometry, 'odom', self.on_odometry))
        else:
            self.subscriptions += [listen(PoseStamped, 'base_pose', self.on_pose),
                                   listen(TwistStamped, 'base_twist', self.on_twist)]
        self.timer = node.create_timer(LOOK, self.catch_up,
                                       clock=Clock(clock_type=ClockType.STEADY_TIME))

    # Joint states ----------------------------------------------------------------------------

    @property
    def asleep(self):
        """The subscription that no executor is to wait for now, or None.

        To be woken for every joint state costs 2 % of a core at 100 Hz, even if nothing is done
        with it. As long as no torque is made of them, and nobody looks for pushes in them, they
        wait in the queue of the middleware: whoever looks at the state calls catch_up() first, see
        Desk.
        """
        return None if self.awake else self._states

    def set_awake(self, awake, who=''):
        """Hear of every joint state at once, or only look for them now and then.

        :param who: wants to or not; as long as anybody does, all are heard.
        """
        if awake is (who in self._wakers):
            return
        (self._wakers.add if awake else self._wakers.discard)(who)
        if bool(self._wakers) is not self.awake:
            self.catch_up()
            self.awake = not self.awake
            if self._node.executor is not None:
                self._node.executor.wake()  # it asks the node again what to wait for

    def close(self):
        """Look for no joint states any more, whoever may still ask for them."""
        self._states = None

    def on_joint_state(self, data):
        """Read a joint state and tell of it."""
        if self._desk.state is not None and self._states is not None:
            self.received += 1
            self._take(data)
            self._listener.on_state()

    def catch_up(self):
        """Take in the joint states that have come while nobody was woken for them."""
        if self.awake or self._states is None:
            return
        handle = self._states.handle
        with handle:
            for _ in range(MOST_WAITING):
                found = handle.take_message(JointState, True)
                if found is None:
                    return
                data, about = found
                if self._desk.state is not None:
                    self.received += 1
                    self._take(data, about['received_timestamp'])

    def _take(self, data, came=0):
        """Take in a joint state; one without a stamp was measured when it came [ns], 0: now."""
        try:
            stamp, names, position, velocity, effort = self._reader.read(data)
        except Exception:  # whatever rclpy says of bytes that are no joint state
            self._desk.state.counts['unreadable'] += 1
            return
        if self._clock.simulated:
            came = 0  # on another clock
            if stamp:
                self._clock.hear(stamp)
        stamp = stamp or came or self._clock()
        if self._desk.tape.on:
            self._desk.tape.take(stamp, data)
        self._desk.state.take(stamp, names, position, velocity, effort)

    # A floating base -------------------------------------------------------------------------

    def on_odometry(self, message):
        """Take in the base's pose and twist, both of child_frame_id."""
        twist = message.twist.twist
        self._take_base(message, lambda model: (
            base_configuration(model, convert.xyz(message.pose.pose.position),
                               convert.xyzw(message.pose.pose.orientation),
                               message.child_frame_id),
            base_velocity(model, convert.xyz(twist.linear), convert.xyz(twist.angular),
                          message.child_frame_id)))

    def on_pose(self, message):
        """Take in the pose of the base link in the world; at rest until a twist is known."""
        self._take_base(message, lambda model: (
            base_configuration(model, convert.xyz(message.pose.position),
                               convert.xyzw(message.pose.orientation)),
            np.nan_to_num(self._desk.state.v[base_joint(model).v])))

    def on_twist(self, message):
        """Take in the twist of the base, of the link header.frame_id in its own axes."""
        self._take_base(message, lambda model: (
            None, base_velocity(model, convert.xyz(message.twist.linear),
                                convert.xyz(message.twist.angular), message.header.frame_id)))

    def _take_base(self, message, state_of):
        self.catch_up()
        state = self._desk.state
        joint = base_joint(state.model) if state is not None else None
        if joint is None:
            return
        kind = type(message).__name__
        try:
            q, v = state_of(state.model)
        except DynamicsError as error:
            self.refusals[kind] = str(error)
            state.counts['base refused'] += 1
            return
        self.refusals.pop(kind, None)
        if q is None:
            state.v[joint.v] = v
        else:
            state.take_joint(self._stamp(message), joint.name, q, v)

    def _stamp(self, message):
        return convert.nanoseconds(message.header.stamp) or self._desk.clock()
