"""Test the compiled filter against that of identification, which is SciPy's."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from dynamics_node.compiler import cache
from dynamics_node.compiler import kernel as compiled
from dynamics_node.data import filter_kernel
from dynamics_node.data.filter_kernel import BLOCK, zero_phase
from dynamics_node.identification.filtering import low_pass_parts

pytestmark = pytest.mark.usefixtures('kernels')
RATE = 100.0
EPS = np.finfo(float).eps
WITHOUT_LLVMLITE = """
import sys
sys.modules['llvmlite'] = None
import numpy as np
from dynamics_node.data import annotate
from dynamics_node.data.filter_kernel import zero_phase
from dynamics_node.identification.filtering import low_pass_parts
x = np.sin(np.arange(300.0)).reshape(100, 3)
assert np.array_equal(zero_phase([x], 100.0, 3.0)[0], low_pass_parts([x], 100.0, 3.0)[0])
"""


def parts_of(lengths, columns=3):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n, columns)).cumsum(axis=0) for n in lengths]


@pytest.mark.parametrize('cutoff', [0.5, 2.4, 10.0, 30.0])
@pytest.mark.parametrize('lengths', [
    (2, 5, 40, 700, 701), (1000,) * 3, (BLOCK - 1, BLOCK, BLOCK + 1), (2,)])
def test_the_numbers_are_those_of_identification(cutoff, lengths):
    """Parts of different lengths in one call; many signals and few.

    Rounding is amplified: 1 + a1 + a2 of a section, which divides it, is near (cutoff / rate)^2.
    """
    rounding = EPS * (RATE / cutoff) ** 2
    for columns in (1, 3, 7):
        parts = parts_of(lengths, columns)
        wanted = low_pass_parts(parts, RATE, cutoff)
        for x, y in zip(zero_phase(parts, RATE, cutoff), wanted):
            assert x.shape == y.shape
            assert np.abs(x - y).max() <= rounding * np.abs(y).max()


def test_other_parts_do_not_change_a_bit():
    """A signal has the same numbers in any lane, beside any other signals of its length."""
    parts = parts_of((300,) * 5)
    together = zero_phase(parts, RATE, 3.0)
    for x, y in zip(parts, together):
        assert np.array_equal(zero_phase([x], RATE, 3.0)[0], y)


def test_numbers_that_are_not_finite_are_filtered_in_numpy():
    """The other signals keep their numbers."""
    x, = parts_of((100,))
    broken = x.copy()
    broken[50, 1] = np.inf
    with np.errstate(invalid='ignore'):
        found = zero_phase([broken], RATE, 5.0)[0]
    assert np.isnan(found[:, 1]).any()
    wanted = zero_phase([x], RATE, 5.0)[0]
    assert found[:, [0, 2]] == pytest.approx(wanted[:, [0, 2]], rel=1e-12, abs=1e-12)


def test_the_machine_code_is_read_from_the_cache(monkeypatch, tmp_path):
    """A second process compiles nothing."""
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    written = []
    monkeypatch.setattr(cache, 'write', lambda name, *content, write=cache.write: (
        written.append(name), write(name, *content)))
    for _ in range(2):
        assert filter_kernel._made(False).inputs == (BLOCK, 4)
    assert len(written) == 1


@pytest.fixture
def forgotten():
    """Kernels are made anew in this test, and after it."""
    filter_kernel._kernel.cache_clear()
    filter_kernel._sections.cache_clear()
    yield
    filter_kernel._kernel.cache_clear()
    filter_kernel._sections.cache_clear()


def is_of_scipy(cutoff=3.0):
    parts = parts_of((40, 300, 301))
    found, wanted = zero_phase(parts, RATE, cutoff), low_pass_parts(parts, RATE, cutoff)
    return all(np.array_equal(x, y) for x, y in zip(found, wanted))


def test_compilation_that_is_switched_off_leaves_the_filter_to_scipy(forgotten, monkeypatch):
    assert not is_of_scipy()
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '0')
    assert is_of_scipy()


def test_a_kernel_that_gives_other_results_is_not_used(forgotten, monkeypatch, tmp_path):
    """Nor written to the cache."""
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    monkeypatch.setattr(compiled, '_agree', lambda *arguments: False)
    assert is_of_scipy()
    assert not list(tmp_path.rglob('*.kernel'))


def test_llvmlite_is_not_needed():
    """SciPy filters in a process that cannot import it."""
    subprocess.run([sys.executable, '-c', WITHOUT_LLVMLITE], check=True, timeout=60)


def test_the_garbage_collector_is_off_while_the_filter_is_lowered(monkeypatch, tmp_path):
    """It takes a third of the time, and is on again afterwards."""
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    seen, lowered = [], compiled.lowered
    monkeypatch.setattr(compiled, 'lowered', lambda *arguments: (
        seen.append(gc.isenabled()), lowered(*arguments))[1])
    assert gc.isenabled() and filter_kernel._made(False) is not None
    assert seen == [False] and gc.isenabled()
