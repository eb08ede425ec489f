"""A program as LLVM IR: one function for a single state, one for several states side by side.

    int64_t single(const double *const *in, double *const *out)
    int64_t batch(const double *const *in, double *const *out, int64_t blocks)

`in` and `out` hold one pointer per block of the program. `batch` takes `blocks` x `lanes` states,
rows of C-contiguous arrays. Uniform inputs (gravity, friction, ...) are the same for all states.
Rows are read `lanes` numbers at a time, the last chunk beyond the row's end: the caller leaves room
behind the last row. So are rows written that are shorter than a register, in order, so that what
spills into the next row is overwritten by it.
Both return 0 where all is well: every number read and written is finite, every margin positive.
Fused multiply-adds are chosen here, not by LLVM, so that both functions round alike, to the bit.
"""

import numpy as np

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.ir import Dialect
from dynamics_node.compiler.lane_layout import load_rows
from dynamics_node.compiler.result_stores import Outlet
from dynamics_node.compiler.sincos import define_sincos
from dynamics_node.compiler.slp_packing import NONE, Lanes, find_packs
from dynamics_node.compiler.spill_slots import Shelf

# The straight line is broken into basic blocks of this many operations: within a block LLVM's
# scheduler moves loads and products far ahead and then spills (where registers are 16; with the 32
# of AVX-512 it makes no difference).
BLOCK = 60
# Joints per vector when a single state's sines and cosines are taken: wider was slower (measured).
PACK = 4
# Programs of more instructions are divided into stretches of this many operations, see shelf.py.
LONG, STRETCH = 6000, 60


def lower(program, lanes, uniform=(), fma=True, margins=0, packed=True):
    """Return the LLVM IR text of a program.

    :param lanes: numbers per vector register, 2, 4 or 8.
    :param uniform: names of the inputs that are the same for all states of a batch.
    :param fma: whether the target has fused multiply-add.
    :param margins: how many of the last output blocks are margins: checked, not written.
    :param packed: False calculates every number of a single state alone, see packs.py.
    """
    ir = Dialect(fma)
    pack = min(lanes, PACK)
    widths = sorted({1, pack, lanes})
    packs = packing_of(program) if packed else NONE
    return '\n'.join([
        *map(ir.declarations, sorted({*widths, *map(len, packs.packs)})),
        'declare double @sin(double)', 'declare double @cos(double)',
        *(define_sincos(ir, width) for width in widths),
        _single(program, ir, pack, uniform, margins, packs),
        _block(program, ir, lanes, uniform, margins),
        _batch(lanes),
        '!0 = !{!"branch_weights", i32 1, i32 1000000}', ''])


def packing_of(program):
    """Return the Packing of a program; long ones have none."""
    if instructions(program) > LONG:
        return NONE
    return find_packs(program, _fused_products(program), _early(program))


def _single(program, ir, pack, uniform, margins, packs):
    """Return @single; sines and cosines of the inputs are taken `pack` joints at a time."""
    e = ir.emitter(1, 't')
    values = _load_single(program, e, uniform)
    bad_input = _not_finite(e, values.values())
    body = FunctionBody(program, e, values, packs)
    body.sincos_packed(pack)
    bad = _run(body, bad_input, margins)
    return '\n'.join(['define i64 @single(ptr noalias %in, ptr noalias %out) {',
                      *body.shelf.slots(), *e.lines, f'  ret i64 {bad}', '}'])


def _load_single(program, e, uniform):
    read = _inputs_to_read(program, uniform)
    values = {}
    for pointer, first, size in _in_blocks(program, e):
        for k in range(first, first + size):
            if k in read:
                address = e.line(f'getelementptr double, ptr {pointer}, i64 {k - first}')
                values[read[k]] = e.line(f'load double, ptr {address}, align 8')
    return values


