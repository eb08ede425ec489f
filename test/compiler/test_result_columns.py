"""Test the results of large batches: columns, and the rows that the caller copies them to."""

import itertools

import numpy as np
import pytest
from support.compiled_programs import CALLERS, FROM_FALLBACK, LANES, Kernel

from dynamics_node.compiler import ctypes_call
from dynamics_node.compiler import lower as module

STREAMED = 1 << 24   # bytes: STREAM_FROM of batch.h
SIZE = 67            # of a row: longer than a segment of 64 numbers, no whole cache lines


def with_zeros(x):
    """Return a symmetric matrix with zeros and constants, a row, and a number."""
    n = len(x)
    matrix = np.array([[x[i] * x[j] if (i + j) % 3 else (i == j) * 2.5 for j in range(n)]
                       for i in range(n)])
    return matrix, np.tile(x + 1.0, 8)[:SIZE], x[0]


@pytest.fixture(scope='module', params=itertools.product(LANES, (False, True)),
                ids=lambda p: f'{p[0]} lanes{" large" * p[1]}')
def kernel(request):
    """A kernel with columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, 'MANY_NUMBERS', 0)
        lanes, large = request.param
        return Kernel(with_zeros, {'x': (9,)}, lanes, large=large)


def test_equal_numbers_have_one_column_and_zeros_another(kernel):
    size, places = kernel.columns
    matrix = places[:81].reshape(9, 9)
    assert (matrix == matrix.T).all() and (places % kernel.lanes == 0).all()
    assert len(set(matrix[[0, 1, 2], [3, 5, 4]])) == 1     # zeros
    assert len(set(np.diag(matrix)[[0, 3, 6]])) == 1       # 2.5
    distinct = set(places)
    assert size == kernel.lanes * len(distinct) == max(distinct) + kernel.lanes


@pytest.mark.parametrize('kind', CALLERS)
@pytest.mark.parametrize('shift', range(8))
def test_rows_at_any_address_get_their_numbers(kernel, kind, shift):
    """Batches of 1 to 20 states, and guards around the results."""
    x = np.random.default_rng(shift).normal(size=(20, 9))
    want = [np.stack(parts) for parts in zip(*map(with_zeros, x))]
    call = kernel.caller(kind)
    for n in range(1, 21):
        held = [np.full(n * part[0].size + 16, 7.0) for part in want]
        out = tuple(array[shift:shift + n * part[0].size].reshape(n, *part.shape[1:])
                    for array, part in zip(held, want))
        assert call(x[:n], out=out) is not FROM_FALLBACK
        for array, got, part in zip(held, out, want):
            np.testing.assert_array_equal(got, part[:n])
            assert (array[:shift] == 7.0).all() and (array[shift + got.size:] == 7.0).all()


@pytest.mark.parametrize('shift', range(8))
@pytest.mark.parametrize('threads', [1, 3])
def test_large_results_are_the_same_bits_past_the_caches(kernel, shift, threads):
    """In given arrays at any address, with the last block not full; and guards around them."""
    n = STREAMED // (8 * (81 + SIZE + 1)) + 5
    x = np.random.default_rng(shift).normal(size=(n, 9))
    want = kernel.caller()(x)    # fresh arrays are not streamed
    held = [np.full(part.size + 16, 7.0) for part in want]
    out = tuple(array[shift:shift + part.size].reshape(part.shape)
                for array, part in zip(held, want))
    got = kernel.caller(threshold=1, threads=threads)(x, out=out)
    assert got is not FROM_FALLBACK
    for array, part, expected in zip(held, got, want):
        np.testing.assert_array_equal(part, expected)
        assert (array[:shift] == 7.0).all() and (array[shift + part.size:] == 7.0).all()
    for k in (0, 1, n // 2, n - 1):
        for part, expected in zip(got, with_zeros(x[k])):
            np.testing.assert_array_equal(part[k], expected)


def test_a_failed_batch_leaves_nothing_behind(kernel):
    """Numbers that are not finite in the memory of one call are not read by the next."""
    x, call = np.ones((9, 9)), kernel.caller()
    x[4, 2] = np.nan
    assert call(x) is FROM_FALLBACK
    x[4, 2] = 1.0
    for got, want in zip(call(x), zip(*map(with_zeros, x))):
        np.testing.assert_array_equal(got, np.stack(want))


@pytest.mark.parametrize('memory', [1, 2000, 1 << 17])
def test_ctypes_copies_columns_of_one_block_or_of_several_at_once(kernel, memory, monkeypatch):
    """The last group of blocks is not full."""
    monkeypatch.setattr(ctypes_call, 'MEMORY', memory)
    x = np.random.default_rng(2).normal(size=(131, 9))
    for got, want in zip(kernel.caller('ctypes')(x), kernel.caller()(x), strict=True):
        np.testing.assert_array_equal(got, want)
