"""Test parameters: each described, each checked, and errors with the valid values."""

import inspect
import math
import re
from array import array

import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.declared import (
    DECLARED,
    DEFAULTS,
    MAPS,
    SECTIONS,
    NodeParameters,
    checked,
    declared_name,
)

DEFAULT = NodeParameters(*(kind() for kind in SECTIONS.values()))


def value_of(chosen, name):
    """Return one parameter of what was chosen, by its name in ROS."""
    section, _, field = declared_name(name).rpartition('.')
    value = getattr(getattr(chosen, section or 'node'), field)
    return value.default if isinstance(value, PerJoint) else value


def field_of(name):
    """Return the declaration of a ROS parameter."""
    return DECLARED[declared_name(name)]


def some(wanted):
    """Parametrize over the ROS parameters that have something in their metadata."""
    return pytest.mark.parametrize('name', [name for name in DEFAULTS
                                            if field_of(name).metadata.get(wanted)])


@pytest.mark.parametrize('name', DECLARED)
def test_every_parameter_is_described(name):
    """In a sentence, and with its unit where it is a number that is no share of something."""
    text = DECLARED[name].metadata['text']
    assert re.match(r'[A-Z].*[.\]]$', text), text
    default = DECLARED[name].default
    if isinstance(default, (float, PerJoint)) or isinstance(default, tuple) and isinstance(
            default[0], float):
        assert re.search(r'\[.+\]$|^Share ', text), f'{name} has no unit'


def test_the_defaults_are_valid():
    """And come back as they are."""
    assert checked(DEFAULTS) == DEFAULT


def test_the_defaults_are_those_of_the_library():
    """Robot.from_urdf has the same ones; no age of a state is too old."""
    library = inspect.signature(Robot.from_urdf).parameters
    for name in ('base', 'gravity', 'friction', 'friction_speed', 'compile'):
        assert getattr(DEFAULT.node, name) == library[name].default
    assert DEFAULT.node.autostart
    assert (DEFAULT.node.missing_velocity, DEFAULT.node.max_state_age) == ('difference', 5.0)


def test_only_parameters_of_the_start_are_read_only():
    """All others may change while the node runs."""
    assert [name for name, field in DECLARED.items() if field.metadata['read_only']] == [
        'autostart', 'frame_prefix', 'base_state', 'shared_folders', 'overwrite_files',
        'torque.rate', 'torque.command_topic', 'torque.state_rate', 'torque.realtime_priority',
        'torque.cpu']


@some('text')
def test_a_parameter_without_a_value_is_refused(name):
    """As [] in a parameters file is, which ROS gives no type."""
    with pytest.raises(DynamicsError, match=rf'^{name} has no value, as \[\] .* expected one such'):
        checked({**DEFAULTS, name: None})


@some('bounds')
def test_a_number_out_of_its_bounds_is_refused(name):
    """The bounds themselves are valid; NaN is not."""
    least, greatest = field_of(name).metadata['bounds']
    for value in (least, greatest, (least + greatest) / 2):
        assert value_of(checked({**DEFAULTS, name: value}), name) == value
    for value in (least - 1.0, math.nextafter(greatest, math.inf), math.nan, math.inf, -math.inf):
        with pytest.raises(DynamicsError, match=f'{name} is .*a number from {least:g} to '):
            checked({**DEFAULTS, name: value})


@some('one_of')
def test_invalid_values_are_refused_with_the_valid_ones(name):
    """Each valid one is accepted."""
    choices = field_of(name).metadata['one_of']
    for value in choices:
        assert value_of(checked({**DEFAULTS, name: value}), name) == value
    for value in ('', choices[0].upper(), 'other'):
        with pytest.raises(DynamicsError, match=f"{name} is '{value}'.*{', '.join(choices)}"):
            checked({**DEFAULTS, name: value})


@pytest.mark.parametrize('gravity', [[], [1.0, 2.0], [0.0, 0.0, math.nan], [0.0, 0.0, -math.inf],
                                     [1.0, 2.0, 3.0, 4.0]])
