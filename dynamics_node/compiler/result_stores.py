"""Answers leave as soon as they are there: kept for the end, they would all be spilled."""

import itertools
import math

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.lane_layout import (
    chunks_of,
    row_pointers,
    store_chunk,
    store_constants,
    store_vector,
)

# Of a single state, this many answers are checked in the end, several to a register: fewer would
# be read back before they have reached the cache.
MANY, WIDTH = 64, 4
SUMS = 4   # of the check: a single one would wait four cycles for every answer


class _Chunk:
    """Some answers that are written together."""

    def __init__(self, rows, size, start, symbols):
        self.rows, self.size = rows, size            # where they are, and how long they are
        self.start, self.symbols = start, symbols    # where in the row they begin
        self.missing = 0                             # how many of them are still to come


class Outlet:
    """Writes the answers of a body of code, each chunk when it is complete, and checks them."""

    def __init__(self, body, blocks):
        """Take (pointer, symbols) of each block; what the body knows already is written now."""
        self._body, self._e = body, body.e
        # 0 x of all answers, NaN where one is not finite; of several sums none waits for the last
        self._sums = [body.e.dialect.const(0.0, body.e.lanes)] * SUMS
        self._waiting = {}  # number of a symbol -> chunks it is part of
        many = sum(len(symbols) for _, symbols in blocks) > MANY or body.lanes.packed
        self._blocks = blocks if many and self._e.lanes == 1 else []  # to be checked in the end
        for pointer, symbols in blocks:
            rows = row_pointers(self._e, pointer, len(symbols))
            for places in self._chunks(symbols):
                self._wait(_Chunk(rows, len(symbols), places.start,
                                  symbols[places.start:places.stop]))

    def _chunks(self, symbols):
        """Return the places of what is written together: a pack of a single state, too."""
        place, size = 0, len(symbols)
        chunks = []
        while self._e.lanes == 1 and place < size:
            length = self._body.lanes.length(symbols, place)
            chunks.append(range(place, place + length))
            place += length
        return chunks or chunks_of(size, self._e.lanes)

    def _wait(self, chunk):
        missing = {symbol.number for symbol in chunk.symbols
                   if symbol.op is not Op.CONST and symbol.number not in self._body.known}
        for number in missing:
            self._waiting.setdefault(number, []).append(chunk)
        chunk.missing = len(missing)
        if not missing:
            self._write(chunk)

    def take(self, number):
        """A symbol has its value: write what is complete with it."""
        for chunk in self._waiting.pop(number, ()):
            chunk.missing -= 1
            if chunk.missing == 0:
                self._write(chunk)

    def _write(self, chunk):
        self._body.make_room(self._e.lanes)
        row = self._body.lanes.row(chunk.symbols)
        if row is not None:
            store_vector(self._e, chunk.rows[0], chunk.start, *row)
            return
        values = [self._body.value(symbol) for symbol in chunk.symbols]
        if all(symbol.op is Op.CONST for symbol in chunk.symbols):
            store_constants(self._e, chunk.rows, chunk.start,
                            [symbol.args[0] for symbol in chunk.symbols])
        else:
            store_chunk(self._e, chunk.rows, chunk.size, chunk.start, values)
        zero = self._e.dialect.const(0.0, self._e.lanes)
        for symbol, value in zip(chunk.symbols, values if not self._blocks else ()):
            if symbol.op is not Op.CONST or not math.isfinite(symbol.args[0]):
                self._replace_oldest(self._e.fma(value, zero, self._sums[0]))

    def _replace_oldest(self, sum_):
        self._sums = [*self._sums[1:], sum_]

    def not_finite(self):
        """Emit the verdict: the name of the mask of lanes where an answer is not finite."""
        e = self._e
        for pointer, symbols in self._blocks:
            self._check(pointer, len(symbols))
        total = self._sums[0]
        for other in self._sums[1:]:
            total = e.binary('fadd', total, other)
        return e.line(f'fcmp uno {e.type} {total}, {e.dialect.const(0.0, e.lanes)}')

    def _check(self, pointer, size):
        """Read a block of answers back and add 0 x of all to the sums; the last ones overlap."""
        e, width = self._e, min(WIDTH, size)
        kind, zero = e.dialect.type(width), e.dialect.const(0.0, width)
        totals = [zero] * SUMS
        for start in [*range(0, size - width, width), size - width]:
            address = e.line(f'getelementptr double, ptr {pointer}, i64 {start}')
            numbers = e.line(f'load {kind}, ptr {address}, align 8')
            product = e.line(f'fmul {kind} {numbers}, {zero}')
            totals = [*totals[1:], e.line(f'fadd {kind} {totals[0]}, {product}')]
        used = [total for total in totals if total != zero]
        for total, lane in itertools.product(used, range(width)):
            number = total if width == 1 else e.line(f'extractelement {kind} {total}, i32 {lane}')
            self._replace_oldest(e.binary('fadd', self._sums[0], number))
