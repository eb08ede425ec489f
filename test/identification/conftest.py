"""The parameters of the bundled arm, compiled: thousands of regressors are needed here."""

import pytest

from dynamics_node.identification.parameters import parameter_layout


@pytest.fixture
def layout(fast_arm):
    return parameter_layout(fast_arm)
