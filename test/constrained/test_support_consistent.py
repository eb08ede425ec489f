"""Test support-consistent dynamics: eq. 3.62 to 3.64 on random trees with loops and contacts."""

import numpy as np
import pytest
from support import contact_null_space, looped_trees, random_trees
from support.agreement_of_paths import without_numpy
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels.keys import key_of


@pytest.fixture(params=range(4), scope='module')
def looped(request):
    """A tree with closed loops or contacts, in motion."""
    return looped_trees.make(random_trees.TREES[request.param], looped_trees.KINDS[request.param])


def found_of(looped, constraints):
    return looped.robot.support_consistent_dynamics(looped.q, looped.v, constraints)


def test_null_space_and_inertia_satisfy_their_definitions(looped):
    """N is a projection beside the rows; Lambda is the inverse of J M^-1 J'."""
    found = found_of(looped, looped.constraints)
    J, N = found.jacobian, found.null_space
    assert relative(J @ N, 0.0 * J) < SOLVED
    assert relative(N @ N, N) < SOLVED
    delassus = J @ np.linalg.solve(looped.robot.mass_matrix(looped.q), J.T)
    assert relative(found.inertia @ delassus, np.eye(len(J))) < SOLVED


def test_the_equation_of_motion_is_that_of_constrained_dynamics(looped):
    """Accelerations under torques; and torques in the null space exert no constraint force."""
    robot, q, v, tau = looped.robot, looped.q, looped.v, looped.tau
    found, friction = found_of(looped, looped.constraints), robot.friction_torque(v)
    motion = robot.constrained_forward_dynamics(q, v, tau, looped.constraints)
    N = found.null_space
    left = robot.mass_matrix(q) @ motion.a + found.bias
    assert relative(left, N.T @ (tau - friction)) < SOLVED
    projected = N.T @ (robot.mass_matrix(q) @ motion.a + robot.bias_torque(q, v))
    assert relative(projected, N.T @ (tau - friction)) < SOLVED
    extra = robot.constrained_forward_dynamics(q, v, tau + N.T @ tau, looped.constraints)
    assert relative(extra.multipliers, motion.multipliers) < SOLVED


def test_dependent_rows_have_the_pseudo_inverse(looped):
    """The same null space and bias; the inertia of an oracle by another decomposition."""
    twice = (*looped.constraints, *(
        Constraint(f'{each.name}_again', **{field: getattr(each, field) for field in (
            'kind', 'frame', 'to', 'pose', 'to_pose', 'axis', 'distance', 'joints', 'ratio',
            'offset')}) for each in looped.constraints))
    once, found = found_of(looped, looped.constraints), found_of(looped, twice)
    assert relative(found.null_space, once.null_space) < SOLVED
    assert relative(found.bias, once.bias) < SOLVED
    oracle = contact_null_space.support(looped.robot.mass_matrix(looped.q), found.jacobian)
    assert relative(found.inertia, oracle.inertia) < SOLVED


def test_the_compiled_result_equals_that_in_numpy(monkeypatch):
    """For a small mechanism: a tree takes longer to compile."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    urdf, loops = MECHANISMS['five_bar']
    robot = Robot.from_urdf(urdf, loops=loops)
    constraints = robot.loops.constraints
    robot._dispatcher.compile([key_of(robot.model, 'support_consistent_dynamics', (), False,
                                      constraints)], wait=True)
    q, v = np.random.default_rng(0).normal(size=(2, 5, 4))
    with without_numpy(robot):
        found = robot.support_consistent_dynamics(q, v, ())
    for got, want in zip(found, Robot(robot.model, compile=False).support_consistent_dynamics(
            q, v, ()), strict=True):
        assert relative(got, want) < SOLVED
