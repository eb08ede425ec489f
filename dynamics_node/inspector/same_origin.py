"""Refuse websockets of foreign web pages, and serve reports beside the page of the inspector.

A browser lets any web page connect to a server on the same machine.
"""

from __future__ import annotations

import http
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from dynamics_node.inspector.served_reports import HEADERS, PREFIX, ServedReports

FOREIGN = 'Refused: the websocket of a page that this server has not served.\n'
ABSENT = 'There is no such report.\n'
_PATCHING = threading.Lock()


def is_own(origin: str | None, host: str | None, names: frozenset[str]) -> bool:
    """Return whether a websocket is requested by a page of this server.

    The origin must be the requested host and port. A name must be one of this machine: the
    owner of another name can let it point to this machine.

    :param origin: header `Origin`; browsers always send it.
    :param host: header `Host`.
    :param names: names of this machine, in lower case; numeric addresses are always permitted.
    """
    if not origin or not host:
        return False
    try:
        page = urlsplit(origin)
        same = page.netloc.lower() == host.lower() and page.scheme in ('http', 'https')
    except ValueError:
        return False
    return same and is_own_host(host, names)


def is_own_host(host: str | None, names: frozenset[str]) -> bool:
    """Return whether a requested host is this machine; arguments as in `is_own`."""
    try:
        name = (urlsplit(f'//{host or ""}').hostname or '').lower()
    except ValueError:
        return False
    return name in names or _is_address(name)


def names_of(host: str) -> frozenset[str]:
    """Return the names under which a server that listens on `host` may be opened."""
    own = socket.gethostname().lower()
    return frozenset({'localhost', host.lower(), own, f'{own.partition(".")[0]}.local'})


@contextmanager
def only_own_pages(host: str, reports: ServedReports) -> Iterator[list[bool]]:
    """Make viser servers that are started in this context refuse websockets of foreign pages.

    Yield a list, which is not empty once such a server has been started.

    :param reports: reports that these servers serve beside the page.
    """
    import websockets.asyncio.server as library
    serve: Any = library.serve
    names = names_of(host)
    guarded: list[bool] = []

    def serve_own(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        guarded.append(True)
        return serve(*arguments, process_request=_checked(process_request, names, reports),
                     **options)

    with _PATCHING:   # viser has no setting for this
        library.serve = serve_own   # type: ignore[assignment, misc]
        try:
            yield guarded
        finally:
            library.serve = serve   # type: ignore[misc]


def _checked(process_request: Callable[[Any, Any], Any] | None, names: frozenset[str],
             reports: ServedReports) -> Callable[[Any, Any], Any]:
    """Return a handler of requests that refuses foreign websockets, then calls the given one."""
    def process(connection: Any, request: Any) -> Any:
        headers = request.headers
        if request.path.startswith(PREFIX):
            page = reports.page(request.path) if is_own_host(_only(headers, 'Host'),
                                                             names) else None
            return _report(connection, page)
        if 'Upgrade' in headers and not is_own(_only(headers, 'Origin'), _only(headers, 'Host'),
                                               names):
            return connection.respond(http.HTTPStatus.FORBIDDEN, FOREIGN)
        return None if process_request is None else process_request(connection, request)
    return process


def _report(connection: Any, page: bytes | None) -> Any:
    """Return the response with a report; 'not found' if page is None."""
    if page is None:
        return connection.respond(http.HTTPStatus.NOT_FOUND, ABSENT)
    response = connection.respond(http.HTTPStatus.OK, '')
    for name, value in {**HEADERS, 'Content-Length': str(len(page))}.items():
        if name in response.headers:   # otherwise there would be two
            del response.headers[name]
        response.headers[name] = value
    response.body = page
    return response


def _only(headers: Any, name: str) -> str | None:
    """Return the value of a header; None unless the request has it exactly once."""
    values = headers.get_all(name)
    return values[0] if len(values) == 1 else None


def _is_address(name: str) -> bool:
    """Return whether a name is a numeric address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
