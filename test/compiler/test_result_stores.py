"""Test results with many zeros: a loop stores the zeros, and a loop checks a single state."""

import numpy as np
import pytest
from support.compiled_programs import FROM_FALLBACK, LANES, Kernel

from dynamics_node.compiler import lower, result_stores

INPUTS = 7
# Runs of numbers and of zeros of every length up to 20, an odd number of entries in all.
RUNS = [length for k in range(1, 21) for length in (k, 21 - k)] + [1]
NONZERO = np.repeat(np.arange(len(RUNS)) % 2 == 0, RUNS)
SIZE = len(NONZERO)


def sparse(x):
    """Return two results with the same zeros: x_k^2 and 3 x_k, k one input after another."""
    chosen = x[np.arange(SIZE) % INPUTS]
    return np.where(NONZERO, chosen * chosen, 0.0), np.where(NONZERO, 3.0 * chosen, 0.0)


@pytest.fixture(scope='module', params=LANES)
def kernel(request):
    """A kernel that writes a batch as rows, though it has many results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower, 'MANY_NUMBERS', 1 << 20)
        return Kernel(sparse, {'x': (INPUTS,)}, request.param)


def test_the_loops_are_used(kernel):
    """The pattern is long enough for them, single and batch."""
    assert SIZE > result_stores.MAX_CHECKED_INLINE
    for lanes in (1, kernel.lanes):
        assert f'@zeros{lanes}.0 = ' in kernel.text and f'@zeros{lanes}.1 = ' in kernel.text


def test_zeros_and_numbers_are_where_they_belong(kernel):
    """Single states and batches, to the bit."""
    x = np.random.default_rng(0).normal(size=(19, INPUTS))
    want = [np.stack(parts) for parts in zip(*map(sparse, x))]
    for got, expected in zip(kernel.caller()(x), want, strict=True):
        np.testing.assert_array_equal(got, expected)
    for row, *expected in zip(x, *want):
        for got, one in zip(kernel.caller()(row), expected, strict=True):
            np.testing.assert_array_equal(got, one)


@pytest.mark.parametrize('place', range(INPUTS))
def test_a_result_that_is_not_finite_is_found(kernel, place):
    """1e200 is finite, its square is not."""
    x = np.ones(INPUTS)
    x[place] = 1e200
    assert kernel.caller()(x) is FROM_FALLBACK
    assert kernel.caller()(np.stack([np.ones(INPUTS), x])) is FROM_FALLBACK


@pytest.mark.parametrize('lanes', LANES)
def test_each_of_many_results_is_checked(lanes):
    """All different, between zeros; the transpose, a second result, is read back no more."""
    rows, columns = 18, 23
    used = np.random.default_rng(4).random((rows, columns)) < 0.6
    count = int(used.sum())

    def function(x):
        result = np.zeros((rows, columns), dtype=object)
        result[used] = x * x
        return result, result.T
    kernel = Kernel(function, {'x': (count,)}, lanes)
    call = kernel.caller()
    x = np.arange(1.0, count + 1.0)
    first, second = call(x)
    np.testing.assert_array_equal(first[used], x * x)
    np.testing.assert_array_equal(second, first.T)
    for place in range(count):
        x[place] = 1e200
        assert call(x) is FROM_FALLBACK, place
        x[place] = place + 1.0
    text = kernel.text
    assert '@checked.0 = ' in text and '@checked.1 = internal constant [0 x i32]' in text
