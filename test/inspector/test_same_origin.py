"""Test that a page of another origin cannot connect, and that the page itself can."""

import contextlib

import pytest
from support.page_socket import PageSocket

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector import server as server_module
from dynamics_node.inspector.same_origin import is_own, names_of
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')


@pytest.fixture(scope='module')
def server():
    opened = open_server(port=0)
    yield opened
    opened.stop()


@pytest.mark.parametrize('origin', ['http://evil.example', 'http://127.0.0.1:1', 'null', None,
                                    'http://evil.example:{}', 'http://localhost:{}'])
def test_a_websocket_of_another_origin_is_refused(server, origin):
    from websockets.exceptions import InvalidStatus
    with pytest.raises(InvalidStatus, match='403'):
        PageSocket(server, origin)


def test_the_page_itself_connects(server):
    client = PageSocket(server)
    client.read()
    assert client.texts   # the theme, for example
    client.close()


@pytest.mark.parametrize(('origin', 'host', 'own'), [
    ('http://localhost:8080', 'localhost:8080', True),
    ('http://LOCALHOST:8080', 'localhost:8080', True),
    ('http://10.0.0.7:8080', '10.0.0.7:8080', True),
    ('http://[::1]:8080', '[::1]:8080', True),
    ('http://robot:9000', 'robot:9000', True),
    ('http://evil.example:8080', 'evil.example:8080', False),   # a name that points here
    ('http://localhost:8080', 'localhost:8081', False),
    ('file://localhost:8080', 'localhost:8080', False),
    ('http://localhost:8080@evil.example', 'localhost:8080', False),
    ('http://[', '[', False), ('', '', False), (None, 'localhost:8080', False),
    ('http://localhost:8080', None, False)])
def test_the_origin_must_be_the_host_and_the_host_this_machine(origin, host, own):
    assert is_own(origin, host, names_of('robot')) is own


def test_a_viser_that_cannot_be_guarded_is_refused(monkeypatch):
    monkeypatch.setattr(server_module, 'only_own_pages', lambda *given: contextlib.nullcontext([]))
    with pytest.raises(DynamicsError, match='foreign web pages cannot be refused'):
        open_server(port=0)
