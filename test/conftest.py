"""Shared fixtures. This folder is on sys.path: `from tolerances import ...` works in every test."""

import pytest
import random_trees


@pytest.fixture(params=random_trees.TREES, ids=str)
def tree(request):
    """A random tree and its seeded generator, see random_trees.py."""
    return random_trees.make(request.param)
