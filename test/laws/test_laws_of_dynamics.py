"""Test the laws of dynamics on random trees of every joint type."""

import itertools

import numpy as np
from support.differences import along, gradient, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED


def test_the_trees_have_every_joint_type_and_branches(tree):
    """So the laws below are tested on all of them."""
    model = tree.robot.model
    assert {joint.kind for joint in model.joints} == {
        'revolute', 'prismatic', 'planar', 'floating', 'continuous'}
    parents = [body.parent for body in model.bodies]
    assert len(set(parents)) < len(parents)


def test_forward_dynamics_undoes_inverse_dynamics(tree):
    """FD(ID(a)) = a, with wrenches, friction, damping and armature."""
    robot, _, q, v, a, _, wrenches = tree
    tau = robot.inverse_dynamics(q, v, a, wrenches)
    assert relative(robot.forward_dynamics(q, v, tau, wrenches), a) < SOLVED


def test_hybrid_dynamics_is_the_block_solution_of_the_mass_matrix(tree):
    """Every subset of single joints' prescribed accelerations, and random ones inside joints."""
    robot, rng, q, v, a, tau, wrenches = tree
    M = robot.mass_matrix(q)
    b = robot.inverse_dynamics(q, v, 0 * a, wrenches)
    for given in _subsets(robot, rng):
        u, w = given, ~given
        expected_a, expected_tau = a.copy(), tau.copy()
        expected_a[w] = np.linalg.solve(M[np.ix_(w, w)], tau[w] - b[w] - M[np.ix_(w, u)] @ a[u])
        expected_tau[u] = (M @ expected_a + b)[u]
        got_a, got_tau = robot.hybrid_dynamics(q, v, a, tau, given, wrenches)
        assert relative(got_a, expected_a) < SOLVED
        assert relative(got_tau, expected_tau) < SOLVED


def _subsets(robot, rng):
    """Yield every choice over the first five joints, the rest at random inside joints too."""
    for choice in itertools.product([False, True], repeat=5):
        given = rng.random(robot.nv) < 0.5
        for joint, prescribed in zip(robot.model.joints, choice):
            given[joint.v] = prescribed
        yield given
    yield np.zeros(robot.nv, dtype=bool)
    yield np.ones(robot.nv, dtype=bool)


def test_hybrid_dynamics_reads_only_given_values(tree):
    """Accelerations of driven joints and torques of prescribed ones are outputs, not inputs."""
    robot, rng, q, v, a, tau, _ = tree
    given = rng.random(robot.nv) < 0.5
    once = robot.hybrid_dynamics(q, v, a, tau, given)
    other_a, other_tau = np.where(given, a, 77.0), np.where(given, -55.0, tau)
    again = robot.hybrid_dynamics(q, v, other_a, other_tau, given)
    np.testing.assert_array_equal(once, again)


def test_mass_matrix_is_inverse_dynamics_column_by_column(tree):
    """M e_k = ID(q, 0, e_k) - ID(q, 0, 0)."""
    robot, _, q, *_ = tree
    rest = np.zeros(robot.nv)
    held = robot.inverse_dynamics(q, rest, rest)
    columns = [robot.inverse_dynamics(q, rest, unit) - held for unit in np.eye(robot.nv)]
    M = robot.mass_matrix(q)
    assert relative(M, np.array(columns).T) < EXACT_MATHS
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_mass_matrix_inverse_times_mass_matrix_is_identity(tree):
    """M^-1 M = 1."""
    robot, _, q, *_ = tree
    product = robot.mass_matrix_inverse(q) @ robot.mass_matrix(q)
    assert relative(product, np.eye(robot.nv)) < SOLVED


def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(tree):
    """T = v' M v / 2."""
    robot, _, q, v, *_ = tree
    assert relative(robot.kinetic_energy(q, v), v @ robot.mass_matrix(q) @ v / 2) < EXACT_MATHS


