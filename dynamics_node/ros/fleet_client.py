"""Find the dynamics nodes of a fleet in the ROS graph, and call all of them at once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rclpy.node import Node

from dynamics_node.checks import choice
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.client import DynamicsClient
from dynamics_node.ros.client_calls import Reply, wait_for
from dynamics_node.ros.services.table import SERVICES

SERVICE, SERVICE_TYPE = '/inverse_dynamics', 'dynamics_node/srv/InverseDynamics'
POLL = 0.02   # [s] between two looks at the graph
# Methods of DynamicsClient whose service has another name.
OTHER_SERVICE = {'remove_payload': 'set_payload'}
METHODS = sorted([*OTHER_SERVICE, *(name for name in SERVICES if hasattr(DynamicsClient, name))])


def find_robots(node: Node, timeout: float = 0.0, at_least: int = 1) -> list[str]:
    """Return the names of all dynamics nodes in the ROS graph, with their namespaces, sorted.

    :param node: any node; it knows the other nodes some time after it was created.
    :param timeout: greatest time to wait until `at_least` dynamics nodes are found [s].
    """
    deadline = time.monotonic() + timeout
    while True:
        names = sorted(name.removesuffix(SERVICE)
                       for name, types in node.get_service_names_and_types()
                       if name.endswith(SERVICE) and SERVICE_TYPE in types)
        if len(names) >= at_least or time.monotonic() >= deadline:
            return names
        time.sleep(POLL)


class FleetReplies(NamedTuple):
    """The replies of the robots of a fleet.

    :ivar replies: {name of the node: its reply}, as DynamicsClient returns it.
    :ivar errors: {name of the node: DynamicsError with its refusal, or TimeoutError}.
    """

    replies: dict[str, Reply]
    errors: dict[str, Exception]


class FleetClient:
    """The dynamics nodes of a fleet, called at once: a call takes as long as the slowest reply.

    A robot that refuses or does not reply is in `errors` of the result; the others are not
    affected.
    """

    def __init__(self, node: Node, names: Sequence[str] | None = None, timeout: float = 10.0,
                 discovery: float = 2.0) -> None:
        """Prepare calls from a node.

        :param names: dynamics nodes, with their namespaces; None: at each call, all that
            the ROS graph has.
        :param timeout: greatest time until all replies have arrived [s].
        :param discovery: part of the timeout in which the service of a node must be found [s].
        """
        self._node, self._names = node, names
        self._timeout, self._discovery = timeout, min(discovery, timeout)
        self._robots: dict[str, DynamicsClient] = {}

    @property
    def names(self) -> list[str]:
        """The names of the dynamics nodes: those given, or those in the ROS graph now."""
        return find_robots(self._node) if self._names is None else list(self._names)

    def robot(self, name: str) -> DynamicsClient:
        """Return the client of one robot."""
        if name not in self._robots:
            self._robots[name] = DynamicsClient(self._node, name, self._timeout)
        return self._robots[name]

    def call(self, method: str, *arguments: Any,
             each: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> FleetReplies:
        """Call a method of DynamicsClient for all robots at once, and wait for the replies.

        :param method: its name, such as 'inverse_dynamics'.
        :param arguments: arguments of the method, the same for all robots; `options` also.
        :param each: {name of a node: {argument: value}}, what differs between robots. Only these
            robots are called.
        :raise DynamicsError: there is no such method, or no robot.
        """
        choice('method', method, METHODS)
        service = OTHER_SERVICE.get(method, method)
        own = {name: {} for name in self.names} if each is None else each
        if not own:
            raise DynamicsError('no dynamics node is in the ROS graph: are the nodes running, in '
                                'this domain (ROS_DOMAIN_ID)? With a discovery server, this '
                                'process needs ROS_SUPER_CLIENT=TRUE to see all nodes')
        deadline = time.monotonic() + self._timeout
        sent: dict[str, Any] = {}
        while waiting := [name for name in own if name not in sent]:
            for name in waiting:
                if self.robot(name).is_ready(service):
                    sent[name] = getattr(self.robot(name), method)(
                        *arguments, **{**options, **own[name]}, wait=False)
            if time.monotonic() > deadline - self._timeout + self._discovery:
                break
            if len(sent) < len(own):
                time.sleep(POLL)
        wait_for(self._node, list(sent.values()), deadline)
        return self._sorted_out(own, service, sent)

    def _sorted_out(self, names: Mapping[str, Any], service: str,
                    sent: Mapping[str, Any]) -> FleetReplies:
        """Return the replies and the errors."""
        found = FleetReplies({}, {})
        for name in names:
            if name not in sent:
                found.errors[name] = TimeoutError(
                    f"no service '{name}/{service}' after {self._discovery:g} s: is the "
                    'node running and configured?')
            elif not sent[name].done():
                found.errors[name] = TimeoutError(
                    f"'{name}/{service}' did not reply within {self._timeout:g} s")
            elif (error := sent[name].exception()) is not None:
                found.errors[name] = error
            else:
                found.replies[name] = sent[name].result()
        return found