def _block(program, ir, lanes, uniform, margins):
    """Return @block, `lanes` states from row %row on; a function of its own, lest LLVM hoist."""
    e = ir.emitter(lanes, 't')
    read = _inputs_to_read(program, uniform)
    values = {}
    for (name, _), (pointer, first, size) in zip(program.inputs, _in_blocks(program, e)):
        wanted = {k - first: read[k] for k in range(first, first + size) if k in read}
        values.update(load_rows(e, pointer, size, wanted, name in uniform))
    bad_input = _not_finite(e, values.values())
    body = FunctionBody(program, e, values)
    bad = _run(body, bad_input, margins)
    return '\n'.join([
        'define internal i64 @block(ptr noalias %in, ptr noalias %out, i64 %row) noinline {',
        *body.shelf.slots(), *e.lines, f'  ret i64 {bad}', '}'])


def _not_finite(e, numbers):
    """Emit the check of some numbers; return the name of the mask of lanes where one is not finite.

    0 x is 0 for a finite x and NaN for any other. To be emitted where the numbers are at hand: kept
    for a check at the end they would all be spilled. Four sums do not wait for one another.
    """
    zero = e.dialect.const(0.0, e.lanes)
    sums = [zero] * 4
    for k, number in enumerate(numbers):
        sums[k % 4] = e.fma(number, zero, sums[k % 4])
    total = e.binary('fadd', e.binary('fadd', *sums[:2]), e.binary('fadd', *sums[2:]))
    return e.line(f'fcmp uno {e.type} {total}, {zero}')


def _run(body, bad_input, margins):
    """Emit the arithmetic and the check of all that comes out; return the name of 0 or not 0."""
    e = body.e
    mask, zero = e.dialect.boolean(e.lanes), e.dialect.const(0.0, e.lanes)
    written, checked = _out_blocks(body.program, e, margins)
    outlet = Outlet(body, written)
    body.run(outlet)
    bad = e.line(f'or {mask} {outlet.not_finite()}, {bad_input}')
    for symbol in checked:
        low = e.line(f'fcmp ule {e.type} {body.value(symbol)}, {zero}')
        bad = e.line(f'or {mask} {bad}, {low}')
    if e.lanes > 1:
        packed = e.line(f'bitcast {mask} {bad} to i{e.lanes}')
        return e.line(f'zext i{e.lanes} {packed} to i64')
    return e.line(f'zext i1 {bad} to i64')


def _batch(lanes):
    return f"""define i64 @batch(ptr noalias %in, ptr noalias %out, i64 %blocks) {{
entry:
  %none = icmp sle i64 %blocks, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %bad = phi i64 [ 0, %entry ], [ %worse, %loop ]
  %row = mul i64 %i, {lanes}
  %here = call i64 @block(ptr %in, ptr %out, i64 %row)
  %worse = or i64 %bad, %here
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %loop, label %done
done:
  %answer = phi i64 [ 0, %entry ], [ %worse, %loop ]
  ret i64 %answer
}}"""


def _inputs_to_read(program, uniform):
    """Return {place of an input: number of its symbol}: those in use, and all of a state.

    An answer need not depend on every coordinate, but one that is not finite is refused all the
    same. What is read to be checked only has a negative number, as no symbol has.
    """
    used = {symbol.args[0]: symbol.number for symbol in program.symbols if symbol.op is Op.INPUT}
    first = 0
    for name, size in program.inputs:
        if name not in uniform:
            used.update({k: -1 - k for k in range(first, first + size) if k not in used})
        first += size
    return used


def _in_blocks(program, e):
    first = 0
    for k, (_, size) in enumerate(program.inputs):
        yield _pointer(e, '%in', k), first, size
        first += size


def _out_blocks(program, e, margins):
    """Return the blocks to write, (pointer, symbols) each, and the symbols of the margins."""
    blocks, first = [], 0
    for shape in program.shapes:
        size = int(np.prod(shape, dtype=int))
        blocks.append(program.outputs[first:first + size])
        first += size
    visible = len(blocks) - margins
    written = [(_pointer(e, '%out', k), block) for k, block in enumerate(blocks[:visible])]
    return written, [symbol for block in blocks[visible:] for symbol in block]


