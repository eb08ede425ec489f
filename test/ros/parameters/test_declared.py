"""Test parameters: each described, each checked, and errors with the valid values."""

import inspect
import math
import re
from array import array
from types import SimpleNamespace

import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.checks import named_numbers
from dynamics_node.ros.parameters import declared
from dynamics_node.ros.parameters.declared import DECLARED, SECTIONS, NodeParameters, checked

DEFAULTS = {name: field.default for name, field in DECLARED.items()}
DEFAULT = NodeParameters(*(kind() for kind in SECTIONS.values()))


def value_of(chosen, name):
    """Return one parameter of what was chosen."""
    section, _, field = name.rpartition('.')
    return getattr(getattr(chosen, section or 'node'), field)


def some(wanted):
    """Parametrize over the parameters that have something in their metadata."""
    return pytest.mark.parametrize('name', [name for name, field in DECLARED.items()
                                            if not wanted or field.metadata.get(wanted)])


@some('text')
def test_every_parameter_is_described(name):
    """In a sentence, and with its unit where it is a number that is no share of something."""
    text = DECLARED[name].metadata['text']
    assert re.match(r'[A-Z].*[.\]]$', text), text
    if isinstance(DECLARED[name].default, (float, tuple)):
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


def test_the_names_are_the_fields():
    """In the order of their declaration."""
    assert list(declared.NAMES) == list(DEFAULTS)


@some('text')
def test_an_empty_parameter_is_no_value(name):
    """As [] in a parameters file is, which ROS gives no type."""
    with pytest.raises(DynamicsError, match=rf'^{name} has no value, as \[\] .* expected one such'):
        checked({**DEFAULTS, name: None})


@some('bounds')
def test_a_number_out_of_its_bounds_is_refused(name):
    """The bounds themselves are valid; NaN is not."""
    least, greatest = DECLARED[name].metadata['bounds']
    for value in (least, greatest, (least + greatest) / 2):
        assert value_of(checked({**DEFAULTS, name: value}), name) == value
    for value in (least - 1.0, math.nextafter(greatest, math.inf), math.nan, math.inf, -math.inf):
        with pytest.raises(DynamicsError, match=f'{name} is .*a number from {least:g} to '):
            checked({**DEFAULTS, name: value})


@some('one_of')
def test_invalid_values_are_refused_with_the_valid_ones(name):
    """Each valid one is accepted."""
    choices = DECLARED[name].metadata['one_of']
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


@pytest.mark.parametrize(('text', 'numbers'), [
    ('', {}), ('  \n', {}), ('a=1', {'a': 1.0}), ('a=0.02 b=-1e-3', {'a': 0.02, 'b': -0.001}),
    ('a=1,b=2', {'a': 1.0, 'b': 2.0}), (' a=1 ,\t b=2\n', {'a': 1.0, 'b': 2.0}),
    ('arm/j=1=2', {'arm/j=1': 2.0})])
def test_named_numbers_are_read(text, numbers):
    """With spaces or commas between them; a joint's name may hold anything else."""
    assert named_numbers('locked', text) == numbers


@pytest.mark.parametrize(('text', 'part'), [
    ('a', 'a'), ('a=', 'a='), ('=1', '=1'), ('a=1 b', 'b'), ('a=x', 'a=x'), ('a=nan', 'a=nan'),
    ('a=inf', 'a=inf'), ('a = 1', 'a')])
@pytest.mark.parametrize('name', ['locked', 'armature'])
def test_named_numbers_that_cannot_be_read_are_refused(name, text, part):
    """With the wrong part and a valid example."""
    said = re.escape(f"{name} has '{part}'; expected joint=number")
    with pytest.raises(DynamicsError, match=said):
        checked({**DEFAULTS, name: text})


def test_a_joint_named_twice_is_refused():
    """Its value would be ambiguous."""
    with pytest.raises(DynamicsError, match="locked names joint 'a' twice"):
        named_numbers('locked', 'a=1 b=2 a=1')


class Node:
    """Remembers what was declared."""

    def __init__(self):
        self.declared = {}

    def declare_parameter(self, name, value, descriptor):
        self.declared[name] = value, descriptor

    def get_parameter(self, name):
        return SimpleNamespace(value=self.declared[name][0])


def test_all_are_declared_with_their_range_and_flag_and_read_back():
    """What `ros2 param describe` shows."""
    node = Node()
    declared.declare(node)
    assert list(node.declared) == list(declared.NAMES)
    assert declared.read(node) == DEFAULT
    for name, field in DECLARED.items():
        _, descriptor = node.declared[name]
        meta = field.metadata
        assert descriptor.description.startswith(meta['text'])
        assert descriptor.read_only == meta['read_only']
        spans = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert [(span.from_value, span.to_value) for span in spans] == (
            [meta['bounds']] if meta['bounds'] else [])
        for choice in meta['one_of'] or ():
            assert choice in descriptor.description


def test_values_from_a_file_are_checked():
    """A wrong value is found when the node is configured."""
    node = Node()
    declared.declare(node)
    node.declared['base'] = 'flying', None
    with pytest.raises(DynamicsError, match="base is 'flying'; valid choices are fixed, floating"):
        declared.read(node)
