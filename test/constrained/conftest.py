"""Random trees with random loops, for every test of constrained dynamics."""

import looped_trees
import pytest
import random_trees


def _looped(k):
    """Return random tree k with one of the sets of loops; trees of one sort get different sets."""
    kinds = looped_trees.KINDS
    return looped_trees.make(random_trees.TREES[k], kinds[(k + k // len(kinds)) % len(kinds)])


def _name(k):
    return str(random_trees.TREES[k])


EVERY = range(len(random_trees.TREES))


@pytest.fixture(params=EVERY, ids=_name)
def looped(request):
    """Each random tree, with one of the sets of loops."""
    return _looped(request.param)


@pytest.fixture(params=[k for k in EVERY if not random_trees.TREES[k].mimic], ids=_name)
def looped_without_mimic(request):
    """Those whose joints share no coordinate: articulated bodies go."""
    return _looped(request.param)
