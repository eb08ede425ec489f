"""Test results in given arrays: which ones compiled code writes to directly.

Both call paths are tested: the C extension, and ctypes where it was not built.
"""

import gc
import sys

import numpy as np
import pytest
from support.compiled_programs import CALLERS, FROM_FALLBACK, LANES, NEVER, Kernel


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    return raw[1:].view(float).reshape(array.shape)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def results_for(states):
    """Return arrays for the three results of a batch, or of a single state."""
    rows = states[0].shape[:-1]
    return tuple(np.full((*rows, *shape), -1.0) for shape in ((3,), (2, 3), ()))


@pytest.mark.parametrize('n', [None, 1, 4, 5, 7])
def test_results_are_written_to_given_arrays(call, states, n):
    """The same bits, between guards that stay as they are, and the arrays themselves returned."""
    states = [part[0] if n is None else part[:n] for part in states]
    want = call(*states)
    guarded = [np.full(16 + part.size + 16, -5.5) for part in want]
    given = tuple(guard[16:-16].reshape(part.shape) for guard, part in zip(guarded, want))
    got = call(*states, out=given)
    assert [*map(id, got)] == [*map(id, given)]
    for array, part, guard in zip(given, want, guarded):
        np.testing.assert_array_equal(array, part)
        assert (guard[:16] == -5.5).all()
        assert (guard[-16:] == -5.5).all()
    assert [*map(id, call(*states, out=None))] != [*map(id, given)]


WRONG = {
    'a list': list, 'one array': lambda out: out[0], 'too few': lambda out: out[:2],
    'too many': lambda out: (*out, out[0]), 'None': lambda out: (None, *out[1:]),
    'float32': lambda out: (out[0].astype(np.float32), *out[1:]),
    'big-endian': lambda out: (out[0].astype('>f8'), *out[1:]),
    'Fortran': lambda out: (out[0], np.asfortranarray(out[1]), out[2]),
    'read-only': lambda out: (read_only(out[0]), *out[1:]),
    'unaligned': lambda out: (unaligned(out[0]), *out[1:]),
    'another shape': lambda out: (out[0], out[1].reshape(-1, 3, 2), out[2]),
    'fewer states': lambda out: (out[0][:-1], *out[1:]),
    'one state': lambda out: (out[0][0], *out[1:]),
    'one array twice': lambda out: (out[0], out[1], out[0][:, 0]),
    'parts of one array': lambda out: (out[1].reshape(-1, 6)[:, :3], out[1], out[2]),
}


@pytest.mark.parametrize('what', WRONG)
def test_given_arrays_that_do_not_fit_go_to_the_fallback(call, states, what):
    given = WRONG[what](results_for(states))
    assert call(*states, out=given) is FROM_FALLBACK
    assert call(*states, out=results_for(states)) is not FROM_FALLBACK


def test_given_arrays_that_overlap_an_argument_go_to_the_fallback(call, states):
    """By a single number, at either end."""
    x, y = states
    for first in (0, x.size - 1, 2 * x.size - 1):
        memory = np.zeros(3 * x.size)
        given = (memory[first:first + x.size].reshape(x.shape), *results_for(states)[1:])
        inside = memory[x.size - 1:2 * x.size - 1].reshape(x.shape)
        overlaps = first != 2 * x.size - 1
        assert (call(inside, y, out=given) is FROM_FALLBACK) == overlaps


def test_refused_numbers_go_to_the_fallback_with_the_given_arrays(kernel, states):
    for kind in CALLERS:
        seen = []
        call = kernel.caller(kind, fallback=lambda *args, seen=seen, **named: seen.append(named))
        given = results_for(states)
        call(np.full_like(states[0], np.nan), states[1], out=given)
        assert seen == [{'out': given}]


def test_a_given_array_gets_no_reference_but_the_returned_one(kernel, states):
    for kind in CALLERS:
        call, given = kernel.caller(kind), results_for(states)
        wrong = given[:2]
        before = counts([*given, given, wrong])
        for _ in range(200):
            call(*states, out=given)
            call(*states, out=wrong)
        assert counts([*given, given, wrong]) == before


@pytest.mark.parametrize('threads', [1, 3])
@pytest.mark.parametrize('lanes', LANES)
def test_results_larger_than_a_cache_are_the_same_bits(lanes, threads):
    """They are written past the caches, from 16 MB on: at any place in a cache line."""
    kernel = Kernel(lambda x: (np.outer(x, x), x[:3] + x[5:]), {'x': (8,)}, lanes)
    n = 2 ** 24 // (67 * 8) + 13
    x = np.random.default_rng(0).normal(size=(n, 8))
    call = kernel.caller(threshold=1 if threads > 1 else NEVER, threads=threads)
    want = kernel.caller()(x)
    memory = np.empty(n * 67 + 48)
    for shift in (0, 1, 5):
        memory.fill(-5.5)
        first, second = 16 + shift, 24 + shift + n * 64
        given = (memory[first:first + n * 64].reshape(n, 8, 8),
                 memory[second:second + n * 3].reshape(n, 3))
        call(x, out=given)
        for array, part in zip(given, want):
            np.testing.assert_array_equal(array, part)
        assert (memory[:first] == -5.5).all()
        assert (memory[first + n * 64:second] == -5.5).all()
        assert (memory[second + n * 3:] == -5.5).all()
        x[n // 2, 1] = np.nan
        assert call(x, out=given) is FROM_FALLBACK
        x[n // 2, 1] = 0.5
        want = kernel.caller()(x)


def counts(items):
    """Return how many references there are to each."""
    gc.collect()
    return [sys.getrefcount(item) for item in items]
