"""Define the QoS of topics; users override it by the parameters `qos_overrides.*`.

The torque process and its watchdog have no parameter services: the serving node declares the
parameters of their topics too, and hands them over.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from dynamics_node.ros.rclpy_internals import declare_qos_parameters

SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                     reliability=ReliabilityPolicy.RELIABLE)
TORQUE = QoSProfile(depth=1)  # reliable: the last message must arrive; only the newest counts
REFERENCE = QoSProfile(depth=10)
# A publisher that was delayed sends its states in a burst, and messages beyond the depth are lost:
# delays of 30 ms, 30 states at 1 kHz, are not rare. While no torque is computed, states wait in the
# queue for up to 0.2 s: see torque_node.CATCH_UP.
STATES = QoSProfile(depth=250, reliability=ReliabilityPolicy.BEST_EFFORT)

PUBLISHED = {'~/torque': TORQUE, '~/state': TORQUE, '~/external_torque': SENSOR,
             '~/external_wrench_estimate': SENSOR, '~/contact': LATCHED}
SUBSCRIBED = {'joint_states': STATES, '~/reference': REFERENCE, '~/task_reference': REFERENCE,
              '~/reference_pose': REFERENCE, '~/reference_twist': REFERENCE,
              '~/reference_wrench': REFERENCE, '~/whole_body_reference': REFERENCE,
              'odom': SENSOR, 'base_pose': SENSOR, 'base_twist': SENSOR}


def overridable(qos: QoSProfile) -> dict[str, Any]:
    """Return the options of a publisher or subscription whose QoS users can override."""
    return {'qos_profile': copy(qos),   # rclpy changes it
            'qos_overriding_options': QoSOverridingOptions.with_default_policies()}


def declare_topic_qos(node: Node, command_topic: str) -> None:
    """Declare the parameters of topics that another process may publish or subscribe to.

    :param command_topic: '' if there is none.
    """
    commands = {command_topic: TORQUE} if command_topic else {}
    for kind, topics in ((Publisher, {**PUBLISHED, **commands}), (Subscription, SUBSCRIBED)):
        for topic, qos in topics.items():
            declare_qos_parameters(kind, node, topic, qos)
