"""Test the conversion of floating-base velocities to world axes."""

import numpy as np
import pytest
from support.differences import along, relative
from support.random_trees import Tree, make
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES


@pytest.mark.parametrize('mimic', [False, True])
def test_the_base_moves_by_the_linear_part(mimic):
    """Its position has the rate u[:3], its angular velocity stays, so do all other joints."""
    robot, _, q, v, a, *_ = make(Tree(1, 'floating', mimic))
    E, bias = robot.base_velocity(q, v)
    u = E @ v
    assert relative(u[:3], along(robot, lambda x: x[:3], q, v)) < RATE_BY_DIFFERENCES
    inner = [joint for joint in robot.model.joints if joint.kind != 'floating']
    for joint in inner:
        assert (u[joint.v] == v[joint.v]).all()
    assert (u[3:6] == v[3:6]).all()
    assert relative(E.T @ u, v) < EXACT_MATHS
    rate = along(robot, lambda x: robot.base_velocity(x, v).matrix @ v, q, v) + E @ a
    assert relative(E @ a + bias, rate) < RATE_BY_DIFFERENCES
    assert relative((E @ a + bias)[:3], robot.frame_acceleration(q, v, a, 'base')[:3]) < EXACT_MATHS


def test_power_is_the_same(tree):
    """Forces on u are E tau; a robot without floating joints keeps its velocities."""
    robot, _, q, v, _, tau, _ = tree
    E, _bias = robot.base_velocity([q, q], v)
    assert E.shape == (2, robot.nv, robot.nv)
    assert relative((E[0] @ tau) @ (E[0] @ v), tau @ v) < EXACT_MATHS
    assert relative(E @ E.swapaxes(1, 2), [np.eye(robot.nv)] * 2) < EXACT_MATHS
