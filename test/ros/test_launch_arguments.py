"""Test the launch arguments that name joints: as YAML, and as words."""

import pytest

from dynamics_node import DynamicsError
from dynamics_node.ros.launch_arguments import joint_names, joint_numbers


@pytest.mark.parametrize('text', ['a b/c on', 'a,b/c,on', ' a, b/c\n on ', "[a, b/c, 'on']",
                                  ' ["a", "b/c", "on"]'])
def test_names_are_words_or_a_list(text):
    assert joint_names('joints', text) == ['a', 'b/c', 'on']


@pytest.mark.parametrize('text', ['[a, 1]', '[a, on]', '[a, [b]]'])
def test_a_list_of_other_values_is_refused(text):
    with pytest.raises(DynamicsError, match='argument joints is .*expected a list of names'):
        joint_names('joints', text)


@pytest.mark.parametrize('text', ['a=0.5 b/c=-1', 'a=0.5, b/c=-1', '{a: 0.5, b/c: -1}',
                                  ' {"a": 0.5, "b/c": -1.0}'])
def test_numbers_are_words_or_a_map(text):
    numbers = joint_numbers('locked', text)
    assert numbers == {'a': 0.5, 'b/c': -1.0}
    assert {type(number) for number in numbers.values()} == {float}


@pytest.mark.parametrize('text', ['{a: x}', '{a: true}', '{1: 2.0}', '{a: }', '{a: .nan}'])
def test_a_map_of_other_values_is_refused(text):
    with pytest.raises(DynamicsError, match=r'argument locked has .*expected a map such as \{'):
        joint_numbers('locked', text)


@pytest.mark.parametrize(('text', 'part'), [
    ('a', 'a'), ('a=', 'a='), ('=1', '=1'), ('a=1 b', 'b'), ('a=x', 'a=x'), ('a=nan', 'a=nan'),
    ('a=inf', 'a=inf'), ('a = 1', 'a')])
def test_words_that_cannot_be_read_are_refused(text, part):
    """With the wrong part and a valid example."""
    with pytest.raises(DynamicsError, match=f"argument locked has '{part}'; expected joint=number"):
        joint_numbers('locked', text)


def test_a_joint_named_twice_is_refused():
    """Its value would be ambiguous."""
    with pytest.raises(DynamicsError, match="argument locked names joint 'a' twice"):
        joint_numbers('locked', 'a=1 b=2 a=1')
    with pytest.raises(DynamicsError, match='twice'):
        joint_numbers('locked', '{a: 1.0, a: 2.0}')


def test_a_text_that_is_no_yaml_is_refused():
    for read, text in ((joint_names, '[a, b'), (joint_numbers, '{a: 1')):
        with pytest.raises(DynamicsError):
            read('x', text)
