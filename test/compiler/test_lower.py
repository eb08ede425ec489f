"""Test that machine code computes what the program says: one state or many, with or without fma.

The interpreter `evaluate` is the oracle. Single and batch agree to the bit, so that a result does
not depend on the other states of its batch.
"""

import itertools

import numpy as np
import pytest
from support.compiled_programs import (
    CALLERS,
    FMA,
    FROM_FALLBACK,
    LANES,
    Kernel,
    kernel_of_arm,
)
from support.differences import relative

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.lower import BLOCK, lower
from dynamics_node.compiler.operation_counts import instructions
from dynamics_node.compiler.target import Loaded, compile_ir
from dynamics_node.compiler.trace import evaluate, trace
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.spatial.select import clipped, larger

SENTINEL = -1234.5


@pytest.fixture(scope='module', params=itertools.product(LANES, FMA),
                ids=lambda p: f'{p[0]} lanes{"" if p[1] else " without fma"}')
def target(request):
    """Width of a register, and whether it multiplies and adds at once."""
    return request.param


def in_order(*blocks):
    """Return each block turned round and changed: 2 x + 1, 2 x + 2, ..., exact in any order."""
    return tuple(2.0 * x[::-1] + np.arange(1.0, len(x) + 1) for x in blocks)


@pytest.fixture(scope='module', params=[range(1, 11), range(11, 21)], ids=['1-10', '11-20'])
def rows(request, target):
    """A kernel with a block in and out of each of ten sizes."""
    return Kernel(in_order, {f'x{size}': (size,) for size in request.param}, *target)


def test_rows_of_every_size_are_read_and_written(rows):
    """N = 1 ... 40: transposes, the rest of a batch, both ways of calling."""
    rng = np.random.default_rng(0)
    full = [rng.normal(size=(40, size)) for size in rows.inputs]
    expected = [2.0 * x[:, ::-1] + np.arange(1.0, x.shape[1] + 1) for x in full]
    for caller in map(rows.caller, CALLERS):
        for n in range(1, 41):
            for got, want in zip(caller(*(x[:n] for x in full)), expected, strict=True):
                np.testing.assert_array_equal(got, want[:n])
        for got, want in zip(caller(*(x[7] for x in full)), expected):
            np.testing.assert_array_equal(got, want[7])


def test_maximum_and_clip_are_exact_at_every_width(target):
    """The larger of two numbers, and one clipped, to the bit; of equal ones either."""
    kernel = Kernel(lambda x: np.array([larger(x[0], x[1]), clipped(x[0], x[1], x[2])]),
                    {'x': (3,)}, *target)
    rng = np.random.default_rng(0)
    x = np.sort(rng.integers(-3, 4, (40, 3)) / 3.0, axis=1)[:, [1, 0, 2]].copy()
    x[:, 0] += rng.integers(-3, 4, 40) / 3.0
    want = np.stack([np.maximum(x[:, 0], x[:, 1]), np.clip(*x.T)], axis=1)
    for caller in map(kernel.caller, CALLERS):
        np.testing.assert_array_equal(caller(x), want)
        np.testing.assert_array_equal([caller(row) for row in x], want)


def test_at_most_one_register_is_written_past_the_end(rows):
    """Callers rely on it: guards before and after the rows are unchanged."""
    n = 3 * rows.lanes
    guarded = [np.full(rows.lanes + n * size + 2 * rows.lanes, SENTINEL) for size in rows.inputs]
    outs = [guard[rows.lanes:] for guard in guarded]
    ins = [np.ones((n + rows.lanes, size)) for size in rows.inputs]
    assert rows.batch(ins, outs, 3) == 0
    for guard, size in zip(guarded, rows.inputs):
        assert (guard[:rows.lanes] == SENTINEL).all()
        assert (guard[rows.lanes:rows.lanes + n * size] != SENTINEL).all()
        assert (guard[rows.lanes + n * size + rows.lanes - 1:] == SENTINEL).all()
    singles = [np.full(size + 1, SENTINEL) for size in rows.inputs]
    assert rows.single(ins, singles) == 0
    assert all(one[-1] == SENTINEL and (one[:-1] != SENTINEL).all() for one in singles)


@pytest.fixture(scope='module')
def forward(target):
    """The longest kernel of a real arm: sines, divisions, margins, several basic blocks."""
    kernel = kernel_of_arm('forward_dynamics', target)
    assert instructions(kernel.program) > 2 * BLOCK
    return kernel


def test_single_and_batch_agree_to_the_bit_and_with_the_interpreter(forward):
    """Uniform numbers, such as gravity, are the same for all states."""
    rng = np.random.default_rng(1)
    states = [rng.uniform(-3, 3, size=(41, 7)) for _ in range(3)]
    call = forward.caller()
    batch = call(*states)
    for k, state in enumerate(zip(*states)):
        np.testing.assert_array_equal(call(*state), batch[k])
        flat = np.concatenate([*state, *forward.uniform.values()])
        want, margin = evaluate(forward.program, flat)
        assert margin.min() > 0.0
        assert relative(batch[k], want) < AGREEMENT


def test_a_result_does_not_depend_on_the_other_states(forward):
    """Nor on its place in the batch, nor on a neighbour whose angle is left to libm."""
    rng = np.random.default_rng(2)
    states = [rng.normal(size=(20, 7)) for _ in range(3)]
    call = forward.caller()
    alone = call(*states)
    for shift in range(1, 9):
        np.testing.assert_array_equal(call(*(x[shift:] for x in states)), alone[shift:])
    states[0][3] += 1e6
    others = np.arange(20) != 3
    np.testing.assert_array_equal(call(*states)[others], alone[others])
    states[0][3], states[0][4, 2] = states[0][5], 2e5
    np.testing.assert_array_equal(call(*states)[4], call(*(x[4] for x in states)))


