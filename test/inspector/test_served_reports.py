"""Test the reports of a page: served by an unknown path alone, without scripts, few of them."""

import http.client

import pytest

from dynamics_node.inspector.served_reports import MOST, ServedReports
from dynamics_node.inspector.server import open_server

pytest.importorskip('viser', reason='the inspector is optional: pip install viser pycollada')


@pytest.fixture(scope='module')
def reports():
    return ServedReports()


@pytest.fixture(scope='module')
def server(reports):
    opened = open_server(port=0, reports=reports)
    yield opened
    opened.stop()


def get(server, path, host='localhost'):
    """Return (status, headers, body) of a request."""
    connection = http.client.HTTPConnection('127.0.0.1', server.get_port(), timeout=10.0)
    connection.request('GET', path, headers={'Host': f'{host}:{server.get_port()}'})
    reply = connection.getresponse()
    found = reply.status, reply.headers, reply.read()
    connection.close()
    return found


def test_a_report_is_served_in_a_sandbox(server, reports):
    path = reports.put('../arm 7', '<html>\N{MICRO SIGN}</html>')
    assert path.endswith('/arm_7.html')
    status, headers, body = get(server, path)
    assert status == 200 and body.decode() == '<html>\N{MICRO SIGN}</html>'
    assert headers.get_all('Content-Type') == ['text/html; charset=utf-8']
    assert headers['Content-Security-Policy'].startswith("sandbox; default-src 'none'")
    assert headers['X-Content-Type-Options'] == 'nosniff'


@pytest.mark.parametrize('path', ['/reports/', '/reports/x/arm_7.html', '/reports/../../etc/passwd',
                                  '/reports//etc/passwd'])
def test_no_other_path_is_served(server, path):
    assert get(server, path)[0] == 404


def test_a_name_that_points_to_this_machine_gets_no_report(server, reports):
    assert get(server, reports.put('arm', b'x'), host='evil.example')[0] == 404


def test_the_oldest_reports_are_dropped():
    reports = ServedReports()
    paths = [reports.put('arm', str(k)) for k in range(MOST + 2)]
    assert [reports.page(path) is None for path in paths] == [True] * 2 + [False] * MOST
    assert len(set(paths)) == len(paths)
