"""Emit the loops that carry out a RowProgram, and the stores into their memory.

The straight-line code writes the coefficients and the first rows into memory. Another function then
runs the statements, which are tables in the object code. For a single state the lanes are columns
of a row, the memory is on the stack, and @solve copies the results to `out`. For a batch the lanes
are states, and the memory belongs to the caller of the kernel, which copies the results from it,
see batch.h. The results of both are the same bits: each statement is the same chain of fused
multiply-adds, but for terms that add 0. The statements of a single state can be written out, see
row_unrolling.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.compiler.graph import Op, Symbol, is_const
from dynamics_node.compiler.ir_loops import at, entry, loop, table, times
from dynamics_node.compiler.ir_text import Dialect, Emitter
from dynamics_node.compiler.result_stores import ACCUMULATORS
from dynamics_node.compiler.row_statements import RowProgram
from dynamics_node.compiler.row_transposition import chunks_of, store_vector
from dynamics_node.compiler.row_unrolling import (
    broadcast,
    emit_mirror,
    emit_statements,
    is_unrolled,
    load,
)
from dynamics_node.compiler.trace import Program

if TYPE_CHECKING:
    from dynamics_node.compiler.lower import FunctionBody

# Vectors of a row that a statement computes at once: enough to hide the latency of an addition, and
# few enough for the registers (16 with AVX2: 8 sums, 4 checks, a coefficient, loads). With 8 lanes,
# which only AVX-512 has with its 32 registers, 13 take 5 % less time than 8 (measured).
MOST_SUMS, MOST_SUMS_OF_8_LANES = 8, 13
MOST_LANES = 8
MIN_COLUMNS = MOST_LANES   # of a row
MOST_BYTES = 2 << 20       # of the memory of a batch, which should fit a cache


class RowMemory:
    """The layout of coefficients and rows in the memory of one function; offsets in bytes.

    A row has at least MIN_COLUMNS, so that a vector register does not pass its end.
    """

    def __init__(self, rows: RowProgram, coefficients: int, lanes: int, batch: bool):
        assert rows.columns >= MIN_COLUMNS, 'the row of a result is shorter than a register'
        self.rows, self.lanes, self.batch = rows, lanes, batch
        self.item = 8 * lanes if batch else 8    # bytes of one number, of all states
        vectors = rows.columns if batch else -(-rows.columns // lanes)
        self.unrolled = not batch and is_unrolled(rows, lanes)
        most = MOST_SUMS_OF_8_LANES if batch and lanes == MOST_LANES else MOST_SUMS
        self.blocks = vectors if self.unrolled else -(-vectors // most)
        self.sums = -(-vectors // self.blocks)   # vectors of a block
        self.columns = self.sums * (1 if batch else lanes)   # of a block
        self.row = self.blocks * self.sums * 8 * lanes
        self.start = -(-coefficients * self.item // 64) * 64   # of the first row
        self.bytes = self.start + rows.slots * self.row

    def slot(self, slot: int) -> int:
        """Return the offset of a slot."""
        return self.start + slot * self.row


def fits_memory(program: Program) -> bool:
    """Return whether rows are long enough, and their memory is small enough."""
    rows = program.rows
    return (rows is not None and rows.columns >= MIN_COLUMNS and RowMemory(
        rows, len(program.row_inputs()[0]), MOST_LANES, batch=True).bytes <= MOST_BYTES)


class RowStores:
    """Emits the stores of coefficients and first rows, and the call of the loops."""

    def __init__(self, body: FunctionBody, memory: RowMemory, coefficients: Sequence[Symbol],
                 entries: Sequence[Symbol]):
        self._body, self._e, self._memory = body, body.e, memory
        self._places: dict[int, list[int]] = {}   # number of a symbol -> offsets
        columns = memory.rows.columns
        named = [(symbol, place * memory.item) for place, symbol in enumerate(coefficients)]
        named += [(symbol, memory.slot(k // columns) + k % columns * memory.item)
                  for k, symbol in enumerate(entries) if not is_const(symbol, 0.0)]
        self._e.lines.append(f'  call void @clear{body.e.lanes}(ptr %rows)')
        for symbol, offset in named:
            if symbol.op is Op.CONST or symbol.number in body.defined:
                self._store(symbol, offset)
            else:
                self._places.setdefault(symbol.number, []).append(offset)
        self._by_number = {symbol.number: symbol for symbol, _ in named}

    def on_defined(self, number: int) -> None:
        """Store a symbol that has its value now."""
        for offset in self._places.pop(number, ()):
            self._store(self._by_number[number], offset)

    def _store(self, symbol: Symbol, offset: int) -> None:
        self._body.advance(1)
        address = at(self._e, '%rows', offset)
        self._e.lines.append(f'  store {self._e.type} {self._body.value(symbol)}, ptr {address}, '
                             'align 8')

    def not_finite(self) -> str:
        """Emit the call of the loops; return the mask of lanes where a result is not finite."""
        vector = self._e.of_width(self._memory.lanes)
        out = '' if self._memory.batch else ', ptr %out'
        total = vector.line(f'call {vector.type} @solve{self._e.lanes}(ptr %rows{out})')
        zero = vector.dialect.const(0.0, vector.lanes)
        mask = vector.line(f'fcmp uno {vector.type} {total}, {zero}')
        if self._memory.batch:
            return mask
        bits = vector.line(f'bitcast <{vector.lanes} x i1> {mask} to i{vector.lanes}')
        return vector.line(f'icmp ne i{vector.lanes} {bits}, 0')


def columns_of_rows(memory: RowMemory) -> tuple[int, np.ndarray]:
    """Return (size of the memory, place of each result of a batch in it), both in numbers.

    Of a symmetric result, the upper triangle is read twice: the lower one may not be computed.
    """
    columns = np.arange(memory.rows.columns)
    places = []
    for slots, symmetric in zip(memory.rows.results, memory.rows.symmetric):
        starts = np.array([memory.slot(slot) for slot in slots])
        entries = starts[:, None] + columns * memory.item
        places.append(np.where(np.tri(len(slots), dtype=bool), entries.T, entries) if symmetric
                      else entries)
    numbers = np.concatenate([part.ravel() for part in places]) // 8
    return memory.bytes // 8, numbers.astype(np.int32)


def define_loops(ir: Dialect, memory: RowMemory) -> str:
    """Return the functions @clear and @solve and their tables, for @single (suffix 1) or @block."""
    name = memory.lanes if memory.batch else 1
    rows = memory.rows
    # Statements that are written out read no table.
    blocks = [] if memory.unrolled else rows.of_blocks(memory.columns)
    statements = [statement for block in blocks for statement in block]
    terms = [term for _, listed in statements for term in listed]
    tables = [table(f'blocks{name}', np.cumsum([len(block) for block in blocks])),
              table(f'targets{name}', [memory.slot(slot) for slot, _ in statements]),
              table(f'ends{name}', np.cumsum([len(listed) for _, listed in statements])),
              table(f'factors{name}', [factor * memory.item for factor, _ in terms]),
              table(f'sources{name}', [memory.slot(slot) for _, slot in terms]),
              *([] if memory.batch else
                [table(f'result1.{k}', [memory.slot(slot) for slot in slots])
                 for k, slots in enumerate(rows.results)])]
    return '\n'.join([*tables, _clear(ir, memory, name), _solve(ir, memory, name)])


def _clear(ir: Dialect, memory: RowMemory, name: int) -> str:
    """Return @clear and its table: zeros in the blocks of first rows that have other entries too.

    Straight-line code stores the other entries; blocks of zeros alone are not read.
    """
    e = ir.emitter(memory.lanes, 't')
    padded = np.zeros((memory.rows.first, memory.blocks * memory.columns), dtype=bool)
    padded[:, :memory.rows.columns] = memory.rows.nonzero
    blocks = padded.reshape(memory.rows.first, memory.blocks, memory.columns)
    mixed = np.argwhere(blocks.any(axis=2) & ~blocks.all(axis=2))
    places = [memory.slot(slot) + block * memory.columns * memory.item for slot, block in mixed]

    def store(k: str, _: Sequence[str]) -> tuple[str, ...]:
        start = at(e, '%rows', entry(e, f'mixed{name}', k))
        for vector in range(memory.sums):
            e.lines.append(f'  store {e.type} {e.dialect.const(0.0, e.lanes)}, '
                           f'ptr {at(e, start, str(8 * e.lanes * vector))}, align 8')
        return ()
    loop(e, str(len(places)), store)
    return '\n'.join([table(f'mixed{name}', places),
                      f'define internal void @clear{name}(ptr %rows) noinline {{',
                      *e.lines, '  ret void', '}'])


def _solve(ir: Dialect, memory: RowMemory, name: int) -> str:
    """Return @solve: run all statements on each block of columns.

    It also checks all rows of a batch, or writes and checks the results of a single state.
    """
    e = ir.emitter(memory.lanes, 't')
    width, zero = 8 * e.lanes, e.dialect.const(0.0, e.lanes)

    def block(number: str, done: Sequence[str]) -> list[str]:
        first, begin, *checks = done
        shifted = at(e, '%rows', times(e, number, memory.sums * width))

        def statement(number: str, done: Sequence[str]) -> list[str]:
            begin, *checks = done

            def term(number: str, sums: Sequence[str]) -> list[str]:
                factor = _factor(e, memory, at(e, '%rows', entry(e, f'factors{name}', number)))
                source = at(e, shifted, entry(e, f'sources{name}', number))
                return [e.fma(factor, load(e, at(e, source, str(k * width))), total)
                        for k, total in enumerate(sums)]
            end = entry(e, f'ends{name}', number)
            sums = loop(e, end, term, begin, [(e.type, zero)] * memory.sums)
            target = at(e, shifted, entry(e, f'targets{name}', number))
            for k, total in enumerate(sums):
                e.lines.append(f'  store {e.type} {total}, ptr {at(e, target, str(k * width))}, '
                               'align 8')
                checks = [*checks[1:], e.fma(total, zero, checks[0])] if checks else []
            return [end, *checks]
        end = entry(e, f'blocks{name}', number)
        return [end, *loop(e, end, statement, first,
                           [('i64', begin), *((e.type, check) for check in checks)])]
    checks = [(e.type, zero)] * (ACCUMULATORS if memory.batch else 0)
    if memory.unrolled:
        emit_statements(e, memory)
    else:
        _, _, *totals = loop(e, str(memory.blocks), block, sums=[('i64', '0')] * 2 + checks)
    sums = totals if memory.batch else _written(e, memory)
    total = sums[0]
    for other in sums[1:]:
        total = e.binary('fadd', total, other)
    out = '' if memory.batch else ', ptr noalias %out'
    return '\n'.join([f'define internal {e.type} @solve{name}(ptr noalias %rows{out}) noinline {{',
                      *e.lines, f'  ret {e.type} {total}', '}'])


def _written(e: Emitter, memory: RowMemory) -> list[str]:
    """Emit the copy of the results of a single state to their places; return sums of 0 x them."""
    sums = [e.dialect.const(0.0, e.lanes)] * ACCUMULATORS
    for k, slots in enumerate(memory.rows.results):
        if memory.rows.symmetric[k] and memory.unrolled:
            emit_mirror(e, memory, slots)
        elif memory.rows.symmetric[k]:
            _mirror(e, memory, f'result1.{k}', k)
        sums = _write(e, memory, f'result1.{k}', k, sums)
    return sums


def _factor(e: Emitter, memory: RowMemory, address: str) -> str:
    """Emit the load of a coefficient: of all states, or of one state into all lanes."""
    if memory.batch:
        return load(e, address)
    return broadcast(e, address)


def _mirror(e: Emitter, memory: RowMemory, table: str, result: int) -> None:
    """Emit entry (i, j) = entry (j, i) for j < i."""
    def row(i: str, _: Sequence[str]) -> tuple[str, ...]:
        own, column = at(e, '%rows', entry(e, table, i)), times(e, i, memory.item)

        def copy(j: str, _: Sequence[str]) -> tuple[str, ...]:
            other = at(e, '%rows', entry(e, table, j))
            value = e.line(f'load double, ptr {at(e, other, column)}, align 8')
            address = at(e, own, times(e, j, memory.item))
            e.lines.append(f'  store double {value}, ptr {address}, align 8')
            return ()
        loop(e, i, copy)
        return ()
    loop(e, str(len(memory.rows.results[result])), row)


def _write(e: Emitter, memory: RowMemory, table: str, result: int, sums: Sequence[str]
           ) -> list[str]:
    """Emit the copy of the rows of a result to its place; return sums + 0 x all of them."""
    columns, rows = memory.rows.columns, len(memory.rows.results[result])
    pointer = e.line(f'getelementptr ptr, ptr %out, i64 {result}')
    pointer = e.line(f'load ptr, ptr {pointer}, align 8')
    zero = e.dialect.const(0.0, e.lanes)

    def row(k: str, sums: Sequence[str]) -> Sequence[str]:
        source = at(e, '%rows', entry(e, table, k))
        target = at(e, pointer, times(e, k, 8 * columns))
        for chunk in chunks_of(columns, e.lanes):
            value = load(e, at(e, source, str(8 * chunk.start)))
            store_vector(e, target, chunk.start, e.type, value)
            sums = [*sums[1:], e.fma(value, zero, sums[0])]
        return sums
    return loop(e, str(rows), row, sums=[(e.type, total) for total in sums])