def test_without_fma_code_is_the_interpreter_to_the_bit(target):
    """Every sum and product rounded by itself, in the order of the program."""
    def polynomial(x, y):
        p = x * y[::-1] - 3.0 * y + x[::-1] * x
        return (-p + x / (y * y + 1.0)), (p * p + 0.1).sum() ** 2 * np.sqrt(y * y + x * x)

    kernel = Kernel(polynomial, {'x': (5,), 'y': (5,)}, target[0], fma=False)
    assert 'call double @llvm.fma' not in kernel.text
    x, y = np.random.default_rng(3).normal(size=(2, 13, 5))
    got = kernel.caller()(x, y)
    for k in range(13):
        for part, want in zip(got, evaluate(kernel.program, np.concatenate([x[k], y[k]]))):
            np.testing.assert_array_equal(part[k], want)


def test_fused_products_are_chosen_here_not_by_llvm():
    """As many calls of fma as are counted, and LLVM may not contract."""
    program = trace(lambda x: np.array([x[0] * x[1] + x[2], x[2] - x[0] * x[3], x[1] * x[3] - x[0],
                                        (x[2] * x[3]) + (x[2] * x[3]) * x[0]]), {'x': (4,)})
    text = lower(program, lanes=4)
    single = text[text.index('define i64 @single'):]
    check_only = '0x0000000000000000'  # 0 x + ..., which looks for what is not finite
    assert sum('@llvm.fma' in line and check_only not in line
               for line in single[:single.index('\n}')].splitlines()) == 4
    assert instructions(program) == 5
    assert 'contract' not in text
    assert ' fast ' not in text


def test_the_scheduler_can_be_switched_off_and_changes_no_bit(forward):
    """LLVM ignores unknown options silently: the code must differ, the results not."""
    plain, large = compile_ir(forward.text), compile_ir(forward.text, large=True)
    assert large != plain
    assert compile_ir(forward.text) == plain  # an option is the process's: it was set back
    with pytest.raises(RuntimeError):
        compile_ir('no code', large=True)
    assert compile_ir(forward.text) == plain  # also where the compilation failed
    states = np.random.default_rng(6).normal(size=(3, 19, 7))
    want, forward.code = forward.caller()(*states), Loaded(large)
    np.testing.assert_array_equal(forward.caller()(*states), want)


BAD = (np.nan, np.inf, -np.inf)


@pytest.mark.parametrize('kind', CALLERS)
@pytest.mark.parametrize('lanes', LANES)
def test_numbers_that_are_not_finite_and_negative_margins_go_to_the_fallback(lanes, kind):
    """Wherever they are: read, read but not used, written, or in the margin."""
    def function(x, y):
        return 1e300 * x[:2] * x[0], y[:1] + 1.0

    kernel = Kernel(function, {'x': (3,), 'y': (2,)}, lanes, margins=1)
    call = kernel.caller(kind)
    x, y = np.full((9, 3), 0.5), np.zeros((9, 2))
    assert call(x, y).shape == (9, 2)
    assert call(x[0], y[0]).shape == (2,)
    for n, array, place in itertools.product((1, 9), (x, y), (0, -1)):
        for value in BAD:
            before, array[n - 1, place] = array[n - 1, place], value
            assert call(x[:n], y[:n]) is FROM_FALLBACK
            assert call(x[n - 1], y[n - 1]) is FROM_FALLBACK
            array[n - 1, place] = before
    for array, value in ((x, 1e9), (y, -1.0), (y, -2.0)):
        before, array[5, 0] = array[5, 0], value
        assert call(x, y) is FROM_FALLBACK
        assert call(x[5], y[5]) is FROM_FALLBACK
        array[5, 0] = before
    assert call(x, y).shape == (9, 2)


def test_unused_numbers_are_read_with_the_state_but_not_with_uniforms():
    """Uniform numbers were checked before: only those in use are read."""
    kernel = Kernel(lambda x, g: x[:1] * g[0], {'x': (2,), 'g': (2,)},
                    uniform={'g': [2.0, np.nan]})
    assert kernel.caller()(np.array([3.0, 0.0])).tolist() == [6.0]
    assert kernel.caller()(np.array([3.0, np.nan])) is FROM_FALLBACK


def test_sines_of_intermediate_angles_are_computed():
    """Those of inputs first and packed; all others in their place."""
    def function(q):
        angle = 2.0 * q[0] - 0.3 + q[1] * q[2]
        late = np.sqrt(q[0] * q[0] + 1.0)
        return np.array([angle.sin(), late.cos(), (angle + late).sin(), q[3].cos(), -q[4].sin(),
                         (q[0] + 1.0).cos(), q[1].sin() * q[1].cos()])

    kernel = Kernel(function, {'q': (5,)})
    assert {Op.SIN, Op.COS} < {symbol.op for symbol in kernel.program.symbols}
    q = np.random.default_rng(4).uniform(-3, 3, size=(11, 5))
    batch = kernel.caller()(q)
    for row, got in zip(q, batch):
        np.testing.assert_array_equal(kernel.caller()(row), got)
        assert relative(got, evaluate(kernel.program, row)[0]) < AGREEMENT
