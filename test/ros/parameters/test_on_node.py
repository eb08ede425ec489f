"""Test how parameters are declared on a node, and which changes concern them."""

from array import array
from types import SimpleNamespace

import pytest
from rclpy.exceptions import InvalidParameterValueException

from dynamics_node import DynamicsError
from dynamics_node.parameter import PerJoint, names_of
from dynamics_node.ros.parameters import on_node
from dynamics_node.ros.parameters.declared import (
    DECLARED,
    DEFAULTS,
    SECTIONS,
    NodeParameters,
    checked,
    declared_name,
)


class Node:
    """Stores what was declared, as a node with these overrides does."""

    declaring = False

    def __init__(self, **overrides):
        self.overrides = {name.replace('__', '.'): value for name, value in overrides.items()}
        self.declared = {'use_sim_time': (False, None)}
        on_node.declare(self, self.overrides)

    def declare_parameter(self, name, value, descriptor, ignore_override=False):
        value = value if ignore_override else self.overrides.get(name, value)
        self.declared[name] = value, descriptor

    def has_parameter(self, name):
        return name in self.declared

    def get_parameters_by_prefix(self, prefix):
        assert prefix == ''
        return {name: SimpleNamespace(value=value) for name, (value, _) in self.declared.items()}


def changed(node, **values):
    return on_node.changed_values(node, [SimpleNamespace(name=name.replace('__', '.'), value=value)
                                         for name, value in values.items()])


def test_all_are_declared_with_their_range_and_flag_and_read_back():
    """What `ros2 param describe` shows."""
    node = Node()
    assert list(node.declared) == ['use_sim_time', *DEFAULTS]
    assert on_node.read(node) == NodeParameters(*(kind() for kind in SECTIONS.values()))
    for name in DEFAULTS:
        _, descriptor = node.declared[name]
        meta = DECLARED[declared_name(name)].metadata
        assert descriptor.description.startswith(meta['text'])
        assert descriptor.read_only == meta['read_only']
        spans = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert [(span.from_value, span.to_value) for span in spans] == (
            [meta['bounds']] if meta['bounds'] else [])
        for choice in meta['one_of'] or ():
            assert choice in descriptor.description


def test_numbers_of_joints_given_at_start_are_declared():
    """With the description of their map; what is no parameter is left to others."""
    node = Node(torque__kp__joint_1=80.0, locked__finger=0.02, unknown=1)
    found = on_node.read(node)
    assert found.torque.kp == PerJoint(50.0, {'joint_1': 80.0})
    assert found.node.locked == PerJoint(None, {'finger': 0.02})
    assert node.declared['torque.kp.joint_1'][1].description.startswith('Gain of the position')
    assert 'unknown' not in node.declared


def test_an_empty_list_in_a_file_is_the_default():
    """It has no value in rclpy."""
    node = Node(torque__joints=None, torque__cpu=None)
    assert node.declared['torque.joints'][0] == [''] and node.declared['torque.cpu'][0] == [-1]


@pytest.mark.parametrize(('values', 'hint'), [
    ({'locked': 'finger=0.02'}, 'map such as .* parameter per joint, such as locked.joint_1'),
    ({'torque__kp': [50.0]},
     'such as torque.kp.joint_1, and torque.kp.default for all other joints')])
def test_a_map_as_one_value_is_refused_with_the_new_form(values, hint):
    """At start and later."""
    with pytest.raises(InvalidParameterValueException, match=hint):
        Node(**values)
    with pytest.raises(DynamicsError, match=hint):
        changed(Node(), **values)


@pytest.mark.parametrize('name', ['torque__joints', 'shared_folders', 'torque__cpu'])
def test_a_text_in_place_of_a_list_is_refused_at_start(name):
    with pytest.raises(InvalidParameterValueException, match=r"is '/a:/b'; expected .*such as \["):
        Node(**{name: '/a:/b'})


@pytest.mark.parametrize('value', [3, 2.5, True, b'\x02'])
@pytest.mark.parametrize('name', ['torque.joints', 'shared_folders', 'torque.cpu'])
def test_what_is_no_list_is_refused_in_place_of_one(name, value):
    """At start and later; the error shows a list."""
    hint = rf'^{name} is .*; expected a list of .*, such as \['
    with pytest.raises(InvalidParameterValueException, match=hint[1:]):
        Node(**{name: value})
    with pytest.raises(DynamicsError, match=hint):
        checked({**DEFAULTS, name: value})


@pytest.mark.parametrize('value', [5, 2.5, True, None, b'ab', 'a', [1], array('d', [1.0])])
def test_names_are_read_from_a_list_of_texts_only(value):
    with pytest.raises(DynamicsError, match=r"expected a list of names, such as \['"):
        names_of('torque.joints', value)


@pytest.mark.parametrize(('values', 'expected'), [
    ({'kp': 1.0}, "^no parameter 'kp'; ros2 param list"),
    ({'gravity__x': 1.0}, "^no parameter 'gravity.x'"),
    ({'base': None}, '^base cannot be deleted'),
    ({'torque__joints': None}, '^torque.joints cannot be deleted'),
    ({'torque__kp__default': None}, '^torque.kp.default cannot be deleted'),
    ({'base': 'fixed', 'torque__kp__' + 1000 * 'x': 1.0}, "^no parameter 'torque.kp.xxx")])
def test_other_names_and_deletions_are_refused(values, expected):
    with pytest.raises(DynamicsError, match=expected):
        changed(Node(), **values)


def test_changes_are_those_of_declared_parameters():
    """The number of a joint may be deleted; parameters of rclpy are its own."""
    values = {'base': 'fixed', 'torque__kp__joint_1': None, 'locked__a': 0.1}
    assert changed(Node(), **values, use_sim_time=True) == {
        'base': 'fixed', 'torque.kp.joint_1': None, 'locked.a': 0.1}


def test_qos_overrides_are_created_by_a_declaration_only():
    """It is that of rclpy; they are no parameters of ours."""
    node = Node()
    with pytest.raises(DynamicsError, match="^no parameter 'qos_overrides.x'; ros2 param list"):
        changed(node, qos_overrides__x=1)
    node.declaring = True
    assert changed(node, qos_overrides__x=1) == {}
