"""Call services and topics of a node in another process."""

import threading
import time
from typing import NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from dynamics_node import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.services.table import SERVICES

PATIENCE = 60.0  # [s] a deadline for a loaded machine, not a measurement
POLL = 0.005     # [s] between two looks at a condition
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=10)
CROWD = QoSProfile(depth=1000)  # of clients: each one's queue takes the replies to all the others
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


def wait_until(condition, what, patience=PATIENCE):
    """Return the first true value of condition(), or fail when the deadline has passed."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < deadline, f'still waiting for {what} after {patience} s'
        time.sleep(POLL)
    return value


class RemoteNode:
    """A dynamics node in another process, seen from a client node in this one.

    :ivar process: see conftest.start_node.
    :ivar name: of the node, with its namespace.
    :ivar heard: every DiagnosticStatus of the node so far.
    """

    def __init__(self, client, process, namespace=''):
        self.client, self.process = client, process
        self.namespace, self.name = namespace, f'{namespace}/dynamics_node'
        self._clients, self._publishers = {}, {}
        self.heard = []
        client.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    # Services --------------------------------------------------------------------------------

    def call(self, service, **fields):
        """Return the reply of one of the node's own services."""
        kind = SERVICES[service].kind
        return self.ask(kind, service, kind.Request(**fields))

    def ask(self, kind, service, request):
        """Return the reply of any service of the node."""
        return self.reply(self.ready(kind, service).call_async(request), service)

    def reply(self, future, what='a reply'):
        """Return the result of a future, or fail when the node has died."""
        arrived = threading.Event()
        future.add_done_callback(lambda _: arrived.set())
        wait_until(lambda: arrived.wait(1.0) or self.assert_alive(), what)
        return future.result()

    def spun(self, call):
        """Return call(), run by the thread that spins the client.

        rclpy's ActionClient notes a request after it was sent: called in another thread, it drops
        a response that arrives in between.
        """
        return self.reply(self.client.executor.create_task(call), 'a request')

    def ready(self, kind, service):
        """Return a client whose service is there."""
        if service not in self._clients:
            self._clients[service] = self.new_client(kind, service)
        found = self._clients[service]
        wait_until(lambda: found.service_is_ready() or self.assert_alive(), service)
        return found

    def set_parameters(self, changes):
        """Set parameters, {name: value}, all or none; return why not, '' if they were taken."""
        reply = self.ask(SetParametersAtomically, 'set_parameters_atomically',
                         SetParametersAtomically.Request(parameters=[
                             Parameter(name, value=value).to_parameter_msg()
                             for name, value in changes.items()]))
        assert reply.result.successful != bool(reply.result.reason)
        return reply.result.reason

    def new_client(self, kind, service):
        """Return one more client of a service."""
        return self.client.create_client(kind, f'{self.name}/{service}', qos_profile=CROWD)

    def assert_alive(self):
        """Fail, with the log, if the process has ended."""
        assert self.process.poll() is None, self.process.log()

    # Topics ----------------------------------------------------------------------------------

    def publisher(self, kind, topic, qos=RELIABLE):
        """Return a publisher; always the same one for the same arguments."""
        key = kind, topic, qos.reliability
        if key not in self._publishers:
            name = topic if topic.startswith('/') else f'{self.namespace}/{topic}'
            self._publishers[key] = self.client.create_publisher(kind, name, qos)
        return self._publishers[key]

    def describe(self, text):
        """Publish a robot description, latched for late subscribers."""
        self.publisher(String, 'robot_description', LATCHED).publish(String(data=text))

    def measure(self, robot, stamp, names, q, v=(), effort=(), qos=BEST_EFFORT):
        """Publish a joint state until the node has it; the stamp is in ns."""
        ours = [name for name in names if name in robot.joint_names]
        self.publish_until(lambda: self.stamp_of(robot, ours) == stamp,
                           joint_state(stamp, names, q, v, effort), qos=qos)

    def publish(self, *messages, topic='joint_states', qos=BEST_EFFORT):
        """Publish messages once: they may get lost."""
        for message in messages:
            self.publisher(type(message), topic, qos).publish(message)

    def publish_until(self, condition, *messages, topic='joint_states', qos=BEST_EFFORT):
        """Publish messages repeatedly: best effort may lose them, or discovery be incomplete."""
        def seen():
            self.publish(*messages, topic=topic, qos=qos)
            return condition()
        wait_until(seen, f'what {topic} should have brought')

    def stamp_of(self, robot, joints):
        """Return the stamp of the oldest measurement among some joints [ns], None: never."""
        others = [name for name in robot.joint_names if name not in joints]
        zeros = [0.0] * len(others)
        reply = self.call('inverse_dynamics', joint_names=others, position=zeros, velocity=zeros)
        return convert.nanoseconds(reply.state_stamp) if reply.success else None

    def wait_for_diagnostics(self, condition, what, meanwhile=lambda: None, since=None):
        """Return the first DiagnosticStatus of this node that meets the condition.

        :param meanwhile: a function to call again and again.
        :param since: an earlier len(self.heard); None: from now on.
        """
        begin = len(self.heard) if since is None else since

        def found():
            meanwhile()
            return next((status for status in self.heard[begin:] if condition(status)), None)
        return wait_until(found, f'diagnostics that say {what}')

    def _on_diagnostics(self, array):
        self.heard += [status for status in array.status if status.name == self.name]


class Served(NamedTuple):
    """A robot here, the same in a node there, and the state that the node has measured."""

    node: RemoteNode
    robot: Robot
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    stamp: int   # [ns]

    @classmethod
    def by(cls, node, robot, seed):
        """Tell the node a random state, in another order of joints than the model's."""
        rng, n = np.random.default_rng(seed), robot.nv
        q, v, tau = robot.random_configuration(rng), rng.normal(size=n), rng.normal(size=n)
        order, stamp = rng.permutation(n), time.time_ns()
        node.measure(robot, stamp, [robot.joint_names[k] for k in order], q[order], v[order],
                     tau[order])
        return cls(node, robot, q, v, tau, stamp)


def joint_state(stamp, names, q=(), v=(), effort=()):
    """Return a JointState message; the stamp is in ns."""
    message = JointState(name=list(names), position=floats(q), velocity=floats(v),
                         effort=floats(effort))
    message.header.stamp = convert.time(stamp)
    return message


def stamped_wrench(frame, F):
    """Return a WrenchStamped message of (force, torque), (6,)."""
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force, message.wrench.torque = convert.vector3(F[:3]), convert.vector3(F[3:])
    return message


def floats(x):
    return np.asarray(x, dtype=float).tolist()


def assert_close(actual, expected, tolerance):
    """Compare numbers, relative to the largest of them, at least to 1."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.size == expected.size
    error = np.abs(actual.ravel() - expected.ravel())
    assert error.max(initial=0.0) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0))
