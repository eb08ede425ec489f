"""Watch a dynamics node in another process: newest messages only, read when they are asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.live_state import LiveState, NamedValues
from dynamics_node.msg import TorqueState
from dynamics_node.ros import convert
from dynamics_node.ros.client import DynamicsClient
from dynamics_node.ros.rclpy_internals import take_waiting
from dynamics_node.ros.topic_qos import LATCHED
from dynamics_node.srv import ListPayloads

# Depth 1: messages that arrive between two reads are dropped without cost for this process.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT,
                    durability=DurabilityPolicy.VOLATILE)
# Of several publishers, a slow one would be dropped for a fast one: all messages are read.
WAITING = 300    # joint states between two reads: three publishers at 1 kHz
ALL = QoSProfile(depth=WAITING, reliability=ReliabilityPolicy.BEST_EFFORT,
                 durability=DurabilityPolicy.VOLATILE)
STATUSES = QoSProfile(depth=10)
TIMEOUT = 10.0   # [s] of a request
CLOSING = 1.0    # [s] to wait at the end for a request that is carried out
ENTITIES = 6     # subscriptions and clients of a WatchedNode: callbacks of one read
PAYLOADS_EVERY = 1.0   # [s] between two requests for the payloads


class WatchedNode:
    """Subscriptions to what a node publishes; requests to it are separate."""

    def __init__(self, name: str) -> None:
        """Subscribe.

        :param name: of the dynamics node, with its namespace.
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
        self._subscribe(String, f'{self._namespace}/robot_description', self._on_description,
                        LATCHED)
        self._joints_topic, self._several = f'{self._namespace}/joint_states', False
        self._joints = self._subscribe(JointState, self._joints_topic, self._on_joints, NEWEST)
        self._subscribe(TorqueState, f'{self.name}/state', self._on_state, NEWEST)
        self._subscribe(JointState, f'{self.name}/external_torque', self._on_external, NEWEST)
        self._subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, STATUSES)

    def _subscribe(self, kind: type, topic: str, callback: Callable, qos: QoSProfile) -> Any:
        return self._node.create_subscription(kind, topic, callback, qos)

    def read(self) -> LiveState:
        """Take the newest messages and return what is known."""
        self._request_payloads()
        self._take_joints()
        for _ in range(ENTITIES):
            self._executor.spin_once(timeout_sec=0.0)
        exists = any((name, space.rstrip('/')) == (self._base, self._namespace)
                     for name, space in self._node.get_node_names_and_namespaces())
        self._state = self._state._replace(node_exists=exists)
        return self._state

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
        self._state = self._state._replace(description=message.data)

    def _on_joints(self, message: JointState) -> None:
        """Merge positions, velocities and efforts: several publishers may have a part each."""
        old, names = self._state, message.name
        self._state = old._replace(
            position=_merged(names, message.position, old.position),
            velocity=_merged(names, message.velocity, old.velocity),
            effort=_merged(names, message.effort, old.effort))

    def _on_payloads(self, future: Any) -> None:
        reply = future.result()
        if reply.success:
            self._state = self._state._replace(payloads={
                name: (frame, *convert.inertia(payload)) for name, frame, payload in
                zip(reply.names, reply.frames, reply.payloads)})

    def _on_state(self, message: TorqueState) -> None:
        names = message.joint_names
        self._state = self._state._replace(
            wanted=_if_complete(names, message.wanted),
            released=_if_complete(names, message.released),
            reference=_if_complete(names, message.reference.positions),
            acceleration=_if_complete(names, message.reference.accelerations),
            error=_if_complete(names, message.error.positions),
            gate=message.gate, mode=message.mode, fault=message.fault)

    def _on_external(self, message: JointState) -> None:
        self._state = self._state._replace(external=_if_complete(message.name, message.effort))

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


class ControlRequests:
    """Requests to a node, from ROS nodes of their own, so that they can be awaited.

    They may come from several threads: those that enable or disable torques are carried out one
    after the other, those for payloads too, but neither wait for the other. A WatchedNode must
    exist, which has initialised rclpy.
    """

    def __init__(self, name: str) -> None:
        """Prepare requests to the node of this name."""
        self._torques, self._loads = _RequestNode('enable'), _RequestNode('payloads')
        self._client = DynamicsClient(self._loads.node, name, TIMEOUT)
        self._enable = self._torques.node.create_client(SetBool, f'{name}/enable')

    def enable(self, on: bool) -> str:
        """Enable or disable torques; return the answer in words."""
        return self._torques.answer(lambda: self._enabled(on))

    def _enabled(self, on: bool) -> str:
        if not self._enable.wait_for_service(TIMEOUT):
            return f'no service {self._enable.srv_name}: is the node running?'
        future: Any = self._enable.call_async(SetBool.Request(data=on))
        executor = SingleThreadedExecutor()
        executor.add_node(self._torques.node)
        try:
            executor.spin_until_future_complete(future, TIMEOUT)
        finally:
            executor.remove_node(self._torques.node)
            executor.shutdown()
        if not future.done():
            return f'no answer within {TIMEOUT:g} s'
        reply = future.result()
        done = 'enabled' if on else 'disabled'
        return f'torques are {done}. {reply.message}' if reply.success else (
            f'refused: {reply.message}')

    def attach(self, name: str, frame: str, mass: float) -> str:
        """Attach a payload, or replace it; return the answer in words."""
        return self._words(lambda: self._client.set_payload(name, frame, mass, transition=1.0),
                           f'{mass:g} kg at {frame} within 1 s')

    def detach(self, name: str) -> str:
        """Remove a payload; return the answer in words."""
        return self._words(lambda: self._client.remove_payload(name, transition=1.0),
                           'the payload is removed within 1 s')

    def _words(self, request: Callable[[], object], done: str) -> str:
        def answer() -> str:
            try:
                request()
            except (DynamicsError, TimeoutError) as error:
                return f'refused: {error}'
            return done
        return self._loads.answer(answer)

    def close(self) -> None:
        """End the clients; later requests are refused."""
        self._torques.close()
        self._loads.close()


class _RequestNode:
    """A ROS node that one thread uses at a time."""

    def __init__(self, purpose: str) -> None:
        self.node: Node = rclpy.create_node(f'dynamics_node_inspector_{purpose}',
                                            start_parameter_services=False)
        self._lock, self._closed = threading.Lock(), False

    def answer(self, request: Callable[[], str]) -> str:
        """Return the answer to a request, which is carried out after those before."""
        with self._lock:
            return 'refused: the inspector ends' if self._closed else request()

    def close(self) -> None:
        """Refuse later requests; one that takes long keeps its node until the process ends."""
        self._closed = True
        if self._lock.acquire(timeout=CLOSING):
            self.node.destroy_node()
            self._lock.release()


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
