"""Switch compilation on for this room, with one cache that is removed after the session."""

import pytest
from support.kernel_folders import kernels_of_this_run


@pytest.fixture(scope='session')
def kernel_cache(tmp_path_factory):
    """A folder of this run: what is tested here is compiled in each."""
    return kernels_of_this_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def _compiled_and_packed(compiler_on, packing_does_not_fail):
    """Compilation is switched off in the rest of the suite."""
