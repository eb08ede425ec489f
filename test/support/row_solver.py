"""Compile a program that solves on rows: with structural zeros and a symmetric result."""

from functools import cache

import numpy as np

from dynamics_node.compiler import target
from dynamics_node.compiler.row_statements import Rows
from dynamics_node.spatial.solve import factor, solve_factored, symmetric
from support.compiled_programs import Kernel

SIZES = (8, 9, 16, 19)   # a register of 8 lanes, a number more, blocks of columns
# (size, whether it is compiled as a long program): kernels solve in loops where they are long, and
# compile four to nine times as fast so. The others are compiled as short programs too.
PASSES = (*((n, True) for n in SIZES), (8, False), (9, False))


def solver(n):
    """Return the function of x: X = A^-1 tril(B), -B, A^-1; A of a tree with two branches."""
    def function(x, scale):
        hold = Rows(x.flat[0].graph).hold
        B = x[:n * n].reshape(n, n)
        A = np.diag(9.0 + x[-n:] * x[-n:])
        A[0, 1:] = A[1:, 0] = x[-n:-1]
        L, d = factor(A)
        X = solve_factored(L, d, hold(np.where(np.tri(n, dtype=bool), B, 0.0) * scale[0]))
        return X, -hold(B), symmetric(solve_factored(L, d, hold(np.eye(n)))), d
    return function


def kernel_of(n, lanes=4, fma=None, large=False):
    """Return the Kernel, which is compiled once."""
    return _known(n, lanes, target.host()[2] if fma is None else fma, large)


def new_kernel_of(n, lanes, fma, large):
    """Return the Kernel, compiled with what a test has changed."""
    return Kernel(solver(n), {'x': (n * n + n,), 'scale': (1,)}, lanes, fma, margins=1,
                  large=large)


_known = cache(new_kernel_of)
