"""Build the expression graph of an algorithm: value numbering, constant folding, signs.

A Symbol represents one number. Arithmetic on symbols makes new symbols. The same operation on the
same symbols gives the same symbol (hash-consing), so there are no common subexpressions. Constants
are folded at once: a zero offset or a right angle costs nothing. `Op` lists all operations.

The rules are those of real numbers: 0 x = 0, x - x = 0, x - (x - b) = b, constant factors are
joined, a quotient is a product with a reciprocal. So results differ from NumPy's by rounding, and a
NaN or an infinity can vanish: a kernel checks all its inputs itself.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable
from typing import NoReturn

from dynamics_node.errors import DynamicsError


class TracingError(DynamicsError):
    """An algorithm reads the value of a symbol, for example to branch; a program cannot branch."""


class TooManySymbols(DynamicsError):
    """A trace has more symbols than its limit: another program is shorter."""


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


# Module constants, since reading an attribute of an Enum is slow, and a trace does it often.
_CONST, _ADD, _SUB, _MUL, _NEG = Op.CONST, Op.ADD, Op.SUB, Op.MUL, Op.NEG


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
        if other.__class__ is Symbol or _is_number(other):
            return self.graph.sub(self, other)
        return NotImplemented

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

    def _refuse(self, *_: object) -> NoReturn:
        raise TracingError(
            'the algorithm reads the value of a symbol while it is traced (a comparison, if, '
            'float(), abs or max): branch on the model only; use + - * / sqrt sin cos, or '
            'spatial/select.py')

    __bool__ = __float__ = __int__ = __index__ = __abs__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f'%{self.number}'


Number = Symbol | float


def _is_number(value: object) -> bool:
    return value.__class__ is float or isinstance(value, (Symbol, numbers.Real))  # slow check last


class Graph:
    """The symbols of one trace, in order of creation; each operation is simplified at once.

    :param most: number of symbols after which TooManySymbols is raised.
    """

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self.symbols: list[Symbol] = []
        self._known: dict[tuple, Symbol] = {}  # (op, numbers of the operands) -> symbol
        self._consts: dict[float, Symbol] = {}

    def input(self, place: int) -> Symbol:
        """Return the symbol of input number `place`, counted over all blocks."""
        found = self._known.get((Op.INPUT, place))
        return self._new((Op.INPUT, place), (place,)) if found is None else found

    def const(self, value: Number) -> Symbol:
        """Return the symbol of a number."""
        if isinstance(value, Symbol):
            return value
        found = self._consts.get(value)
        if found is None:
            value = float(value) + 0.0  # -0 is 0
            found = self._consts[value] = self._new((_CONST, value), (value,))
        return found

    def _new(self, key: tuple, args: tuple) -> Symbol:
        """Add a symbol that is not known yet."""
        if len(self.symbols) >= self._most:
            raise TooManySymbols(f'more than {self._most} symbols')
        new = self._known[key] = Symbol(self, len(self.symbols), key[0], args)
        self.symbols.append(new)
        return new

    def forget(self) -> None:
        """Drop the tables of symbols; each symbol is freed with the last program that has it.

        A graph and its symbols refer to each other: only the garbage collector would free them. No
        symbol may be made afterwards.
        """
        self.symbols = []
        self._known, self._consts = {}, {}

    # In the usual case, two symbols that are not constants, the look-up is the only call.

    def add(self, x: Number, y: Number) -> Symbol:
        if x.__class__ is not Symbol:
            x = self.const(x)
        if y.__class__ is not Symbol:
            y = self.const(y)
        if x.op is _CONST:
            if y.op is _CONST:
                return self.const(x.args[0] + y.args[0])
            if x.args[0] == 0.0:
                return y
        elif y.op is _CONST and y.args[0] == 0.0:
            return x
        if y.op is _NEG:
            return self.sub(x, y.args[0])
        if x.op is _NEG:
            return self.sub(y, x.args[0])
        if x.number > y.number:
            x, y = y, x
        key = _ADD, x.number, y.number
        found = self._known.get(key)
        return self._new(key, (x, y)) if found is None else found

    def sub(self, x: Number, y: Number) -> Symbol:
        if x.__class__ is not Symbol:
            x = self.const(x)
        if y.__class__ is not Symbol:
            y = self.const(y)
        if x.op is _CONST:
            if y.op is _CONST:
                return self.const(x.args[0] - y.args[0])
            if x.args[0] == 0.0:
                return self.neg(y)
        elif y.op is _CONST and y.args[0] == 0.0:
            return x
        if x is y:
            return self.const(0.0)
        if y.op is _NEG:
            return self.add(x, y.args[0])
        if x.op is _NEG:
            return self.neg(self.add(x.args[0], y))
        if y.op is _SUB and y.args[0] is x:  # x - (x - b) = b, as in Rodrigues' 1 - (1 - cos)
            return y.args[1]
        known = self._known.get((_SUB, y.number, x.number))
        if known is not None:
            return self.neg(known)
        key = _SUB, x.number, y.number
        found = self._known.get(key)
        return self._new(key, (x, y)) if found is None else found

    def mul(self, x: Number, y: Number) -> Symbol:
        if x.__class__ is not Symbol:
            x = self.const(x)
        if y.__class__ is not Symbol:
            y = self.const(y)
        if x.op is _CONST:
            return self._scale(x.args[0], y)
        if y.op is _CONST:
            return self._scale(y.args[0], x)
        if x.op is _NEG:
            return self.neg(self.mul(x.args[0], y))
        if y.op is _NEG:
            return self.neg(self.mul(x, y.args[0]))
        if x.number > y.number:
            x, y = y, x
        key = _MUL, x.number, y.number
        found = self._known.get(key)
        return self._new(key, (x, y)) if found is None else found

    def _scale(self, factor: float, y: Symbol) -> Symbol:
        if y.op is _CONST:
            return self.const(factor * y.args[0])
        if factor == 0.0:
            return self.const(0.0)
        if factor == 1.0:
            return y
        if factor < 0.0:  # both signs share one product
            return self.neg(self._scale(-factor, y))
        if y.op is _NEG:
            return self.neg(self._scale(factor, y.args[0]))
        if y.op is _MUL and y.args[0].op is _CONST:
            return self._scale(factor * y.args[0].args[0], y.args[1])
        const = self.const(factor)
        key = _MUL, const.number, y.number
        found = self._known.get(key)
        return self._new(key, (const, y)) if found is None else found

    def div(self, x: Number, y: Number) -> Symbol:
        """Return x * (1 / y): a pivot divides many numbers, its reciprocal is computed once."""
        return self.mul(x, self.unary(Op.RECIP, self.const(y), _reciprocal))

    def neg(self, x: Symbol) -> Symbol:
        if x.op is _NEG:
            return x.args[0]
        if x.op is _CONST:
            return self.const(-x.args[0])
        if x.op is _SUB:  # y - x if the graph has it; else a change of sign, which is cheap
            known = self._known.get((_SUB, x.args[1].number, x.args[0].number))
            if known is not None:
                return known
        key = _NEG, x.number
        found = self._known.get(key)
        return self._new(key, (x,)) if found is None else found

    def unary(self, op: Op, x: Symbol, fold: Callable[[float], float]) -> Symbol:
        """Return op(x); `fold` evaluates it for a constant."""
        if x.op is Op.CONST:
            return self.const(fold(x.args[0]))
        if x.op is Op.NEG and op is Op.COS:
            return self.unary(op, x.args[0], fold)
        if x.op is Op.NEG and op in (Op.SIN, Op.RECIP):
            return self.neg(self.unary(op, x.args[0], fold))
        found = self._known.get((op, x.number))
        return self._new((op, x.number), (x,)) if found is None else found


def _reciprocal(value: float) -> float:
    return 1.0 / value if value else math.inf  # not finite: refused at run time


def is_const(symbol: Symbol, value: float) -> bool:
    """Return whether a symbol is that constant."""
    return symbol.op is Op.CONST and symbol.args[0] == value
