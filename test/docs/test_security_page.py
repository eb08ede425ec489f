"""Test the policy for SROS 2: it is well-formed, and names what the node really has."""

import pytest
from lxml import etree
from rclpy.action import get_action_server_names_and_types_by_node
from support.paths import ROOT
from support.remote_node import wait_until
from support.ros_fixtures import launch_once, node_forks, ros_environment  # noqa: F401

from dynamics_node.example_robots import ARM7

POLICY = etree.parse(ROOT / 'config' / 'security' / 'policy.xml').getroot()
# The schema of sros2: element -> (children, attributes)
RULES = {'ALLOW', 'DENY'}
SCHEMA = {
    'policy': ({'enclaves'}, {'version'}), 'enclaves': ({'enclave'}, set()),
    'enclave': ({'profiles'}, {'path'}), 'profiles': ({'profile'}, set()),
    'profile': ({'topics', 'services', 'actions'}, {'ns', 'node'}),
    'topics': ({'topic'}, {'publish', 'subscribe'}),
    'services': ({'service'}, {'reply', 'request'}),
    'actions': ({'action'}, {'call', 'execute'}),
    'topic': (set(), set()), 'service': (set(), set()), 'action': (set(), set())}
LISTS = ('topics', 'services', 'actions')
# Not subscribed to before a request names a frame that is not of the robot: ros/tf_frames.py.
ON_DEMAND = {'subscribe': {'/tf', '/tf_static'}}
TORQUE, WATCHDOG = '_dynamics_node_torque', '_dynamics_node_watchdog'
CHANGES = {'enable', 'change_state', 'set_parameters', 'set_parameters_atomically', 'set_payload',
           'set_gravity', 'set_friction', 'identify_payload'}


def names(enclave, rule, namespace=''):
    """Return the full names that an enclave is allowed by a rule, such as 'publish'."""
    found = set()
    for profile in POLICY.iterfind(f"enclaves/enclave[@path='{enclave}']//profile"):
        for each in profile.iterfind(f"*[@{rule}='ALLOW']/*"):
            own = f'{namespace}/{profile.get("node")}'
            found.add(each.text if each.text.startswith('/') else
                      own + each.text[1:] if each.text.startswith('~') else
                      f'{namespace}/{each.text}')
    return found


def test_the_policy_follows_the_schema():
    assert POLICY.tag == 'policy' and POLICY.get('version') == '0.2.0'
    for element in POLICY.iter('*'):
        children, attributes = SCHEMA[element.tag]
        assert {child.tag for child in element.iterchildren('*')} <= children
        assert bool(len(element)) is bool(children)
        if element.tag in LISTS:
            assert len(element.attrib) == 1 and set(element.attrib) <= attributes
            assert set(element.attrib.values()) <= RULES
        else:
            assert set(element.attrib) == attributes
        if not children:
            assert element.text and element.text == element.text.strip()


@pytest.fixture(scope='module')
def graph(launch_once):  # noqa: F811
    """All that nodes with different parameters have: {rule: names without the namespace}."""
    found = {rule: set() for rule in ('publish', 'subscribe', 'reply', 'execute')}
    for source, time in (('odometry', 'true'), ('pose_and_twist', 'false')):
        node = launch_once(
            f'robot_description:={ARM7}', 'base:=floating', f'base_state:={source}',
            f'use_sim_time:={time}', 'torque.command_topic:=effort_controller/commands',
            'observer.effort_meaning:=motor_torque', 'observer.frame:=link_7')
        assert node.call('model_report').success
        client, where = node.client, node.namespace
        wait_until(lambda client=client, where=where: {(TORQUE, where), (WATCHDOG, where)}
                   <= set(client.get_node_names_and_namespaces()), 'both nodes')
        wait_until(lambda client=client, where=where: f'{where}/dynamics_node/enable' in dict(
            client.get_service_names_and_types_by_node(TORQUE, where)), 'the torque process')
        for name in ('dynamics_node', TORQUE, WATCHDOG):
            for rule, names_and_types in (
                    ('publish', client.get_publisher_names_and_types_by_node(name, where)),
                    ('subscribe', client.get_subscriber_names_and_types_by_node(name, where)),
                    ('reply', client.get_service_names_and_types_by_node(name, where)),
                    ('execute', get_action_server_names_and_types_by_node(client, name, where))):
                found[rule] |= {each.removeprefix(where) for each, _ in names_and_types
                                if '/_action/' not in each}
    return found


@pytest.mark.parametrize('rule', ['publish', 'subscribe', 'reply', 'execute'])
def test_the_policy_names_what_the_node_has(graph, rule):
    """No less, so that the node works; no more."""
    assert names('/dynamics_node', rule) == graph[rule] | ON_DEMAND.get(rule, set())


def test_each_role_may_do_what_the_page_says(graph):
    """Observers and callers change nothing; operators may do all that the node offers."""
    observer, caller, operator = (
        {rule: names(f'/dynamics_node/{role}', rule) for rule in ('publish', 'request', 'call')}
        for role in ('observer', 'caller', 'operator'))
    services = {each for each in graph['reply'] if each.startswith('/dynamics_node/')}
    assert operator['request'] == services
    assert caller['request'] == services - {f'/dynamics_node/{name}' for name in CHANGES}
    assert observer['request'] < caller['request']
    assert '/dynamics_node/inverse_dynamics' not in observer['request']
    assert operator['call'] == graph['execute'] and not caller['call'] and not observer['call']
    inputs = {each for each in graph['subscribe'] if each.startswith('/dynamics_node/')}
    assert inputs <= operator['publish']
    for role in (observer, caller):
        assert role['publish'] == {'/rosout', '/parameter_events'}
    for path in ('/dynamics_node/observer', '/dynamics_node/caller', '/dynamics_node/operator'):
        assert graph['publish'] <= names(path, 'subscribe')
