"""Record operations on whole rows of matrices: in a large program they are loops, not instructions.

A Row represents one row of a matrix. An algorithm that solves L' D L X = B works on rows of X and B
alone. With Rows in place of their entries, as a matrix of one column, the same NumPy code records a
list of statements  row = sum of coefficient x row,  whose coefficients are symbols. Written out,
each statement would be an instruction per term and column, 130,000 in a humanoid.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.compiler.graph import Graph, Number, Symbol, is_const

# (slot, ((coefficient, slot), ...)): the row is the sum of coefficient x row
Statement = tuple[int, tuple[tuple[int, int], ...]]


class RowProgram(NamedTuple):
    """Statements on rows that follow straight-line code. A slot holds one row after another."""

    nonzero: np.ndarray                     # (first, columns): whether an entry of the rows that
    #                                         straight-line code fills, slots 0, 1, .. is not 0
    slots: int
    statements: tuple[Statement, ...]       # in order
    results: tuple[tuple[int, ...], ...]    # slots of the rows of each result
    symmetric: tuple[bool, ...]             # per result: the lower triangle is read from the upper

    @property
    def first(self) -> int:
        """The number of rows that straight-line code fills."""
        return len(self.nonzero)

    @property
    def columns(self) -> int:
        """The number of columns of every row."""
        return self.nonzero.shape[1]

    @property
    def instructions(self) -> int:
        """The number of multiply-adds, without those of zeros."""
        return self.vector_terms(1)

    def of_blocks(self, width: int) -> list[list[Statement]]:
        """Return the statements of each block of columns, without terms that are zero there.

        Statements that no result needs there are left out: of a symmetric result only the upper
        triangle is computed.

        :param width: columns of a block.
        """
        blocks: list[list[Statement]] = [[] for _ in range(0, self.columns, width)]
        for (slot, terms), now, used in self.in_use(width):
            for block in np.flatnonzero(now):
                blocks[block].append((slot, tuple(itertools.compress(terms, used[:, block]))))
        return [statements[::-1] for statements in blocks]

    def in_use(self, width: int) -> Iterator[tuple[Statement, np.ndarray, np.ndarray]]:
        """Yield the statements from the last to the first, and in which blocks they are needed.

        :return: (statement, (blocks,) whether it is needed, (terms, blocks) whether a term is
            needed and not zero).
        """
        starts = np.arange(0, self.columns, width)
        filled = np.zeros((self.slots, len(starts)), dtype=bool)    # slot by block: is not zero
        filled[:self.first] = np.logical_or.reduceat(self.nonzero, starts, axis=1)
        kept = []       # per statement, which terms are not zero in which block
        for slot, terms in self.statements:
            kept.append(filled[[source for _, source in terms]])
            filled[slot] = kept[-1].any(axis=0)
        needed = np.zeros_like(filled)
        for slots, symmetric in zip(self.results, self.symmetric):
            for k, slot in enumerate(slots):
                needed[slot] = starts + width > k if symmetric else True
        for (slot, terms), keep in zip(reversed(self.statements), reversed(kept)):
            now = needed[slot].copy()
            needed[slot] = False        # before: a statement may read the slot that it writes
            used = keep & now
            needed[[source for _, source in terms]] |= used
            yield (slot, terms), now, used

    def vector_terms(self, width: int) -> int:
        """Return the number of multiply-adds of vectors of so many columns."""
        return sum(int(used.sum()) for _, _, used in self.in_use(width))

    def evaluate(self, coefficients: np.ndarray, entries: np.ndarray) -> list[np.ndarray]:
        """Return the results of numbers: interpret statement by statement."""
        memory = np.zeros((self.slots, self.columns))
        memory[:self.first] = entries.reshape(self.first, self.columns)
        for slot, terms in self.statements:
            memory[slot] = sum((coefficients[factor] * memory[source] for factor, source in terms),
                               np.zeros(self.columns))
        results = [memory[list(slots)] for slots in self.results]
        return [np.where(np.tri(len(result), dtype=bool), result.T, result) if mirrored else result
                for result, mirrored in zip(results, self.symmetric)]


class Row:
    """A linear combination of rows, as an element of an object array."""

    __slots__ = ('rows', 'terms')

    def __init__(self, rows: Rows, terms: dict[int, Number]):
        self.rows, self.terms = rows, terms     # {number of a row: its coefficient}

    def __add__(self, other: Row) -> Row:
        terms = dict(self.terms)
        for number, coefficient in other.terms.items():
            terms[number] = self.rows.graph.add(terms.get(number, 0.0), coefficient)
        return Row(self.rows, terms)

    def __neg__(self) -> Row:
        return Row(self.rows, {number: self.rows.graph.mul(-1.0, coefficient)
                               for number, coefficient in self.terms.items()})

    def __sub__(self, other: Row) -> Row:
        return self + -other

    def __mul__(self, factor: Number) -> Row:
        factor = self.rows.graph.const(factor)
        if is_const(factor, 0.0) or not self.terms:
            return Row(self.rows, {})
        if is_const(factor, 1.0):
            return self
        if not self._is_plain():
            self.terms = {self.number(): 1.0}
        return Row(self.rows, {number: self.rows.graph.mul(factor, coefficient)
                               for number, coefficient in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Row:
        return self * self.rows.graph.div(1.0, divisor)

    def _is_plain(self) -> bool:
        """Return whether this is a row itself, or its negative."""
        constants = [self.rows.graph.const(each) for each in self.terms.values()]
        return len(constants) == 1 and any(is_const(constants[0], sign) for sign in (1.0, -1.0))

    def number(self) -> int:
        """Return the number of the row with this value; add a statement where there is none."""
        if len(self.terms) == 1:
            (number, coefficient), = self.terms.items()
            if is_const(self.rows.graph.const(coefficient), 1.0):
                return number
        number = self.rows.add(self.terms)
        self.terms = {number: 1.0}
        return number

    def mirrored(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix of Rows with its lower triangle read from the upper, as a result."""
        self.rows.mirrored.add(tuple(row.number() for row in matrix.ravel()))
        return matrix


