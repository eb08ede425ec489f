"""Thousands of regressors are needed here: kernels, in one cache that ends with the session."""

import pytest

from dynamics_node import Robot
from dynamics_node.identification.parameters import layout_of
from dynamics_node.robots import ARM7


@pytest.fixture(scope='session')
def kernel_cache(tmp_path_factory):
    """A folder for the kernels of all tests; the processes of pytest -n share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith('popen-') else base) / 'kernels'


@pytest.fixture(scope='module')
def kernels(kernel_cache):
    """Robots made in this module compile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
        yield


@pytest.fixture
def fast_arm(monkeypatch, kernel_cache):
    """The bundled arm of seven axes, compiled."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
    return Robot.from_urdf(ARM7)


@pytest.fixture
def layout(fast_arm):
    return layout_of(fast_arm)
