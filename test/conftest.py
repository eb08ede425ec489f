"""Fixtures of all tests. Helpers are in test/support: `from support.tolerances import ...`."""

import gc
import os
import zlib
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
from support import looped_trees, random_trees
from support.kernel_folders import kernels_of_this_run

from dynamics_node import Robot
from dynamics_node.compiler import kernel
from dynamics_node.example_robots import ARM7

# One path at a time: the laws are checked on the NumPy path, test/kernels checks that kernels
# agree with it. Kernels swapped in halfway through a test would leave open which of the two passed.
os.environ['DYNAMICS_NODE_COMPILE'] = '0'

ROS = Path(__file__).parent / 'ros'
RARELY = 50_000   # new objects between two collections of garbage


def pytest_sessionstart():
    """Switch the garbage collector off while tests are collected: it would only cost a second."""
    gc.disable()


def pytest_collection_finish():
    """Exclude the collected tests from garbage collection, and collect garbage seldom.

    The collected tests took 7 % of the test time, a collection after 700 new objects takes 10 %.
    """
    gc.freeze()
    gc.set_threshold(RARELY)
    gc.enable()


def pytest_collection_modifyitems(items):
    """Start the long modules first, so that no worker is left with one of them at the end.

    Those of test/ros wait most of their time, the others compute: they take turns.
    """
    long = list(dict.fromkeys(item.path for item in items if item.get_closest_marker('long')))
    waiting = [path for path in long if ROS in path.parents]
    computing = [path for path in long if ROS not in path.parents]
    turns = [path for pair in zip_longest(waiting, computing) for path in pair if path]
    places = {path: place for place, path in enumerate(turns)}
    items.sort(key=lambda item: places.get(item.path, len(turns)))


def pytest_generate_tests(metafunc):
    """Give each test with the fixture `tree` one tree of every sort; tests take turns of seeds."""
    given = [marker for marker in metafunc.definition.iter_markers('parametrize')
             if 'tree' in str(marker.args[0])]
    if 'tree' in metafunc.fixturenames and not given:
        turn = zlib.crc32(metafunc.function.__name__.encode())
        metafunc.parametrize('tree', random_trees.one_of_each_sort(turn), ids=str, indirect=True)


@pytest.fixture
def tree(request):
    """A random tree and its seeded generator, see random_trees.py."""
    return random_trees.make(request.param)


@pytest.fixture
def arm():
    """The bundled arm of seven axes."""
    return Robot.from_urdf(ARM7)


@pytest.fixture
def states(arm):
    """(q, v, a, tau) of four random states of the arm, (4, 7) each."""
    rng = np.random.default_rng(5)
    q = np.array([arm.random_configuration(rng) for _ in range(4)])
    return q, *rng.normal(size=(3, 4, arm.nv))


# Compiled robots ---------------------------------------------------------------------------------

@pytest.fixture(scope='session')
def kernel_cache(tmp_path_factory):
    """A folder for the kernels of all tests: that of `make test`, which nodes use too.

    It is kept for the next run: the name of a kernel is a digest of all that its code depends on,
    the sources too. Tests of the compiler have a folder of their own in each run.
    """
    chosen = os.environ.get('DYNAMICS_NODE_CACHE')
    return Path(chosen) if chosen else kernels_of_this_run(tmp_path_factory)


@pytest.fixture
def compiler_on(monkeypatch, kernel_cache):
    """Robots made in this test compile."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))


@pytest.fixture(scope='module')
def kernels(kernel_cache):
    """Robots made in this module compile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
        yield


@pytest.fixture
def fast_arm(compiler_on):
    """The bundled arm of seven axes, compiled."""
    return Robot.from_urdf(ARM7)


@pytest.fixture
def allow_no_packs():
    """Request this where a kernel may be made without packs."""


@pytest.fixture
def packing_does_not_fail(request, monkeypatch):
    """A kernel that cannot be packed is made without packs: here that is an error."""
    if 'allow_no_packs' in request.fixturenames:
        return

    def lower(*args, packed=True, lower=kernel.lower, **named):
        assert packed, 'packing has failed'
        return lower(*args, **named)
    monkeypatch.setattr(kernel, 'lower', lower)


# Random trees with random loops ------------------------------------------------------------------

def _looped(k):
    """Return random tree k with one of the sets of loops; trees of one sort get different sets."""
    kinds = looped_trees.KINDS
    return looped_trees.make(random_trees.TREES[k], kinds[(k + k // len(kinds)) % len(kinds)])


def _name(k):
    return str(random_trees.TREES[k])


EVERY_TREE = range(len(random_trees.TREES))


@pytest.fixture(params=EVERY_TREE, ids=_name)
def looped(request):
    """Each random tree, with one of the sets of loops."""
    return _looped(request.param)


@pytest.fixture(params=[k for k in EVERY_TREE if not random_trees.TREES[k].mimic], ids=_name)
def looped_without_mimic(request):
    """Those whose joints share no coordinate: articulated bodies can be used."""
    return _looped(request.param)
