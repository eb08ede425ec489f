"""Test that the service calls in README.md and docs/*.md have fields of their requests."""

import re

import pytest
import yaml
from support.paths import DOCS, ROOT

pytest.importorskip('rclpy')

from dynamics_node import srv  # noqa: E402
from dynamics_node.ros.message_fields import message_fields  # noqa: E402
from dynamics_node.ros.services.table import SERVICES  # noqa: E402

PAGES = [ROOT / 'README.md', *sorted(DOCS.glob('*.md'))]
CALL = re.compile(r'ros2 service call /dynamics_node/(\w+) dynamics_node/srv/(\w+)\s+'
                  r'(?:\\\n\s*)?"(\{.*?\})"')
CALLS = [(page.name, *found) for page in PAGES for found in CALL.findall(page.read_text())]


def unknown_fields(kind, given, path=''):
    """Return the fields of YAML values that a message type does not have, also inside."""
    known, unknown = message_fields(kind), []
    for field, value in given.items():
        if field not in known:
            unknown.append(path + field)
        elif known[field].message is not None:
            for each in value if known[field].many else [value]:
                unknown += unknown_fields(known[field].message, each, f'{path}{field}.')
    return unknown


@pytest.mark.parametrize(('page', 'name', 'kind', 'text'), CALLS)
def test_a_call_has_fields_of_its_request(page, name, kind, text):
    assert SERVICES[name].kind is getattr(srv, kind)
    assert unknown_fields(getattr(srv, kind).Request, yaml.safe_load(text)) == []


def test_calls_are_found_and_a_wrong_field_is_noticed():
    assert len(CALLS) > 6
    assert unknown_fields(srv.InverseDynamics.Request, {
        'velocities': [0.0], 'external_wrenches': [{'force': {}}]}) == [
            'velocities', 'external_wrenches.force']


@pytest.mark.parametrize('page', [ROOT / 'README.md', DOCS / 'node.md'], ids=lambda page: page.name)
def test_the_table_of_services_names_each_one_once(page):
    table = re.search(r'^\| service .*\n(?:\|.*\n)+', page.read_text(), re.MULTILINE)[0]
    first = ' '.join(row.split('|')[1] for row in table.splitlines())
    named = re.findall(r'`~/(\w+)`(?! \(an action\))', first)
    assert sorted(named) == sorted([*SERVICES, 'enable'])
