"""Test the recording of statements on rows against the same algebra on numbers."""

import numpy as np
import pytest

from dynamics_node.compiler.graph import TracingError
from dynamics_node.compiler.row_statements import Rows
from dynamics_node.compiler.trace import check, evaluate, trace
from dynamics_node.spatial.solve import factor, solve_factored, symmetric

N = 9
RNG = np.random.default_rng(4)
A = RNG.normal(size=(N, N))
A = A @ A.T + np.eye(N)
B = RNG.normal(size=(N, N))


def program(function):
    """Return the Program of function(A, B, hold), with rows, and an empty last result."""
    def of_symbols(A, B):
        return (*function(A, B, Rows(A.flat[0].graph).hold), np.array([], dtype=object))
    traced = trace(of_symbols, {'A': (N, N), 'B': (N, N)})
    check(traced)
    return traced


def interpreted(function):
    return evaluate(program(function), np.concatenate([A.ravel(), B.ravel()]))[:-1]


def solve(A, B, hold):
    return (solve_factored(*factor(A), hold(B)),)


def inverse(A, B, hold):
    return (symmetric(solve_factored(*factor(A), hold(np.eye(N)))),)


def test_a_solve_on_rows_is_the_solve():
    """The NumPy code of the solve is the same; each row of the result is one statement or two."""
    np.testing.assert_allclose(interpreted(solve)[0], np.linalg.solve(A, B), atol=1e-10)
    assert len(program(solve).rows.statements) <= 2 * N


def test_all_operations_on_rows():
    """Sums, differences, negatives, products with symbols and numbers, quotients, matrix rows."""
    def everything(A, B, hold):
        X, Y = hold(B), hold(A)
        Z = A @ X - 2.0 * Y + (X - Y) * A[:, :1] / A[0, 0] + 0.0 * X
        return Z, -X, 1.0 * Y, X - X
    Z, negative, same, zero = interpreted(everything)
    np.testing.assert_allclose(Z, A @ B - 2.0 * A + (B - A) * A[:, :1] / A[0, 0], atol=1e-11)
    np.testing.assert_array_equal(negative, -B)
    np.testing.assert_array_equal(same, A)
    np.testing.assert_array_equal(zero, np.zeros((N, N)))


def test_a_symmetric_result_is_symmetric_to_the_bit_and_half_the_work():
    """Only the upper triangle is computed, column by column."""
    matrix = interpreted(inverse)[0]
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, np.linalg.inv(A), atol=1e-10)

    def whole(A, B, hold):
        return (solve_factored(*factor(A), hold(np.eye(N))),)
    assert program(inverse).rows.instructions < 0.7 * program(whole).rows.instructions


def test_zeros_of_a_tree_cost_nothing():
    """Two branches that share no root: the inverse of a block diagonal matrix is that of blocks."""
    def blocks(A, B, hold):
        both = np.zeros((N, N), dtype=object)
        both[:4, :4], both[4:, 4:] = A[:4, :4], A[4:, 4:]
        return (solve_factored(*factor(both), hold(np.eye(N))),)
    np.testing.assert_array_equal(interpreted(blocks)[0][:4, 4:], 0.0)
    assert program(blocks).rows.instructions < 0.6 * program(inverse).rows.instructions


def test_slots_are_reused():
    """A row is overwritten after its last reader: a solve needs no memory beyond its matrix."""
    assert program(solve).rows.slots == N


@pytest.mark.parametrize('width', [1, 2, 4, 5, 9, 16])
def test_blocks_of_columns_give_the_same_rows(width):
    """Whatever their width: terms left out are zero, statements left out are not needed."""
    traced = program(lambda A, B, hold: (*inverse(A, B, hold), *solve(np.triu(A) + np.triu(A, 1).T,
                                                                      np.tril(B), hold)))
    rows = traced.rows
    factors, entries = traced.row_inputs()
    numbers = evaluate(traced._replace(rows=None, outputs=(*factors, *entries), shapes=(
        (len(factors),), (rows.first, N))), np.concatenate([A.ravel(), B.ravel()]))
    want = rows.evaluate(numbers[0], numbers[1])
    memory = np.full((rows.slots, N), np.nan)    # what must not be read stays NaN
    memory[:rows.first] = numbers[1]
    for block, statements in enumerate(rows.of_blocks(width)):
        place = slice(block * width, (block + 1) * width)
        for slot, terms in statements:
            memory[slot, place] = sum((numbers[0][factor] * memory[source, place]
                                       for factor, source in terms), 0.0)
    upper = np.triu(memory[list(rows.results[0])])
    np.testing.assert_allclose(upper, np.triu(want[0]), atol=1e-14)
    np.testing.assert_allclose(memory[list(rows.results[1])], want[1], atol=1e-13)


def test_rows_and_entries_cannot_be_mixed():
    """All results but the last are rows, or none."""
    with pytest.raises(TracingError, match='rows'):
        program(lambda A, B, hold: (hold(A), B))
