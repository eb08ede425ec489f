"""Filter many signals at once with machine code: with zero phase, below a cutoff frequency.

The filter is `identification.filtering.low_pass_parts`, with the same numbers up to rounding. SciPy
computes one signal after the other, and each sample needs the one before. Here the signals of all
joints and parts are in the lanes of vector registers: a third of the time.

A kernel filters BLOCK samples of all signals. The coefficients are its inputs, so it is compiled
once for all cutoffs, and cached on the disk. Where there are no kernels, SciPy filters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynamics_node.identification.cutoff import ORDER
from dynamics_node.identification.filtering import low_pass_parts, padding, sections_of
from dynamics_node.kernels.robot_kernels import enabled
from dynamics_node.robot.dispatch import Caller

if TYPE_CHECKING:  # it imports llvmlite, which may be missing
    from dynamics_node.compiler.kernel import Kernel

BLOCK = 32               # samples of a call
SECTIONS = ORDER // 2
ALONE = 1 << 40          # threshold of states: always one thread
AGREEMENT = 1e-12        # of the machine code with its program


class Sections(NamedTuple):
    """A filter of second-order sections as functions f(x, state) -> (y, state) of a block.

    x and y are (signals, BLOCK), a state is (signals, 2 SECTIONS).
    """

    forwards: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    backwards: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    rest: np.ndarray     # (2 SECTIONS,) state after an endless signal of 1


def zero_phase(parts: Sequence[np.ndarray], rate: float, cutoff: float) -> list[np.ndarray]:
    """Return the columns of each part filtered below the cutoff, with zero phase.

    By SciPy if DYNAMICS_NODE_COMPILE is 0, if llvmlite is missing, or if the kernel is wrong.

    :param parts: (n, columns) each, finite, sorted by their length.
    :param rate: rate of the samples [Hz]; cutoff: [Hz].
    """
    sections = _sections(rate, cutoff) if enabled() else None
    if sections is None:
        return low_pass_parts(parts, rate, cutoff)
    edges = [padding(len(x), rate, cutoff) for x in parts]
    stops = [len(x) + 2 * edge for x, edge in zip(parts, edges)]
    columns, blocks = parts[0].shape[1], -(-stops[-1] // BLOCK)
    padded = np.zeros((len(parts), columns, blocks * BLOCK))
    for y, x, edge, stop in zip(padded, (x.T for x in parts), edges, stops):
        y[:, edge:stop - edge] = x
        y[:, :edge] = 2.0 * x[:, :1] - x[:, edge:0:-1]   # point symmetric about the ends
        y[:, stop - edge:stop] = 2.0 * x[:, -1:] - x[:, -2:-edge - 2:-1]
    signals = np.ascontiguousarray(padded.reshape(-1, blocks, BLOCK).transpose(1, 0, 2))
    found = [*_run(sections.forwards, signals, signals[0][:, 0], sections.rest)]
    _hold_last(found, stops, columns)
    found = [*_run(sections.backwards, found[::-1], found[-1][:, -1], sections.rest)][::-1]
    rows = np.empty((len(parts), blocks * BLOCK, columns))
    for k, y in enumerate(found):
        block = y.reshape(len(parts), columns, BLOCK)
        rows[:, k * BLOCK:(k + 1) * BLOCK] = block.transpose(0, 2, 1)
    return [y[edge:stop - edge] for y, edge, stop in zip(rows, edges, stops)]


def _run(function: Callable, blocks: Iterable[np.ndarray], first: np.ndarray, rest: np.ndarray
         ) -> Iterator[np.ndarray]:
    """Yield the filtered blocks; the filter is at rest in the first sample."""
    state = first[:, None] * rest
    for block in blocks:
        y, state = function(block, state)
        yield y


def _hold_last(blocks: Sequence[np.ndarray], stops: Sequence[int], columns: int) -> None:
    """Write the last sample of each part into all samples after it.

    A filter at rest there is at rest in the last sample too, so the backward passes of all parts
    can start in the same block.
    """
    first = 0
    for stop, equal in groupby(stops):
        signals = slice(first, first + columns * len([*equal]))
        first = signals.stop
        block, sample = divmod(stop - 1, BLOCK)
        last = blocks[block][signals, sample, None]
        blocks[block][signals, sample + 1:] = last
        for later in blocks[block + 1:]:
            later[signals] = last


@lru_cache(maxsize=16)
def _sections(rate: float, cutoff: float) -> Sections | None:
    """Return the Sections, None if a kernel cannot be made."""
    forwards, backwards = _kernel(False), _kernel(True)
    if forwards is None or backwards is None:
        return None
    coefficients, rest = sections_of(rate, cutoff)
    uniform = np.ascontiguousarray(coefficients[:, [0, 1, 2, 4, 5]])   # the fourth is 1
    return Sections(_function(forwards, False, uniform), _function(backwards, True, uniform),
                    rest.ravel())


def _function(kernel: Kernel, backwards: bool, coefficients: np.ndarray) -> Caller:
    """Return the compiled function of a block, with NumPy for numbers that are not finite."""
    def in_numpy(x: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, after = _filtered(x.T, state.T, coefficients, backwards)[:2]
        return y.T.copy(), after.T.copy()
    return Caller(kernel.code.single, kernel.code.block, kernel.lanes, kernel.inputs,
                  kernel.outputs, kernel.columns, (coefficients,), in_numpy, ALONE, 1,
                  kernel.code)


@lru_cache(maxsize=2)
def _kernel(backwards: bool) -> Kernel | None:
    """Return the kernel of a block; None if it cannot be made: SciPy filters then."""
    try:
        return _made(backwards)
    except Exception:   # of llvmlite, which may be missing
        return None


def _made(backwards: bool) -> Kernel | None:
    """Return the kernel from the cache if it is there and valid, else compiled.

    :return: None if the machine code gives other results than its program.
    """
    from dynamics_node.compiler import cache, target
    from dynamics_node.compiler.kernel import load, machine_code
    from dynamics_node.compiler.trace import trace
    from dynamics_node.kernels.cache_name import sources

    shapes = {'x': (BLOCK,), 'state': (2 * SECTIONS,), 'coefficients': (SECTIONS, 5)}
    program = trace(partial(_filtered, backwards=backwards), shapes)
    depends_on = str(program), sources(), target.fingerprint()
    name = hashlib.sha256(repr(depends_on).encode()).hexdigest() + '.kernel'
    found = cache.read(name)
    kernel = None if found is None else load(*found)
    if kernel is None:
        rng = np.random.default_rng(0)
        sample = [0.3 * rng.normal(size=shape) for shape in shapes.values()]   # a stable filter
        description, code = machine_code(lambda: program, ['coefficients'], sample, AGREEMENT)
        kernel = load(description, code)
        if kernel is not None:
            cache.write(name, description, code)
    return kernel


def _filtered(x: np.ndarray, state: np.ndarray, coefficients: np.ndarray, backwards: bool
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (samples of a block, state after it, no margins); direct form II, transposed."""
    at, found = list(state), []
    for value in x[::-1] if backwards else x:
        for k, (b0, b1, b2, a1, a2) in enumerate(coefficients):
            y = b0 * value + at[2 * k]
            at[2 * k] = b1 * value - a1 * y + at[2 * k + 1]
            at[2 * k + 1] = b2 * value - a2 * y
            value = y
        found.append(value)
    return (np.array(found[::-1] if backwards else found), np.array(at),
            np.array([], dtype=object))
