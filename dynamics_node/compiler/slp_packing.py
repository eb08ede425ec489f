"""Pack scalar operations of one state into the lanes of vector instructions: SLP packing.

SLP is superword-level parallelism. A linear solve applies the same operations to each column of its
result. Packing starts at the rows of matrix results and continues to their operands, as long as all
entries of a pack are the same operation. A pack is one instruction instead of several, and shorter
code, which matters when it exceeds the instruction cache. Other operands are gathered: inserted
lane by lane. Each lane is rounded as the scalar operation rounds.

A pack is computed at the place of its last entry in the program. Entries that are read before that,
by a scalar operation or by a gather, are also computed as scalars, at their own place. So every
operation, vector or scalar, reads only values that are defined before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynamics_node.compiler.graph import Op, Symbol
from dynamics_node.compiler.ir_text import Emitter
from dynamics_node.compiler.trace import Program

if TYPE_CHECKING:
    from dynamics_node.compiler.lower import FunctionBody

MIN_LANES, MAX_LANES = 4, 8   # of a pack
MIN_SAVING = 0.1              # share of the instructions that packing must save
ARITHMETIC = ('sum', 'product', 'signed')   # kinds of packs that are vector arithmetic

Key = tuple[int, ...]  # numbers of the symbols of a pack


class Pack(NamedTuple):
    """Symbols that are the lanes of one vector."""

    kind: str      # how it is computed: 'sum', 'product', 'signed', 'splat' (one symbol), 'gather'
    symbols: Sequence[Symbol]
    parts: tuple = ()   # operands, each a Pack
    signs: tuple = ()   # +-1 per lane: of a sum, a tuple per part; of 'signed', one tuple

    @property
    def key(self) -> Key:
        return tuple(symbol.number for symbol in self.symbols)


class Packing(NamedTuple):
    """The packs of a program."""

    packs: Mapping[Key, Pack]
    lanes: Mapping[int, tuple[Key, int]]  # {number of a symbol: (key, lane) that defines it}
    scalar: Set[int]                      # numbers of packed symbols also computed as scalars


NO_PACKING = Packing({}, {}, frozenset())


def find_packs(program: Program, fused: Set[int], angles: Set[int] = frozenset()
               ) -> Packing:
    """Return the Packing of a program, NO_PACKING where it would save too little.

    :param fused: numbers of the products that are part of a fused multiply-add.
    :param angles: numbers of the symbols that are computed before all others, as scalars.
    """
    packer = _Packer(fused, angles)
    rows = [row for row in rows_of(program) if packer.pack(row).kind in ARITHMETIC]
    packs = packer.needed(rows)
    lanes = _lanes(packs, fused)
    scalar = _read_early(program, packs, lanes, fused)
    packed = {n for pack in packs.values() if pack.kind in ('sum', 'product') for n in pack.key}
    vectors = sum(1 if pack.key[0] not in fused else 0 for pack in packs.values()
                  if pack.kind in ('sum', 'product'))
    gathered = sum(len(pack.key) for pack in packs.values() if pack.kind == 'gather')
    total = sum(s.op in (Op.ADD, Op.SUB, Op.MUL) for s in program.symbols) - len(fused)
    saved = len(packed - fused) - vectors - gathered - len(scalar)
    return Packing(packs, lanes, scalar) if saved > MIN_SAVING * total else NO_PACKING


def _computed(packs: Mapping[Key, Pack], fused: Set[int]) -> list[Pack]:
    """Return the packs that are vector instructions, fused products left out, in program order."""
    own = [pack for pack in packs.values() if pack.kind in ARITHMETIC and pack.key[0] not in fused]
    return sorted(own, key=lambda pack: max(pack.key))


def _lanes(packs: Mapping[Key, Pack], fused: Set[int]) -> dict[int, tuple[Key, int]]:
    """Return {number of a packed symbol: (key, lane)}, of the first pack that has it."""
    lanes: dict[int, tuple[Key, int]] = {}
    for pack in _computed(packs, fused):
        for lane, symbol in enumerate(pack.symbols):
            if pack.kind != 'signed' or symbol.op is Op.NEG:
                lanes.setdefault(symbol.number, (pack.key, lane))
    return lanes


def _read_early(program: Program, packs: Mapping[Key, Pack], lanes: Mapping[int, tuple[Key, int]],
                fused: Set[int]) -> frozenset[int]:
    """Return the numbers of packed symbols that are read before, or while, their pack is computed.

    Packs with symbol n as their last are computed at time 2 n, the scalar n at time 2 n + 1. As
    operands have smaller numbers, one pass from the last symbol to the first finds them all.
    """
    complete = {number: 2 * max(key) for number, (key, _) in lanes.items()}
    first_read: dict[int, int] = {}

    def read(symbols: Sequence[Symbol], time: int) -> None:
        for symbol in symbols:
            first_read[symbol.number] = min(time, first_read.get(symbol.number, time))
    for pack in _computed(packs, fused):
        for part in _operands(pack, fused):
            if part.kind not in ARITHMETIC:
                read(part.symbols, 2 * max(pack.key))
    early = set()
    for symbol in reversed(program.symbols):
        number = symbol.number
        if number in complete:
            if first_read.get(number, complete[number] + 1) > complete[number]:
                continue
            early.add(number)
        if number not in fused and symbol.op not in (Op.CONST, Op.INPUT):
            for arg in symbol.args:
                read(arg.args if arg.number in fused else (arg,), 2 * number + 1)
    return frozenset(early)


def _operands(pack: Pack, fused: Set[int]) -> list[Pack]:
    """Return the packs that the instruction of a pack reads; a fused product reads its factors."""
    return [part for operand in pack.parts
            for part in (operand.parts if operand.key[0] in fused else (operand,))]


def rows_of(program: Program) -> list[tuple[Symbol, ...]]:
    """Return the rows of all results that are matrices, in pieces of at most MAX_LANES entries."""
    rows: list[tuple[Symbol, ...]] = []
    first = 0
    for shape in program.shapes:
        size = int(np.prod(shape, dtype=int))
        if len(shape) > 1:
            for start in range(first, first + size, shape[-1]):
                row = program.outputs[start:start + shape[-1]]
                rows += [row[k:k + MAX_LANES] for k in range(0, len(row), MAX_LANES)]
        first += size
    return [row for row in rows if len(row) >= MIN_LANES]


class _Packer:
    """Builds packs from rows, operand by operand, until the entries are different operations."""

    def __init__(self, fused: Set[int], angles: Set[int]) -> None:
        self._fused, self._angles = fused, angles
        self._known: dict[Key, Pack] = {}

    def pack(self, symbols: tuple[Symbol, ...]) -> Pack:
        """Return the Pack of some symbols."""
        key = tuple(symbol.number for symbol in symbols)
        if key not in self._known:
            self._known[key] = Pack('gather', symbols)  # until a better one is built
            self._known[key] = self._built(symbols)
        return self._known[key]

    def needed(self, rows: Iterable[tuple[Symbol, ...]]) -> dict[Key, Pack]:
        """Return {key: Pack} of some rows and all their operands."""
        found, stack = {}, [self.pack(row) for row in rows]
        while stack:
            pack = stack.pop()
            if pack.key not in found:
                found[pack.key] = pack
                stack.extend(pack.parts)
        return found

    def _built(self, symbols: tuple[Symbol, ...]) -> Pack:
        numbers = [symbol.number for symbol in symbols]
        if len(set(numbers)) == 1:
            return Pack('splat', symbols)
        if len(set(numbers)) < len(numbers) or not self._angles.isdisjoint(numbers):
            return Pack('gather', symbols)
        if any(symbol.op is Op.NEG for symbol in symbols):
            core = self.pack(tuple(s.args[0] if s.op is Op.NEG else s for s in symbols))
            signs = tuple(-1.0 if s.op is Op.NEG else 1.0 for s in symbols)
            return (Pack('signed', symbols, (core,), signs)
                    if core.kind in ARITHMETIC else Pack('gather', symbols))
        ops = {symbol.op for symbol in symbols}
        if ops == {Op.MUL}:
            return self._if_cheaper('product', symbols, _aligned([s.args for s in symbols]), ())
        if ops <= {Op.ADD, Op.SUB}:
            terms = [self._terms(symbol) for symbol in symbols]
            both = tuple(tuple(term[k][1] for term in terms) for k in (0, 1))
            if len({term[1][0].number in self._fused for term in terms}) == 1:
                return self._if_cheaper('sum', symbols, [[x for x, _ in term] for term in terms],
                                        both)
        return Pack('gather', symbols)

    def _terms(self, symbol: Symbol) -> list[tuple[Symbol, float]]:
        """Return the two (symbol, sign) of a sum, a fused product last."""
        x, y = symbol.args
        terms = [(x, 1.0), (y, 1.0 if symbol.op is Op.ADD else -1.0)]
        return terms[::-1] if x.number in self._fused else terms

    def _if_cheaper(self, kind: str, symbols: tuple[Symbol, ...],
                    entries: Sequence[Sequence[Symbol]], signs: tuple) -> Pack:
        """Return the pack of that kind, or a gather where that is cheaper."""
        parts = tuple(self.pack(tuple(part)) for part in zip(*entries))
        kinds = [part.kind for part in parts]
        if kinds.count('gather') > 1 or set(kinds) == {'splat'} or any(
                part.kind != 'product' and part.key[0] in self._fused for part in parts):
            return Pack('gather', symbols)  # a fused product has no value to gather
        return Pack(kind, symbols, parts, signs)


def _aligned(pairs: Sequence[tuple[Symbol, Symbol]]) -> list[tuple[Symbol, Symbol]]:
    """Return the pairs of factors; a factor that all pairs have in common comes first."""
    common = set.intersection(*({x.number for x in pair} for pair in pairs))
    return [pair[::-1] if common and pair[0].number not in common else pair for pair in pairs]


class PackEmitter:
    """Emits the packs of a function body."""

    def __init__(self, body: FunctionBody, packing: Packing):
        self._body = body
        self._vectors: dict[Key, str] = {}   # name of each vector
        self._lane = {number: lane for number, lane in packing.lanes.items()
                      if number not in packing.scalar}
        self._computed: set[Key] = set()
        self._by_last: dict[int, list[Pack]] = {}  # number of the last symbol -> packs
        for pack in _computed(packing.packs, body.fused):
            self._computed.add(pack.key)
            self._by_last.setdefault(max(pack.key), []).append(pack)

    @property
    def any_packed(self) -> bool:
        """Whether there are packs."""
        return bool(self._computed)

    def is_lane(self, number: int) -> bool:
        """Return whether a symbol is computed as a lane of a pack only."""
        return number in self._lane

    def length(self, symbols: Sequence[Symbol], place: int) -> int:
        """Return the number of symbols from some place on that are one pack; 1 where none is."""
        return next((n for n in range(MAX_LANES, 1, -1) if tuple(
            symbol.number for symbol in symbols[place:place + n]) in self._computed), 1)

    def emit(self, number: int) -> list[Symbol]:
        """Emit the packs whose last symbol this is; return the symbols that they define."""
        defined: list[Symbol] = []
        for pack in self._by_last.get(number, ()):
            self._vector(pack)
            defined += [s for s in pack.symbols
                        if s.number in self._lane and self._lane[s.number][0] == pack.key]
        return defined

    def extract(self, number: int) -> str:
        """Emit the extraction of one lane; return the name of the scalar."""
        key, lane = self._lane[number]
        kind = self._emitter(key).type
        return self._body.e.line(f'extractelement {kind} {self._vectors[key]}, i32 {lane}')

    def vector_of(self, symbols: Sequence[Symbol]) -> tuple[str, str] | None:
        """Return (type, name) of the vector of some symbols, or None."""
        key = tuple(symbol.number for symbol in symbols)
        return (self._emitter(key).type, self._vectors[key]) if key in self._vectors else None

    def _emitter(self, key: Key) -> Emitter:
        """Return an emitter of the width of a pack that adds to the lines of the body."""
        return self._body.e.of_width(len(key))

    def _vector(self, pack: Pack) -> str:
        if pack.key not in self._vectors:
            self._body.advance(1)
            self._vectors[pack.key] = getattr(self, f'_{pack.kind}')(pack, self._emitter(pack.key))
        return self._vectors[pack.key]

    def _gather(self, pack: Pack, e: Emitter) -> str:
        vector = 'undef'
        for lane, symbol in enumerate(pack.symbols):
            vector = e.line(f'insertelement {e.type} {vector}, double {self._body.value(symbol)}, '
                            f'i32 {lane}')
        return vector

    def _splat(self, pack: Pack, e: Emitter) -> str:
        first = e.line(f'insertelement {e.type} undef, double {self._body.value(pack.symbols[0])}, '
                       'i32 0')
        return e.line(f'shufflevector {e.type} {first}, {e.type} undef, '
                      f'<{e.lanes} x i32> zeroinitializer')

    def _product(self, pack: Pack, e: Emitter) -> str:
        return e.binary('fmul', *map(self._vector, pack.parts))

    def _sum(self, pack: Pack, e: Emitter) -> str:
        other, last = pack.parts
        signs, last_signs = pack.signs
        other = _with_signs(e, self._vector(other), signs)
        if last.key[0] in self._body.fused:
            x, y = map(self._vector, last.parts)
            return e.fma(_with_signs(e, x, last_signs), y, other)
        return e.binary('fadd', other, _with_signs(e, self._vector(last), last_signs))

    def _signed(self, pack: Pack, e: Emitter) -> str:
        return _with_signs(e, self._vector(pack.parts[0]), pack.signs)


def _with_signs(e: Emitter, vector: str, signs: Sequence[float]) -> str:
    """Emit the vector times +-1 in each lane, which is exact."""
    if set(signs) == {1.0}:
        return vector
    if set(signs) == {-1.0}:
        return e.line(f'fneg {e.type} {vector}')
    numbers = ', '.join(f'double {e.dialect.const(sign, 1)}' for sign in signs)
    return e.binary('fmul', vector, f'<{numbers}>')