def _pointer(e, array, k):
    address = e.line(f'getelementptr ptr, ptr {array}, i64 {k}')
    return e.line(f'load ptr, ptr {address}, align 8')


class FunctionBody:
    """The arithmetic of a program, line by line, at one width."""

    def __init__(self, program, emitter, values, packs=NONE):
        self.program, self.e, self.known = program, emitter, set(values)
        self.fused = _fused_products(program)
        is_long = instructions(program) > LONG
        self.shelf = Shelf(emitter, STRETCH if is_long else len(program.symbols) + 1)
        for number, value in values.items():
            self.shelf.put(number, value)
        self._of_angle = {}  # number of an angle -> its sine and cosine symbols
        for symbol in program.symbols:
            if symbol.op in (Op.SIN, Op.COS):
                self._of_angle.setdefault(symbol.args[0].number, []).append(symbol)
        self._since_break = 0
        self._outlet = None
        self.lanes = Lanes(self, packs)
        self._taken_out = set()  # of a pack

    def value(self, symbol):
        if symbol.op is Op.CONST:
            return self.e.dialect.const(symbol.args[0], self.e.lanes)
        if self.lanes.holds(symbol.number) and symbol.number not in self._taken_out:
            self._taken_out.add(symbol.number)
            self.shelf.put(symbol.number, self.lanes.entry(symbol.number))
        return self.shelf.take(symbol.number)

    def run(self, outlet):
        """Emit all that is not there yet; the outlet takes every value."""
        self._outlet = outlet
        for symbol in self.program.symbols:
            self._emit(symbol)

    def _emit(self, symbol):
        for packed in self.lanes.emit(symbol.number):
            self.known.add(packed.number)
            self._outlet.take(packed.number)
        if (symbol.op is Op.CONST or symbol.number in self.known or symbol.number in self.fused
                or self.lanes.holds(symbol.number)):
            return
        self.make_room(1)
        if symbol.op in (Op.SIN, Op.COS):
            self._sincos(symbol.args[0])
        else:
            self._know(symbol, LOWER[symbol.op](self, *symbol.args))

    def _know(self, symbol, value):
        self.known.add(symbol.number)
        self.shelf.put(symbol.number, value)
        if self._outlet is not None:
            self._outlet.take(symbol.number)

    def make_room(self, operations):
        """Begin another basic block where this one has enough operations."""
        self._since_break += operations
        self.shelf.pass_by(operations)
        if self._since_break >= BLOCK:
            label = self.e.name()[1:]
            self.e.lines += [f'  br label %{label}', f'{label}:']
            self._since_break = 0

    # Arithmetic ------------------------------------------------------------------------------

    def add(self, x, y):
        for product, other in ((y, x), (x, y)):
            if product.number in self.fused:
                return self.e.fma(*map(self.value, product.args), self.value(other))
        return self.e.binary('fadd', self.value(x), self.value(y))

    def sub(self, x, y):
        if y.number in self.fused:  # x - a b
            a, b = map(self.value, y.args)
            return self.e.fma(self._negative(a), b, self.value(x))
        if x.number in self.fused:  # a b - y
            return self.e.fma(*map(self.value, x.args), self._negative(self.value(y)))
        return self.e.binary('fsub', self.value(x), self.value(y))

    def _negative(self, value):
        return self.e.line(f'fneg {self.e.type} {value}')

    def neg(self, x):
        return self._negative(self.value(x))

    def mul(self, x, y):
        return self.e.binary('fmul', self.value(x), self.value(y))

    def recip(self, x):
        return self.e.binary('fdiv', self.e.dialect.const(1.0, self.e.lanes), self.value(x))

    def sqrt(self, x):
        return self.e.call('sqrt', self.value(x))

    def step(self, x):
        e = self.e
        mask = e.line(f'fcmp ogt {e.type} {self.value(x)}, {e.dialect.const(0.0, e.lanes)}')
        return e.line(f'uitofp {e.dialect.boolean(e.lanes)} {mask} to {e.type}')

    # Sine and cosine -------------------------------------------------------------------------

    def _sincos(self, angle):
        pair = self._call_sincos(self.value(angle), self.e.lanes)
        self._keep(angle, *(self._part(pair, k, self.e.lanes) for k in (0, 1)))

    def _call_sincos(self, x, lanes):
        T = self.e.dialect.type(lanes)
        return self.e.line(f'call {{{T}, {T}}} @sincos{lanes}({T} {x})')

    def _part(self, pair, k, lanes):
        T = self.e.dialect.type(lanes)
        return self.e.line(f'extractvalue {{{T}, {T}}} {pair}, {k}')

    def _keep(self, angle, sine, cosine):
        for symbol in self._of_angle[angle.number]:
            self._know(symbol, sine if symbol.op is Op.SIN else cosine)

    def sincos_packed(self, pack):
        """Emit all sines and cosines of simple angles first, several joints to a vector."""
        early = _early(self.program)
        angles = {symbol.args[0].number: symbol.args[0] for symbol in self.program.symbols
                  if symbol.op in (Op.SIN, Op.COS) and symbol.args[0].number in early}
        for symbol in self.program.symbols:
            if symbol.number in early and symbol.op not in (Op.SIN, Op.COS):
                self._emit(symbol)
        angles = list(angles.values())
        T = self.e.dialect.type(pack)
        for start in range(0, len(angles), pack):
            group = angles[start:start + pack]
            packed = self.e.dialect.const(0.0, pack)
            for lane, angle in enumerate(group):
                packed = self.e.line(f'insertelement {T} {packed}, double {self.value(angle)}, '
                                     f'i32 {lane}')
            pair = self._call_sincos(packed, pack)
            sine, cosine = (self._part(pair, k, pack) for k in (0, 1))
            for lane, angle in enumerate(group):
                self._keep(angle, *(self.e.line(f'extractelement {T} {part}, i32 {lane}')
                                    for part in (sine, cosine)))


