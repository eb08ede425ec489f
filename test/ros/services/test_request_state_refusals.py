"""Test refusals of requests: the field, its index and the valid values."""

import math

import numpy as np
import pytest
from support.node_states import (
    FIELDS,
    MANY,
    MORE,
    NOW,
    ask,
    measure,
    node_state_of,
    refused,
    scene,
    whole_state,
)
from support.reply_stamps import stamp_of
from support.tiny_robots import EVERY_KIND, NOTHING_MOVES, TWO_JOINTS

from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import ModelParameters


@pytest.fixture
def node_state():
    """Two joints, shoulder and elbow, nothing measured."""
    return node_state_of(TWO_JOINTS)


@pytest.mark.parametrize(('fields', 'missing'), [
    ({}, 'no position and velocity of elbow:'),
    ({'position': [0.1, 0.2]}, 'no velocity of elbow:'),
    ({'velocity': [0.1, 0.2]}, 'no position of elbow:'),
    ({'joint_names': ['shoulder'], **whole_state(1)}, 'no position and velocity of elbow:')])
@pytest.mark.parametrize('service', FIELDS)
def test_missing_joint_values_are_named(node_state, service, fields, missing):
    """The joints and the missing quantity."""
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2), joints=['shoulder'])
    if service == 'kinematics' and missing == 'no velocity of elbow:':
        fields = {**fields, 'jacobian_rates': True}   # poses need no velocity
    message = refused(node_state, service, **fields, **MORE.get(service, {}))
    assert message.startswith(missing)
    assert 'shoulder' not in message


def test_an_effort_that_is_not_measured_is_named(node_state):
    """Positions alone are not enough for forward dynamics."""
    measure(node_state, np.zeros(2), np.zeros(2))
    assert refused(node_state, 'forward_dynamics').startswith('no effort of shoulder, elbow:')
    assert refused(node_state, 'forward_dynamics', joint_names=['elbow'],
                   effort=[1.0]).startswith('no effort of shoulder:')
    assert refused(node_state, 'hybrid_dynamics', acceleration_given=[True, False]).startswith(
        'no effort of elbow:')
    assert ask(node_state, 'hybrid_dynamics', acceleration_given=[True, True]).success


@pytest.mark.parametrize('lacks', ['shoulder', 'elbow'])
def test_a_missing_effort_of_a_floating_robot_names_its_joint(lacks):
    """Where it is needed; the base itself has no effort."""
    s = scene(TWO_JOINTS, base='floating')
    s.node_state.measured_state.take(NOW, [lacks], [0.1], [0.2], [math.nan])
    assert refused(s.node_state, 'forward_dynamics').startswith(f'no effort of {lacks}:')
    given = [name == lacks for name in s.robot.joint_names]
    assert ask(s.node_state, 'hybrid_dynamics', acceleration_given=given).success
    given = [name != lacks for name in s.robot.joint_names]
    assert refused(s.node_state, 'hybrid_dynamics', acceleration_given=given).startswith(
        f'no effort of {lacks}:')


@pytest.mark.parametrize('service', FIELDS)
@pytest.mark.parametrize('size', [1, 3])
def test_a_wrong_size_is_refused_with_the_field_and_the_right_size(node_state, service,
                                                                           size):
    """One entry per named joint, or none."""
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2))
    for field in ('position', 'velocity', *FIELDS[service]):
        message = refused(node_state, service, **{field: [0.1] * size}, **MORE.get(service, {}))
        expected = 'a multiple of 2, one row per state,' if service in MANY else '2'
        assert message == (f'{field} has {size} entries; expected {expected} for the joints '
                           'shoulder, elbow, or none')


@pytest.mark.parametrize('service', [name for name in FIELDS if name not in MANY])
def test_several_states_are_refused_by_services_of_one_state(node_state, service):
    """As a wrong size; those of MANY accept them."""
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2))
    for field in ('position', 'velocity', *FIELDS[service]):
        assert refused(node_state, service, **{field: [0.1] * 4}, **MORE.get(service,
                                                                             {})).startswith(
            f'{field} has 4 entries; expected 2 ')


