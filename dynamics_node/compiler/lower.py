"""Lower a program to LLVM IR: one function for a single state, one for a batch, in SIMD lanes.

    int64_t single(const double *const *in, double *const *out)
    int64_t block(const double *const *in, double *const *out, int64_t row)

`in` and `out` hold one pointer per array of the program. `block` takes `lanes` states from a row of
C-contiguous arrays on. Uniform inputs (gravity, friction, ...) are the same for all states.
Rows are read `lanes` numbers at a time. The last load can pass the end of the row: the caller pads
the last row. Stores of short rows pass their end too; the next row overwrites the excess.
For some programs `block` writes columns (see `columns_of`): `out` then holds one pointer, to memory
aligned to 64 bytes whose first `lanes` numbers are 0, see result_columns.py.
Both return 0 if every number read and written is finite and every margin is positive.
Fused multiply-adds are selected by `fused_products`, not by LLVM, so that both functions give the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from dynamics_node.compiler.angle_symbols import angle_symbols
from dynamics_node.compiler.graph import Op, Symbol
from dynamics_node.compiler.input_columns import InputColumns, define_load_columns
from dynamics_node.compiler.ir_loops import block_pointer
from dynamics_node.compiler.ir_text import Dialect, Emitter
from dynamics_node.compiler.operation_counts import fused_products, straight_line
from dynamics_node.compiler.result_columns import ColumnStores, columns_of_symbols
from dynamics_node.compiler.result_stores import ResultStores
from dynamics_node.compiler.row_loops import RowMemory, RowStores, columns_of_rows, define_loops
from dynamics_node.compiler.row_transposition import load_rows, row_pointers
from dynamics_node.compiler.sincos import define_sincos
from dynamics_node.compiler.slp_packing import NO_PACKING, PackEmitter, Packing, find_packs
from dynamics_node.compiler.spill_slots import Place, SpillSlots
from dynamics_node.compiler.trace import Program

# Operations per basic block. Within a block LLVM's scheduler moves loads and products far ahead;
# the register pressure grows, and it spills (with 16 registers; no difference with 32, AVX-512).
# With 60, the kernels of a chain of 80 links compile in 7 % less time than with 120 (measured).
BLOCK = 60
# Lanes of the sines and cosines of a single state: more were slower (measured).
ANGLES = 4
# A program of more than LONG instructions is divided into regions of REGION basic blocks, see
# spill_slots.py. Smaller regions have more loads and stores, larger ones more work for LLVM's
# register allocation. With 240 operations (4 x 60), kernels of TALOS compile in 7 to 10 % less time
# than with 60, and run in 5 to 11 % less; 480 are hardly faster, 1920 are slower (measured).
LONG, REGION = 6000, 4
# With more state inputs and outputs than these, or more than LONG instructions, the block function
# has columns of both in memory, see input_columns.py and result_columns.py.
MANY_NUMBERS = 400
# Module constants, since reading an attribute of an Enum is slow.
_CONST, _SIN, _COS = Op.CONST, Op.SIN, Op.COS
Stores: TypeAlias = ResultStores | ColumnStores | RowStores
Blocks: TypeAlias = list[tuple[str, Sequence[Symbol]]]   # (pointer, symbols) each


def lower(program: Program, lanes: int, uniform: Collection[str] = (), fma: bool = True,
          margins: int = 0, packed: bool = True) -> str:
    """Return the LLVM IR text of a program.

    :param lanes: numbers per vector register, 2, 4 or 8.
    :param uniform: names of the inputs that are the same for all states of a batch, the last ones.
    :param fma: whether the target has fused multiply-add.
    :param margins: how many of the last output blocks are margins: checked, not written.
    :param packed: False computes a single state in scalars only, see slp_packing.py.
    """
    ir = Dialect(fma)
    angles = min(lanes, ANGLES)
    widths = sorted({1, angles, lanes})
    fused = fused_products(program)
    packing = packing_of(program, fused) if packed else NO_PACKING
    loops = [] if program.rows is None else [
        define_loops(ir, _row_memory(program, lanes, batch)) for batch in (False, True)]
    return '\n'.join([
        *map(ir.declarations, sorted({*widths, *map(len, packing.packs)})),
        'declare double @sin(double)', 'declare double @cos(double)',
        *(define_sincos(ir, width) for width in widths),
        *loops,
        _single(program, ir, lanes, uniform, margins, fused, packing),
        _block(program, ir, lanes, uniform, margins, fused),
        '!0 = !{!"branch_weights", i32 1, i32 1000000}', ''])


def packing_of(program: Program, fused: Set[int]) -> Packing:
    """Return the Packing: none of a long program (vectors have no spill slots), or one in loops."""
    if program.rows is not None or straight_line(program, fused) > LONG:
        return NO_PACKING
    return find_packs(program, fused, angle_symbols(program))


def _row_memory(program: Program, lanes: int, batch: bool) -> RowMemory:
    assert program.rows is not None
    return RowMemory(program.rows, len(program.row_inputs()[0]), lanes, batch)


def _single(program: Program, ir: Dialect, lanes: int, uniform: Collection[str], margins: int,
            fused: Set[int], packing: Packing) -> str:
    """Return @single; sines and cosines of the inputs are computed ANGLES at a time."""
    e = ir.emitter(1, 't')
    memory = None if program.rows is None else _row_memory(program, lanes, batch=False)
    values = _load_single(program, e, uniform)
    bad_input = _not_finite(e, values.values())
    body = FunctionBody(program, e, values, fused, packing)
    body.sincos_of_inputs(min(lanes, ANGLES))
    stores = (ResultStores(body, _out_blocks(program, e, margins)) if memory is None else
              RowStores(body, memory, *program.row_inputs()))
    bad = _run(body, stores, bad_input, margins)
    return '\n'.join([*e.tables, 'define i64 @single(ptr noalias %in, ptr noalias %out) {',
                      *([f'  %rows = alloca [{memory.bytes} x i8], align 64'] if memory else []),
                      *body.spills.allocations(), *e.lines, f'  ret i64 {bad}', '}'])


def _load_single(program: Program, e: Emitter, uniform: Collection[str]) -> dict[int, str]:
    read = _inputs_to_read(program, uniform)
    values = {}
    for pointer, first, size in _in_blocks(program, e):
        for k in range(first, first + size):
            if k in read:
                address = e.line(f'getelementptr double, ptr {pointer}, i64 {k - first}')
                values[read[k]] = e.line(f'load double, ptr {address}, align 8')
    return values


def _block(program: Program, ir: Dialect, lanes: int, uniform: Collection[str], margins: int,
           fused: Set[int]) -> str:
    """Return @block: `lanes` states from row %row on."""
    e = ir.emitter(lanes, 't')
    read = _inputs_to_read(program, uniform)
    many = _has_columns(program, uniform)
    values: dict[int, str] = {}
    columns = InputColumns(e)
    for (name, _), (pointer, first, size) in zip(program.inputs, _in_blocks(program, e)):
        wanted = {k - first: read[k] for k in range(first, first + size) if k in read}
        if many and name not in uniform and size >= lanes:
            columns.load(row_pointers(e, pointer, size)[0], size, wanted)
        else:
            values.update(load_rows(e, pointer, size, wanted, name in uniform))
    bad_input = _not_finite(e, [*values.values(), *columns.checks])
    body = FunctionBody(program, e, values, fused, columns=columns.places)
    stores: Stores
    memory = []
    if program.rows is not None:
        memory = ['  %rows = load ptr, ptr %out, align 8']
        stores = RowStores(body, _row_memory(program, lanes, batch=True), *program.row_inputs())
    elif many:
        memory = ['  %columns = load ptr, ptr %out, align 8']
        stores = ColumnStores(body, program.results(margins)[0])
    else:
        stores = ResultStores(body, _out_blocks(program, e, margins))
    bad = _run(body, stores, bad_input, margins)
    return '\n'.join([
        *e.tables, *([define_load_columns(ir, lanes)] if many else []),
        'define i64 @block(ptr noalias %in, ptr noalias %out, i64 %row) {', *memory,
        *columns.allocations, *body.spills.allocations(), *e.lines, f'  ret i64 {bad}', '}'])


def columns_of(program: Program, lanes: int, uniform: Collection[str] = (), margins: int = 0
               ) -> tuple[int, np.ndarray] | None:
    """Return (size of the memory of @block, place of each result in it); None if it writes rows.

    Arguments as in `lower`.
    """
    if program.rows is not None:
        return columns_of_rows(_row_memory(program, lanes, batch=True))
    if _has_columns(program, uniform):
        return columns_of_symbols(program.results(margins)[0], lanes)
    return None


def _has_columns(program: Program, uniform: Collection[str]) -> bool:
    numbers = len(program.outputs) + sum(size for name, size in program.inputs
                                         if name not in uniform)
    return numbers > MANY_NUMBERS or (
        len(program.symbols) > LONG and straight_line(program, fused_products(program)) > LONG)


def _not_finite(e: Emitter, numbers: Iterable[str]) -> str:
    """Emit the check of some numbers; return the name of the mask of lanes where one is not finite.

    0 x is 0 for a finite x, else NaN. Emitted where the numbers are live: a check at the end of
    the function would spill them all. Four sums hide the latency of the additions.
    """
    zero = e.dialect.const(0.0, e.lanes)
    sums = [zero] * 4
    for k, number in enumerate(numbers):
        sums[k % 4] = e.fma(number, zero, sums[k % 4])
    total = e.binary('fadd', e.binary('fadd', *sums[:2]), e.binary('fadd', *sums[2:]))
    return e.line(f'fcmp uno {e.type} {total}, {zero}')


def _run(body: FunctionBody, stores: Stores, bad_input: str, margins: int) -> str:
    """Emit the arithmetic and the check of the results; return the name of the status."""
    e = body.e
    mask, zero = e.dialect.boolean(e.lanes), e.dialect.const(0.0, e.lanes)
    body.run(stores)
    bad = e.line(f'or {mask} {stores.not_finite()}, {bad_input}')
    for symbol in body.program.results(margins)[1]:
        low = e.line(f'fcmp ule {e.type} {body.value(symbol)}, {zero}')
        bad = e.line(f'or {mask} {bad}, {low}')
    if e.lanes > 1:
        packed = e.line(f'bitcast {mask} {bad} to i{e.lanes}')
        return e.line(f'zext i{e.lanes} {packed} to i64')
    return e.line(f'zext i1 {bad} to i64')


def _inputs_to_read(program: Program, uniform: Collection[str]) -> dict[int, int]:
    """Return {place of an input: number of its symbol}: inputs in use, and all state inputs.

    A state input that is not finite is refused, even if no result depends on it. One that is only
    checked gets a negative number, which no symbol has.
    """
    used = {symbol.args[0]: symbol.number for symbol in program.symbols if symbol.op is Op.INPUT}
    first = 0
    for name, size in program.inputs:
        if name not in uniform:
            used.update({k: -1 - k for k in range(first, first + size) if k not in used})
        first += size
    return used


def _in_blocks(program: Program, e: Emitter) -> Iterator[tuple[str, int, int]]:
    """Yield (pointer, place of the first input, size) of each input block."""
    first = 0
    for k, (_, size) in enumerate(program.inputs):
        yield block_pointer(e, '%in', k), first, size
        first += size


def _out_blocks(program: Program, e: Emitter, margins: int) -> Blocks:
    """Return the arrays to write."""
    blocks: Blocks = []
    first = 0
    for k, shape in enumerate(program.shapes[:len(program.shapes) - margins]):
        size = int(np.prod(shape, dtype=int))
        blocks.append((block_pointer(e, '%out', k), program.outputs[first:first + size]))
        first += size
    return blocks


class FunctionBody:
    """Emits the arithmetic of a program, symbol by symbol, at one width."""

    def __init__(self, program: Program, emitter: Emitter, values: Mapping[int, str],
                 fused: Set[int], packing: Packing = NO_PACKING,
                 columns: Mapping[int, Place] = MappingProxyType({})):
        """Take the values of inputs, and the places of those that are in memory."""
        self.program, self.e, self.defined = program, emitter, {*values, *columns}
        self.fused = fused
        is_long = straight_line(program, fused) > LONG
        self.spills = SpillSlots(emitter, REGION if is_long else len(program.symbols) + 1, columns)
        for number, value in values.items():
            self.spills.define(number, value)
        self._of_angle: dict[int, list[Symbol]] = {}  # number of an angle -> sine and cosine
        for symbol in program.symbols:
            if symbol.op is _SIN or symbol.op is _COS:
                self._of_angle.setdefault(symbol.args[0].number, []).append(symbol)
        self._block_operations = 0  # in the current basic block
        self._stores: Stores | None = None
        self.packs = PackEmitter(self, packing)
        self._extracted: set[int] = set()  # packed symbols that were extracted as scalars

    def value(self, symbol: Symbol) -> str:
        """Return the operand of a symbol: a constant, or the name of its value."""
        number = symbol.number
        value = self.spills.live.get(number)   # the usual case first
        if value is not None:
            return value
        if symbol.op is _CONST:
            return self.e.dialect.const(symbol.args[0], self.e.lanes)
        if self.packs.is_lane(number) and number not in self._extracted:
            self._extracted.add(number)
            self.spills.define(number, self.packs.extract(number))
        return self.spills.use(number)

    def run(self, stores: Stores) -> None:
        """Emit all symbols that are not defined yet, and the stores of the results."""
        self._stores = stores
        for symbol in self.program.symbols:
            self._emit(symbol)

    def _emit(self, symbol: Symbol) -> None:
        number, op = symbol.number, symbol.op
        if self.packs.any_packed:
            for packed in self.packs.emit(number):
                self.defined.add(packed.number)
                assert self._stores is not None   # see run
                self._stores.on_defined(packed.number)
            if self.packs.is_lane(number):
                return
        if op is _CONST or number in self.fused or number in self.defined:
            return
        self.advance(1)
        if op is _SIN or op is _COS:
            self._sincos(symbol.args[0])
        else:
            self._define(symbol, LOWER[op](self, *symbol.args))

    def _define(self, symbol: Symbol, value: str) -> None:
        self.defined.add(symbol.number)
        self.spills.define(symbol.number, value)
        if self._stores is not None:
            self._stores.on_defined(symbol.number)

    def advance(self, operations: int) -> None:
        """Count operations; begin a new basic block after BLOCK of them."""
        self._block_operations += operations
        if self._block_operations >= BLOCK:
            label = self.e.name()[1:]
            self.e.lines += [f'  br label %{label}', f'{label}:']
            self._block_operations = 0
            self.spills.next_block()

    # Arithmetic ------------------------------------------------------------------------------

    def add(self, x: Symbol, y: Symbol) -> str:
        if x.number in self.fused and y.number not in self.fused:
            x, y = y, x
        if y.number in self.fused:  # x + a b
            a, b = y.args
            return self.e.fma(self.value(a), self.value(b), self.value(x))
        return self.e.binary('fadd', self.value(x), self.value(y))

    def sub(self, x: Symbol, y: Symbol) -> str:
        if y.number in self.fused:  # x - a b
            a, b = self.value(y.args[0]), self.value(y.args[1])
            return self.e.fma(self._negative(a), b, self.value(x))
        if x.number in self.fused:  # a b - y
            a, b = self.value(x.args[0]), self.value(x.args[1])
            return self.e.fma(a, b, self._negative(self.value(y)))
        return self.e.binary('fsub', self.value(x), self.value(y))

    def _negative(self, value: str) -> str:
        return self.e.line(f'fneg {self.e.type} {value}')

    def neg(self, x: Symbol) -> str:
        return self._negative(self.value(x))

    def mul(self, x: Symbol, y: Symbol) -> str:
        return self.e.binary('fmul', self.value(x), self.value(y))

    def recip(self, x: Symbol) -> str:
        return self.e.binary('fdiv', self.e.dialect.const(1.0, self.e.lanes), self.value(x))

    def sqrt(self, x: Symbol) -> str:
        return self.e.call('sqrt', self.value(x))

    def step(self, x: Symbol) -> str:
        e = self.e
        mask = e.line(f'fcmp ogt {e.type} {self.value(x)}, {e.dialect.const(0.0, e.lanes)}')
        return e.line(f'uitofp {e.dialect.boolean(e.lanes)} {mask} to {e.type}')

    # Sine and cosine -------------------------------------------------------------------------

    def _sincos(self, angle: Symbol) -> None:
        pair = self._call_sincos(self.value(angle), self.e.lanes)
        self._define_sincos(angle, *(self._part(pair, k, self.e.lanes) for k in (0, 1)))

    def _call_sincos(self, x: str, lanes: int) -> str:
        T = self.e.dialect.type(lanes)
        return self.e.line(f'call {{{T}, {T}}} @sincos{lanes}({T} {x})')

    def _part(self, pair: str, k: int, lanes: int) -> str:
        T = self.e.dialect.type(lanes)
        return self.e.line(f'extractvalue {{{T}, {T}}} {pair}, {k}')

    def _define_sincos(self, angle: Symbol, sine: str, cosine: str) -> None:
        for symbol in self._of_angle[angle.number]:
            self._define(symbol, sine if symbol.op is Op.SIN else cosine)

    def sincos_of_inputs(self, width: int) -> None:
        """Emit sines and cosines of angles that are polynomials of inputs, `width` at a time."""
        early = angle_symbols(self.program)
        by_number = {symbols[0].args[0].number: symbols[0].args[0]
                     for symbols in self._of_angle.values()}
        for symbol in self.program.symbols:
            if symbol.number in early:
                self._emit(symbol)
        angles = [angle for number, angle in by_number.items() if number in early]
        T = self.e.dialect.type(width)
        for start in range(0, len(angles), width):
            group = angles[start:start + width]
            packed = self.e.dialect.const(0.0, width)
            for lane, angle in enumerate(group):
                packed = self.e.line(f'insertelement {T} {packed}, double {self.value(angle)}, '
                                     f'i32 {lane}')
            pair = self._call_sincos(packed, width)
            sine, cosine = (self._part(pair, k, width) for k in (0, 1))
            for lane, angle in enumerate(group):
                self._define_sincos(angle, *(
                    self.e.line(f'extractelement {T} {part}, i32 {lane}')
                    for part in (sine, cosine)))


LOWER: dict[Op, Callable[..., str]] = {
    Op.ADD: FunctionBody.add, Op.SUB: FunctionBody.sub, Op.MUL: FunctionBody.mul,
    Op.NEG: FunctionBody.neg, Op.RECIP: FunctionBody.recip, Op.SQRT: FunctionBody.sqrt,
    Op.STEP: FunctionBody.step}