LOWER = {Op.ADD: FunctionBody.add, Op.SUB: FunctionBody.sub, Op.MUL: FunctionBody.mul,
         Op.NEG: FunctionBody.neg,
         Op.RECIP: FunctionBody.recip, Op.SQRT: FunctionBody.sqrt, Op.STEP: FunctionBody.step}


def _early(program):
    """Return the numbers of the symbols an angle is made of where that is inputs and constants."""
    simple = set()
    for symbol in program.symbols:
        if symbol.op in (Op.INPUT, Op.CONST) or (
                symbol.op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG)
                and all(arg.number in simple for arg in symbol.args)):
            simple.add(symbol.number)
    wanted, stack = set(), [symbol.args[0] for symbol in program.symbols
                            if symbol.op in (Op.SIN, Op.COS) and symbol.args[0].number in simple]
    while stack:
        symbol = stack.pop()
        if symbol.number not in wanted:
            wanted.add(symbol.number)
            if symbol.op not in (Op.INPUT, Op.CONST):
                stack.extend(symbol.args)
    return wanted


def _fused_products(program):
    """Return the numbers of the products that are part of a fused multiply-add."""
    uses = {}
    for symbol in program.symbols:
        if symbol.op not in (Op.INPUT, Op.CONST):
            for arg in symbol.args:
                uses[arg.number] = uses.get(arg.number, 0) + 1
    for symbol in program.outputs:
        uses[symbol.number] = uses.get(symbol.number, 0) + 1
    fused = set()
    for symbol in program.symbols:
        if symbol.op in (Op.ADD, Op.SUB):
            for arg in reversed(symbol.args):
                if arg.op is Op.MUL and uses[arg.number] == 1:
                    fused.add(arg.number)
                    break
    return fused


def instructions(program):
    """Return how many floating-point instructions the program takes, fused ones counted once."""
    arithmetic = [s for s in program.symbols if s.op in (Op.ADD, Op.SUB, Op.MUL, Op.RECIP, Op.SQRT)]
    return len(arithmetic) - len(_fused_products(program))
