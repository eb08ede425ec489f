"""Send requests of the inspector to a node: torques on and off, payloads, gains, a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.srv import SetParametersAtomically
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.ros.client import DynamicsClient
from dynamics_node.ros.request_node import RequestNode
from dynamics_node.ros.send_reference import trajectory_of

TIMEOUT = 10.0   # [s] of a request


class ControlRequests:
    """Requests to a node, from ROS nodes of their own, so that they can be awaited.

    They may come from several threads. Requests that enable or disable torques wait for each other,
    but not for other requests; other requests wait for each other. Create a WatchedNode first: it
    initialises rclpy.
    """

    def __init__(self, name: str) -> None:
        """Prepare requests to the node of this name."""
        self._torques, self._loads = RequestNode('enable'), RequestNode('settings')
        self._client = DynamicsClient(self._loads.node, name, TIMEOUT)
        self._enable = self._torques.node.create_client(SetBool, f'{name}/enable')
        self._parameters = self._loads.node.create_client(
            SetParametersAtomically, f'{name}/set_parameters_atomically')
        self._reference = self._loads.node.create_publisher(JointTrajectory, f'{name}/reference',
                                                            1)

    def enable(self, on: bool) -> str:
        """Enable or disable torques; return the answer in words."""
        return self._torques.answer(lambda: self._enabled(on))

    def _enabled(self, on: bool) -> str:
        reply = _reply(self._torques, self._enable, SetBool.Request(data=on))
        if isinstance(reply, str):
            return reply
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

    def set_gains(self, gain: str, values: dict[str, float]) -> str:
        """Set a gain of some joints, all or none of them; return the answer in words.

        :param gain: parameter below torque., such as kp.
        :param values: {joint: value}.
        """
        return self._loads.answer(lambda: self._set(gain, values))

    def _set(self, gain: str, values: dict[str, float]) -> str:
        reply = _reply(self._loads, self._parameters, SetParametersAtomically.Request(parameters=[
            Parameter(f'torque.{gain}.{joint}', value=float(value)).to_parameter_msg()
            for joint, value in values.items()]))
        if isinstance(reply, str):
            return reply
        return f'{gain} of {", ".join(values)} is {next(iter(values.values())):g}' if (
            reply.result.successful) else f'refused: {reply.result.reason}'

    def follow(self, points: TimedPoints) -> str:
        """Send a trajectory that starts now; return the answer in words."""
        return self._loads.answer(lambda: self._sent(lambda: trajectory_of(points)) or (
            f'{len(points.times)} points over {points.times[-1]:g} s were sent. If the node '
            'refuses them, the reason appears above'))

    def stop(self) -> str:
        """Stop all joints, and hold them where they stop; return the answer in words."""
        # A trajectory without points means this.
        return self._loads.answer(lambda: self._sent(JointTrajectory) or 'the joints are stopped')

    def _sent(self, trajectory: Callable[[], JointTrajectory]) -> str:
        """Send a reference; return why it was not received, '' if it was."""
        if not self._reference.get_subscription_count():
            return f'refused: no node subscribes to {self._reference.topic_name}'
        self._reference.publish(trajectory())
        if not self._reference.wait_for_all_acked(Duration(seconds=TIMEOUT)):
            return f'no answer: {self._reference.topic_name} was not received'
        return ''

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


def _reply(requests: RequestNode, client: Any, request: Any) -> Any:
    """Return the reply to a request, or in words why there is none."""
    if not client.wait_for_service(TIMEOUT):
        return f'no service {client.srv_name}: is the node running?'
    future = client.call_async(request)
    if not requests.spin_until(future, TIMEOUT):
        return f'no answer within {TIMEOUT:g} s'
    return future.result()
