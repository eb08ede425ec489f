"""Here kernels are compiled, all into one cache that is dropped with the session."""

import sys
from pathlib import Path

import pytest

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
