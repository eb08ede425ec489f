"""Switch compilation on for this room, with one cache that is removed after the session."""

import pytest


@pytest.fixture(autouse=True)
def _compiled_and_packed(compiler_on, packing_does_not_fail):
    """Compilation is switched off in the rest of the suite."""
