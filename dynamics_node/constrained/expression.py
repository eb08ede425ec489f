"""Read and evaluate expressions of joint coordinates, such as 'q1 - 0.3 * sin(q2)'.

q1, q2, ... are the coordinates of the joints of a constraint in their order, v1, v2, ... their
velocities. An expression is evaluated on numbers of any kind: floats, dual numbers, symbols. In
place of the text there may be a Python function f(q) or f(q, v) of arrays (k,) of such numbers,
which have + - * / ** 2, np.sin, np.cos and np.sqrt.
"""

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dynamics_node.algorithms.dual import Dual, dual_vector
from dynamics_node.spatial.select import Number

LONGEST = 1000       # characters
GREATEST_POWER = 8   # powers are products
MOST_OPERATIONS = 100   # a power counts as 8: derivatives evaluate all of them many times
DEEPEST = 50         # parts within parts
SYNTAX = (f'at most {LONGEST} characters of numbers, pi, q1, q2, ..., v1, v2, ... (one of each per '
          f'joint), + - * /, powers from 1 to {GREATEST_POWER}, and sin cos tan sqrt; at most '
          f'{MOST_OPERATIONS} operations, {DEEPEST} within each other')

FUNCTION = ('a function f(q) or f(q, v) of arrays with one number per joint that returns one '
            'finite number, by + - * / ** 2, np.sin, np.cos and np.sqrt')
LINEAR = 'an expression that is linear in the velocities, zero where they are zero'
ROUNDING = 1e-9      # of a sum that should be zero, relative to its terms

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
              ast.Div: operator.truediv}
_FUNCTIONS: dict[str, Callable] = {'sin': np.sin, 'cos': np.cos, 'sqrt': np.sqrt,
                                   'tan': lambda x: np.sin(x) / np.cos(x)}


class Expression:
    """A valid expression: call it with the coordinates and velocities, a sequence of each.

    :ivar has_velocities: whether it contains a velocity.
    """

    def __init__(self, tree: ast.expr, has_velocities: bool) -> None:
        self._tree, self.has_velocities = tree, has_velocities

    def __call__(self, q: Iterable, v: Iterable) -> Any:
        values = {f'{letter}{k}': value for letter, numbers in (('q', q), ('v', v))
                  for k, value in enumerate(numbers, start=1)}
        return _value(self._tree, {**values, 'pi': math.pi})


@lru_cache(maxsize=1024)
def parse(text: str, joints: int) -> Expression:
    """Return the Expression of a text with the coordinates of some joints.

    :raise ValueError: the text is no such expression.
    """
    if len(text) > LONGEST:
        raise ValueError(SYNTAX)
    try:
        tree = ast.parse(text.strip(), mode='eval').body
        _check_cost(tree)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found = Expression(tree, any(name[0] == 'v' for name in names))
        some = np.linspace(0.3, 0.7, joints)
        with np.errstate(all='ignore'):  # the value does not matter here
            found(some, some)  # every part of the text is evaluated
    except (SyntaxError, ValueError, KeyError, ArithmeticError, RecursionError, MemoryError):
        raise ValueError(SYNTAX) from None
    return found


def function_of(expression: str | Callable, joints: int) -> tuple[Callable, bool]:
    """Return (f(q), False) of positions, or (f(q, v), True) with velocities."""
    if callable(expression):
        return expression, _arguments(expression) == 2
    found = parse(expression, joints)
    return (found, True) if found.has_velocities else (lambda q: found(q, ()), False)


def check_expression(expression: str | Callable, joints: int) -> None:
    """Raise a ValueError, which says what is valid, if an expression is not valid."""
    if callable(expression):
        _check_function(expression, joints)
    f, has_velocities = function_of(expression, joints)
    if has_velocities:
        q, v, w = np.random.default_rng(0).uniform(0.2, 0.9, (3, joints))
        with np.errstate(all='ignore'):  # at these q it may have no finite value at all
            parts = np.array([f(q, v), -2.0 * f(q, w), -f(q, v - 2.0 * w), f(q, 0.0 * v)])
            sums = np.array([parts.sum(), f(q, v) + f(q, -v), f(q, -v)])
        if np.isfinite([*parts, *sums]).any() and not (
                np.abs(sums[:2]).max() <= ROUNDING * np.abs(parts).max()):
            raise ValueError(LINEAR)


def _check_function(function: Callable, joints: int) -> None:
    """Call a function with some numbers."""
    some = np.linspace(0.3, 0.7, joints)
    try:
        count = _arguments(function)
        values = dual_vector(some, np.ones((joints, 1)))
        found = function(*(values, some)[:count])
        value = float(found.value if isinstance(found, Dual) else found)
        valid = count in (1, 2) and math.isfinite(value)
    except Exception:  # a function of the caller may raise anything
        valid = False
    if not valid:
        raise ValueError(FUNCTION)


def _arguments(function: Callable) -> int:
    """Return how many arguments a function must be given."""
    return sum(each.default is each.empty and each.kind is not each.VAR_KEYWORD
               for each in inspect.signature(function).parameters.values())


def _check_cost(tree: ast.expr) -> None:
    """Raise a ValueError if a text has too many operations, or too many within each other."""
    depth, count, parts = 0, 0, [tree]
    while parts:
        depth, count = depth + 1, count + sum(map(_operations, parts))
        if depth > DEEPEST or count > MOST_OPERATIONS:
            raise ValueError(SYNTAX)
        parts = [child for node in parts for child in ast.iter_child_nodes(node)
                 if isinstance(child, ast.expr)]


def _operations(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return GREATEST_POWER
    return int(not isinstance(node, (ast.Name, ast.Constant)))


def _value(node: ast.expr, values: Mapping[str, Number]) -> Number:
    """Return the value of a part of the text; a part that is not allowed raises a ValueError."""
    if (isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
            and not isinstance(node.value, bool)):
        return float(node.value)
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand, values)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_value(node.left, values), node.right)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        argument, = node.args
        return _FUNCTIONS[node.func.id](_value(argument, values))
    raise ValueError(SYNTAX)


def _power(base: Number, exponent: ast.expr) -> Number:
    if (not isinstance(exponent, ast.Constant) or not isinstance(exponent.value, (int, float))
            or exponent.value not in range(1, GREATEST_POWER + 1)):
        raise ValueError(SYNTAX)
    return math.prod([base] * int(exponent.value), start=1.0)
