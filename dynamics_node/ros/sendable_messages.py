"""Make every outgoing message sendable: text that UTF-8 can encode, and messages of bounded length.

A name from a file or from an escape in YAML may contain half a character (a lone surrogate):
sending it raises an exception or ends the process. Without a limit an error message would
contain a name of 10 MB in full.
"""

import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import LoggingSeverity
from rclpy.service import Service

from dynamics_node.errors import shortened
from dynamics_node.ros.code_line import CodeLine, logging_line
from dynamics_node.ros.message_fields import message_fields
from dynamics_node.ros.rclpy_internals import log_line, wrap_send_response

LONGEST = 10_000  # characters of a message
# Fields that are shortened. Other fields are not: names, reports, descriptions.
SENTENCES = frozenset(('message', 'reason', 'stage', 'failure', 'warnings', 'findings', 'key',
                       'value', 'hardware_id'))

SEVERITIES = {'info': LoggingSeverity.INFO, 'warning': LoggingSeverity.WARN,
              'error': LoggingSeverity.ERROR, 'fatal': LoggingSeverity.FATAL}


def encodable(text: str) -> str:
    """Return a text with escapes in place of characters that UTF-8 cannot encode."""
    try:
        if not text.isascii():
            text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode('utf-8', 'backslashreplace').decode()


def sentence(text: str) -> str:
    """Return an encodable text; the middle of a text that is too long is left out."""
    return encodable(shortened(text, LONGEST))


def sendable(message: Any) -> Any:
    """Make each text of a message encodable, shorten sentences, in place; return the message."""
    kind: Any = type(message)
    for field, clean in _texts(kind):
        old = getattr(message, field)
        if isinstance(old, str):
            new = clean(old)
            if new is not old:
                setattr(message, field, new)
        elif clean is encodable and all(map(str.isascii, old)):
            continue   # names, in most robots
        elif isinstance(old, (list, tuple)):
            new = [clean(each) for each in old]
            if any(a is not b for a, b in zip(new, old)):
                setattr(message, field, new)
        else:
            clean(old)
    return message


@cache
def _texts(kind: Any) -> list[tuple[str, Callable]]:
    """Return [(field, function for its value, or for each of its values)] of a message type."""
    found: list[tuple[str, Callable]] = []
    for field, contains in message_fields(kind).items():
        if contains.is_text:
            found.append((field, sentence if field in SENTENCES else encodable))
        elif contains.message is not None and _texts(contains.message):
            found.append((field, sendable))
    return found


def publish(publish_to: Callable[[Any], None], message: Any, log: 'Log') -> None:
    """Publish a message by publish_to(message); log an exception."""
    try:
        publish_to(sendable(message))
    except Exception:
        log.error(f'a {type(message).__name__} could not be published, please report this:\n'
                  f'{traceback.format_exc()}')


def guard_replies(service: Service, log: Callable[[], Any]) -> Service:
    """Make the replies of a service sendable; if sending fails, send an empty reply.

    :param log: a function that returns the Log, or an object with its methods.
    """
    def wrap(send: Callable) -> Callable:
        def guarded(response: Any, header: Any) -> None:
            try:
                send(sendable(response), header)
            except Exception:
                log().error(f'the reply of {service.srv_name} could not be sent, please report '
                            f'this:\n{traceback.format_exc()}')
                with suppress(Exception):
                    send(_failure(response), header)
        return guarded
    wrap_send_response(service, wrap)
    return service


def _failure(response: Any) -> Any:
    """Return an empty response with the reason, if it has a field for it."""
    empty = type(response)()
    if hasattr(empty, 'message'):
        empty.message = 'internal error: the reply could not be sent; see the log of the node'
    return empty


class Log:
    """The log of a node: each line names the line of code that has called one of the methods."""

    def __init__(self, logger: RcutilsLogger) -> None:
        self._logger = logger

    def info(self, text: str) -> None:
        self._log(LoggingSeverity.INFO, text)

    def warning(self, text: str) -> None:
        self._log(LoggingSeverity.WARN, text)

    def error(self, text: str) -> None:
        self._log(LoggingSeverity.ERROR, text)

    def fatal(self, text: str) -> None:
        self._log(LoggingSeverity.FATAL, text)

    def relay(self, severity: str, text: str, source: CodeLine) -> None:
        """Log a text of another process; severity: the name of a method."""
        log_line(self._logger, SEVERITIES[severity], sentence(text), source)

    def _log(self, severity: int, text: str) -> None:
        log_line(self._logger, severity, sentence(text), logging_line())
