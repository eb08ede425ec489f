"""Serve long requests in worker processes, and send their replies; refuse those beyond limits.

Everything here runs in the thread of the executor. A timer checks the durations while requests run.
"""

from __future__ import annotations

import time
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.service import Service

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.defer_replies import Send, defer_replies
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.long_requests.durations import LONG, duration_of
from dynamics_node.ros.long_requests.request_job import request_job
from dynamics_node.ros.long_requests.request_pool import RequestPool
from dynamics_node.ros.long_requests.request_worker import RequestWorker
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.service import ServiceParameters
from dynamics_node.ros.services.request_size import request_bytes
from dynamics_node.ros.services.runner import Handler, ServiceRunner
from dynamics_node.ros.services.table import SERVICES

NEVER = Time()   # no joint state was used
POLL = 0.1   # [s] between two checks of durations


class LongRequests:
    """Serve short requests at once, long ones by the pool.

    :ivar pool: RequestPool.
    """

    def __init__(self, node: Node, node_state: NodeState, runner: ServiceRunner,
                 limits: ServiceParameters) -> None:
        """Start no worker yet."""
        self._node, self._node_state, self._runner = node, node_state, runner
        self.pool = RequestPool(lambda: RequestWorker(self._wake), limits)
        self._timer = node.create_timer(POLL, self._poll, autostart=False,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.entities = [(node.destroy_timer, self._timer), (LongRequests.close, self)]

    def handler(self, service: str) -> Handler:
        """Return the handler of a service, with limits; it defers the replies of long requests."""
        _, handler, estimate = SERVICES[service]
        if estimate is None:
            return handler

        def serve(node_state: NodeState, request: Any, response: Any) -> Any:
            states, seconds = duration_of(estimate, node_state, request)
            node_state.caps.check('service.max_states', states, 'states')
            self.pool.check(seconds)
            if seconds < LONG:
                return handler(node_state, request, response)
            job = request_job(node_state, service, request, time.monotonic())
            return DeferredReply(response, job, self._aged)
        serve.__name__ = handler.__name__
        return serve

    def defer(self, service: Service) -> None:
        """Let a service defer its replies."""
        defer_replies(service, self._begin)

    def abort(self, reason: str) -> None:
        """Refuse all requests that wait or run, with the reason."""
        self.pool.abort(reason)

    def close(self) -> None:
        """Refuse all requests that wait or run; end the workers."""
        self.pool.close('the node was cleaned up, or has ended')

    def _begin(self, deferred: DeferredReply, client: bytes, send: Send) -> None:
        def end(message: WorkerMessage) -> None:
            send(self._runner.finish(deferred, message))
        try:
            self.pool.submit(client, deferred.job, end, request_bytes(deferred.job.request))
            self._timer.reset()
        except DynamicsError as error:
            end(WorkerMessage('refused', (str(error),)))

    def _aged(self, response: Any) -> Any:
        """Return a response with the age of the measured state at the time of the reply."""
        stamp = getattr(response, 'state_stamp', NEVER)
        if stamp != NEVER:
            response.state_age = self._node_state.age_limit.age(convert.nanoseconds(stamp))
        return response

    def _wake(self) -> None:
        """Let the executor read the messages; called in another thread."""
        if self._node.executor is not None:
            self._node.executor.create_task(self.pool.poll)

    def _poll(self) -> None:
        self.pool.poll()
        if not self.pool.running:
            self._timer.cancel()
