"""Trace an algorithm: run it on symbols and return the program that it builds."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.compiler.graph import Graph, Op, Symbol, TracingError
from dynamics_node.compiler.row_statements import Row, RowProgram


class Program(NamedTuple):
    """Straight-line code: each symbol reads only earlier symbols.

    Inputs and outputs are blocks, one per array; entries are numbered across all blocks.
    """

    inputs: tuple[tuple[str, int], ...]   # (name, size) of each block
    symbols: tuple[Symbol, ...]           # that the outputs depend on, in order of creation
    outputs: tuple[Symbol, ...]           # of all blocks
    shapes: tuple[tuple[int, ...], ...]   # of the output arrays
    # Statements that compute all output arrays but the last, in loops; see row_statements.py. Then
    # `outputs` are their coefficients, the entries of the first rows, and the last array.
    rows: RowProgram | None = None

    @property
    def size_of_last(self) -> int:
        """The size of the last output array."""
        return int(np.prod(self.shapes[-1], dtype=int))

    def results(self, margins: int) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
        """Return (symbols of the results, those of the last outputs, which are margins)."""
        sizes = [int(np.prod(shape, dtype=int)) for shape in self.shapes]
        last = len(self.outputs) - sum(sizes[len(sizes) - margins:])
        return self.outputs[:last], self.outputs[last:]

    def row_inputs(self) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
        """Return what the statements read: coefficients, entries of the first rows."""
        assert self.rows is not None
        end = len(self.outputs) - self.size_of_last
        entries = end - self.rows.first * self.rows.columns
        return self.outputs[:entries], self.outputs[entries:end]

    def __str__(self) -> str:
        lines = [_line(symbol) for symbol in self.symbols]
        return '\n'.join([*lines, f'return {", ".join(map(repr, self.outputs))}'])


def trace(function: Callable, shapes: Mapping[str, tuple[int, ...]], most: float = math.inf
          ) -> Program:
    """Return the Program of function(*arrays of symbols).

    :param function: returns an array, or a tuple of arrays.
    :param shapes: {name: shape} of its arguments, in order.
    :param most: number of symbols that the function may make.
    :raise TracingError: the function reads the value of a symbol.
    :raise TooManySymbols: it makes more symbols.
    """
    graph = Graph(most)
    try:
        return _traced(graph, function, shapes)
    finally:
        graph.forget()


def _traced(graph: Graph, function: Callable, shapes: Mapping[str, tuple[int, ...]]) -> Program:
    arrays, inputs, first = [], [], 0
    for name, shape in shapes.items():
        size = int(np.prod(shape, dtype=int))
        flat = [graph.input(first + k) for k in range(size)]
        arrays.append(np.array(flat, dtype=object).reshape(shape))
        inputs.append((name, size))
        first += size
    result = function(*arrays)
    results = [np.asarray(part, dtype=object)
               for part in (result if isinstance(result, tuple) else (result,))]
    held = [part for part in results if part.size and isinstance(part.flat[0], Row)]
    rows, read = None, []   # read by the statements on rows
    if held:
        if len(held) != len(results) - 1 or held[-1] is results[-1]:
            raise TracingError('all results but the last must be rows, or none')
        rows, coefficients, entries = held[0].flat[0].rows.program(held)
        results[:-1] = [np.empty((len(part), rows.columns)) for part in held]
        read = [*coefficients, *entries]
    direct = results if rows is None else results[-1:]
    outputs = (*read, *(graph.const(value) for part in direct for value in part.ravel()))
    return Program(tuple(inputs), _needed(graph, outputs), outputs,
                   tuple(part.shape for part in results), rows)


def _needed(graph: Graph, outputs: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """Return the symbols that the outputs depend on, in order of creation."""
    needed = bytearray(len(graph.symbols))
    for symbol in outputs:
        needed[symbol.number] = True
    for symbol in reversed(graph.symbols):      # operands have smaller numbers
        if needed[symbol.number] and symbol.op is not Op.CONST and symbol.op is not Op.INPUT:
            for arg in symbol.args:
                needed[arg.number] = True
    return tuple(itertools.compress(graph.symbols, needed))


def evaluate(program: Program, inputs: np.ndarray) -> list[np.ndarray]:
    """Return the output arrays for a flat array of inputs: interpret symbol by symbol."""
    values: dict[int, float] = {}
    const, given = Op.CONST, Op.INPUT   # reading an attribute of an Enum is slow
    for symbol in program.symbols:
        op, args = symbol.op, symbol.args
        if op is const:
            values[symbol.number] = args[0]
        elif op is given:
            values[symbol.number] = float(inputs[args[0]])
        elif len(args) == 2:
            values[symbol.number] = EVALUATE[op](values[args[0].number], values[args[1].number])
        else:
            values[symbol.number] = EVALUATE[op](values[args[0].number])
    flat = np.array([values[symbol.number] for symbol in program.outputs])
    if program.rows is not None:
        factors, entries = (np.array([values[symbol.number] for symbol in part])
                            for part in program.row_inputs())
        last = flat[len(flat) - program.size_of_last:].reshape(program.shapes[-1])
        return [*program.rows.evaluate(factors, entries), last]
    ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in program.shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), program.shapes)]


EVALUATE: dict[Op, Callable] = {
    Op.ADD: lambda x, y: x + y,
    Op.SUB: lambda x, y: x - y,
    Op.MUL: lambda x, y: x * y,
    Op.NEG: lambda x: -x,
    Op.RECIP: lambda x: np.divide(1.0, x),
    Op.SQRT: np.sqrt,
    Op.SIN: np.sin,
    Op.COS: np.cos,
    Op.STEP: lambda x: float(x > 0.0),
}


def check(program: Program) -> None:
    """Raise AssertionError for an operand that is not defined before its use, or a wrong arity."""
    arity = {Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.NEG: 1, Op.RECIP: 1, Op.SQRT: 1, Op.SIN: 1,
             Op.COS: 1, Op.STEP: 1}
    size = sum(count for _, count in program.inputs)
    defined = set()
    for symbol in program.symbols:
        if symbol.op is Op.INPUT:
            assert 0 <= symbol.args[0] < size, f'{_line(symbol)}: no such input'
        elif symbol.op is not Op.CONST:
            assert len(symbol.args) == arity[symbol.op], f'{_line(symbol)}: wrong arity'
            assert all(arg.number in defined for arg in symbol.args), f'{_line(symbol)}: undefined'
        defined.add(symbol.number)
    assert all(symbol.number in defined for symbol in program.outputs), 'an output is missing'


def _line(symbol: Symbol) -> str:
    return f'%{symbol.number} = {symbol.op.value}({", ".join(map(str, symbol.args))})'
