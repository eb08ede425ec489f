"""Test the matrices of Saha's formulation on random trees of every joint type."""

import numpy as np
from support.differences import relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES


def test_twists_are_those_of_the_centres_of_mass(tree):
    """N v, by the Jacobians of the links: (omega, velocity of the centre of mass)."""
    robot, _, q, v, *_ = tree
    found = robot.denoc_matrices(q, v)
    want = []
    for body, inertia in zip(robot.model.bodies, robot.model.inertias):
        linear, angular = np.split(robot.frame_twist(q, v, body.name), 2)
        R = robot.frame_pose(q, body.name)[:3, :3]
        want += [*angular, *linear + np.cross(angular, R @ inertia.com)]
    assert relative(found.twist, np.array(want)) < EXACT_MATHS
    assert relative(found.N @ v, found.twist) < EXACT_MATHS


def test_the_mass_matrix_and_the_bias_are_products_of_the_matrices(tree):
    """I = N' M N (21), and N' w is the force of gravity and of the wrenches (19)."""
    robot, _, q, v, _, _, wrenches = tree
    found = robot.denoc_matrices(q, v, wrenches)
    inertia = found.N.T @ found.M @ found.N + np.diag(robot.model.armature)
    assert relative(inertia, robot.mass_matrix(q)) < EXACT_MATHS
    rest = np.zeros(robot.nv)
    assert relative(found.N.T @ -found.wrench,
                    robot.inverse_dynamics(q, rest, rest, wrenches)) < EXACT_MATHS


def test_composite_masses_are_the_product_of_the_factors(tree):
    """Block by block (22) is N_l' M N_l (21), and N_d makes the inertia of it."""
    robot, _, q, v, *_ = tree
    found = robot.denoc_matrices(q, v)
    assert relative(found.composite, found.N_l.T @ found.M @ found.N_l) < EXACT_MATHS
    assert relative(found.N_d.T @ found.composite @ found.N_d,
                    robot.denoc(q, v)[0] - np.diag(robot.model.armature)) < EXACT_MATHS


def test_gyroscopic_moments_are_the_bias_at_constant_twists(tree):
    """C v = N' (M dN/dt v + dM/dt t), dN/dt by central differences along the motion."""
    robot, _, q, v, *_ = tree
    h = 6e-6
    ahead, behind = (robot.denoc_matrices(robot.integrate(q, sign * h * v), v) for sign in (1, -1))
    now = robot.denoc_matrices(q, v)
    rate = (ahead.N - behind.N) / (2.0 * h)
    bias = now.N.T @ (now.M @ (rate @ v) + now.M_rate @ now.twist)
    want = robot.bias_torque(q, v) - robot.gravity_torque(q)
    assert relative(bias, want) < RATE_BY_DIFFERENCES


def test_blocks_off_the_path_to_the_root_are_zero(tree):
    """N_l is lower triangular, with unit blocks on its diagonal, and B_ij B_jk = B_ik (14)."""
    robot, _, q, v, *_ = tree
    N_l = robot.denoc_matrices(q, v).N_l
    b = len(robot.model.bodies)
    blocks = N_l.reshape(b, 6, b, 6).swapaxes(1, 2)
    for i in range(b):
        above = [i, *robot.model.ancestors(i)]
        assert all(blocks[i, j].any() == (j in above) for j in range(b))
        assert (blocks[i, i] == np.eye(6)).all()
        for j in above[1:]:
            for k in robot.model.ancestors(j):
                assert relative(blocks[i, j] @ blocks[j, k], blocks[i, k]) < EXACT_MATHS


def test_batches_are_the_rows_of_single_states(tree):
    """Every matrix, and N."""
    robot, rng, q, v, *_ = tree
    rows = np.array([q, robot.integrate(q, rng.normal(size=robot.nv))])
    both = robot.denoc_matrices(rows, np.tile(v, (2, 1)))
    for k, row in enumerate(rows):
        one = robot.denoc_matrices(row, v)
        assert all((part[k] == single).all() for part, single in zip(both, one))
        assert (both.N[k] == one.N).all()
