"""Test that public callables raise nothing but DynamicsErrors for invalid arguments."""

import pytest
from support.hostile_values import escapes
from support.public_surface import REFUSED, callables, unlisted

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels', 'empty_folder')]

CALLABLES = callables()
SKIPPED = {
    'excitation': {('settings', 'None')},   # valid, and takes its time
    'excitation.Settings': {('seconds', 'inf')},   # the same
    # valid output times, of seconds
    'Robot.simulate': {('time', name) for name in ('list', 'integers', 'range', 'memoryview')},
}


@pytest.fixture(scope='module')
def empty_folder(tmp_path_factory):
    """Work in an empty folder: an empty text names the folder, in which files are looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp('empty'))
        yield


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
def test_invalid_arguments_raise_nothing_but_dynamics_errors(label):
    """One argument at a time is invalid."""
    assert list(escapes(*CALLABLES[label], SKIPPED.get(label, ()))) == []
