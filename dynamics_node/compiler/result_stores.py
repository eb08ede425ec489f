"""Store results as soon as they are computed, and check that they are finite.

Stored at the end of the function, all results would stay live until then, and be spilled. Zeros,
more than half of the matrices of a humanoid, are stored by a loop at the start of the function.
Large batches have columns instead, see result_columns.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynamics_node.compiler.graph import Op, Symbol, is_const
from dynamics_node.compiler.ir_loops import at, entry, loop, table, times
from dynamics_node.compiler.row_transposition import (
    chunks_of,
    row_pointers,
    store_chunk,
    store_constants,
    store_vector,
)

if TYPE_CHECKING:
    from dynamics_node.compiler.lower import FunctionBody

# Up to this number, results of a single state are checked one by one. More are loaded again at the
# end of the function and checked, CHECK_LANES at a time; with few results these loads would wait
# for the recent stores.
MAX_CHECKED_SINGLY, CHECK_LANES = 64, 4
MAX_CHECKED_INLINE = 256   # more are checked by a loop
ACCUMULATORS = 4   # of the check: with one, each result would cost the latency of an addition
MAX_INLINE_ZEROS = 4   # vectors of zeros of one result that are stored without a loop


class _Chunk:
    """Results that are stored together."""

    def __init__(self, rows: list[str], size: int, start: int, symbols: Sequence[Symbol]):
        self.rows, self.size = rows, size            # pointers to the rows, and their length
        self.start, self.symbols = start, symbols    # offset in the row, and the results
        self.missing = 0                             # number of results not yet computed


class ResultStores:
    """Emits the stores of a function body, each chunk when it is complete, and their check."""

    def __init__(self, body: FunctionBody, blocks: list[tuple[str, Sequence[Symbol]]]):
        """Take (pointer, symbols) of each block; chunks already computed are stored at once."""
        self._body, self._e = body, body.e
        # sums of 0 x over all results, NaN where one is not finite
        self._sums = [body.e.dialect.const(0.0, body.e.lanes)] * ACCUMULATORS
        self._incomplete: dict[int, list[_Chunk]] = {}  # number of a symbol -> its chunks
        results = sum(len(symbols) for _, symbols in blocks)
        many = results > MAX_CHECKED_SINGLY or body.packs.any_packed
        self._checked_late = blocks if many and self._e.lanes == 1 else []
        self._checked: set[int] = set()   # numbers of symbols that are checked late
        for k, (pointer, symbols) in enumerate(blocks):
            rows = row_pointers(self._e, pointer, len(symbols))
            zeros = self._store_zeros(k, rows, symbols)
            for places in self._chunks(symbols):
                if not zeros.issuperset(places):
                    self._add(_Chunk(rows, len(symbols), places.start,
                                     symbols[places.start:places.stop]))

    def _store_zeros(self, block: int, rows: Sequence[str], symbols: Sequence[Symbol]) -> set[int]:
        """Emit the loop that stores adjacent zeros; return the places that it stores."""
        e, width = self._e, max(self._e.lanes, CHECK_LANES)
        zero = [is_const(symbol, 0.0) for symbol in symbols]
        if e.lanes == 1:
            starts = _in_runs(zero, width)
        else:   # the places of a chunk
            starts = [start for start in range(0, len(symbols) - width + 1, width)
                      if all(zero[start:start + width])]
        if len(starts) <= MAX_INLINE_ZEROS:
            return set()
        name, kind = f'zeros{e.lanes}.{block}', e.dialect.type(width)
        e.tables.append(table(name, [8 * start for start in starts]))

        def store(k: str, _: Sequence[str]) -> tuple[str, ...]:
            offset = entry(e, name, k)
            for row in rows:
                e.lines.append(f'  store {kind} zeroinitializer, ptr {at(e, row, offset)}, align 8')
            return ()
        loop(e, str(len(starts)), store)
        return {place for start in starts for place in range(start, start + width)}

    def _chunks(self, symbols: Sequence[Symbol]) -> list[range]:
        """Return the ranges that are stored together; of a single state, each pack is one."""
        place, size = 0, len(symbols)
        chunks = []
        while self._e.lanes == 1 and place < size:
            length = self._body.packs.length(symbols, place)
            chunks.append(range(place, place + length))
            place += length
        return chunks or chunks_of(size, self._e.lanes)

    def _add(self, chunk: _Chunk) -> None:
        missing = {symbol.number for symbol in chunk.symbols
                   if symbol.op is not Op.CONST and symbol.number not in self._body.defined}
        for number in missing:
            self._incomplete.setdefault(number, []).append(chunk)
        chunk.missing = len(missing)
        if not missing:
            self._store(chunk)

    def on_defined(self, number: int) -> None:
        """Store the chunks that are complete now that a symbol has its value."""
        for chunk in self._incomplete.pop(number, ()):
            chunk.missing -= 1
            if chunk.missing == 0:
                self._store(chunk)

    def _store(self, chunk: _Chunk) -> None:
        lanes = self._e.lanes
        self._body.advance(lanes * lanes.bit_length())   # the stores, and a transposition
        vector = self._body.packs.vector_of(chunk.symbols)
        if vector is not None:
            store_vector(self._e, chunk.rows[0], chunk.start, *vector)
            return
        values = [self._body.value(symbol) for symbol in chunk.symbols]
        if all(symbol.op is Op.CONST for symbol in chunk.symbols):
            store_constants(self._e, chunk.rows, chunk.start,
                            [symbol.args[0] for symbol in chunk.symbols])
        else:
            store_chunk(self._e, chunk.rows, chunk.size, chunk.start, values)
        zero = self._e.dialect.const(0.0, self._e.lanes)
        for symbol, value in zip(chunk.symbols, values if not self._checked_late else ()):
            if symbol.op is not Op.CONST or not math.isfinite(symbol.args[0]):
                self._replace_oldest(self._e.fma(value, zero, self._sums[0]))

    def _replace_oldest(self, total: str) -> None:
        self._sums = [*self._sums[1:], total]

    def not_finite(self) -> str:
        """Emit the check; return the name of the mask of lanes where a result is not finite."""
        e = self._e
        for k, (pointer, symbols) in enumerate(self._checked_late):
            self._check(k, pointer, symbols)
        total = self._sums[0]
        for other in self._sums[1:]:
            total = e.binary('fadd', total, other)
        return e.line(f'fcmp uno {e.type} {total}, {e.dialect.const(0.0, e.lanes)}')

    def _check(self, block: int, pointer: str, symbols: Sequence[Symbol]) -> None:
        """Read a block of results back and add 0 x to the sums."""
        e, width = self._e, min(CHECK_LANES, len(symbols))
        kind, zero = e.dialect.type(width), e.dialect.const(0.0, width)
        starts = self._to_check(symbols, width)

        def added(totals: Sequence[str], address: str) -> list[str]:
            numbers = e.line(f'load {kind}, ptr {address}, align 8')
            product = e.line(f'fmul {kind} {numbers}, {zero}')
            return [*totals[1:], e.line(f'fadd {kind} {totals[0]}, {product}')]

        totals = [zero] * ACCUMULATORS
        if len(symbols) > MAX_CHECKED_INLINE:
            starts += starts[-1:] * (-len(starts) % ACCUMULATORS)   # 0 x a number once more
            name = f'checked.{block}'
            e.tables.append(table(name, [8 * start for start in starts]))

            def step(k: str, totals: Sequence[str]) -> Sequence[str]:
                first = times(e, k, ACCUMULATORS)
                for part in range(ACCUMULATORS):
                    place = e.line(f'add i64 {first}, {part}')
                    totals = added(totals, at(e, pointer, entry(e, name, place)))
                return totals
            totals = loop(e, str(len(starts) // ACCUMULATORS), step,
                          sums=[(kind, zero)] * ACCUMULATORS)
        else:
            for start in starts:
                totals = added(totals, at(e, pointer, 8 * start))
        used = [total for total in totals if total != zero]
        for total, lane in itertools.product(used, range(width)):
            number = total if width == 1 else e.line(f'extractelement {kind} {total}, i32 {lane}')
            self._replace_oldest(e.binary('fadd', self._sums[0], number))

    def _to_check(self, symbols: Sequence[Symbol], width: int) -> list[int]:
        """Return the first places of vectors that hold all symbols not checked before.

        Constants that are finite are not checked, and an entry of a symmetric matrix only once.
        """
        starts, end = [], 0
        for place, symbol in enumerate(symbols):
            finite = symbol.op is Op.CONST and math.isfinite(symbol.args[0])
            if place < end or finite or symbol.number in self._checked:
                continue
            starts.append(min(place, len(symbols) - width))
            end = starts[-1] + width
            self._checked.update(each.number for each in symbols[starts[-1]:end])
        return starts


def _in_runs(flags: Sequence[bool], width: int) -> list[int]:
    """Return the first places of vectors that cover all runs of at least `width` true flags."""
    starts, place = [], 0
    for flag, run in itertools.groupby(flags):
        length = len(list(run))
        if flag and length >= width:
            starts += [min(start, place + length - width)
                       for start in range(place, place + length, width)]
        place += length
    return starts
