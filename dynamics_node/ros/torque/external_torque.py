"""Publish external torques: `~/external_torque`, `~/contact`, `~/external_wrench_estimate`."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Wrench, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dynamics_node.msg import ContactStamped
from dynamics_node.ros import convert
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.topic_qos import LATCHED, SENSOR, overridable
from dynamics_node.ros.torque.external_torque_estimator import (
    ExternalTorqueEstimate,
    ExternalTorqueEstimator,
)
from dynamics_node.ros.torque.records import ContactStatus


class ExternalTorqueTopics:
    """Publishers of the estimates of an ExternalTorqueEstimator, one for each joint state."""

    def __init__(self, node: Node, current_robot: CurrentRobot, parameters: ObserverParameters,
                 on_change: Callable[[], None], on_awake: Callable[[bool], None],
                 frame_prefix: str = '') -> None:
        """Create the publishers.

        :param on_change: called when the contact, or the reason of a pause, changes.
        :param on_awake: called with whether the observer needs every joint state from now on.
        """
        self.estimator = ExternalTorqueEstimator(current_robot, parameters)
        self._on_change, self._on_awake, self._log = on_change, on_awake, node.log
        self._frame_prefix = frame_prefix
        self._active, self._reason = False, ''
        self._published: bool | None = None   # contact
        self._torque = node.create_publisher(JointState, '~/external_torque',
                                             **overridable(SENSOR))
        self._wrench = node.create_publisher(WrenchStamped, '~/external_wrench_estimate',
                                             **overridable(SENSOR))
        self._contact = node.create_publisher(ContactStamped, '~/contact',
                                              **overridable(LATCHED))
        self.entities = [(node.destroy_publisher, each)
                         for each in (self._torque, self._wrench, self._contact)]

    def status(self) -> ContactStatus:
        """Return the state of the observer and of the contact."""
        estimator = self.estimator
        if not estimator.on:
            return ContactStatus(False, estimator.reason, estimator.contacts, False, (), {}, {})
        names, flag = estimator.observer.robot.dof_names, estimator.flag
        return ContactStatus(
            True, estimator.reason, estimator.contacts, bool(flag.contact),
            tuple(name for name, on in zip(names, flag.joints) if on),
            dict(zip(names, map(float, estimator.observer.torque))),
            dict(zip(names, map(float, estimator.peaks))))

    def set_active(self, active: bool) -> None:
        """Run the observer only while the node is active."""
        self._active = active
        self._restart()

    def use(self, parameters: ObserverParameters) -> None:
        """Use other parameters, checked."""
        if parameters != self.estimator.parameters:
            self.estimator.use(parameters)
            self._restart()

    def robot_changed(self) -> None:
        """Observe the robot that has become the current one."""
        self.estimator.robot_changed()
        self._restart()

    def on_state(self, measured: MeasuredSnapshot) -> None:
        """Publish the estimate at a measured state."""
        estimate = self.estimator.on_state(measured)
        if estimate is not None:
            self._publish(estimate, measured)
        if self.estimator.reason != self._reason:
            self._reason = self.estimator.reason
            if self._reason:
                self._log.warning(f'external torques are not estimated: {self._reason}')
            self._on_change()

    def _restart(self) -> None:
        self._published = None
        if self.estimator.on:
            self._message = JointState(name=list(self.estimator.observer.robot.dof_names))
        self._on_awake(self._active and self.estimator.on)

    def _publish(self, estimate: ExternalTorqueEstimate, measured: MeasuredSnapshot) -> None:
        stamp = convert.time(estimate.stamp)
        if estimate.contact is not self._published:
            self._published = estimate.contact
            self._publish_contact(estimate.contact, stamp)
            self._on_change()
        if self._torque.get_subscription_count():
            self._message.header.stamp = stamp
            self._message.effort = convert.floats(estimate.torque)
            self._torque.publish(self._message)
        if self.estimator.parameters.frame and self._wrench.get_subscription_count():
            found = self.estimator.wrench(measured).wrench
            message = WrenchStamped(wrench=Wrench(force=convert.vector3(found[:3]),
                                                  torque=convert.vector3(found[3:])))
            message.header.stamp = stamp
            message.header.frame_id = self._frame_prefix + self.estimator.parameters.frame
            self._wrench.publish(message)

    def _publish_contact(self, contact: bool, stamp: Time) -> None:
        message = ContactStamped(contact=contact)
        message.header.stamp = stamp
        if contact:
            names = self.estimator.observer.robot.dof_names
            message.joint_names = [name for name, beyond in zip(names, self.estimator.flag.joints)
                                   if beyond]
        self._contact.publish(message)
