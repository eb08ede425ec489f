"""Shared fixtures. This folder is on sys.path: `from tolerances import ...` works in every test."""

import os

import pytest
import random_trees

# One path at a time: the laws are checked on the NumPy path, test/compiler checks that kernels
# agree with it. Kernels swapped in halfway through a test would leave open which of the two passed.
os.environ['DYNAMICS_NODE_COMPILE'] = '0'


@pytest.fixture(params=random_trees.TREES, ids=str)
def tree(request):
    """A random tree and its seeded generator, see random_trees.py."""
    return random_trees.make(request.param)
