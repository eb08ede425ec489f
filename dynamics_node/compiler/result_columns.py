"""Write the results of a large batch as columns: one vector per distinct number, a state per lane.

To write rows, a kernel would have to transpose every number: more than half of the time of LLVM for
a humanoid's mass matrix. Large results would also be written twice, to a cache and to memory. The
caller of the kernel copies columns to rows, see columns_to_rows.h. The zeros of a result share one
column, which is never written, and equal numbers, as in the triangles of a symmetric matrix, share
theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.compiler.graph import Op, Symbol, is_const
from dynamics_node.compiler.ir_loops import at
from dynamics_node.compiler.result_stores import ACCUMULATORS

if TYPE_CHECKING:
    from dynamics_node.compiler.lower import FunctionBody


def columns_of_symbols(symbols: Sequence[Symbol], lanes: int) -> tuple[int, np.ndarray]:
    """Return (size of the memory, place of each result in it), both in numbers."""
    slots = _slots(symbols)
    places = [lanes * slots.get(symbol.number, 0) for symbol in symbols]
    return lanes * (len(slots) + 1), np.array(places, dtype=np.int32)


def _slots(symbols: Sequence[Symbol]) -> dict[int, int]:
    """Return {number of a symbol: its column}; column 0 is that of the zeros."""
    distinct = dict.fromkeys(symbol.number for symbol in symbols if not is_const(symbol, 0.0))
    return {number: slot for slot, number in enumerate(distinct, 1)}


class ColumnStores:
    """Emits the stores of a function body into its memory, %columns, and their check."""

    def __init__(self, body: FunctionBody, symbols: Sequence[Symbol]):
        """Take the results; those already computed, and constants, are stored at once."""
        self._body, self._e, self._slots = body, body.e, _slots(symbols)
        # sums of 0 x over all results, NaN where one is not finite
        self._sums = [body.e.dialect.const(0.0, body.e.lanes)] * ACCUMULATORS
        self._symbols = {symbol.number: symbol for symbol in symbols}
        for number in self._slots:
            if self._symbols[number].op is Op.CONST or number in body.defined:
                self.on_defined(number)

    def on_defined(self, number: int) -> None:
        """Store a result that has its value now; other symbols are ignored."""
        if number not in self._slots:
            return
        self._body.advance(2)
        e, symbol = self._e, self._symbols[number]
        value, width = self._body.value(symbol), 8 * self._e.lanes
        address = at(e, '%columns', width * self._slots[number])
        e.lines.append(f'  store {e.type} {value}, ptr {address}, align {width}')
        if symbol.op is not Op.CONST or not math.isfinite(symbol.args[0]):
            zero = e.dialect.const(0.0, e.lanes)
            self._sums = [*self._sums[1:], e.fma(value, zero, self._sums[0])]

    def not_finite(self) -> str:
        """Emit the check; return the name of the mask of lanes where a result is not finite."""
        e, total = self._e, self._sums[0]
        for other in self._sums[1:]:
            total = e.binary('fadd', total, other)
        return e.line(f'fcmp uno {e.type} {total}, {e.dialect.const(0.0, e.lanes)}')
