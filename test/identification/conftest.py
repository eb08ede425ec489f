"""The parameters of the bundled arm, compiled: thousands of regressors are needed here."""

import pytest

from dynamics_node.identification.parameters import layout_of


@pytest.fixture
def layout(fast_arm):
    return layout_of(fast_arm)
