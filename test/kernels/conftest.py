"""Here kernels are compiled, all into one cache that is dropped with the session."""

import pytest


@pytest.fixture(autouse=True)
def _compiled_and_packed(compiler_on, packing_does_not_fail):
    """Compilation is switched off in the rest of the suite."""
