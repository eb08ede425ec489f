"""Answers of one state that are calculated alike, side by side in one register.

Column by column a linear solve does the same with other numbers. Rows of the answer are followed
back as long as all their entries come from the same operation: such a pack is one instruction
instead of several, and the code, which no cache holds when it is long, becomes shorter. What is
not alike is gathered number by number. Every entry is rounded as it would be alone.

A pack is calculated when the last of its entries is due in the program. Entries that are read
before that, by a scalar operation or by a gather, are also calculated alone, at their own place in
the program. So every operation, packed or scalar, reads only what is above it.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.compiler.graph import Op

LEAST, MOST = 4, 8   # entries of a pack
WORTH = 0.1          # of all instructions have to be saved
CALCULATED = ('sum', 'product', 'signed')   # kinds of packs that are instructions


class Pack(NamedTuple):
    """One value per entry; each kind says how it comes about."""

    kind: str      # 'sum', 'product', 'signed', 'splat' (of one symbol) or 'gather'
    symbols: tuple
    parts: tuple = ()   # of Pack
    signs: tuple = ()   # of a sum: those of each part; of 'signed': of its part; +-1 per entry

    @property
    def key(self):
        return tuple(symbol.number for symbol in self.symbols)


class Packing(NamedTuple):
    """What of a program is packed."""

    packs: dict         # {key: Pack}
    places: dict        # {number of a symbol: (key, lane)}: where it is calculated first
    alone: frozenset    # numbers of packed symbols that are also calculated alone


NONE = Packing({}, {}, frozenset())


def find_packs(program, fused, angles=frozenset()):
    """Return the Packing of a program, NONE where it is not worth it.

    :param fused: numbers of the products that are part of a fused multiply-add.
    :param angles: numbers of the symbols to be calculated before all others.
    """
    packer = _Packer(fused, angles)
    rows = [row for row in rows_of(program) if packer.pack(row).kind in CALCULATED]
    packs = packer.needed(rows)
    places = _places(packs, fused)
    alone = _read_early(program, packs, places, fused)
    packed = {n for pack in packs.values() if pack.kind in ('sum', 'product') for n in pack.key}
    vectors = sum(1 if pack.key[0] not in fused else 0 for pack in packs.values()
                  if pack.kind in ('sum', 'product'))
    gathered = sum(len(pack.key) for pack in packs.values() if pack.kind == 'gather')
    total = sum(s.op in (Op.ADD, Op.SUB, Op.MUL) for s in program.symbols) - len(fused)
    saved = len(packed - fused) - vectors - gathered - len(alone)
    return Packing(packs, places, alone) if saved > WORTH * total else NONE


def _calculated(packs, fused):
    """Return the packs that are instructions of their own, in the order they are calculated."""
    own = [pack for pack in packs.values() if pack.kind in CALCULATED and pack.key[0] not in fused]
    return sorted(own, key=lambda pack: max(pack.key))


def _places(packs, fused):
    """Return {number: (key, lane)} of each packed symbol in the first pack that has it."""
    places = {}
    for pack in _calculated(packs, fused):
        for lane, symbol in enumerate(pack.symbols):
            if pack.kind != 'signed' or symbol.op is Op.NEG:
                places.setdefault(symbol.number, (pack.key, lane))
    return places


def _read_early(program, packs, places, fused):
    """Return the packed symbols that are read before, or while, their pack is calculated.

    Packs with symbol n as their last are calculated at time 2 n, the scalar n at time 2 n + 1. As
    symbols read smaller numbers only, one pass from the last symbol to the first finds them all.
    """
    complete = {number: 2 * max(key) for number, (key, _) in places.items()}
    first_read = {}

    def read(symbols, time):
        for symbol in symbols:
            first_read[symbol.number] = min(time, first_read.get(symbol.number, time))
    for pack in _calculated(packs, fused):
        for part in _operands(pack, fused):
            if part.kind not in CALCULATED:
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


def _operands(pack, fused):
    """Return the packs that the instruction of a pack reads; a fused product reads its factors."""
    return [part for operand in pack.parts
            for part in (operand.parts if operand.key[0] in fused else (operand,))]


def rows_of(program):
    """Return the rows of all answers that are matrices, in pieces of at most MOST entries."""
    rows, first = [], 0
    for shape in program.shapes:
        size = int(np.prod(shape, dtype=int))
        if len(shape) > 1:
            for start in range(first, first + size, shape[-1]):
                row = program.outputs[start:start + shape[-1]]
                rows += [row[k:k + MOST] for k in range(0, len(row), MOST)]
        first += size
    return [row for row in rows if len(row) >= LEAST]


class _Packer:
    """Follows rows back to where their entries are no longer alike."""

    def __init__(self, fused, angles):
        self._fused, self._angles = fused, angles
        self._known = {}

    def pack(self, symbols):
        key = tuple(symbol.number for symbol in symbols)
        if key not in self._known:
            self._known[key] = Pack('gather', symbols)  # as long as nothing better is known
            self._known[key] = self._made(symbols)
        return self._known[key]

    def needed(self, rows):
        """Return {key: Pack} of what some rows are made of, and they themselves."""
        found, stack = {}, [self.pack(row) for row in rows]
        while stack:
            pack = stack.pop()
            if pack.key not in found:
                found[pack.key] = pack
                stack.extend(pack.parts)
        return found

    def _made(self, symbols):
        numbers = [symbol.number for symbol in symbols]
        if len(set(numbers)) == 1:
            return Pack('splat', symbols)
        if len(set(numbers)) < len(numbers) or not self._angles.isdisjoint(numbers):
            return Pack('gather', symbols)
        if any(symbol.op is Op.NEG for symbol in symbols):
            core = self.pack(tuple(s.args[0] if s.op is Op.NEG else s for s in symbols))
            signs = tuple(-1.0 if s.op is Op.NEG else 1.0 for s in symbols)
            return (Pack('signed', symbols, (core,), signs)
                    if core.kind in CALCULATED else Pack('gather', symbols))
        ops = {symbol.op for symbol in symbols}
        if ops == {Op.MUL}:
            return self._checked('product', symbols, _aligned([s.args for s in symbols]), ())
        if ops <= {Op.ADD, Op.SUB}:
            terms = [self._terms(symbol) for symbol in symbols]
            signs = tuple(tuple(term[k][1] for term in terms) for k in (0, 1))
            if len({term[1][0].number in self._fused for term in terms}) == 1:
                return self._checked('sum', symbols, [[x for x, _ in term] for term in terms],
                                     signs)
        return Pack('gather', symbols)

    def _terms(self, symbol):
        """Return the two (symbol, sign) of a sum, a fused product last."""
        x, y = symbol.args
        terms = [(x, 1.0), (y, 1.0 if symbol.op is Op.ADD else -1.0)]
        return terms[::-1] if x.number in self._fused else terms

    def _checked(self, kind, symbols, entries, signs):
        """Return the pack if that is better than to gather its entries."""
        parts = tuple(self.pack(tuple(part)) for part in zip(*entries))
        kinds = [part.kind for part in parts]
        if kinds.count('gather') > 1 or set(kinds) == {'splat'} or any(
                part.kind != 'product' and part.key[0] in self._fused for part in parts):
            return Pack('gather', symbols)  # a fused product that is not packed has no value
        return Pack(kind, symbols, parts, signs)


def _aligned(pairs):
    """Return the factors of each entry, one that is common to all first."""
    common = set.intersection(*({x.number for x in pair} for pair in pairs))
    return [pair[::-1] if common and pair[0].number not in common else pair for pair in pairs]


class Lanes:
    """Emits the packs of a body of code."""

    def __init__(self, body, packing):
        self._body = body
        self._vectors = {}   # key -> name
        self._place = {number: place for number, place in packing.places.items()
                       if number not in packing.alone}
        self._rows = set()   # keys
        self._due = {}       # number of the last symbol of a pack -> packs
        for pack in _calculated(packing.packs, body.fused):
            self._rows.add(pack.key)
            self._due.setdefault(max(pack.key), []).append(pack)

    @property
    def packed(self):
        """Whether there are any."""
        return bool(self._rows)

    def holds(self, number):
        """Whether a symbol is calculated in a pack only."""
        return number in self._place

    def length(self, symbols, place):
        """Return how many symbols from some place on are a pack; 1 where none is."""
        return next((n for n in range(MOST, 1, -1) if tuple(
            symbol.number for symbol in symbols[place:place + n]) in self._rows), 1)

    def emit(self, number):
        """Emit what is complete with this symbol; return the symbols that are known by it."""
        known = []
        for pack in self._due.get(number, ()):
            self._vector(pack)
            known += [s for s in pack.symbols if self._place.get(s.number, (0,))[0] == pack.key]
        return known

    def entry(self, number):
        """Emit the extraction of one number."""
        key, lane = self._place[number]
        kind = self._emitter(key).type
        return self._body.e.line(f'extractelement {kind} {self._vectors[key]}, i32 {lane}')

    def row(self, symbols):
        """Return (type, name) of the vector of some symbols, or None."""
        key = tuple(symbol.number for symbol in symbols)
        return (self._emitter(key).type, self._vectors[key]) if key in self._vectors else None

    def _emitter(self, key):
        e = self._body.e.dialect.emitter(len(key), '')
        e.lines, e.name = self._body.e.lines, self._body.e.name
        return e

    def _vector(self, pack):
        if pack.key not in self._vectors:
            self._body.make_room(1)
            self._vectors[pack.key] = getattr(self, f'_{pack.kind}')(pack, self._emitter(pack.key))
        return self._vectors[pack.key]

    def _gather(self, pack, e):
        vector = 'undef'
        for lane, symbol in enumerate(pack.symbols):
            vector = e.line(f'insertelement {e.type} {vector}, double {self._body.value(symbol)}, '
                            f'i32 {lane}')
        return vector

    def _splat(self, pack, e):
        first = e.line(f'insertelement {e.type} undef, double {self._body.value(pack.symbols[0])}, '
                       'i32 0')
        return e.line(f'shufflevector {e.type} {first}, {e.type} undef, '
                      f'<{e.lanes} x i32> zeroinitializer')

    def _product(self, pack, e):
        return e.binary('fmul', *map(self._vector, pack.parts))

    def _sum(self, pack, e):
        other, last = pack.parts
        signs, last_signs = pack.signs
        other = _with_signs(e, self._vector(other), signs)
        if last.key[0] in self._body.fused:
            x, y = map(self._vector, last.parts)
            return e.fma(_with_signs(e, x, last_signs), y, other)
        return e.binary('fadd', other, _with_signs(e, self._vector(last), last_signs))

    def _signed(self, pack, e):
        return _with_signs(e, self._vector(pack.parts[0]), pack.signs)


def _with_signs(e, vector, signs):
    """Emit the vector with some signs changed, exactly."""
    if set(signs) == {1.0}:
        return vector
    if set(signs) == {-1.0}:
        return e.line(f'fneg {e.type} {vector}')
    numbers = ', '.join(f'double {e.dialect.const(sign, 1)}' for sign in signs)
    return e.binary('fmul', vector, f'<{numbers}>')
