"""Test the machine code of statements on rows: at every width, single states and batches."""

import itertools

import numpy as np
import pytest
from support.compiled_programs import FMA, FROM_FALLBACK, LANES, Kernel
from support.differences import relative
from support.row_solver import PASSES, kernel_of

from dynamics_node.compiler import row_loops
from dynamics_node.compiler.row_loops import MIN_COLUMNS
from dynamics_node.compiler.row_statements import Rows
from dynamics_node.compiler.trace import evaluate
from dynamics_node.kernels.build import AGREEMENT


@pytest.mark.parametrize(('n', 'large'), PASSES)
@pytest.mark.parametrize(('lanes', 'fma'), itertools.product(LANES, FMA))
def test_loops_agree_with_the_interpreter_and_batches_with_single_states(n, large, lanes,
                                                                            fma):
    """To rounding, and to the bit; the inverse is symmetric to the bit."""
    kernel = kernel_of(n, lanes, fma, large)
    x = np.random.default_rng(n).normal(size=(2 * lanes + 3, n * n + n))
    scale = np.ones((len(x), 1))
    call = kernel.caller()
    batch = call(x, scale)
    for k, row in enumerate(x):
        one = call(row, scale[k])
        want = evaluate(kernel.program, np.append(row, 1.0))
        for got, many, value in zip(one, batch, want):
            np.testing.assert_array_equal(got, many[k])
            assert relative(got, value) < AGREEMENT
        np.testing.assert_array_equal(one[2], one[2].T)
        np.testing.assert_array_equal(one[1], -row[:n * n].reshape(n, n))


@pytest.mark.parametrize('lanes', LANES)
def test_a_result_that_is_given_has_its_zeros(lanes):
    """Statements copy it, zeros and all: straight-line code leaves blocks of zeros unwritten."""
    n = 19

    def function(x):
        held = Rows(x.flat[0].graph).hold(np.diag(x))
        return held, 2.0 * held, 1.0 + x * x
    kernel = Kernel(function, {'x': (n,)}, lanes, None, margins=1, large=True)
    solve = kernel_of(n, lanes, large=True).caller()   # leaves other numbers on the stack
    x = np.random.default_rng(2).normal(size=(lanes + 1, n))
    for _ in range(3):
        solve(np.full(n * n + n, 7.0), np.ones(1))
        for row, got in zip(x, zip(*kernel.caller()(x))):
            for k, one in enumerate(kernel.caller()(row)):
                np.testing.assert_array_equal(one, (k + 1) * np.diag(row))
                np.testing.assert_array_equal(got[k], (k + 1) * np.diag(row))


def test_results_that_are_not_finite_are_refused():
    """In every row; and where a pivot is not positive."""
    n, call = 9, kernel_of(9).caller()
    x, one = np.random.default_rng(0).normal(size=n * n + n), np.ones(1)
    assert call(x, one) is not FROM_FALLBACK
    for k in (0, 4, 8):
        B = np.zeros((n, n))
        B[k, 0] = 1e5
        assert call(np.append(B, x[-n:]), np.array([1e306])) is FROM_FALLBACK
    indefinite = np.zeros(n)
    indefinite[1] = 100.0   # A[0, 2], where both diagonal entries are 9
    assert call(np.append(x[:-n], indefinite), one) is FROM_FALLBACK


def test_nothing_is_written_beyond_the_results():
    """Neither before nor after them, in a single state and in a batch."""
    for n, lanes in ((8, 8), (9, 8), (9, 2)):
        kernel = kernel_of(n, lanes)
        states = np.random.default_rng(1).normal(size=(lanes + 3, n * n + n))
        for rows in (1, lanes, lanes + 3):
            results = [np.full(rows * n * n + 16, 7.0) for _ in range(3)]
            shape = (n, n) if rows == 1 else (rows, n, n)
            inputs = states[0] if rows == 1 else states[:rows], np.ones(shape[:-2] + (1,))
            out = tuple(result[8:-8].reshape(shape) for result in results)
            assert kernel.caller()(*inputs, out=out) is not FROM_FALLBACK
            for result in results:
                assert (result[:8] == 7.0).all()
                assert (result[-8:] == 7.0).all()
                assert (result[8:-8] != 7.0).all()


def test_memory_is_limited(monkeypatch):
    """A program whose rows would need more is compiled without loops, see kernels/build.py."""
    program = kernel_of(9).program
    assert row_loops.fits_memory(program)
    assert not row_loops.fits_memory(program._replace(rows=None))
    monkeypatch.setattr(row_loops, 'MOST_BYTES', 10_000)
    assert not row_loops.fits_memory(program)


def test_a_row_shorter_than_a_register_is_refused():
    """Its stores would pass the end of the row."""
    with pytest.raises(AssertionError, match='shorter'):
        kernel_of(MIN_COLUMNS - 1)
