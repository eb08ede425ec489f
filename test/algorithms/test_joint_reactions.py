"""Test wrenches of joints and accelerations of bodies on random trees of every joint type."""

import numpy as np
from support import complex_steps
from support.differences import relative, some_directions
from support.tolerances import EXACT_MATHS

from dynamics_node.algorithms.joint_reactions import joint_reactions
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.algorithms.wrenches import body_wrenches


def linear_last(wrench):
    return np.concatenate([wrench[3:], wrench[:3]])


def test_the_part_along_the_joint_is_the_torque(tree):
    """Sum of S_i' F_i is inverse dynamics without rotors and friction, also under wrenches."""
    robot, _, q, v, a, _, wrenches = tree
    model = robot.model
    for external in (None, wrenches):
        F = robot.joint_reactions(q, v, a, external).wrenches
        tau = np.zeros(robot.nv)
        for body, S, F_i in zip(model.bodies, joints_at(model, q)[1], F):
            tau[body.v] += S.T @ linear_last(F_i)
        inside = model.armature * a + robot.friction_torque(v)
        assert relative(tau, robot.inverse_dynamics(q, v, a, external) - inside) < EXACT_MATHS


def test_accelerations_are_those_of_the_frames(tree):
    """J a + dJ/dt v of each link, in both axes."""
    robot, _, q, v, a, *_ = tree
    for local in (True, False):
        rows = robot.joint_reactions(q, v, a, local=local).accelerations
        for name, row in zip(robot.body_names, rows, strict=True):
            expected = robot.frame_acceleration(q, v, a, name, local)
            assert relative(row, expected) < EXACT_MATHS


def test_world_axes_are_the_link_axes_turned(tree):
    """Force and torque, by the rotation of each link; in a batch too."""
    robot, _, q, v, a, *_ = tree
    local = robot.joint_reactions(q, v, a).wrenches
    world = robot.joint_reactions([q, q], v, a, local=False).wrenches
    for name, mine, rows in zip(robot.body_names, local, world.swapaxes(0, 1), strict=True):
        R = robot.frame_pose(q, name)[:3, :3]
        assert relative(rows, [[*(R @ mine[:3]), *(R @ mine[3:])]] * 2) < EXACT_MATHS


def test_all_joints_at_the_root_carry_the_weight_and_the_inertia_forces(tree):
    """Their sum is the rate of the momentum, less gravity (Newton)."""
    robot, _, q, v, a, *_ = tree
    reactions = robot.joint_reactions(q, v, a, local=False).wrenches
    roots = [k for k, body in enumerate(robot.model.bodies) if body.parent == -1]
    force = reactions[roots, :3].sum(axis=0)
    moving = robot.total_mass - robot.model.base_inertia.mass
    motion = robot.center_of_mass_motion(q, v)
    acceleration = robot.total_mass / moving * (motion.jacobian @ a + motion.bias_acceleration)
    assert relative(force, moving * (acceleration - robot.gravity)) < EXACT_MATHS


def test_derivatives_are_those_by_complex_steps(tree):
    """By q, v and a, without wrenches and with them."""
    robot, _, q, v, a, _, wrenches = tree
    model, D = robot.model, some_directions(robot.nv)
    for external, on_bodies in ((None, None), (wrenches, body_wrenches(model, wrenches))):
        found = robot.joint_reactions_derivatives(q, v, a, external)

        def reactions(*state, on_bodies=on_bodies):
            return joint_reactions(model, *state, on_bodies).wrenches
        assert relative(found.dq @ D, complex_steps.by_q(
            model, lambda x, f=reactions: f(x, v, a), q, D)) < EXACT_MATHS
        assert relative(found.dv @ D, complex_steps.by(
            lambda x, f=reactions: f(q, x, a), v, D)) < EXACT_MATHS
        assert relative(found.da @ D, complex_steps.by(
            lambda x, f=reactions: f(q, v, x), a, D)) < EXACT_MATHS
