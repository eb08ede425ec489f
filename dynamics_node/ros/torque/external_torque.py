"""External torques on topics: `~/external_torque`, `~/contact`, `~/external_wrench_estimate`."""

from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from dynamics_node.ros import convert
from dynamics_node.ros.torque.external_torque_estimator import ExternalTorqueEstimator

SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                     reliability=ReliabilityPolicy.RELIABLE)


class ExternalTorqueTopics:
    """What a ExternalTorqueEstimator sees, published on each joint state.

    :ivar on_awake: on_awake(whether joint states are looked at), to be set.
    """

    def __init__(self, node, desk, parameters, on_change):
        """Take on_change(), for a change of contact or of the reason why there is none to see."""
        self.lookout = ExternalTorqueEstimator(desk, parameters)
        self.on_awake = lambda awake: None
        self._on_change, self._log = on_change, node.log
        self._active, self._told, self._reason = False, None, ''
        self._torque = node.create_publisher(JointState, '~/external_torque', SENSOR)
        self._wrench = node.create_publisher(WrenchStamped, '~/external_wrench_estimate', SENSOR)
        self._contact = node.create_publisher(Bool, '~/contact', LATCHED)
        self.entities = [(node.destroy_publisher, each)
                         for each in (self._torque, self._wrench, self._contact)]

    def set_active(self, active):
        """Look, or not: only an active node speaks."""
        self._active = active
        self._wake()

    def use(self, parameters):
        """Take other parameters, checked."""
        if parameters != self.lookout.parameters:
            self.lookout.use(parameters)
            self._wake()

    def robot_changed(self):
        """Look at another robot."""
        self.lookout.robot_changed()
        self._wake()

    def on_state(self):
        """Look at the newest joint state and say what is seen."""
        sight = self.lookout.on_state()
        if sight is not None:
            self._say(sight)
        if self.lookout.reason != self._reason:
            self._reason = self.lookout.reason
            if self._reason:
                self._log.warning(f'external torques are not observed: {self._reason}')
            self._on_change()

    def _wake(self):
        self._told = None
        if self.lookout.on:
            self._message = JointState(name=list(self.lookout.observer.robot.dof_names))
        self.on_awake(self._active and self.lookout.on)

    def _say(self, sight):
        if sight.contact is not self._told:
            self._told = sight.contact
            self._contact.publish(Bool(data=sight.contact))
            self._on_change()
        stamp = convert.time(sight.stamp)
        if self._torque.get_subscription_count():
            self._message.header.stamp = stamp
            self._message.effort = convert.floats(sight.torque)
            self._torque.publish(self._message)
        if self.lookout.parameters.frame and self._wrench.get_subscription_count():
            found = self.lookout.wrench().wrench
            message = WrenchStamped(wrench=Wrench(force=convert.vector3(found[:3]),
                                                  torque=convert.vector3(found[3:])))
            message.header.stamp = stamp
            message.header.frame_id = self.lookout.parameters.frame
            self._wrench.publish(message)
