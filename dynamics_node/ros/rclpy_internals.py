"""Use the parts of rclpy that are not public API; no other module does.

Tested with rclpy 7.1 (ROS 2 Jazzy) and 9.1 (Kilted); `test/ros/test_rclpy_internals.py` fails
where an attribute is missing or behaves differently. rclpy has no public way to do this:

* `Service.send_response`, wrapped: otherwise a reply that cannot be encoded raises an exception in
  the executor and ends the node; and a reply that needs seconds could not be sent later.
* `LifecycleNode._service_change_state.callback`, wrapped: rclpy raises RCLError for a transition
  that is invalid in the current state, which ends the node (Jazzy; Kilted replies).
* `Subscription.handle.take_message`: reads a message without an executor that wakes for each one.
* `Publisher.handle.publish_raw`: sends the bytes of a torque without the checks of `publish`.
* `Subscription._callback_type`, `CallbackType`: EventsExecutor fails where rclpy finds that a
  callback takes the information about a message.
* `_declare_qos_parameters`: the parameters of a subscription that another process makes.
* `callback` and `send_response` of a destroyed entity: the events executor calls back for events
  that it queued before the entity was destroyed.
* `Node._parameter_overrides`: the parameters given at start whose names are not known before.
* The memory of a request's header: rclpy does not pass on the GUID of the client.
* `rclpy_logging_rcutils_log`, which all methods of its loggers call: they search the source file of
  their caller, which at the first line costs about 0.05 s of CPU time.
* `ActionServer.execute`, `notify_execute` and `_send_result_response`: rclpy runs a goal in the
  thread of the executor, and an exception while sending ends the node.
"""

from __future__ import annotations

import os
import struct
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import copy
from types import SimpleNamespace
from typing import Any

from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError, rclpy_logging_rcutils_log
from rclpy.action import ActionServer
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions, _declare_qos_parameters
from rclpy.service import Service
from rclpy.subscription import Subscription

from dynamics_node.ros.code_line import CodeLine

__all__ = ('RCLError', 'UnknownROSArgsError', 'BackgroundActionServer', 'client_of',
           'declare_qos_parameters', 'log_line', 'parameter_overrides', 'receive_info', 'silence',
           'send_bytes', 'take_waiting', 'tolerate_invalid_transitions', 'wrap_send_response')

POINTER = struct.Struct('P')
REQUEST_ID = struct.Struct('16sq')   # rmw_request_id_t: GUID of the client, number of the request
UNKNOWN_CLIENT = b''


def wrap_send_response(service: Service, wrap: Callable[[Callable], Callable]) -> None:
    """Replace send_response(response, header) of a service by wrap(send_response)."""
    service.send_response = wrap(service.send_response)


def client_of(header: Any) -> bytes:
    """Return the GUID of the client that has sent a request; UNKNOWN_CLIENT if it is not found.

    The Python object of the header begins with a pointer to rmw_request_id_t, as pybind11 arranges
    it. The number of the request, which rclpy passes on, proves that the memory is that structure.
    It is read as a file: an address that is not valid gives an error, not a crash.
    """
    request_id = getattr(header, 'request_id', header)
    with suppress(OSError, OverflowError, struct.error, AttributeError):
        memory = os.open('/proc/self/mem', os.O_RDONLY | os.O_CLOEXEC)
        try:
            (address,) = POINTER.unpack(
                os.pread(memory, POINTER.size, id(request_id) + object.__basicsize__))
            guid, number = REQUEST_ID.unpack(os.pread(memory, REQUEST_ID.size, address))
        finally:
            os.close(memory)
        if number == request_id.sequence_number:
            return guid
    return UNKNOWN_CLIENT


def tolerate_invalid_transitions(node: LifecycleNode, warn: Callable[[str], None]) -> None:
    """Reply success: false to a request for an invalid lifecycle transition."""
    service = node._service_change_state
    change_state = service.callback

    def callback(request: Any, response: Any) -> Any:
        try:
            return change_state(request, response)
        except RCLError as error:
            warn(f'the transition is not valid in this state: {error}')
            response.success = False
            return response
    service.callback = callback


