"""Test batches with columns of inputs and results: rows of many sizes, and their checks."""

import itertools

import numpy as np
import pytest
from support.compiled_programs import (
    CALLERS,
    FMA,
    FROM_FALLBACK,
    TARGETS,
    Kernel,
    kernel_of_arm,
)

from dynamics_node.compiler import lower as module
from dynamics_node.compiler.ctypes_call import ALIGNMENT
from dynamics_node.compiler.lower import columns_of, lower

SIZES = 1, 2, 3, 4, 5, 7, 8, 9, 16, 19


def changed(*blocks):
    """Return each block turned round, 2 x + 1, 2 x + 2, ... (exact), and one that can overflow."""
    return tuple(np.concatenate([2.0 * x[::-1] + np.arange(1.0, len(x) + 1), x[:1] * x[-1:]])
                 for x in blocks)


@pytest.fixture(scope='module', params=TARGETS,
                ids=lambda p: f'{p[0]} lanes{"" if p[1] else " without fma"}{" large" * p[2]}')
def kernel(request):
    """A kernel with columns, of a block of each size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, 'MANY_NUMBERS', 0)
        lanes, fma, large = request.param
        made = Kernel(changed, {f'x{size}': (size,) for size in SIZES}, lanes, fma, large=large)
    assert made.text.count('@load_columns(') == 1 + sum(size >= made.lanes for size in SIZES)
    assert made.columns is not None
    return made


@pytest.mark.parametrize('kind', CALLERS)
def test_rows_of_many_sizes_are_read_and_written(kernel, kind):
    """Batches of 1 to 25 states and single states, to the bit."""
    rng = np.random.default_rng(0)
    full = [rng.normal(size=(25, size)) for size in SIZES]
    want = [np.stack([changed(row)[0] for row in x]) for x in full]
    call = kernel.caller(kind)
    for n in range(1, 26):
        for got, expected in zip(call(*(x[:n] for x in full)), want, strict=True):
            np.testing.assert_array_equal(got, expected[:n])
    for got, expected in zip(call(*(x[3] for x in full)), want, strict=True):
        np.testing.assert_array_equal(got, expected[3])


def test_every_number_that_is_not_finite_is_found_in_its_own_state(kernel):
    """The status of a block has one bit per state: of the state with the number, and no other."""
    lanes = kernel.lanes
    ins = [np.ones((lanes + 1, size)) for size in SIZES]   # a row more: the caller pads the last
    memory = [aligned(kernel.columns[0])]
    assert kernel.batch(ins, memory, 1) == 0
    for number, block in enumerate(ins):
        for column, lane in itertools.product(range(block.shape[1]), range(lanes)):
            block[lane, column] = (np.nan, np.inf)[column % 2]
            assert kernel.batch(ins, memory, 1) == 1 << lane, (number, column, lane)
            block[lane, column] = 1.0
    ins[-1][1, [0, -1]] = 1e200   # finite, their product is not
    assert kernel.batch(ins, memory, 1) == 1 << 1


def aligned(size):
    memory = np.zeros(size + ALIGNMENT)
    return memory[-memory.ctypes.data % ALIGNMENT // 8:]


def test_dynamics_are_the_same_to_the_bit(monkeypatch):
    """Derivatives of an arm, 168 numbers: as columns and as rows."""
    monkeypatch.setattr(module, 'MANY_NUMBERS', 1000)
    rows = kernel_of_arm('inverse_dynamics_derivatives', (4, FMA[0]))
    monkeypatch.setattr(module, 'MANY_NUMBERS', 100)
    columns = kernel_of_arm('inverse_dynamics_derivatives', (4, FMA[0]))
    assert columns.columns is not None and rows.columns is None
    state = np.random.default_rng(0).normal(size=(3, 9, 7))
    for got, want in zip(columns.caller()(*state), rows.caller()(*state), strict=True):
        np.testing.assert_array_equal(got, want)
    state[1, 8, 3] = np.nan
    assert columns.caller()(*state) is FROM_FALLBACK


def test_a_small_program_has_no_columns():
    """There they would cost more than they save."""
    program = Kernel(changed, {'x': (19,)}).program
    assert '_columns' not in lower(program, 4) and columns_of(program, 4) is None