def test_gravity_is_three_finite_numbers(gravity):
    """All else is refused."""
    with pytest.raises(DynamicsError, match='gravity is .*expected three finite numbers'):
        checked({**DEFAULTS, 'gravity': gravity})


@pytest.mark.parametrize('sequence', [list, tuple, lambda x: array('d', x)])
def test_gravity_may_be_any_sequence_and_can_be_compared(sequence):
    """ROS has arrays, which are never equal to a tuple; weightlessness is valid here."""
    chosen = checked({**DEFAULTS, 'gravity': sequence([0.0, 0.0, 0.0])})
    assert chosen.node.gravity == (0.0, 0.0, 0.0)


# Maps and lists --------------------------------------------------------------------------------

@pytest.mark.parametrize('name', MAPS)
def test_numbers_of_joints_are_collected_by_name(name):
    """A whole number is a number; one that was deleted is none; others keep the default."""
    chosen = checked({**DEFAULTS, f'{name}.arm/j.x': 1.5, f'{name}.elbow': 1, f'{name}.knee': None})
    section, _, field = name.rpartition('.')
    assert getattr(getattr(chosen, section or 'node'), field) == PerJoint(
        DECLARED[name].default.default, {'arm/j.x': 1.5, 'elbow': 1.0})


@pytest.mark.parametrize('value', [math.nan, math.inf, 'x', '1.0', True, [1.0], -1e12])
@pytest.mark.parametrize('name', ['locked', 'torque.kp', 'torque.effort_limits'])
def test_the_number_of_a_joint_is_checked_as_that_of_all(name, value):
    """The message has the whole name; locked has no bounds."""
    if (name, value) != ('locked', -1e12):
        with pytest.raises(DynamicsError, match=rf'^{name}\.elbow is .*expected a .*number'):
            checked({**DEFAULTS, f'{name}.elbow': value})


@pytest.mark.parametrize(('name', 'declared'), [
    ('torque.kp', 'torque.kp'), ('torque.kp.default', 'torque.kp'), ('locked.a.b', 'locked'),
    ('damping_ratio', ''), ('torque.damping_ratio.a', 'torque.damping_ratio'), ('kp.a', ''),
    ('gravity.a', ''), ('gravity', 'gravity'), ('', '')])
def test_a_ros_parameter_belongs_to_a_declared_one(name, declared):
    assert declared_name(name) == declared


def test_the_default_of_a_map_is_no_joint():
    """A map without one may have a joint of that name."""
    chosen = checked({**DEFAULTS, 'torque.kp.default': 7.0, 'locked.default': 0.5})
    assert chosen.torque.kp == PerJoint(7.0)
    assert chosen.node.locked == PerJoint(None, {'default': 0.5})


def test_numbers_in_the_order_of_names():
    numbers = PerJoint(2.0, {'b': 5.0})
    assert numbers.each(['a', 'b', 'c']).tolist() == [2.0, 5.0, 2.0]
    assert numbers.only('b') == numbers and numbers.only('a') == PerJoint(2.0)


@pytest.mark.parametrize('value', [[], [''], (), array('d')])
def test_a_list_of_names_may_be_empty(value):
    """ROS gives an empty list any type."""
    for name in ('torque.joints', 'shared_folders'):
        assert not any(value_of(checked({**DEFAULTS, name: value}), name))


@pytest.mark.parametrize(('value', 'hint'), [
    ('joint_1 joint_2', "['joint_1', 'joint_2']"), ('joint_1,joint_2', "['joint_1', 'joint_2']"),
    ('', "['first', 'second']"), ([1.0], "['first', 'second']")])
def test_a_text_in_place_of_a_list_of_names_is_refused_with_the_list(value, hint):
    with pytest.raises(DynamicsError, match='^torque.joints is .*; expected a list of names, such '
                       f'as {re.escape(hint)}'):
        checked({**DEFAULTS, 'torque.joints': value})


def test_values_are_checked():
    with pytest.raises(DynamicsError, match="base is 'flying'; valid choices are fixed, floating"):
        checked({**DEFAULTS, 'base': 'flying'})
