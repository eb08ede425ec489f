"""Load the inputs of a large batch as columns, by a function that the kernel calls.

It transposes the rows of the states in a loop: written out, a transposition of 8 states has 24
shuffles per 8 numbers of a row. It also returns the sum of 0 x each number: not finite where one of
them is not, lane by lane.
"""

from collections.abc import Mapping, Sequence

from dynamics_node.compiler.ir_loops import at, loop, times
from dynamics_node.compiler.ir_text import Dialect, Emitter
from dynamics_node.compiler.row_transposition import transpose
from dynamics_node.compiler.spill_slots import Place


class InputColumns:
    """Emits the calls that load columns of inputs into memory on the stack.

    :ivar places: {number of a symbol: place of its column}.
    :ivar checks: the sums that the calls return.
    :ivar allocations: the allocas, for the head of the function.
    """

    def __init__(self, e: Emitter):
        self._e = e
        self.places: dict[int, Place] = {}
        self.checks: list[str] = []
        self.allocations: list[str] = []

    def load(self, row: str, size: int, wanted: Mapping[int, int]) -> None:
        """Emit the call for one input block.

        :param row: address of the first row.
        :param size: length of a row, at least `lanes`.
        :param wanted: {column: symbol number}.
        """
        e, to = self._e, f'%inputs{len(self.checks)}'
        self.allocations.append(f'  {to} = alloca [{size} x {e.type}], align {8 * e.lanes}')
        self.checks.append(e.line(f'call {e.type} @load_columns(ptr {row}, i64 {size}, '
                                  f'i64 {-(-size // e.lanes)}, ptr {to})'))
        self.places.update({number: (to, 8 * e.lanes * k) for k, number in wanted.items()})


def define_load_columns(ir: Dialect, lanes: int) -> str:
    """Return the function @load_columns."""
    e = ir.emitter(lanes, 't')
    zero = ir.const(0.0, lanes)
    last = e.line(f'sub i64 %size, {lanes}')

    def chunk(k: str, sums: Sequence[str]) -> list[str]:
        begin = times(e, k, lanes)   # the last chunk ends with the row
        fits = e.line(f'icmp slt i64 {begin}, {last}')
        start = e.line(f'select i1 {fits}, i64 {begin}, i64 {last}')
        address, to = at(e, '%from', times(e, start, 8)), at(e, '%to', times(e, start, 8 * lanes))
        rows = []
        for _ in range(lanes):
            rows.append(e.line(f'load {e.type}, ptr {address}, align 8'))
            address = e.line(f'getelementptr double, ptr {address}, i64 %size')
        columns = transpose(e, rows)
        for column, value in enumerate(columns):
            e.lines.append(f'  store {e.type} {value}, ptr {at(e, to, 8 * lanes * column)}, '
                           f'align {8 * lanes}')
        return [_zero_times(e, columns, sums[0])]
    total, = loop(e, '%chunks', chunk, sums=[(e.type, zero)])
    return '\n'.join([
        f'define internal {e.type} @load_columns(ptr noalias %from, i64 %size, i64 %chunks, '
        'ptr noalias %to) noinline {', *e.lines, f'  ret {e.type} {total}', '}'])


def _zero_times(e: Emitter, values: Sequence[str], total: str) -> str:
    """Emit total + 0 x the sum of values; each product by itself, since a sum can overflow."""
    for value in values:
        total = e.fma(value, e.dialect.const(0.0, e.lanes), total)
    return total
