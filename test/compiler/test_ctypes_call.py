"""Test the call of compiled code with NumPy arrays: conversions, fallbacks, references.

Both call paths are tested: the C extension, and ctypes where it was not built.
"""

import ctypes
import gc
import sys
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from support.compiled_programs import CALLERS, FROM_FALLBACK, LANES, NEVER, G, Kernel

from dynamics_node.compiler._call import Caller


def test_results_have_the_batch_shape_of_the_arguments(call, states):
    """(N, ...) for batches, fresh and writeable float64 arrays for all."""
    x, y = states
    for n, results in ((None, call(x[0], y[0])), (7, call(x, y)), (1, call(x[:1], y[:1]))):
        shapes = [(3,), (2, 3), ()]
        assert type(results) is tuple
        assert [part.shape for part in results] == [
            shape if n is None else (n, *shape) for shape in shapes]
        assert all(type(part) is np.ndarray and part.dtype == float and part.flags.carray
                   and part.flags.owndata for part in results)
    np.testing.assert_allclose(call(x, y)[1], np.einsum('ni,nj->nij', y, x))


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(array.tobytes(), dtype=np.uint8)
    return raw[1:].view(float).reshape(array.shape)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


class Subclass(np.ndarray):
    """A subclass of a user."""


STRANGE = {
    'a list': lambda x: x.tolist(), 'a tuple': lambda x: tuple(x.tolist()), 'None': lambda x: None,
    'a number': lambda x: 1.0, 'text': lambda x: 'x', 'float32': lambda x: x.astype(np.float32),
    'integers': lambda x: x.astype(int), 'complex': lambda x: x.astype(complex),
    'objects': lambda x: x.astype(object), 'big-endian': lambda x: x.astype('>f8'),
    'strided': lambda x: np.repeat(x, 2, axis=-1)[..., ::2], 'backwards': lambda x: x[..., ::-1],
    'Fortran': lambda x: np.asfortranarray(np.stack([x, x])), 'unaligned': unaligned,
    'a subclass': lambda x: x.view(Subclass), 'a masked array': np.ma.masked_array,
    'a number too many': lambda x: np.append(x, 1.0), 'a number too few': lambda x: x[..., :-1],
    'no numbers': lambda x: x[..., :0], 'no dimension': lambda x: np.array(1.0),
    'three dimensions': lambda x: x[None, None], 'no state': lambda x: np.zeros((0, x.shape[-1])),
    'a column': lambda x: x.reshape(-1, 1), 'a batch': lambda x: np.stack([x, x]),
}


@pytest.mark.parametrize('what', STRANGE)
def test_other_types_than_plain_arrays_go_to_the_fallback(call, states, what):
    """As first or second argument; the fallback converts or raises."""
    x, y = (part[0] for part in states)
    assert call(STRANGE[what](x), y) is FROM_FALLBACK
    assert call(x, STRANGE[what](y)) is FROM_FALLBACK


@pytest.mark.parametrize('kind', CALLERS)
def test_wrong_argument_counts_go_to_the_fallback(kernel, states,
                                                                               kind):
    """The fallback gets the arguments of the caller unchanged."""
    seen = []
    call = kernel.caller(kind, fallback=lambda *args, **named: seen.append((args, named)))
    x, y = states
    for args, named in (((), {}), ((x,), {}), ((x, y, y), {}), ((x,), {'y': y}),
                        ((), {'x': x, 'y': y}), ((x, y), {'z': 1})):
        call(*args, **named)
        got, got_named = seen.pop()
        assert [*map(id, got)] == [*map(id, args)]
        assert got_named == named
    call(x, y)
    assert not seen


def test_read_only_arrays_are_accepted(call, states):
    """Nothing is written to an argument."""
    x, y = states
    for got, want in zip(call(*map(read_only, states)), call(x, y)):
        np.testing.assert_array_equal(got, want)
    shared = np.broadcast_to(x[0], (4, 3))  # read-only, and no rows of its own
    assert call(shared, y[:4]) is FROM_FALLBACK


def test_batches_of_different_sizes_and_mixtures_go_to_the_fallback(call, states):
    """The fallback repeats a single state, or refuses."""
    x, y = states
    assert call(x, y[:6]) is FROM_FALLBACK
    assert call(x, y[0]) is FROM_FALLBACK
    assert call(x[0], y) is FROM_FALLBACK
    assert call(np.zeros((0, 3)), np.zeros((0, 2))) is FROM_FALLBACK


