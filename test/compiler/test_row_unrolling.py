"""Test statements on rows that are written out for a single state."""

import numpy as np
import pytest
from support.compiled_programs import LANES
from support.row_solver import PASSES, kernel_of, new_kernel_of

from dynamics_node.compiler import row_unrolling, target


@pytest.mark.parametrize(('n', 'large'), PASSES)
@pytest.mark.parametrize('lanes', LANES)
def test_the_loop_gives_the_same_bits(monkeypatch, n, lanes, large):
    """The same terms in the same order: single states of both, and a batch, which has the loop."""
    kernel = kernel_of(n, lanes, large=large)
    assert row_unrolling.is_unrolled(kernel.program.rows, lanes)
    x = np.random.default_rng(n).normal(size=(lanes + 1, n * n + n))
    written_out = kernel.caller()
    batch = written_out(x, np.ones((len(x), 1)))
    monkeypatch.setattr(row_unrolling, 'MOST_UNROLLED', 0)
    looped = new_kernel_of(n, lanes, target.host()[2], large).caller()
    for k, row in enumerate(x):
        for one, other, many in zip(written_out(row, np.ones(1)), looped(row, np.ones(1)), batch):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(one, many[k])


def test_vectors_of_zeros_are_left_out():
    """Narrower vectors have fewer zeros between numbers; a vector of a whole row has them all."""
    rows = kernel_of(19, large=True).program.rows
    numbers, vectors, whole = (width * rows.vector_terms(width) for width in (1, 8, 24))
    assert rows.instructions == numbers < vectors < whole


def test_long_programs_keep_the_loop():
    """The code would grow with the number of terms."""
    rows = kernel_of(19, large=True).program.rows
    many = rows._replace(statements=rows.statements * 100)
    assert row_unrolling.is_unrolled(rows, 8)
    assert not row_unrolling.is_unrolled(many, 8)
