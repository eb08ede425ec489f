"""Test kernels of chains above LONG_CHAIN, which are traced with one form of the inertias."""

import numpy as np
import pytest
from support.differences import relative
from support.tiny_robots import chain

from dynamics_node import Robot
from dynamics_node.kernels import build
from dynamics_node.kernels.keys import key_of

pytestmark = pytest.mark.long

JOINTS = 54
TEXT = chain(*[(f'joint_{k}', 'revolute') for k in range(JOINTS)])


def test_a_long_chain_is_traced_with_one_form_and_agrees_with_numpy():
    """Inverse dynamics: single states and a batch."""
    robot, plain = Robot.from_urdf(TEXT), Robot.from_urdf(TEXT, compile=False)
    key = key_of(robot.model, 'inverse_dynamics')
    assert robot.nv == JOINTS > build.LONG_CHAIN
    assert len(build._forms(robot.model, key)) == 1
    robot._dispatcher.compile([key], wait=True)
    q, v, a = np.random.default_rng(5).normal(size=(3, 5, JOINTS))
    want = plain.inverse_dynamics(q, v, a)
    assert relative(robot.inverse_dynamics(q, v, a), want) < 1e-10
    for k in range(len(q)):
        assert relative(robot.inverse_dynamics(q[k], v[k], a[k]), want[k]) < 1e-10
