"""Switch compilation on for this room, with one cache that is removed after the session.

A kernel with several results, its two callers and some states are fixtures here too.
"""

import numpy as np
import pytest
from support.compiled_programs import CALLERS, G, Kernel, three_results
from support.kernel_folders import kernels_of_this_run


@pytest.fixture(scope='session')
def kernel_cache(tmp_path_factory):
    """A folder of this run: what is tested here is compiled in each."""
    return kernels_of_this_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def _compiled_and_packed(compiler_on, packing_does_not_fail):
    """Compilation is switched off in the rest of the suite."""


@pytest.fixture(scope='module')
def kernel():
    return Kernel(three_results, {'x': (3,), 'y': (2,), 'g': (3,)}, uniform={'g': G})


@pytest.fixture(params=CALLERS)
def call(request, kernel):
    return kernel.caller(request.param)


@pytest.fixture
def states():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
