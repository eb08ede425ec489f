"""Whatever is handed to a public callable, the only error that comes out is a DynamicsError."""

import pytest
from support.hostile_values import escapes
from support.public_surface import REFUSED, callables, unlisted

CALLABLES = callables()
SKIPPED = {
    'excitation': {('settings', 'None')},   # valid, and takes its time
}


def test_every_public_function_is_found():
    """A new one in a module of entry points is listed in public_surface.py: as such or a helper."""
    assert unlisted() == []


@pytest.mark.parametrize('label', CALLABLES)
def test_the_samples_are_valid(label):
    """A new method is found here: give samples of its parameters in public_surface.py."""
    function, samples = CALLABLES[label]
    assert [name for name, make in samples.items() if make is None] == []
    if label not in REFUSED:
        function(**{name: make() for name, make in samples.items()})


@pytest.mark.parametrize('label', CALLABLES)
def test_only_a_dynamics_error_comes_out(label):
    """One argument at a time is what it cannot be."""
    assert list(escapes(*CALLABLES[label], SKIPPED.get(label, ()))) == []
