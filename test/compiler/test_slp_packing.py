"""Test SLP packing: packs and scalars in any order of a program; packing changes no bit."""

import numpy as np
import pytest
from support import small_robots
from support.compiled_programs import Kernel
from support.differences import relative

from dynamics_node.compiler import cache, lower, slp_packing, target
from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.operation_counts import fused_products
from dynamics_node.compiler.trace import evaluate
from dynamics_node.kernels import build
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import KernelKey


@pytest.fixture
def always_packed(monkeypatch):
    """Pack whatever can be packed, although it saves nothing."""
    monkeypatch.setattr(slp_packing, 'MIN_SAVING', -np.inf)


def agree(function, size):
    """Compile a function of `size` numbers; compare with the interpreter, and with no packs."""
    kernel = Kernel(function, {'x': (size,)})
    x = np.random.default_rng(0).uniform(0.5, 1.5, (9, size))
    call = kernel.caller()
    batch = call(x)
    for k, row in enumerate(x):
        for one, many, want in zip(call(row), batch, evaluate(kernel.program, row), strict=True):
            np.testing.assert_array_equal(one, many[k])  # the batch has no packs
            assert relative(one, want) < AGREEMENT
    return lower.packing_of(kernel.program, fused_products(kernel.program))


def steps(lane, x):
    """Return what becomes of a number: the same operations for every lane."""
    for k in range(4):
        lane = lane * x[k] + x[k + 1]
    return lane


def test_an_entry_that_others_of_its_pack_depend_on_is_also_calculated_alone():
    """The last lane starts from the result of the first: no order of whole packs is valid."""
    def function(x):
        first = steps(x[5], x)
        row = [first, *(steps(each, x) for each in (x[6], x[7], np.sqrt(first)))]
        return np.array([row]), np.array([first])
    packing = agree(function, 8)
    assert len(packing.scalar) == 4   # the first lane, step by step


def test_an_entry_that_is_read_before_its_pack_is_complete_is_also_calculated_alone():
    """By a scalar outside the pack."""
    def function(x):
        first = steps(x[5], x)
        other = np.sqrt(first)
        row = [first, *(steps(each, x) for each in x[6:9])]
        return np.array([row]), np.array([other])
    packing = agree(function, 9)
    # the same, but the scalar is not needed before the pack is complete
    late = agree(lambda x: (np.array([[steps(each, x) for each in x[5:9]]]),
                            np.sqrt(np.array([steps(x[5], x)]))), 9)
    assert len(packing.packs) == len(late.packs) > 0
    assert packing.scalar and not late.scalar


def test_an_entry_of_two_packs_is_taken_from_the_one_that_is_complete_first(always_packed):
    """Rows that share an entry; a scalar between them reads it."""
    def function(x):
        shared = x[0] * x[1]
        early = [shared, *(x[k] * x[1] for k in (2, 3, 4))]
        root = np.sqrt(shared)
        late = [*(each * x[1] for each in (x[5], x[6], root)), shared]
        return np.array([late, early]), np.array([root])
    packing = agree(function, 7)
    shared = next(number for number, (key, _) in packing.lanes.items()
                  if sum(number in other for other in packing.packs) > 1)
    complete = [max(key) for key in packing.packs if shared in key]
    assert max(packing.lanes[shared][0]) == min(complete) < max(complete)


def test_fused_products_that_differ_are_not_packed(always_packed):
    """All factors differ from lane to lane, so there is no value to gather."""
    def function(x):
        root = np.sqrt(x)
        row = [x[0] * x[k] + root[k] * root[k + 4] for k in range(4)]  # the second is fused
        return np.array([row]), root
    assert all(pack.kind != 'sum' for pack in agree(function, 8).packs.values())


def test_angles_are_not_packed(always_packed):
    """They are calculated before everything else, for their sines."""
    def function(x):
        angles = 2.0 * x[:4] + x[4]
        return np.array([angles, np.sin(angles), angles * x[5]]), np.cos(angles)
    packing = agree(function, 6)
    assert {pack.symbols[0].op for pack in packing.packs.values() if pack.kind in
            slp_packing.ARITHMETIC} == {Op.MUL}


@pytest.mark.parametrize('seed', range(12))
def test_random_programs_agree_with_the_interpreter(always_packed, seed):
    """Rows of the same operations, lane by lane; a lane starts from any earlier value."""
    def function(x):
        rng = np.random.default_rng(seed)
        pool, rows = list(x), []

        def some():
            return pool[rng.integers(len(pool))]
        for _ in range(6):
            shared, kinds, row = [some() for _ in range(3)], rng.integers(5, size=3), []
            for _ in range(4):
                lane = some()
                for kind, other in zip(kinds, shared):
                    lane = (lane * other, lane + other, other - lane, lane * other + shared[0],
                            lane * some() - other)[kind]
                row.append(-lane if rng.random() < 0.1 else lane)
                if rng.random() < 0.4:
                    pool.append(lane / np.sqrt(1.0 + lane * lane))  # bounded, and read early
            rows.append(row)
            pool += row[:2]
        return np.array(rows), np.array(pool[-4:])
    agree(function, 12)


# What cannot be packed -----------------------------------------------------------------------

KEY = KernelKey('mass_matrix_inverse')


@pytest.fixture
def failures(monkeypatch, tmp_path, allow_no_packs):
    """A compiler whose packing can be made to fail; an empty cache."""
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    return monkeypatch


def packing_fails(*_):
    raise KeyError('a symbol that is not there')


def test_a_kernel_that_cannot_be_packed_is_made_without_packs(failures):
    """Packing saves time; that it fails must not cost the kernel."""
    failures.setattr(lower, 'find_packs', packing_fails)
    arm = small_robots.arm()
    assert arm.compile(wait=True).compiled
    q = np.array([0.3, -0.4])
    want = small_robots.arm(compile=False).mass_matrix_inverse(q)
    np.testing.assert_allclose(arm.mass_matrix_inverse(q), want, rtol=1e-12)


def test_a_kernel_whose_packs_are_wrong_is_made_without_packs(failures):
    """The self-test finds out; the right one is kept."""
    arm = small_robots.arm(compile=False)
    wrong = build.compile_kernel(small_robots.arm(mass=2.0, compile=False).model, KEY)[1]
    compile_ir, made = target.compile_ir, []

    def first_is_wrong(*args, **named):
        made.append(compile_ir(*args, **named))
        return wrong if len(made) == 1 else made[-1]
    failures.setattr(target, 'compile_ir', first_is_wrong)
    build.build_kernel(arm.model, KEY)
    assert len(made) == 2
    assert cache.read(name_of(arm.model, KEY))[1] == made[1]


def test_a_failure_without_packing_is_raised(failures):
    """Both attempts fail: the error of the second is raised."""
    def ill(*args, **named):
        raise RuntimeError('LLVM is ill')
    failures.setattr(target, 'compile_ir', ill)
    with pytest.raises(RuntimeError, match='LLVM is ill'):
        build.build_kernel(small_robots.arm(compile=False).model, KEY)
