"""Test the choice between C and NumPy for the terms of QPs."""

import importlib.util

from dynamics_node.task_space import fast_terms, qp_terms


def test_c_is_used_where_it_was_built():
    """Every name is a function of C then, else the one of NumPy."""
    built = importlib.util.find_spec('dynamics_node.task_space._qp_terms') is not None
    assert fast_terms.__all__ == sorted(fast_terms.__all__)
    for name in fast_terms.__all__:
        assert (getattr(fast_terms, name) is getattr(qp_terms, name)) != built
