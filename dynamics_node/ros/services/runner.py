"""Run the handlers of services; turn exceptions into replies."""

import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.frame_prefix import add_prefix, remove_prefix
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.caps import CapExceeded
from dynamics_node.ros.services.request_size import check_request

Handler = Callable[[NodeState, Any, Any], Any]


class ServiceRunner:
    """Run handlers; turn exceptions into replies with success: false.

    :ivar active: whether the node is active; an inactive node refuses every request.
    :ivar served, refused: number of requests so far.
    :ivar refused_by: {cap: number of requests refused by it}.
    """

    def __init__(self, node_state: NodeState, log_error: Callable[[str], None]) -> None:
        self.active = False
        self.served = self.refused = 0
        self.refused_by = Counter[str]()
        self._node_state, self._log_error = node_state, log_error

    def check_active(self) -> None:
        """Raise a DynamicsError while the node is inactive."""
        if not self.active:
            raise DynamicsError('the node is inactive: ros2 lifecycle set <node> activate')

    def callback(self, handler: Handler) -> Callable[[Any, Any], Any]:
        """Return the callback of a service: (request, response) -> response or DeferredReply."""
        node_state = self._node_state

        def reply(request: Any, response: Any) -> Any:
            try:
                if not self.active:
                    self.check_active()
                check_request(node_state.caps, request)
                remove_prefix(node_state.parameters.frame_prefix, request)
                response = handler(node_state, request, response)
                if isinstance(response, DeferredReply):   # see finish
                    return response
                return self._served(response)
            except CapExceeded as error:
                self.refused_by[error.parameter] += 1
                return self._refuse(response, str(error))
            except DynamicsError as error:
                return self._refuse(response, str(error))
            except Exception as error:  # a bug must not end the node
                return self._fail(response, handler.__name__, error)
        return reply

    def finish(self, deferred: DeferredReply, message: WorkerMessage) -> Any:
        """Return the response of a deferred reply, from the last message of the worker."""
        try:
            if message.kind == 'refused':
                raise DynamicsError(*message.content)
            if message.kind == 'done':
                return self._served(deferred.fill(*message.content))
            self._log_error('\n'.join(['the worker process failed, please report this:',
                                       *message.content]))
            raise DynamicsError('internal error; see the log of the node')
        except DynamicsError as error:
            return self._refuse(deferred.response, str(error))
        except Exception as error:
            return self._fail(deferred.response, 'the last step of the reply', error)

    def _served(self, response: Any) -> Any:
        self.served += 1
        add_prefix(self._node_state.parameters.frame_prefix, response)
        return response

    def _fail(self, response: Any, what: str, error: Exception) -> Any:
        self._log_error(f'{what} failed, please report this:\n{traceback.format_exc()}')
        return self._refuse(response, f'internal error: {error!r}; see the log of the node')

    def _refuse(self, response: Any, message: str) -> Any:
        self.refused += 1
        refusal = type(response)()  # without the fields filled so far
        refusal.success, refusal.message = False, message
        return refusal
