"""Return the states of the `case` fixture of each module."""

import pytest


@pytest.fixture
def q(case):
    return case.states.q


@pytest.fixture
def v(case):
    return case.states.v
