"""Test the generalised momentum and its rate on random trees of every joint type."""

from support.differences import along, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES


def test_momentum_and_drift_are_those_of_the_matrices(tree):
    """Computed without a matrix: p = M v and drift = C' v - g."""
    robot, _, q, v, *_ = tree
    p, drift = robot.generalised_momentum(q, v)
    assert relative(p, robot.mass_matrix(q) @ v) < EXACT_MATHS
    C, g = robot.coriolis_matrix(q, v), robot.gravity_torque(q)
    assert relative(drift, C.T @ v - g) < EXACT_MATHS


def test_momentum_rate_is_drift_plus_torques_and_wrenches(tree):
    """dp/dt = drift + tau - friction + sum J' F_ext along the resulting motion."""
    robot, _, q, v, _, tau, wrenches = tree
    a = robot.forward_dynamics(q, v, tau, wrenches)
    rate = along(robot, lambda x: robot.mass_matrix(x) @ v, q, v) + robot.mass_matrix(q) @ a
    external = sum(robot.jacobian(q, frame, local=True).T @ wrench
                 for frame, wrench in wrenches.items())
    drift = robot.generalised_momentum(q, v).drift
    assert relative(drift + tau - robot.friction_torque(v) + external, rate) < RATE_BY_DIFFERENCES
