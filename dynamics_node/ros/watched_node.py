"""Watch a dynamics node in another process: newest messages only, read when they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from dynamics_node.inspector.live_state import LiveState, LiveWrench, NamedValues
from dynamics_node.model.model import Payload
from dynamics_node.msg import ContactStamped, TorqueState
from dynamics_node.ros import convert
from dynamics_node.ros.payload_ramp import scaled
from dynamics_node.ros.rclpy_internals import take_waiting
from dynamics_node.ros.topic_qos import LATCHED
from dynamics_node.ros.watched_base import WatchedBase
from dynamics_node.ros.watched_model import WatchedModel
from dynamics_node.srv import ListPayloads

# Depth 1: messages that arrive between two reads are dropped without cost for this process.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT,
                    durability=DurabilityPolicy.VOLATILE)
# Of several publishers, a slow one would be dropped for a fast one: all messages are read.
WAITING = 300    # joint states between two reads: three publishers at 1 kHz
ALL = QoSProfile(depth=WAITING, reliability=ReliabilityPolicy.BEST_EFFORT,
                 durability=DurabilityPolicy.VOLATILE)
STATUSES = QoSProfile(depth=10)
# Subscriptions and clients: callbacks of one read.
ENTITIES = 9 + WatchedModel.CLIENTS + WatchedBase.SUBSCRIPTIONS
WRENCHES = {'estimated': 'external_wrench_estimate', 'given': 'external_wrench'}
GAINS = {'frequency': ('frequency', 'damping_ratio'), 'kp_kd': ('kp', 'kd')}   # by torque.gains
PAYLOADS_EVERY = 1.0   # [s] between two requests for the payloads


class WatchedNode:
    """Subscriptions to what a node publishes; requests to it are separate."""

    def __init__(self, name: str) -> None:
        """Subscribe.

        :param name: name of the dynamics node, with its namespace.
        """
        # Ctrl-C is handled by the command, not by rclpy.
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.name = name if name.startswith('/') else f'/{name}'
        self._namespace, _, self._base = self.name.rpartition('/')
        self._node = rclpy.create_node('dynamics_node_inspector',
                                       start_parameter_services=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._state = LiveState(False)
        self._payloads: Any = self._node.create_client(ListPayloads, f'{self.name}/list_payloads')
        self._next_request = 0.0
        self._model = WatchedModel(self._node, self.name)
        self._floating = WatchedBase(self._node, self._namespace, NEWEST)
        self._subscribe(String, f'{self._namespace}/robot_description', self._on_description,
                        LATCHED)
        self._joints_topic, self._several = f'{self._namespace}/joint_states', False
        self._joints = self._subscribe(JointState, self._joints_topic, self._on_joints, NEWEST)
        self._subscribe(TorqueState, f'{self.name}/state', self._on_state, NEWEST)
        self._subscribe(JointState, f'{self.name}/external_torque', self._on_external, NEWEST)
        self._subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, STATUSES)
        self._subscribe(ContactStamped, f'{self.name}/contact', self._on_contact, LATCHED)
        for kind, topic in WRENCHES.items():
            self._subscribe(WrenchStamped, f'{self.name}/{topic}',
                            lambda message, kind=kind: self._on_wrench(kind, message), NEWEST)

    def _subscribe(self, kind: type, topic: str, callback: Callable, qos: QoSProfile) -> Any:
        return self._node.create_subscription(kind, topic, callback, qos)

    def read(self) -> LiveState:
        """Take the newest messages and return what is known."""
        self._request_payloads()
        self._model.request()
        self._take_joints()
        for _ in range(ENTITIES):
            self._executor.spin_once(timeout_sec=0.0)
        if self._model.model is not None:   # after the callbacks, which may have changed it
            self._floating.follow(self._model.model.robot.model, self._model.parameters)
        exists = any((name, space.rstrip('/')) == (self._base, self._namespace)
                     for name, space in self._node.get_node_names_and_namespaces())
        self._state = self._state._replace(
            node_exists=exists, model=self._model.model, refusal=self._model.refusal,
            base=self._floating.state(), gains=self._gains())
        return self._state

    def _gains(self) -> dict[str, dict[str, float]]:
        """Return the gains in use, {name: {joint: value}}; empty until they are known."""
        model, p = self._model.model, self._model.parameters
        if model is None or p is None:
            return {}
        names = model.robot.dof_names
        return {gain: dict(zip(names, getattr(p.torque, gain).each(names).tolist()))
                for gain in GAINS[p.torque.gains]}

    def _link(self, frame: str) -> str:
        """Return the name of a link without the prefix of the node's frames."""
        p = self._model.parameters
        return frame if p is None else frame.removeprefix(p.node.frame_prefix)

    def _take_joints(self) -> None:
        """Take all joint states that wait, if they have had several publishers."""
        if not self._several and self._node.count_publishers(self._joints_topic) > 1:
            self._several = True
            self._node.destroy_subscription(self._joints)
            self._joints = self._subscribe(JointState, self._joints_topic, self._on_joints, ALL)
        if self._several:
            for data, _ in take_waiting(self._joints, JointState, WAITING):
                self._on_joints(deserialize_message(data, JointState))

    def _request_payloads(self) -> None:
        """Ask for the payloads if it is time; the answer is taken by a later read."""
        if time.monotonic() > self._next_request and self._payloads.service_is_ready():
            self._next_request = time.monotonic() + PAYLOADS_EVERY
            self._payloads.call_async(ListPayloads.Request()).add_done_callback(self._on_payloads)

    def close(self) -> None:
        """End the subscriptions."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    # Messages --------------------------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        self._model.describe(message.data)

    def _on_joints(self, message: JointState) -> None:
        """Merge positions, velocities and efforts: several publishers may have a part each."""
        old, names = self._state, message.name
        self._state = old._replace(
            position=_merged(names, message.position, old.position),
            velocity=_merged(names, message.velocity, old.velocity),
            effort=_merged(names, message.effort, old.effort))

    def _on_payloads(self, future: Any) -> None:
        reply = future.result()
        if not reply.success:
            return
        loads = {}
        for name, frame, payload in zip(reply.names, reply.frames, reply.payloads):
            mass, com, inertia = convert.inertia(payload)
            loads[name] = Payload(self._link(frame), mass, tuple(com.tolist()),
                                  tuple(map(tuple, inertia.tolist())))
        if all(share == 1.0 for share in reply.fraction):
            self._model.carry(loads)
        shares = dict(zip(reply.names, reply.fraction))
        self._state = self._state._replace(payloads={
            name: scaled(load, shares[name]) for name, load in loads.items()})

    def _on_state(self, message: TorqueState) -> None:
        names = message.joint_names
        self._state = self._state._replace(
            wanted=_if_complete(names, message.wanted),
            released=_if_complete(names, message.released),
            reference=_if_complete(names, message.reference.positions),
            acceleration=_if_complete(names, message.reference.accelerations),
            error=_if_complete(names, message.error.positions),
            gate=message.gate, mode=message.mode, fault=message.fault,
            last_refusal=message.last_refusal)

    def _on_external(self, message: JointState) -> None:
        self._state = self._state._replace(external=_if_complete(message.name, message.effort))

    def _on_contact(self, message: ContactStamped) -> None:
        self._state = self._state._replace(
            contact_joints=tuple(message.joint_names) if message.contact else ())

    def _on_wrench(self, kind: str, message: WrenchStamped) -> None:
        wrench = LiveWrench(self._link(message.header.frame_id), convert.xyz(message.wrench.force),
                            convert.xyz(message.wrench.torque), time.monotonic())
        self._state = self._state._replace(wrenches={**self._state.wrenches, kind: wrench})

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            name, _, part = status.name.partition(': ')
            if name != self.name:
                continue
            values = {each.key: each.value for each in status.values}
            if part == 'contact':
                off = status.message.startswith('off')   # the observer is not configured
                self._state = self._state._replace(
                    contact='' if off else status.message.capitalize())
            elif part == 'torque':
                gate, _, reason = status.message.partition(': ')
                self._state = self._state._replace(
                    gate=gate, mode=values.get('mode', ''), fault=reason if gate == 'fault' else '')
            elif not part:
                bad = status.level != b'\0'
                self._state = self._state._replace(
                    health=status.message if bad else '', rate=values.get('joint states [Hz]', ''))


def named(names: Sequence[str], numbers: Sequence[float],
          old: NamedValues | None = None) -> NamedValues:
    """Return numbers that have just arrived, with those of other joints that arrived before."""
    values, arrived = dict(zip(names, numbers)), dict.fromkeys(names, time.monotonic())
    return NamedValues(values, arrived) if old is None else NamedValues(
        {**old.values, **values}, {**old.arrived, **arrived})


def _merged(names: Sequence[str], numbers: Sequence[float],
            old: NamedValues | None) -> NamedValues | None:
    return named(names, numbers, old) if names and len(names) == len(numbers) else old


def _if_complete(names: Sequence[str], numbers: Sequence[float]) -> NamedValues | None:
    return named(names, numbers) if len(names) == len(numbers) else None
