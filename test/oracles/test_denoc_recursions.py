"""Compare with the recursions of Saha's formulation on random trees of every joint type."""

from support.denoc_recursions import denoc_forward_dynamics, denoc_inverse_dynamics
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.algorithms.wrenches import body_wrenches


def test_inverse_dynamics_is_that_of_the_other_recursion(tree):
    """Friction, armature and wrenches included."""
    robot, _, q, v, a, _, wrenches = tree
    forces = body_wrenches(robot.model, wrenches)
    assert relative(denoc_inverse_dynamics(robot.model, q, v, a, forces),
                    robot.inverse_dynamics(q, v, a, wrenches)) < EXACT_MATHS


def test_inverse_dynamics_is_the_product_of_the_matrices(tree):
    """I a + C v = tau + actuation - friction (20)."""
    robot, _, q, v, a, *_ = tree
    inertia, coriolis, force = robot.denoc(q, v)
    want = inertia @ a + coriolis @ v - force + robot.friction_torque(v)
    assert relative(denoc_inverse_dynamics(robot.model, q, v, a), want) < EXACT_MATHS


def test_forward_dynamics_is_the_inverse_and_that_of_the_other_recursion(tree):
    """With mimic joints by the inertia matrix, otherwise by its factors."""
    robot, _, q, v, _, tau, wrenches = tree
    forces = body_wrenches(robot.model, wrenches)
    a = denoc_forward_dynamics(robot.model, q, v, tau, forces)
    assert relative(a, robot.forward_dynamics(q, v, tau, wrenches)) < SOLVED
    assert relative(denoc_inverse_dynamics(robot.model, q, v, a, forces), tau) < SOLVED