def test_power_into_the_robot_is_the_rate_of_its_energy(tree):
    """Tau'v + F'V - friction'v = d/dt (T + U)."""
    robot, _, q, v, _, tau, wrenches = tree
    a = robot.forward_dynamics(q, v, tau, wrenches)
    kinetic = (along(robot, lambda x: robot.kinetic_energy(x, v), q, v)
               + v @ robot.mass_matrix(q) @ a)
    potential = along(robot, robot.potential_energy, q, v)
    power = tau @ v - robot.friction_torque(v) @ v
    for frame, wrench in wrenches.items():
        power += wrench @ robot.jacobian(q, frame, local=True) @ v
    assert relative(kinetic + potential, power) < RATE_BY_DIFFERENCES


def test_friction_never_adds_energy(tree):
    """Damping and friction."""
    robot, _, _, v, *_ = tree
    assert (robot.friction_torque(v) * v >= 0.0).all()
    np.testing.assert_array_equal(robot.friction_torque(0 * v), 0 * v)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(tree):
    """dM/dt - 2C = -(dM/dt - 2C)'."""
    robot, _, q, v, *_ = tree
    N = along(robot, robot.mass_matrix, q, v) - 2 * robot.coriolis_matrix(q, v)
    assert relative(N, -N.T) < RATE_BY_DIFFERENCES


def test_coriolis_matrix_times_velocity_is_the_bias_without_gravity(tree):
    """C v + g = bias."""
    robot, _, q, v, *_ = tree
    total = robot.coriolis_matrix(q, v) @ v + robot.gravity_torque(q)
    assert relative(total, robot.bias_torque(q, v)) < EXACT_MATHS


def test_inverse_dynamics_is_the_sum_of_its_terms(tree):
    """Tau = M a + C v + g + friction - sum J'F."""
    robot, _, q, v, a, _, wrenches = tree
    terms = (robot.mass_matrix(q) @ a + robot.bias_torque(q, v) + robot.friction_torque(v)
             - sum(robot.jacobian(q, f, local=True).T @ w for f, w in wrenches.items()))
    assert relative(robot.inverse_dynamics(q, v, a, wrenches), terms) < EXACT_MATHS


def test_gravity_torque_is_the_gradient_of_the_potential_energy(tree):
    """G = dU/dq."""
    robot, _, q, *_ = tree
    slope = gradient(robot, robot.potential_energy, q)
    assert relative(robot.gravity_torque(q), slope) < RATE_BY_DIFFERENCES


def test_denoc_agrees_with_the_recursions(tree):
    """I = M, tau of gravity and wrenches = -g + J'F; C does the same work and is as passive."""
    robot, _, q, v, _, _, wrenches = tree
    inertia, coriolis, force = robot.denoc(q, v, wrenches)
    C = robot.coriolis_matrix(q, v)
    rest = np.zeros(robot.nv)
    assert relative(inertia, robot.mass_matrix(q)) < EXACT_MATHS
    assert relative(coriolis @ v, C @ v) < EXACT_MATHS
    assert relative(-force, robot.inverse_dynamics(q, rest, rest, wrenches)) < EXACT_MATHS
    assert relative(coriolis - C, -(coriolis - C).T) < EXACT_MATHS


def test_denocs_coriolis_matrix_differs_from_christoffels_by_the_known_term(tree):
    """C_denoc - C = sum over bodies of J_w' (tr(I_c)/2 [w]) J_w."""
    robot, _, q, v, *_ = tree
    known = 0.0
    for body, inertia in zip(robot.model.bodies, robot.model.inertias):
        J = robot.jacobian(q, body.name)[3:]
        x, y, z = J @ v
        trace = np.trace(inertia.tensor_about_com())
        known = known + J.T @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ J * trace / 2
    difference = robot.denoc(q, v)[1] - robot.coriolis_matrix(q, v)
    assert relative(difference, known) < EXACT_MATHS
