"""Answers leave as soon as they are there: kept for the end, they would all be spilled."""

import math

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.layout import (
    chunks_of,
    row_pointers,
    store_chunk,
    store_constants,
    store_vector,
)

# Of a single state, this many answers are checked in the end, several to a register: fewer would
# be read back before they have reached the cache.
MANY, WIDTH = 64, 4


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
        self._sum = body.e.dialect.const(0.0, body.e.lanes)
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
                self._sum = self._e.fma(value, zero, self._sum)  # NaN where it is not finite

    def not_finite(self):
        """Emit the verdict: the name of the mask of lanes where an answer is not finite."""
        e = self._e
        for pointer, symbols in self._blocks:
            self._check(pointer, len(symbols))
        return e.line(f'fcmp uno {e.type} {self._sum}, {e.dialect.const(0.0, e.lanes)}')

    def _check(self, pointer, size):
        """Read a block of answers back and add 0 x of all to the sum; the last ones overlap."""
        e, width = self._e, min(WIDTH, size)
        kind, zero = e.dialect.type(width), e.dialect.const(0.0, width)
        total = zero
        for start in [*range(0, size - width, width), size - width]:
            address = e.line(f'getelementptr double, ptr {pointer}, i64 {start}')
            numbers = e.line(f'load {kind}, ptr {address}, align 8')
            product = e.line(f'fmul {kind} {numbers}, {zero}')
            total = e.line(f'fadd {kind} {total}, {product}')
        for lane in range(width):
            number = total if width == 1 else e.line(f'extractelement {kind} {total}, i32 {lane}')
            self._sum = e.binary('fadd', self._sum, number)
