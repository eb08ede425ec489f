"""Build the expression graph of an algorithm: value numbering, constant folding, signs.

A Symbol represents one number. Arithmetic on symbols makes new symbols. The same operation on the
same symbols gives the same symbol (hash-consing), so there are no common subexpressions. Constants
are folded at once: a zero offset or a right angle costs nothing. `Op` lists all operations.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable

from dynamics_node.errors import DynamicsError


class TracingError(DynamicsError):
    """An algorithm reads the value of a symbol, for example to branch: a program cannot."""


class TooManySymbols(DynamicsError):
    """A trace has more symbols than it may have: another program is shorter."""


class Op(enum.Enum):
    """The operations of a program. Division is multiplication by RECIP."""

    CONST = 'const'
    INPUT = 'input'
    ADD = 'add'
    SUB = 'sub'
    MUL = 'mul'
    NEG = 'neg'
    RECIP = 'recip'
    SQRT = 'sqrt'
    SIN = 'sin'
    COS = 'cos'
    STEP = 'step'  # 1 where positive, else 0: the only comparison

    __hash__ = object.__hash__  # Enum.__hash__ is Python code, and slow


class Symbol:
    """One number of a program, as an element of an object array."""

    __slots__ = ('graph', 'number', 'op', 'args')

    def __init__(self, graph: Graph, number: int, op: Op, args: tuple):
        self.graph, self.number, self.op, self.args = graph, number, op, args

    # NotImplemented for an array: NumPy then applies the operation to each element.
    def __add__(self, other: Number) -> Symbol:
        if other.__class__ is Symbol or _is_number(other):
            return self.graph.add(self, other)
        return NotImplemented

    def __sub__(self, other: Number) -> Symbol:
        return self.graph.sub(self, other) if _is_number(other) else NotImplemented

    def __mul__(self, other: Number) -> Symbol:
        if other.__class__ is Symbol or _is_number(other):
            return self.graph.mul(self, other)
        return NotImplemented

    def __truediv__(self, other: Number) -> Symbol:
        return self.graph.div(self, other) if _is_number(other) else NotImplemented

    def __rsub__(self, other: Number) -> Symbol:
        return self.graph.sub(other, self) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other: Number) -> Symbol:
        return self.graph.div(other, self) if _is_number(other) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Symbol:
        return self.graph.neg(self)

    def __pow__(self, power: int) -> Symbol:
        if power != 2:
            raise TracingError(f'x ** {power}: only squares can be traced')
        return self * self

    def sin(self) -> Symbol:
        return self.graph.unary(Op.SIN, self, math.sin)

    def cos(self) -> Symbol:
        return self.graph.unary(Op.COS, self, math.cos)

    def sqrt(self) -> Symbol:
        return self.graph.unary(Op.SQRT, self, math.sqrt)

    def step(self) -> Symbol:
        return self.graph.unary(Op.STEP, self, lambda value: float(value > 0.0))

    def _refuse(self, *_):
        raise TracingError(
            'the algorithm reads the value of a symbol while it is traced (a comparison, if, '
            'float(), abs or max): branch on the model only; use + - * / sqrt sin cos, or '
            'spatial/select.py')

    __bool__ = __float__ = __int__ = __index__ = __abs__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self):
        return f'%{self.number}'


Number = Symbol | float


def _is_number(value):
    return isinstance(value, (Symbol, float, numbers.Real))  # the slow check last


def _in_order(x, y):
    return (x, y) if x.number <= y.number else (y, x)


class Graph:
    """The symbols of one trace, in order of creation; each operation is simplified at once.

    :param most: number of symbols after which TooManySymbols is raised.
    """

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self.symbols: list[Symbol] = []
        self._known: dict[tuple, Symbol] = {}  # (op, numbers of the operands) -> symbol

    def input(self, place: int) -> Symbol:
        """Return the symbol of the input at some place of all blocks."""
        return self._known_or_new((Op.INPUT, place), (place,))

    def const(self, value: Number) -> Symbol:
        """Return the symbol of a number."""
        if value.__class__ is Symbol:
            return value
        value = float(value) + 0.0  # -0 is 0
        return self._known_or_new((Op.CONST, value), (value,))

    def _symbol(self, op, *args):
        return self._known_or_new((op, *[arg.number for arg in args]), args)

    def _known_or_new(self, key, args):
        found = self._known.get(key)
        if found is None:
            if len(self.symbols) >= self._most:
                raise TooManySymbols(f'more than {self._most} symbols')
            found = self._known[key] = Symbol(self, len(self.symbols), key[0], args)
            self.symbols.append(found)
        return found

    def forget(self) -> None:
        """Drop the table of symbols: each is freed with the program that has it.

        A graph and its symbols refer to each other; only the garbage collector would free them.
        """
        self.symbols = []
        self._known = {}

    def add(self, x: Number, y: Number) -> Symbol:
        x = x if x.__class__ is Symbol else self.const(x)   # no call in the usual case
        y = y if y.__class__ is Symbol else self.const(y)
        if x.op is Op.CONST and y.op is Op.CONST:
            return self.const(x.args[0] + y.args[0])
        if is_const(x, 0.0):
            return y
        if is_const(y, 0.0):
            return x
        if y.op is Op.NEG:
            return self.sub(x, y.args[0])
        if x.op is Op.NEG:
            return self.sub(y, x.args[0])
        return self._symbol(Op.ADD, *_in_order(x, y))

    def sub(self, x: Number, y: Number) -> Symbol:
        x = x if x.__class__ is Symbol else self.const(x)
        y = y if y.__class__ is Symbol else self.const(y)
        if x.op is Op.CONST and y.op is Op.CONST:
            return self.const(x.args[0] - y.args[0])
        if is_const(y, 0.0):
            return x
        if is_const(x, 0.0):
            return self.neg(y)
        if x is y:
            return self.const(0.0)
        if y.op is Op.NEG:
            return self.add(x, y.args[0])
        if x.op is Op.NEG:
            return self.neg(self.add(x.args[0], y))
        if y.op is Op.SUB and y.args[0] is x:  # x - (x - b) = b, as in Rodrigues' 1 - (1 - cos)
            return y.args[1]
        known = self._known.get((Op.SUB, y.number, x.number))
        return self.neg(known) if known is not None else self._symbol(Op.SUB, x, y)

    def mul(self, x: Number, y: Number) -> Symbol:
        x = x if x.__class__ is Symbol else self.const(x)
        y = y if y.__class__ is Symbol else self.const(y)
        if y.op is Op.CONST:
            x, y = y, x
        if x.op is Op.CONST:
            return self._scale(x.args[0], y)
        if x.op is Op.NEG:
            return self.neg(self.mul(x.args[0], y))
        if y.op is Op.NEG:
            return self.neg(self.mul(x, y.args[0]))
        return self._symbol(Op.MUL, *_in_order(x, y))

    def _scale(self, factor, y):
        if y.op is Op.CONST:
            return self.const(factor * y.args[0])
        if factor == 0.0:
            return self.const(0.0)
        if factor == 1.0:
            return y
        if factor < 0.0:  # both signs share one product
            return self.neg(self._scale(-factor, y))
        if y.op is Op.NEG:
            return self.neg(self._scale(factor, y.args[0]))
        if y.op is Op.MUL and y.args[0].op is Op.CONST:
            return self._scale(factor * y.args[0].args[0], y.args[1])
        return self._symbol(Op.MUL, self.const(factor), y)

    def div(self, x: Number, y: Number) -> Symbol:
        """Return x * (1 / y): a pivot divides many numbers, its reciprocal is computed once."""
        return self.mul(x, self.unary(Op.RECIP, self.const(y), _reciprocal))

    def neg(self, x: Symbol) -> Symbol:
        if x.op is Op.CONST:
            return self.const(-x.args[0])
        if x.op is Op.NEG:
            return x.args[0]
        if x.op is Op.SUB:  # y - x if the graph has it; else a change of sign, which is cheap
            known = self._known.get((Op.SUB, x.args[1].number, x.args[0].number))
            if known is not None:
                return known
        return self._symbol(Op.NEG, x)

    def unary(self, op: Op, x: Symbol, fold: Callable[[float], float]) -> Symbol:
        """Return op(x); `fold` evaluates it for a constant."""
        if x.op is Op.CONST:
            return self.const(fold(x.args[0]))
        if x.op is Op.NEG and op is Op.COS:
            return self.unary(op, x.args[0], fold)
        if x.op is Op.NEG and op in (Op.SIN, Op.RECIP):
            return self.neg(self.unary(op, x.args[0], fold))
        return self._symbol(op, x)


def _reciprocal(value):
    return 1.0 / value if value else math.inf  # not finite: refused at run time


def is_const(symbol: Symbol, value: float) -> bool:
    """Return whether a symbol is that constant."""
    return symbol.op is Op.CONST and symbol.args[0] == value
