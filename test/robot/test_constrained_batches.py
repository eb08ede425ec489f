"""Test constrained inverse dynamics of batches: its terms come from kernels."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS


def robot_of(name, **options):
    return Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, **options)


def states(robot, n):
    """Return (q, v, a) of n states that keep the loops, each of them 70 times."""
    rows = [standing(robot.model, robot.loops.constraints, seed) for seed in range(n)]
    rows = [(q, v, robot.constrained_forward_dynamics(q, v, tau).a) for q, v, tau in rows]
    return [np.repeat(part, 70, axis=0) for part in zip(*rows)]   # worth compiling


def test_inverse_dynamics_of_a_batch_uses_kernels(compiler_on, monkeypatch):
    """No term is computed state by state; the results are NumPy's."""
    robot, plain = robot_of('four_bar'), robot_of('four_bar', compile=False)
    q, v, a = states(plain, 3)
    push = {'coupler': np.linspace(-1.0, 1.0, 6)}
    want = [plain.constrained_inverse_dynamics(q[row], v[row], a[row], wrenches=push)
            for row in (0, 70, 140)]
    monkeypatch.setattr('dynamics_node.robot.dispatch.Dispatcher._in_numpy', None)
    found = robot.constrained_inverse_dynamics(q, v, a, wrenches=push)
    for part, single in zip(found, zip(*want), strict=True):
        assert relative(part[::70], np.array(single)) < SOLVED
    a[77] += 1.0
    with pytest.raises(DynamicsError, match='state 77 of the batch: the acceleration violates'):
        robot.constrained_inverse_dynamics(q, v, a)
    with pytest.raises(DynamicsError, match='the motion has 210, passive_torques has 2 rows'):
        robot.constrained_inverse_dynamics(q, v, a, passive_torques=np.zeros((2, 3)))
