"""Shared fixtures. This folder is on sys.path: `from tolerances import ...` works in every test."""

import os

import numpy as np
import pytest
import random_trees

from dynamics_node import Robot
from dynamics_node.robots import ARM7

# One path at a time: the laws are checked on the NumPy path, test/compiler checks that kernels
# agree with it. Kernels swapped in halfway through a test would leave open which of the two passed.
os.environ['DYNAMICS_NODE_COMPILE'] = '0'


@pytest.fixture(params=random_trees.TREES, ids=str)
def tree(request):
    """A random tree and its seeded generator, see random_trees.py."""
    return random_trees.make(request.param)


@pytest.fixture
def arm():
    """The bundled arm of seven axes."""
    return Robot.from_urdf(ARM7)


@pytest.fixture
def states(arm):
    """(q, v, a, tau) of four random states of it, (4, 7) each."""
    rng = np.random.default_rng(5)
    q = np.array([arm.random_configuration(rng) for _ in range(4)])
    return q, *rng.normal(size=(3, 4, arm.nv))
