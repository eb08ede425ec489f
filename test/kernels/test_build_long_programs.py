"""Test long programs: spilled values and packed rows of matrices change no bit."""

import itertools
import re

import numpy as np
import pytest
from support.compiled_programs import FMA, FROM_FALLBACK, LANES, Kernel, kernel_of_arm
from support.differences import relative

from dynamics_node.compiler import lower
from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.operation_counts import fused_products
from dynamics_node.compiler.slp_packing import NO_PACKING
from dynamics_node.compiler.trace import evaluate, trace
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.spatial.solve import factor, solve_factored

pytestmark = pytest.mark.long


# Basic blocks of a region, and instructions of a block: 7, 60 and 500 instructions between spills.
STRETCHES = (1, 7), (3, 20), (5, 100)


def forward_derivatives(target, large=True):
    return kernel_of_arm('forward_dynamics_derivatives', target, large)


@pytest.fixture(params=itertools.product(LANES, FMA), ids=str)
def target(request):
    return request.param


def agree(kernel, size=7):
    """Compare single states with a batch, to the bit, and with the interpreter."""
    states = [np.random.default_rng(1).uniform(-3, 3, size=(19, size)) for _ in kernel.inputs]
    call = kernel.caller()
    batch = call(*states)
    for k, state in enumerate(zip(*states)):
        want = evaluate(kernel.program, np.concatenate([*state, *kernel.uniform.values()]))
        for one, many, value in zip(call(*state), batch, want):
            np.testing.assert_array_equal(one, many[k])
            assert relative(one, value) < AGREEMENT


@pytest.mark.parametrize('stretch', STRETCHES)
@pytest.mark.parametrize('lanes', LANES)
def test_spilled_values_stay_unchanged(lanes, stretch, monkeypatch):
    """In regions of one basic block and of several, also with inputs and results by calls.

    Every stretch meets every width, and code with and without fma: every second case has it.
    Values are spilled in long programs, so LLVM compiles as it does those; one as a short one.
    """
    monkeypatch.setattr(lower, 'LONG', 0)
    monkeypatch.setattr(lower, 'REGION', stretch[0])
    monkeypatch.setattr(lower, 'BLOCK', stretch[1])
    turn = LANES.index(lanes) + STRETCHES.index(stretch)
    kernel = forward_derivatives((lanes, FMA[turn % len(FMA)]),
                                 large=turn < len(LANES) + len(STRETCHES) - 2)
    assert '%slots = alloca' in kernel.text and '%slot0 = alloca' in kernel.text
    agree(kernel)


def test_spill_slots_are_reused(monkeypatch):
    """A slot is free after its last read: far fewer slots than values."""
    monkeypatch.setattr(lower, 'LONG', 0)
    monkeypatch.setattr(lower, 'REGION', 1)
    monkeypatch.setattr(lower, 'BLOCK', 20)
    text = forward_derivatives((4,)).text
    single = text[text.index('define i64 @single'):]
    single = single[:single.index('\n}')]
    slots = int(re.search(r'%slots = alloca \[(\d+) x', single).group(1))
    accesses = single.count(', ptr %at')
    assert 0 < 4 * slots < accesses


def plain(A, B, scale):
    """All columns alike."""
    return scale[0] * solve_factored(*factor(A.reshape(7, 7) + 9.0 * np.eye(7)), B.reshape(7, 7))


PLAIN = {'A': (49,), 'B': (49,), 'scale': (1,)}


def test_columns_of_a_solve_are_packed(target):
    """One instruction for a row; not where the saving is small."""
    kernel = Kernel(plain, PLAIN, *target)
    packing = lower.packing_of(kernel.program, fused_products(kernel.program))
    assert {len(key) for key in packing.packs} == {7}
    assert not packing.scalar
    assert '<7 x double>' in kernel.text
    A, B = np.random.default_rng(1).normal(size=(2, 49))
    got = kernel.caller()(A, B, np.ones(1))
    assert relative(got, evaluate(kernel.program, np.array([*A, *B, 1.0]))[0]) < AGREEMENT
    unlike = trace(lambda x: np.array([[x[0] + x[1], x[0] * x[1], -x[2], np.sin(x[3])]]),
                   {'x': (4,)})
    assert lower.packing_of(unlike, fused_products(unlike)) == NO_PACKING


def solve(A, B):
    """Columns with other signs, a zero, a copy, and entries that are used elsewhere as well."""
    A = A.reshape(5, 5)
    B = B.reshape(5, 5).copy()
    B[:, 1] = -B[:, 1]
    B[2, 3] = B[2, 2]
    B[4, 0] = 0.0
    X = solve_factored(*factor(A + A.T + 9.0 * np.eye(5)), B)
    return X, X[1:3] @ X, X[0] * 2.0


def test_rows_that_differ_are_packed_correctly(target):
    """Mixed signs, constants, scalars taken out of a pack."""
    kernel = Kernel(solve, {'A': (25,), 'B': (25,)}, *target)
    assert '<5 x double>' in kernel.text
    agree(kernel, 25)


def test_packed_results_are_checked_for_finite_numbers():
    """One that is not finite goes to the fallback."""
    kernel = Kernel(plain, PLAIN)
    A, B = np.random.default_rng(2).normal(size=(2, 49))
    assert kernel.caller()(A, B, np.ones(1)) is not FROM_FALLBACK
    assert kernel.caller()(A, 1e3 * B, np.array([1e308])) is FROM_FALLBACK
    for k in (0, 24, 48):  # in every place
        one = np.zeros(49)
        one[k] = 1e3
        assert kernel.caller()(np.zeros(49), one, np.array([1e307])) is FROM_FALLBACK


def test_many_results_of_any_size_are_written():
    """Constants, inputs, copies: each in its place, checked in the end."""
    for size in range(60, 71):
        def function(x, size=size):
            y = np.array([*x, *([0.0, 2.5] * size)][:size], dtype=object)
            y[7], y[9] = x[0] * x[1], x[1]
            return y, y[:1]
        kernel = Kernel(function, {'x': (6,)})
        assert any(symbol.op is Op.CONST for symbol in kernel.program.outputs)
        x = np.random.default_rng(size).normal(size=(11, 6))
        batch, _ = kernel.caller()(x)
        for row, got in zip(x, batch):
            np.testing.assert_array_equal(got, evaluate(kernel.program, row)[0])
            np.testing.assert_array_equal(kernel.caller()(row)[0], got)
        assert kernel.caller()(1e200 * x[0]) is FROM_FALLBACK
