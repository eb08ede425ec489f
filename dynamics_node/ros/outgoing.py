"""Everything that leaves the node: text that can be encoded, and sentences of bounded length.

A name may come from a file or from an escape in YAML and then holds half a character: to send that
raises an exception, or ends the process. A name of 10 MB in a request would be echoed in full.
"""

import importlib
import re
import traceback
from contextlib import suppress
from functools import cache

from dynamics_node.errors import shortened

LONGEST = 10_000  # characters of a sentence
# Fields whose text is a sentence. Other fields are not shortened: names, reports, descriptions.
SENTENCES = frozenset(('message', 'reason', 'stage', 'failure', 'warnings', 'findings', 'key',
                       'value', 'hardware_id'))


def encodable(text):
    """Return a text, escapes in place of what UTF-8 cannot hold."""
    try:
        if not text.isascii():
            text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode('utf-8', 'backslashreplace').decode()


def sentence(text):
    """Return a text that can be encoded, its middle left out where it is long."""
    return encodable(shortened(text, LONGEST))


def sendable(message):
    """Return a message, each text in it made encodable, sentences shortened, in place."""
    for field, clean in _texts(type(message)):
        old = getattr(message, field)
        if isinstance(old, str):
            new = clean(old)
            if new is not old:
                setattr(message, field, new)
        elif isinstance(old, (list, tuple)):
            new = [clean(each) for each in old]
            if any(a is not b for a, b in zip(new, old)):
                setattr(message, field, new)
        else:
            clean(old)
    return message


@cache
def _texts(kind):
    """Return [(field, what is done to its value, or to each of its values)] of a message type."""
    found = []
    for field, declared in kind.get_fields_and_field_types().items():
        name = re.match(r'(?:sequence<)?([\w/]+)', declared).group(1)  # of sequence<string, 5>
        if name in ('string', 'wstring'):
            found.append((field, sentence if field in SENTENCES else encodable))
        elif '/' in name and _texts(_message_type(name)):
            found.append((field, sendable))
    return found


def _message_type(name):
    """Return the class of 'package/Type'."""
    package, *_, kind = name.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), kind)


def publish(publish_to, message, log):
    """Publish a message by publish_to(message); where that fails, say so in the log."""
    try:
        publish_to(sendable(message))
    except Exception:
        log.error(f'a {type(message).__name__} could not be published, please report this:\n'
                  f'{traceback.format_exc()}')


def guard_replies(service, log):
    """Let a service send only what is sendable, and outlive a reply that cannot be sent.

    :param log: a function that returns the Log.
    """
    send = service.send_response

    def answer(response, header):
        try:
            send(sendable(response), header)
        except Exception:
            log().error(f'the reply of {service.srv_name} could not be sent, please report this:\n'
                        f'{traceback.format_exc()}')
            with suppress(Exception):
                send(_apology(response), header)
    service.send_response = answer
    return service


def _apology(response):
    """Return an empty response, which says why where it can."""
    empty = type(response)()
    if hasattr(empty, 'message'):
        empty.message = 'internal error: the reply could not be sent; see the log of the node'
    return empty


class Log:
    """The log of a node. Each severity has a line of its own: rclpy tells callers apart by it."""

    def __init__(self, logger):
        self._logger = logger

    def info(self, text):
        self._logger.info(sentence(text))

    def warning(self, text):
        self._logger.warning(sentence(text))

    def error(self, text):
        self._logger.error(sentence(text))

    def fatal(self, text):
        self._logger.fatal(sentence(text))