def test_an_error_of_the_fallback_is_passed_on(kernel):
    """No reference is leaked."""
    for kind in CALLERS:
        def raising(*_):
            raise KeyError('mine')
        call = kernel.caller(kind, fallback=raising)
        for _ in range(3):
            with pytest.raises(KeyError, match='mine'):
                call([1.0], 2)
            with pytest.raises(KeyError, match='mine'):
                call(np.full(3, np.nan), np.zeros(2))


def test_arguments_are_not_written(call, states):
    """They lie between guards; neither they nor the guards are written to."""
    for n in (1, 4, 5, 7):
        guarded = [np.full(16 + n * part.shape[1] + 16, -5.5) for part in states]
        views = [guard[16:-16].reshape(n, -1) for guard in guarded]
        for view, part in zip(views, states):
            view[:] = part[:n]
        before = [guard.copy() for guard in guarded]
        for got, want in zip(call(*views), call(*states)):
            np.testing.assert_array_equal(got, want[:n])
        for guard, old in zip(guarded, before):
            np.testing.assert_array_equal(guard, old)


@pytest.mark.parametrize('lanes', LANES)
@pytest.mark.parametrize('size', [1, 4, 5, 9])
@pytest.mark.parametrize('threshold', [1, NEVER])
def test_only_blocks_followed_by_a_row_are_written_in_place(lanes, size, threshold):
    """The code rounds a row up to whole registers: it never writes beyond the end of the result."""
    calls, spill = [], -size % lanes if 2 * size >= lanes else 0

    def spy(ins, outs, row):
        calls.append(outs[0] + 8 * row * size)
        numbers = lanes * size
        source = (ctypes.c_double * numbers).from_address(ins[0] + 8 * row * size)
        goal = (ctypes.c_double * (numbers + spill)).from_address(calls[-1])
        goal[:numbers] = source[:]
        goal[numbers:] = [-1.0] * spill
        return 0

    pointers = ctypes.POINTER(ctypes.c_void_p)
    block = ctypes.CFUNCTYPE(ctypes.c_int64, pointers, pointers, ctypes.c_int64)(spy)
    call = Caller(0, ctypes.cast(block, ctypes.c_void_p).value, lanes, (size,), ((size,),), None,
                  (), None, threshold, 3, None)
    for n in range(1, 41):
        calls.clear()
        x = np.random.default_rng(n).normal(size=(n, size))
        result = call(x)
        np.testing.assert_array_equal(result, x)
        start, stop = result.ctypes.data, result.ctypes.data + result.nbytes
        in_place = [address for address in calls if start <= address < stop]
        assert all(address + 8 * (lanes * size + spill) <= stop for address in in_place)
        assert len(calls) == -(-n // lanes)
        parts = min(3, max(1, n // lanes)) if threshold == 1 else 1
        assert len(calls) - len(in_place) == parts


@pytest.mark.parametrize('lanes', LANES)
@pytest.mark.parametrize('threads', [2, 5])
def test_threads_give_the_same_bits_as_one(lanes, threads):
    """For any split of the states."""
    kernel = Kernel(lambda x, g: (np.sin(x) + g, x[0] / (1.5 + np.cos(x[1]))),
                    {'x': (3,), 'g': (3,)}, lanes, uniform={'g': G})
    one, several = kernel.caller(), kernel.caller(threshold=1, threads=threads)
    x = np.random.default_rng(1).normal(size=(1003, 3))
    for n in (*range(1, 41), 1000, 1003):
        for got, want in zip(several(x[:n]), one(x[:n])):
            np.testing.assert_array_equal(got, want)
    for row in (0, 600, 1002):  # whichever thread meets it
        bad = x.copy()
        bad[row, 1] = np.nan
        assert several(bad) is FROM_FALLBACK


def test_no_call_keeps_a_reference(kernel, states):
    """After ten thousand calls of each kind all counts are as before."""
    x, y = states
    single, double, missing = (x[0].copy(), y[0].copy()), (x, y), (x, None)
    bad = (np.full(3, np.inf), y[0].copy())
    watched = [*single, *double, *bad, None, FROM_FALLBACK, tuple, np.ndarray, kernel.code,
               *kernel.uniform.values()]
    # numpy.empty of NumPy 2.2, which ctypes calls, keeps a reference to its dtype by itself
    for kind, calls, more in (('call.c', 10000, [np.dtype(float)]), ('ctypes', 500, [])):
        call = kernel.caller(kind)
        watched_here = [*watched, *more, call]
        before = counts(watched_here)
        for _ in range(calls):
            call(*single)
            call(*double)
            call(*missing)
            call(*bad)
        assert max(np.abs(np.subtract(counts(watched_here), before))) < 100


def counts(items):
    """Return how many references there are to each."""
    gc.collect()
    return [sys.getrefcount(item) for item in items]


class Owner:
    """An object that a weak reference can point to."""

    def __call__(self, *args):
        return self


@pytest.mark.parametrize('kind', CALLERS)
def test_a_deleted_caller_releases_its_references(kernel, kind):
    """At once without a cycle, by the garbage collector where its fallback points back."""
    owner, fallback = Owner(), Owner()
    watched = [weakref.ref(owner), weakref.ref(fallback)]
    calls = [kernel.caller(kind, fallback=fallback, owner=owner) for _ in range(100)]
    del owner, fallback
    assert calls[0]([]) is watched[1]()
    calls.clear()
    assert [ref() for ref in watched] == [None, None]
    fallback = Owner()
    watched = weakref.ref(fallback)
    fallback.caller = kernel.caller(kind, fallback=fallback)
    del fallback
    gc.collect()
    assert watched() is None


def test_code_lives_as_long_as_its_caller():
    """It is unloaded with the caller."""
    kernel = Kernel(lambda x: 3.0 * x, {'x': (1,)})
    code, call = weakref.ref(kernel.code), kernel.caller()
    del kernel
    gc.collect()
    assert call(np.ones(1)).tolist() == [3.0]
    del call
    gc.collect()
    assert code() is None


def caller_of(lanes=4, inputs=(1,), outputs=((1,),), columns=None, uniforms=(), threshold=NEVER,
              threads=1, **named):
    return Caller(0, 0, lanes, inputs, outputs, columns, uniforms, None, threshold, threads, None,
                  **named)


def places(*numbers):
    return np.array(numbers, dtype=np.int32)


@pytest.mark.parametrize('wrong', [
    {'inputs': ()}, {'inputs': (1,) * 17}, {'outputs': ((1,),) * 17}, {'uniforms': (G,) * 17},
    {'lanes': 9}, {'lanes': 0}, {'lanes': -1}, {'inputs': [1]}, {'inputs': ('1',)},
    {'outputs': ((1, 1, 1, 1),)}, {'outputs': (3,)}, {'outputs': ((1.5,),)}, {'uniforms': ([1.0],)},
    {'uniforms': (G.astype(np.float32),)}, {'uniforms': (np.repeat(G, 2)[::2],)}, {'named': 1},
    {'inputs': (-1,)}, {'outputs': ((-1,),)}, {'threshold': 0}, {'threads': 0},
    {'columns': (4, places(-1))}, {'columns': (4, places(1))}, {'columns': (3, places(0))},
    {'columns': (-1, places(0))}, {'columns': (4, places(0, 0))}, {'columns': (4, places())},
    {'columns': (4, np.zeros(1))}, {'columns': (4, places(0)[:, None])}, {'columns': (4, [0])},
    {'columns': places(0)}, {'columns': (1, places(0)), 'lanes': 1}], ids=str)
def test_a_caller_of_the_wrong_shape_cannot_be_made(wrong):
    """An error, not a crash."""
    caller_of()
    caller_of(columns=(4, places(0)))
    with pytest.raises((TypeError, ValueError)):
        caller_of(**wrong)


def test_a_caller_without_arguments_cannot_be_made():
    """It has eleven arguments."""
    with pytest.raises(TypeError):
        Caller()


class Three(NamedTuple):
    """A kind of tuple."""

    shifted: object
    outer: object
    square: object


@pytest.mark.parametrize('name', CALLERS)
def test_several_results_are_returned_in_the_given_tuple_type(kernel, states, name):
    """A NamedTuple made in C has fields, can be pickled, and outlives the call."""
    x, y = states
    call = CALLERS[name](kernel.code.single, kernel.code.block, kernel.lanes, kernel.inputs,
                         kernel.outputs, None, (G,), None, NEVER, 1, kernel.code, Three)
    for result in (call(x[0], y[0]), call(x, y)):
        assert type(result) is Three
        assert result.shifted is result[0]
        assert result == Three(*result)
        assert result._replace(square=1.0).square == 1.0
    before = sys.getrefcount(Three)
    for _ in range(100):
        call(x[0], y[0])
    assert sys.getrefcount(Three) == before


def test_only_tuple_types_are_accepted(kernel):
    """Anything else would be written beyond its end."""
    arguments = (kernel.code.single, kernel.code.block, kernel.lanes, kernel.inputs,
                 kernel.outputs, None, (G,), None, NEVER, 1, kernel.code)
    for kind in (list, 3, Three(1, 2, 3)):
        with pytest.raises(TypeError):
            Caller(*arguments, kind)
