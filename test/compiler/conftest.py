"""Here kernels are compiled, all into one cache that is dropped with the session."""

import sys
from pathlib import Path

import pytest

from dynamics_node.compiler import build

sys.path.append(str(Path(__file__).resolve().parent.parent / 'oracles'))  # robots.py: real robots


@pytest.fixture(scope='session')
def shared_cache(tmp_path_factory):
    """A folder for the kernels of all tests; the processes of pytest -n share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith('popen-') else base) / 'kernels'


@pytest.fixture(autouse=True)
def compiler_on(monkeypatch, shared_cache):
    """Compilation is switched off in the rest of the suite."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(shared_cache))


@pytest.fixture
def allow_no_packs():
    """Name it where a kernel may be made without packs."""


@pytest.fixture(autouse=True)
def packing_does_not_fail(request, monkeypatch):
    """A kernel that cannot be packed is made without packs: here that is an error."""
    if 'allow_no_packs' in request.fixturenames:
        return

    def lower(*args, packed=True, lower=build.lower, **named):
        assert packed, 'packing has failed'
        return lower(*args, **named)
    monkeypatch.setattr(build, 'lower', lower)
