"""Emit the statements of a RowProgram one by one for a single state, instead of a loop.

Most rows of the first half of a solve are zero but for the columns of the base and of one limb. The
loop of row_loops.py computes whole rows; here the vectors of a row that are zero are left out, and
no branch is mispredicted. With the derivatives of forward dynamics of TALOS a single state takes
17 % less time than with the loop, and LLVM half as much time again (measured).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.compiler.ir_loops import at
from dynamics_node.compiler.ir_text import Emitter
from dynamics_node.compiler.row_statements import RowProgram
from dynamics_node.compiler.row_transposition import transpose

if TYPE_CHECKING:
    from dynamics_node.compiler.row_loops import RowMemory

# Multiply-adds of vectors that are written out at most: the time of LLVM grows with their number.
# TALOS with a floating base has 6,800 with 8 lanes, 12,600 with 4.
MOST_UNROLLED = 10_000
BLOCK = 100   # of them per basic block


def is_unrolled(rows: RowProgram, lanes: int) -> bool:
    """Return whether the statements of a single state are few enough to be written out."""
    return rows.vector_terms(lanes) <= MOST_UNROLLED


def emit_statements(e: Emitter, memory: RowMemory) -> None:
    """Emit all statements; their terms are in the order of the loop, so the bits are the same."""
    zero, emitted = e.dialect.const(0.0, e.lanes), 0
    for (slot, terms), needed, used in reversed(list(memory.rows.in_use(e.lanes))):
        sums = dict.fromkeys(np.flatnonzero(needed).tolist(), zero)
        for (factor, source), vectors in zip(terms, used):
            if vectors.any():
                coefficient = broadcast(e, at(e, '%rows', factor * memory.item))
            for vector in np.flatnonzero(vectors).tolist():
                value = load(e, _vector(e, memory, source, vector))
                sums[vector] = e.fma(coefficient, value, sums[vector])
                emitted += 1
        for vector, total in sums.items():
            e.lines.append(f'  store {e.type} {total}, ptr {_vector(e, memory, slot, vector)}, '
                           'align 8')
        if emitted >= BLOCK:   # as in lower.py
            label, emitted = e.name()[1:], 0
            e.lines += [f'  br label %{label}', f'{label}:']


def emit_mirror(e: Emitter, memory: RowMemory, slots: Sequence[int]) -> None:
    """Emit entry (i, j) = entry (j, i) of a matrix for j < i, a square of vectors at a time.

    :param slots: of the rows of the matrix.
    """
    n, size = e.lanes, len(slots)
    zero = e.dialect.const(0.0, n)
    for row, column in itertools.product(range(0, size, n), repeat=2):
        if column > row:
            continue
        upper = [load(e, _vector(e, memory, slot, row // n)) for slot in slots[column:column + n]]
        lower = transpose(e, upper + [zero] * (n - len(upper)))
        for k, (slot, mirrored) in enumerate(zip(slots[row:row + n], lower)):
            if row == column:
                below = ', '.join(f'i1 {int(lane < k)}' for lane in range(n))
                mirrored = e.line(f'select <{n} x i1> <{below}>, {e.type} {mirrored}, '
                                  f'{e.type} {upper[k]}')
            e.lines.append(f'  store {e.type} {mirrored}, '
                           f'ptr {_vector(e, memory, slot, column // n)}, align 8')


def _vector(e: Emitter, memory: RowMemory, slot: int, vector: int) -> str:
    return at(e, '%rows', memory.slot(slot) + 8 * e.lanes * vector)


def broadcast(e: Emitter, address: str) -> str:
    """Emit the load of one number into all lanes."""
    number = e.line(f'load double, ptr {address}, align 8')
    first = e.line(f'insertelement {e.type} undef, double {number}, i32 0')
    return e.line(f'shufflevector {e.type} {first}, {e.type} undef, <{e.lanes} x i32> '
                  'zeroinitializer')


def load(e: Emitter, address: str) -> str:
    """Emit the load of a vector."""
    return e.line(f'load {e.type}, ptr {address}, align 8')
