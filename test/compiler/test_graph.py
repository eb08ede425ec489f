"""Test symbols: constant folding, sharing, and refused operations."""

import math
import operator

import numpy as np
import pytest

from dynamics_node.compiler.differentiate import tangents
from dynamics_node.compiler.graph import Graph, Op, TracingError, is_const
from dynamics_node.errors import DynamicsError


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def xyz(graph):
    return [graph.input(k) for k in range(3)]


def made(graph, *ops):
    """Return how many symbols of some operations the graph holds, used or not."""
    return sum(symbol.op in ops for symbol in graph.symbols)


def test_zero_and_one_add_no_operation(graph, xyz):
    """The symbol itself comes back, whichever side the constant is on."""
    x = xyz[0]
    for same in (x + 0, 0.0 + x, x - 0, x * 1, 1.0 * x, x / 1.0, x + -0.0, np.float64(1.0) * x):
        assert same is x
    for nothing in (x * 0, 0.0 * x, -0.0 * x, x - x, 0 / x):
        assert is_const(nothing, 0.0)
    assert math.copysign(1.0, graph.const(-0.0).args[0]) == 1.0


def test_constants_are_calculated_at_once(graph):
    """One symbol, a CONST, with what Python's floats give."""
    two, three = graph.const(2), graph.const(3.0)
    for value, symbol in {5.0: two + three, -1.0: two - three, 6.0: two * three, -2.0: -two,
                          2 / 3: two / three, 4.0: two ** 2, 0.5: 1 / two}.items():
        assert is_const(symbol, value)
    for function in (np.sin, np.cos, np.sqrt):
        assert is_const(function(np.array([two]))[0], function(2.0))
    assert is_const(1 / graph.const(0.0), math.inf)  # is met again, and refused, at run time


def test_products_with_constants_are_merged(graph, xyz):
    """2 (3 x) = 6 x: one product."""
    x = xyz[0]
    assert 2.0 * (3.0 * x) is 6.0 * x
    assert (2.0 * x) * 0.5 is x


def test_the_same_operation_is_one_symbol(graph, xyz):
    """Hash-consing, also with the operands swapped."""
    x, y, _ = xyz
    assert x + y is y + x
    assert x * y is y * x
    assert x - y is x - y
    assert np.sin(np.array([x + y]))[0] is np.sin(np.array([y + x]))[0]
    assert (x * y) ** 2 is (y * x) * (x * y)
    assert graph.const(0.5) is graph.const(np.float64(0.5))
    assert graph.input(1) is y


def test_signs_are_moved_out_of_the_way(graph, xyz):
    """A product or difference is made once and serves both signs."""
    x, y, _ = xyz
    minus = -x
    assert -minus is x
    assert x + -y is x - y
    assert -x + y is y - x
    assert x - -y is x + y
    assert -x - y is -(x + y)
    assert (-x) * y is -(x * y)
    assert x * (-y) is -(x * y)
    assert (-x) * (-y) is x * y
    assert -2.0 * x is -(2.0 * x)
    assert (-1.0) * x is -x
    assert 2.0 * -x is -(2.0 * x)
    assert made(graph, Op.MUL) == 2


def test_a_difference_is_used_the_other_way_round(graph, xyz):
    """Once x - y is there, y - x is its negative and not another difference."""
    x, y, _ = xyz
    difference = x - y
    assert y - x is -difference
    assert -(y - x) is difference
    assert made(graph, Op.SUB) == 1


def test_x_minus_the_difference_of_x_and_b_is_b(graph, xyz):
    """As in the formula of Rodrigues, 1 - (1 - cos)."""
    x, b, _ = xyz
    assert x - (x - b) is b
    assert 1.0 - (1.0 - b) is b


def test_a_pivot_is_inverted_once(graph, xyz):
    """Division by the same symbol, of either sign, shares one RECIP."""
    x, y, z = xyz
    assert x / z is x * (1 / z)
    assert y / -z is -(y * (1 / z))
    assert [x / z, y / z, (x + y) / z, 1 / -z]
    assert made(graph, Op.RECIP) == 1


def test_sine_and_cosine_know_their_symmetry(graph, xyz):
    """Odd and even: one sine and one cosine for both signs."""
    x = np.array(xyz[:1])
    assert np.sin(-x)[0] is -np.sin(x)[0]
    assert np.cos(-x)[0] is np.cos(x)[0]
    assert made(graph, Op.SIN, Op.COS) == 2


def test_a_step_is_one_where_it_is_positive(graph, xyz):
    """Constants are decided at once, zero is not positive, and a step has no slope."""
    assert [graph.const(value).step().args[0] for value in (-1.0, 0.0, 2.0)] == [0.0, 0.0, 1.0]
    assert xyz[0].step() is xyz[0].step()
    assert tangents([xyz[0].step()], [{xyz[0]: 1.0}]) == [[0.0]]


LOOKS = {
    'equal': lambda x: x == 0, 'unequal': lambda x: x != 0, 'less': lambda x: x < 0,
    'at most': lambda x: x <= 0, 'more': lambda x: x > 0, 'at least': lambda x: x >= 0,
    'bool': bool, 'if': lambda x: 1 if x else 2, 'and': lambda x: x and x, 'not': operator.not_,
    'float': float, 'int': int, 'index': lambda x: [1, 2][x], 'abs': abs,
    'max': lambda x: max(x, 1.0), 'maximum': lambda x: np.maximum(np.array([x]), 0.0),
    'where': lambda x: np.where(np.array([x]) > 0, 1, 0), 'math': math.sin,
    'store': lambda x: np.zeros(1).__setitem__(0, x), 'cast': lambda x: np.array([x]).astype(float),
    'any': lambda x: np.array([x, x]).any(), 'fabs': lambda x: np.abs(np.array([x])),
    'in': lambda x: x in [1.0, 2.0],
}


@pytest.mark.parametrize('look', LOOKS)
def test_a_symbol_has_no_truth_value_and_no_number(xyz, look):
    """The message says what to use instead."""
    with pytest.raises(TracingError, match='branch on the model only; use'):
        LOOKS[look](xyz[0])
    assert issubclass(TracingError, DynamicsError)


def test_only_squares_are_powers(xyz):
    """The message names the power."""
    with pytest.raises(TracingError, match=r'x \*\* 3: only squares'):
        xyz[0] ** 3


@pytest.mark.parametrize('operation', ['tan', 'arctan2', 'exp'])
def test_other_functions_are_refused(xyz, operation):
    """NumPy says which one is missing."""
    arrays = [np.array(xyz[:1])] * (2 if operation == 'arctan2' else 1)
    with pytest.raises((TypeError, AttributeError), match=operation):
        getattr(np, operation)(*arrays)


@pytest.mark.parametrize('stranger', ['1', None, [1.0], 1j])
def test_operands_other_than_real_numbers_are_refused(xyz, stranger):
    """A string, a list, a complex number."""
    with pytest.raises((TypeError, TracingError)):
        xyz[0] * stranger


def test_operations_with_arrays_are_elementwise(graph, xyz):
    """A symbol times an array is an array, from both sides."""
    x, array = xyz[0], np.array([1.0, 2.0])
    for product in (x * array, array * x):
        assert [product[0] is x, product[1] is 2.0 * x] == [True, True]
    rotation = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = rotation @ np.array(xyz[:2])
    assert turned[0] is -xyz[1]
    assert turned[1] is xyz[0]
