"""Transpose the rows of a batch in functions that a kernel calls: its own code stays short.

Written out, a transposition of 8 states has 24 shuffles per 8 numbers of a row: half of the time of
LLVM for a batch of the mass matrix of a humanoid (measured). Each function also returns the sum of
0 x each of its numbers: not finite where one of them is not, lane by lane.
"""

from collections.abc import Mapping, Sequence

from dynamics_node.compiler.ir_loops import at, loop, times
from dynamics_node.compiler.ir_text import Dialect, Emitter
from dynamics_node.compiler.row_transposition import transpose
from dynamics_node.compiler.spill_slots import Place


def define_transposing_calls(ir: Dialect, lanes: int) -> str:
    """Return the functions @load_columns and @store_columns."""
    return '\n'.join([_define_load(ir, lanes), _define_store(ir, lanes)])


class Columns:
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
        e, to = self._e, f'%columns{len(self.checks)}'
        self.allocations.append(f'  {to} = alloca [{size} x {e.type}], align {8 * e.lanes}')
        self.checks.append(e.line(f'call {e.type} @load_columns(ptr {row}, i64 {size}, '
                                  f'i64 {-(-size // e.lanes)}, ptr {to})'))
        self.places.update({number: (to, 8 * e.lanes * k) for k, number in wanted.items()})


def store_columns(e: Emitter, row: str, size: int, start: int, values: Sequence[str]) -> str:
    """Emit a call that stores adjacent columns, row after row; return the sum of 0 x them.

    :param row: address of the first row.
    :param size: length of a row.
    :param start: number of the first column.
    :param values: at most `lanes` columns; fewer are filled up, as in row_transposition.py.
    """
    full = [*values, *[values[-1]] * (e.lanes - len(values))]
    listed = ', '.join(f'{e.type} {value}' for value in full)
    return e.line(f'call {e.type} @store_columns({listed}, ptr {at(e, row, 8 * start)}, '
                  f'i64 {8 * size})')


def _define_load(ir, lanes):
    e = ir.emitter(lanes, 't')
    zero = ir.const(0.0, lanes)
    last = e.line(f'sub i64 %size, {lanes}')

    def chunk(k, sums):
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


def _define_store(ir, lanes):
    e = ir.emitter(lanes, 't')
    columns = [f'%column{k}' for k in range(lanes)]
    address = '%to'
    for k, row in enumerate(transpose(e, columns)):
        if k:
            address = e.line(f'getelementptr i8, ptr {address}, i64 %stride')
        e.lines.append(f'  store {e.type} {row}, ptr {address}, align 8')
    total = _zero_times(e, columns, ir.const(0.0, lanes))
    listed = ', '.join(f'{e.type} {column}' for column in columns)
    return '\n'.join([f'define internal {e.type} @store_columns({listed}, ptr %to, i64 %stride) '
                      'noinline {', *e.lines, f'  ret {e.type} {total}', '}'])


def _zero_times(e, values, total):
    """Emit total + 0 x the sum of values; each product by itself, since a sum can overflow."""
    for value in values:
        total = e.fma(value, e.dialect.const(0.0, e.lanes), total)
    return total
