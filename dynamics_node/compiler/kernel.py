"""Compile a program to object code; load object code and test it against the program."""

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.compiler import target
from dynamics_node.compiler.ctypes_call import Columns, pointers, run_blocks
from dynamics_node.compiler.ctypes_call import functions as functions_at
from dynamics_node.compiler.lower import columns_of, lower
from dynamics_node.compiler.operation_counts import (
    fused_products,
    instructions,
    straight_line,
)
from dynamics_node.compiler.trace import Program, evaluate

LARGE = 1500  # instructions, see target.compile_ir


class Kernel(NamedTuple):
    """Machine code of one program."""

    code: target.Loaded                  # keeps the code in memory
    lanes: int                           # states per block of a batch
    inputs: tuple[int, ...]              # sizes of the state inputs
    outputs: tuple[tuple[int, ...], ...]  # shapes of the results
    columns: Columns | None              # None: a batch is written as rows
    operations: int                      # floating-point instructions of the program


class Lowered(NamedTuple):
    """A program as text: the graph is not needed any more, and may be freed."""

    description: dict   # plain data for load()
    text: str           # LLVM IR
    large: bool         # see target.compile_ir


def lowered(program: Program, uniform: Collection[str], sample: Sequence[np.ndarray],
            agreement: float, packed: bool = True) -> Lowered:
    """Return the LLVM IR of a program, and its description.

    The last output block of the program holds the margins: numbers, such as pivots, that must be
    positive for the results to be valid.

    :param uniform: names of the inputs that are the same for all states of a batch.
    :param sample: an array per input, to test the code with.
    :param agreement: allowed difference of code and program, relative to the largest number.
    :param packed: False compiles without SLP packing.
    """
    _, lanes, fma = target.host()
    text = lower(program, lanes, uniform, fma, margins=1, packed=packed)
    with np.errstate(all='ignore'):  # values that are not finite are refused at run time
        expected = evaluate(program, np.concatenate([np.ravel(part) for part in sample]))
    fused = fused_products(program)
    columns = columns_of(program, lanes, uniform, margins=1)
    description = {
        'columns': None if columns is None else [columns[0], columns[1].tolist()],
        'lanes': lanes, 'operations': instructions(program, fused),
        'inputs': [size for name, size in program.inputs if name not in uniform],
        'outputs': [list(shape) for shape in program.shapes[:-1]],
        'sample': [np.ravel(part).tolist() for part in sample],
        'expected': [np.ravel(part).tolist() for part in expected[:-1]],
        'refused': not bool(np.all(expected[-1] > 0.0)),
        'agreement': agreement,
    }
    return Lowered(description, text, straight_line(program, fused) > LARGE)


def machine_code(program: Callable[[], Program], uniform: Collection[str],
                 sample: Sequence[np.ndarray], agreement: float, packed: bool = True
                 ) -> tuple[dict, bytes]:
    """Return (description, object code) of program(); the parameters as for `lowered`."""
    with no_garbage_collection():
        description, text, large = lowered(program(), uniform, sample, agreement, packed)
    return description, target.compile_ir(text, large)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Switch the garbage collector off while a graph exists: it finds nothing, and takes a third.

    The graph must be freed before the end: else the collector searches it when it is on again. One
    thread compiles at a time, and Python is not forked meanwhile (see worker.py).
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def load(description: dict, code: bytes) -> Kernel | None:
    """Return the Kernel, or None if the code is damaged or fails its test."""
    try:
        columns = description['columns']
        kernel = Kernel(
            target.Loaded(code), description['lanes'], tuple(description['inputs']),
            tuple(map(tuple, description['outputs'])),
            None if columns is None else (columns[0], _read_only(columns[1])),
            description['operations'])
        return kernel if _passes_test(kernel, description) else None
    except (RuntimeError, LookupError, TypeError, ValueError):
        return None  # invalid object code (LLVM raises RuntimeError), or invalid description


def _read_only(places: Sequence[int]) -> np.ndarray:
    """Return places in memory as an array; call.c checks them once, and then reads the array."""
    array = np.array(places, dtype=np.int32)
    array.flags.writeable = False
    return array


def _passes_test(kernel: Kernel, description: Mapping[str, Any]) -> bool:
    """Return whether single and batch code give the expected results at the sample."""
    sample = [np.array(part) for part in description['sample']]
    states, lanes = len(kernel.inputs), kernel.lanes
    single, block = functions_at(kernel.code.single, kernel.code.block)
    one = [np.empty(max(1, len(part))) for part in description['expected']]
    batches = [np.concatenate([np.tile(part, lanes + 1), np.zeros(lanes)])
               for part in sample[:states]]
    bad_batch, many = run_blocks(block, [*batches, *sample[states:]],
                                 [(len(part),) for part in description['expected']], lanes, 1,
                                 kernel.columns)
    bad = [single(pointers(sample), pointers(one)) != 0, bad_batch != 0]
    if description['refused'] or not np.isfinite(np.concatenate(description['expected'])).all():
        return all(bad)  # no valid result at the sample: both must report it
    return not any(bad) and all(
        _agree(part, want, description['agreement'])
        for got, rows, want in zip(one, many, map(np.array, description['expected']))
        for part in (got[:len(want)], rows[0], rows[lanes - 1]))


def _agree(got: np.ndarray, want: np.ndarray, agreement: float) -> bool:
    return np.abs(got - want).max(initial=0.0) <= agreement * np.abs(want).max(initial=1.0)