class Rows:
    """The rows of one trace: those that straight-line code fills, and the statements."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.mirrored: set[tuple[int, ...]] = set()     # rows of symmetric results
        self._first: dict[int, Sequence[Symbol]] = {}   # number of a row -> its entries
        self._statements: dict[int, dict[int, Number]] = {}

    def hold(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix as Rows, (n, 1); its entries are numbers or symbols."""
        held = np.empty((len(matrix), 1), dtype=object)
        for k, entries in enumerate(matrix):
            number = len(self._first) + len(self._statements)
            self._first[number] = [self.graph.const(entry) for entry in entries]
            held[k, 0] = Row(self, {number: 1.0})
        return held

    def add(self, terms: dict[int, Number]) -> int:
        """Record a statement; return the number of its row."""
        number = len(self._first) + len(self._statements)
        self._statements[number] = terms
        return number

    def _written(self, number: int) -> int:
        """Return the number of a row of a result: a statement writes it, zeros and all."""
        return self.add({number: 1.0}) if number in self._first else number

    def program(self, results: Sequence[np.ndarray]
                ) -> tuple[RowProgram, list[Symbol], list[Symbol]]:
        """Return (RowProgram of some results, its coefficients, entries of the first rows)."""
        given = [tuple(row.number() for row in matrix.ravel()) for matrix in results]
        wanted = [tuple(map(self._written, rows)) for rows in given]
        last = {number: at for at, terms in self._statements.items() for number in terms}
        last.update({number: len(self._first) + len(self._statements)
                     for rows in wanted for number in rows})
        slot_of = {number: slot for slot, number in enumerate(self._first)}
        free = [slot for number, slot in slot_of.items() if number not in last]
        slots = len(slot_of)
        places: dict[int, int] = {}         # number of a coefficient's symbol -> its place
        coefficients: list[Symbol] = []
        statements = []
        for at, terms in self._statements.items():
            listed = []
            for number, coefficient in terms.items():
                symbol = self.graph.const(coefficient)
                if symbol.number not in places:
                    places[symbol.number] = len(coefficients)
                    coefficients.append(symbol)
                listed.append((places[symbol.number], slot_of[number]))
            free += [slot_of[number] for number in terms if last[number] == at]
            if not free:
                free.append(slots)
                slots += 1
            slot_of[at] = free.pop()
            if at not in last:
                free.append(slot_of[at])
            statements.append((slot_of[at], tuple(listed)))
        first = list(self._first.values())
        nonzero = np.array([[not is_const(entry, 0.0) for entry in entries] for entries in first])
        return (RowProgram(nonzero, slots, tuple(statements),
                           tuple(tuple(slot_of[number] for number in rows) for rows in wanted),
                           tuple(rows in self.mirrored for rows in given)),
                coefficients, [entry for entries in first for entry in entries])
