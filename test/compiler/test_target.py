"""Test how LLVM compiles: short programs and long ones."""

import numpy as np
from support.row_solver import kernel_of

from dynamics_node.compiler import target


def test_long_programs_are_compiled_with_fewer_passes():
    """Other code, which gives the same bits; and the options of one do not stay for the next."""
    text = kernel_of(9).text
    short, long = target.compile_ir(text), target.compile_ir(text, True)
    assert short != long
    assert (target.compile_ir(text), target.compile_ir(text, True)) == (short, long)
    x = np.random.default_rng(0).normal(size=(5, 90))
    for got, want in zip(*(kernel_of(9, large=large).caller()(x, np.ones((5, 1)))
                           for large in (False, True)), strict=True):
        np.testing.assert_array_equal(got, want)
