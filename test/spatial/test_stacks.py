"""Products and transposes of stacks are those of each matrix in them."""

import numpy as np

from dynamics_node.spatial.stacks import times, transposed

RNG = np.random.default_rng(0)
A, X = RNG.normal(size=(4, 2, 3)), RNG.normal(size=(4, 3))


def test_a_product_is_that_of_each_matrix_with_its_vector():
    """Also for one matrix with several vectors."""
    assert (times(A[0], X[0]) == A[0] @ X[0]).all()
    assert np.allclose(times(A, X), [each @ x for each, x in zip(A, X)], rtol=1e-14, atol=0.0)
    assert np.allclose(times(A[0], X), X @ A[0].T, rtol=1e-13, atol=1e-14)


def test_a_transpose_is_that_of_each_matrix():
    """Rows and columns are exchanged, the batch axis stays."""
    assert (transposed(A[0]) == A[0].T).all()
    assert (transposed(A) == [each.T for each in A]).all()
