"""Let a service send its reply later, when another process has computed it."""

from collections.abc import Callable
from typing import Any, TypeAlias

from rclpy.service import Service

from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.rclpy_internals import client_of, wrap_send_response

Send: TypeAlias = Callable[[Any], None]   # sends a response


def defer_replies(service: Service, begin: Callable[[DeferredReply, bytes, Send], None]) -> None:
    """Call begin(deferred, client, send) where the handler of a service returns a DeferredReply.

    :param begin: starts the job; `client` identifies the client, see rclpy_internals.client_of.
    """
    def wrap(send: Callable) -> Callable:
        def send_or_defer(response: Any, header: Any) -> None:
            if isinstance(response, DeferredReply):
                begin(response, client_of(header), lambda reply: send(reply, header))
            else:
                send(response, header)
        return send_or_defer
    wrap_send_response(service, wrap)