def receive_info(subscription: Subscription) -> None:
    """Let a subscription call callback(message, info), or callback((message, info)).

    The latter is what EventsExecutor does; it fails for a callback of two parameters. Give one with
    any number of parameters. EventsExecutor reads two entries of an Enum for each message; here it
    finds plain attributes, which is faster.
    """
    kinds = Subscription.CallbackType
    subscription._callback_type = SimpleNamespace(value=kinds.WithMessageInfo.value)
    subscription.CallbackType = SimpleNamespace(
        MessageOnly=SimpleNamespace(value=kinds.MessageOnly.value))


def take_waiting(subscription: Subscription, kind: type,
                 limit: int) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield (bytes, info) of up to `limit` messages in the queue."""
    handle = subscription.handle
    with handle:
        for _ in range(limit):
            found = handle.take_message(kind, True)
            if found is None:
                return
            yield found


def send_bytes(publisher: Publisher) -> Callable[[bytes], None]:
    """Return a function that publishes serialised messages; RCLError once it is destroyed."""
    send: Callable[[bytes], None] = publisher.handle.publish_raw
    return send


def declare_qos_parameters(kind: Any, node: Node, topic: str, qos: QoSProfile) -> None:
    """Declare the parameters qos_overrides.<topic>.*, as creating the entity does.

    :param kind: Publisher or Subscription.
    """
    _declare_qos_parameters(kind, node, node.resolve_topic_name(topic), copy(qos),
                            QoSOverridingOptions.with_default_policies())


def parameter_overrides(node: Node) -> dict[str, Any]:
    """Return {name: value} of the parameters that files and the command line give the node."""
    return {name: parameter.value for name, parameter in node._parameter_overrides.items()}


def silence(entity: Any) -> None:
    """Remove the callback of a timer, subscription or service; it sends nothing from now on."""
    for name in ('callback', 'send_response'):
        if hasattr(entity, name):
            setattr(entity, name, _nothing)


def _nothing(*_: Any) -> None:
    pass


def log_line(logger: RcutilsLogger, severity: int, text: str, source: CodeLine) -> None:
    """Log a text as a line of code would."""
    if logger.is_enabled_for(severity):
        rclpy_logging_rcutils_log(severity, logger.name, text, source.function, source.file,
                                  source.line)


class BackgroundActionServer(ActionServer):
    """An action server whose goals run outside the executor and end with `finish`."""

    def __init__(self, node: Any, kind: Any, name: str, *arguments: Any,
                 log_error: Callable[[str], None], **options: Any) -> None:
        """Create the server; log_error(text) logs failures."""
        self._destroyed, self._log_error, self._name = False, log_error, name
        super().__init__(node, kind, name, *arguments, **options)

    def notify_execute(self, goal_handle: Any, execute_callback: Callable | None) -> None:
        """Run nothing when a goal begins: it has no execute_callback."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def finish(self, goal_handle: Any, end: Callable[[], None], result: Any) -> None:
        """End a goal: call end(), which is succeed, abort or canceled of its handle."""
        def ended(_: Any) -> Any:
            end()
            return result
        super().notify_execute(goal_handle, ended)

    async def execute(self, taken_data: Any) -> None:
        """Process requests for goals, cancellations and results; none after `destroy`."""
        if self._destroyed:
            return
        try:
            await super().execute(taken_data)
        except Exception:
            self._log_error(f'{self._name} could not reply:\n{traceback.format_exc()}')

    def _send_result_response(self, request_header: Any, future: Any) -> None:
        try:
            super()._send_result_response(request_header, future)
        except Exception:  # for instance the client has ended
            if not self._destroyed:
                self._log_error(f'a result could not be sent:\n{traceback.format_exc()}')

    def destroy(self) -> None:
        """Process nothing from now on, even requests in the queue of the executor."""
        self._destroyed = True
        super().destroy()
