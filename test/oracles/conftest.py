"""The states of the robot that a module's `case` fixture is about."""

import pytest


@pytest.fixture
def q(case):
    return case.states.q


@pytest.fixture
def v(case):
    return case.states.v