def test_several_states_of_a_floating_base_are_counted_by_the_size_of_each():
    """Seven numbers make a pose, six a twist."""
    s = scene(TWO_JOINTS, base='floating')
    for field, size in (('position', 7), ('velocity', 6), ('acceleration', 6)):
        rows = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0][-size:] * 2
        message = refused(s.node_state, 'inverse_dynamics', joint_names=['floating_base'],
                          **{field: rows})
        assert message.startswith(f'{field} has {2 * size} entries; expected {size} ')


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('service', FIELDS)
def test_a_value_that_is_not_finite_is_refused_with_its_index(node_state, service, bad):
    """Field and index."""
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2))
    for field in ('position', 'velocity', *FIELDS[service]):
        message = refused(node_state, service, **{field: [0.1, bad]}, **MORE.get(service, {}))
        assert message == f'{field}[1] is {bad}; every entry must be finite'


@pytest.mark.parametrize('service', FIELDS)
def test_numbers_that_are_too_large_are_refused_without_warnings(node_state, service):
    """No warning on the console, no infinity in the reply."""
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2))
    if service != 'kinematics':
        assert 'too large' in refused(node_state, service, velocity=[1e300, -1e300],
                                      **MORE.get(service, {}))
    ask(node_state, service, position=[1e200, -1e200], **MORE.get(service, {}))


@pytest.mark.parametrize('service', [*FIELDS, 'set_friction'])
def test_an_unknown_joint_is_refused_with_the_known_ones(node_state, service):
    """Mimic and fixed joints are not among them."""
    message = refused(node_state, service, joint_names=['elbow', 'wrist'], **MORE.get(service, {}))
    assert message == "no moving joint 'wrist'; the robot has: shoulder, elbow"
    other = node_state_of(EVERY_KIND)
    for name in ('follower', 'flange'):
        assert f"no moving joint '{name}'" in refused(other, service, joint_names=[name],
                                                      **MORE.get(service, {}))


@pytest.mark.parametrize('service', [*FIELDS, 'set_friction'])
def test_a_joint_named_twice_is_refused(node_state, service):
    """Its value would be ambiguous."""
    message = refused(node_state, service, joint_names=['elbow', 'shoulder', 'elbow'],
                      **MORE.get(service, {}))
    assert message == "joint_names has 'elbow' twice; name each joint once"


@pytest.mark.parametrize('service', FIELDS)
def test_an_invalid_quaternion_is_refused_by_field_and_joint(service):
    """Seven zeros are no pose."""
    s = scene(TWO_JOINTS, base='floating')
    for names, size in (([], 9), (['elbow', 'floating_base'], 8), (['floating_base'], 7)):
        message = refused(s.node_state, service, joint_names=names, position=[0.0] * size,
                          **MORE.get(service, {}))
        assert message == ("position holds for joint 'floating_base' a quaternion of norm 0; "
                           'expected x y z w of norm 1')


@pytest.mark.parametrize('service', [*FIELDS, 'inverse_kinematics', 'trajectory_torques',
                                     'set_payload', 'set_gravity', 'set_friction', 'list_payloads',
                                     'identify_payload',
                                     'model_report', 'self_test'])
def test_without_a_robot_every_service_refuses_with_the_reason(service):
    """And how to provide one."""
    node_state = NodeState(lambda: NOW, lambda: 0.0, ModelParameters())
    more = {'name': 'box'} if service == 'set_payload' else MORE.get(service, {})
    assert refused(node_state, service, **more).startswith('no robot yet: ')


@pytest.mark.parametrize('service', [name for name in FIELDS if name != 'contact_and_impact'])
def test_a_robot_without_joints_has_empty_replies(service):
    """Without a measurement."""
    reply = ask(node_state_of(NOTHING_MOVES), service, **MORE.get(service, {}))
    assert reply.joint_names == []
    assert (stamp_of(reply), reply.state_age) == (0, 0.0)
    assert 'position has 1 entries' in refused(node_state_of(NOTHING_MOVES), service,
                                               position=[0.1],
                                               **MORE.get(service, {}))
