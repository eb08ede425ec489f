"""Load rows of a batch into vector registers, one state per lane, and store them: transpositions.

In memory a batch is state after state; a vector register holds one number of several states. Rows
are loaded `lanes` numbers at a time and transposed by shuffles; stored the same way. Rows shorter
than half a register are loaded and stored number by number.
"""

from collections.abc import Mapping, Sequence

from dynamics_node.compiler.ir_text import Emitter


def load_rows(e: Emitter, pointer: str, size: int, wanted: Mapping[int, int], uniform: bool
              ) -> dict[int, str]:
    """Emit the loads of one input block; return {symbol number: value}.

    :param wanted: {column: symbol number}.
    :param uniform: one row for all states.
    """
    if uniform:
        return {number: _splat(e, _load(e, _address(e, pointer, str(k)), 'double'))
                for k, number in wanted.items()}
    rows = [_row(e, pointer, size, lane) for lane in range(e.lanes)]
    if 2 * size < e.lanes:
        return {number: _gather(e, rows, k) for k, number in wanted.items()}
    values = {}
    for start in range(0, size, e.lanes):
        chunk = range(start, min(start + e.lanes, size))
        if any(k in wanted for k in chunk):
            columns = transpose(e, [_load(e, _address(e, row, str(start)), e.type)
                                    for row in rows])
            values.update({wanted[k]: columns[k - start] for k in chunk if k in wanted})
    return values


def chunks_of(size: int, lanes: int) -> list[range]:
    """Return the ranges of a row that are stored together.

    The last range ends at the end of a row that is at least a register long, and may overlap the
    range before it.
    """
    if 2 * size < lanes:
        return [range(k, k + 1) for k in range(size)]
    starts = range(0, size, lanes)
    return [range(min(start, max(0, size - lanes)), min(start + lanes, size)) for start in starts]


def row_pointers(e: Emitter, pointer: str, size: int) -> list[str]:
    """Emit the addresses of the rows of one input or output; a single state has one row."""
    return [pointer] if e.lanes == 1 else [_row(e, pointer, size, lane) for lane in range(e.lanes)]


def store_chunk(e: Emitter, rows: Sequence[str], size: int, start: int, values: list[str]) -> None:
    """Emit the stores of adjacent columns, from column `start` on, row after row."""
    if 2 * size < e.lanes:
        numbers = [f'double {e.line(f"extractelement {e.type} {values[0]}, i32 {lane}")}'
                   for lane in range(e.lanes)]
    else:
        full = values + [values[-1]] * (e.lanes - len(values))
        numbers = [f'{e.type} {row}' for row in transpose(e, full)]
    _store(e, rows, start, numbers)


def store_constants(e: Emitter, rows: Sequence[str], start: int, values: Sequence[float]) -> None:
    """Emit the stores of adjacent columns that are constants, the same in all rows."""
    numbers = [f'double {e.dialect.const(value, 1)}' for value in values]
    if len(numbers) == e.lanes > 1:
        _store(e, rows, start, [f'{e.type} <{", ".join(numbers)}>'] * e.lanes)
    else:
        for k, number in enumerate(numbers, start):
            _store(e, rows, k, [number] * e.lanes)


def store_vector(e: Emitter, row: str, start: int, kind: str, vector: str) -> None:
    """Emit the store of several numbers of a single state."""
    _store(e, [row], start, [f'{kind} {vector}'])


def _store(e: Emitter, rows: Sequence[str], start: int, numbers: Sequence[str]) -> None:
    for number, row in zip(numbers, rows):
        e.lines.append(f'  store {number}, ptr {_address(e, row, str(start))}, align 8')


def transpose(e: Emitter, rows: list[str]) -> list[str]:
    """Emit the transposition of `lanes` vectors: log2(lanes) rounds of interleaving."""
    n = e.lanes
    low = [x for k in range(n // 2) for x in (k, n + k)]
    high = [x for k in range(n // 2, n) for x in (k, n + k)]
    rounds = n.bit_length() - 1
    for _ in range(rounds):
        rows = [_shuffle(e, rows[k // 2], rows[k // 2 + n // 2], high if k % 2 else low)
                for k in range(n)]
    return rows


def _shuffle(e: Emitter, x: str, y: str, indices: Sequence[int]) -> str:
    mask = ', '.join(f'i32 {k}' for k in indices)
    return e.line(f'shufflevector {e.type} {x}, {e.type} {y}, <{e.lanes} x i32> <{mask}>')


def _row(e: Emitter, pointer: str, size: int, lane: int) -> str:
    index = e.line(f'add i64 %row, {lane}')
    return _address(e, pointer, e.line(f'mul i64 {index}, {size}'))


def _address(e: Emitter, pointer: str, offset: int | str) -> str:
    return e.line(f'getelementptr double, ptr {pointer}, i64 {offset}')


def _load(e: Emitter, address: str, kind: str) -> str:
    return e.line(f'load {kind}, ptr {address}, align 8')


def _splat(e: Emitter, number: str) -> str:
    first = e.line(f'insertelement {e.type} undef, double {number}, i32 0')
    zeros = ', '.join(['i32 0'] * e.lanes)
    return e.line(f'shufflevector {e.type} {first}, {e.type} undef, <{e.lanes} x i32> <{zeros}>')


def _gather(e: Emitter, rows: Sequence[str], k: int) -> str:
    vector = 'undef'
    for lane, row in enumerate(rows):
        number = _load(e, _address(e, row, str(k)), 'double')
        vector = e.line(f'insertelement {e.type} {vector}, double {number}, i32 {lane}')
    return vector
