"""Test forward dynamics with loops on random trees with every joint and constraint."""

import numpy as np
from support import random_trees
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.energy import kinetic_energy, potential_energy
from dynamics_node.algorithms.hybrid_dynamics import backward_pass
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.reduced_dynamics import reduced_dynamics
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.constrained.assembly import project_configuration, project_velocity
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.forward import (
    by_articulated_bodies,
    by_mass_matrix,
    constrained_forward_dynamics,
)
from dynamics_node.constrained.proximal import Proximal, proximal_forward_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward
from dynamics_node.constrained.rows import rows
from dynamics_node.model.configuration import integrate

BAUMGARTE = (3.0, 4.0)
# Multipliers that no row sees: rounding, 1e-16 of the sum, is divided by mu = 1e-6.
UNSEEN = 1e-8


def forward(looped, solve=constrained_forward_dynamics, **options):
    return solve(looped.model, looped.q, looped.v, looped.tau, looped.constraints,
                 looped.wrenches, **options)


def test_the_motion_keeps_the_constraints_and_obeys_newton(looped):
    """A a + gamma = 0 and M a + b = tau + A' lambda."""
    model, q, v = looped.model, looped.q, looped.v
    found, answer = rows(model, q, v, looped.constraints), forward(looped)
    assert relative(found.A @ answer.a, -found.gamma) < SOLVED
    needed = inverse_dynamics(model, q, v, answer.a, looped.wrenches)
    assert relative(needed, looped.tau + found.A.T @ answer.multipliers) < SOLVED
    assert np.all(answer.margin > 0.0) and np.all(answer.inertia_margin > 0.0)


def test_constraints_do_no_work(looped):
    """Lambda' A v = 0: power comes from torques, wrenches and gravity alone."""
    found, answer = rows(looped.model, looped.q, looped.v, looped.constraints), forward(looped)
    power = answer.multipliers * (found.A @ looped.v)
    assert np.abs(power).sum() < SOLVED * max(1.0, np.abs(answer.multipliers).max())


def test_reduced_passes_solve_the_mass_matrix():
    """M^-1 on any torques, and the torques that hold prescribed joints still, by blocks."""
    for tree in random_trees.TREES:
        if tree.mimic:
            continue
        specimen = random_trees.make(tree)
        model, n = specimen.robot.model, specimen.robot.nv
        M = mass_matrix(model, specimen.q)
        torques = specimen.rng.normal(size=(n, 5))
        for given in (np.zeros(n, dtype=bool), np.arange(n) % 3 == 1, np.ones(n, dtype=bool)):
            motion = forward_recursion(model, specimen.q, specimen.v)
            joints = backward_pass(model, motion, specimen.a, specimen.tau, given, None)
            a, tau = reduced_dynamics(model, motion, joints, given, torques)
            assert not a[given].any() and (tau[~given] == torques[~given]).all()
            assert relative(M @ a, tau) < SOLVED


def test_mass_matrix_and_articulated_bodies_agree(looped_without_mimic):
    """Both solvers, also with the drift subtracted."""
    looped = looped_without_mimic
    for stabilisation in (None, BAUMGARTE):
        one, two = (forward(looped, solve, stabilisation=stabilisation)
                    for solve in (by_articulated_bodies, by_mass_matrix))
        for a, b in zip(one, two):
            assert relative(a, b) < SOLVED


def test_rank_revealing_agrees_where_the_rows_are_independent(looped):
    """Accelerations and multipliers."""
    exact, revealed = forward(looped), forward(looped, rank_deficient_forward)
    assert relative(revealed.a, exact.a) < SOLVED
    assert relative(revealed.multipliers, exact.multipliers) < SOLVED
    assert revealed.rank == len(exact.multipliers)


def test_redundant_rows_change_no_acceleration(looped):
    """Each copy carries half: the shortest multipliers."""
    exact = forward(looped)
    twice = looped._replace(constraints=looped.constraints + tuple(
        constraint.__class__(**{**vars(constraint), 'name': constraint.name + '_again'})
        for constraint in looped.constraints))
    revealed = forward(twice, rank_deficient_forward)
    m = len(exact.multipliers)
    assert revealed.rank == m
    assert relative(revealed.a, exact.a) < SOLVED
    assert relative(revealed.multipliers, np.tile(exact.multipliers / 2.0, 2)) < SOLVED
    near = forward(twice, proximal_forward_dynamics)
    assert relative(near.a, exact.a) < SOLVED
    assert relative(near.multipliers, revealed.multipliers) < UNSEEN
    assert not np.all(by_margin(twice) > 0.0)


def by_margin(looped):
    with np.errstate(all='ignore'):  # the exact solver divides by the pivot, then says so
        return forward(looped).margin


def test_proximal_converges_to_the_exact_solution(looped):
    """In a few steps, each of which leaves a millionth of the error."""
    exact, near = forward(looped), forward(looped, proximal_forward_dynamics)
    assert relative(near.a, exact.a) < SOLVED
    assert relative(near.multipliers, exact.multipliers) < SOLVED
    assert np.abs(near.violation).max() < SOLVED * np.abs(exact.a).max()
    assert near.iterations < 10


def test_proximal_without_a_tolerance_makes_all_its_steps(looped):
    """No value is compared, so it can be traced."""
    blind = forward(looped, proximal_forward_dynamics,
                    settings=Proximal(max_iterations=3, tolerance=0.0))
    assert blind.iterations == 3
    # each step leaves mu/s: 1e-3 where a singular value s is a thousandth of the mean
    assert relative(blind.a, forward(looped).a) < 1e-3 ** 3


def test_without_constraints_it_is_forward_dynamics(tree):
    """An empty list, through every solver."""
    model, expected = tree.robot.model, tree.robot.forward_dynamics(tree.q, tree.v, tree.tau)
    for solve in (constrained_forward_dynamics, rank_deficient_forward, proximal_forward_dynamics):
        answer = solve(model, tree.q, tree.v, tree.tau, ())
        assert relative(answer.a, expected) < SOLVED
        assert answer.multipliers.shape == (0,)


def test_baumgarte_stabilisation_follows_its_equation(looped):
    """A a + gamma = -2 alpha A v - beta^2 residual, at a state that breaks the constraints."""
    model, (alpha, beta) = looped.model, BAUMGARTE
    q = integrate(model, looped.q, 0.01 * looped.rng.normal(size=model.nv))
    v = looped.v + looped.rng.normal(size=model.nv)
    broken = looped._replace(q=q, v=v)
    found = rows(model, q, v, looped.constraints)
    assert np.abs(found.A @ v).max() > 0.1
    expected = -found.gamma - 2.0 * alpha * (found.A @ v) - beta ** 2 * found.residual
    for solve in (constrained_forward_dynamics, rank_deficient_forward, proximal_forward_dynamics):
        a = forward(broken, solve, stabilisation=BAUMGARTE).a
        assert relative(found.A @ a, expected) < SOLVED


# Two bars of 2 m hang side by side and carry a board: a swing, closed by a pin in its plane. To and
# fro takes three seconds. RK4 at 50 ms, with projection after every step, gains or loses this
# share of the energy it swings with; the method's order is four, so half the step has a sixteenth.
DRIFT = 1e-5
SWING = """<robot name="swing"><link name="frame"/>{}{}{}</robot>""".format(*(
    f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="3"/>'
    '<inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    f'<joint name="{name}_hinge" type="continuous"><parent link="{parent}"/><child link="{name}"/>'
    f'<origin xyz="{at}"/><axis xyz="0 1 0"/></joint>'
    for name, parent, at, com in (('left', 'frame', '0 0 0', '0 0 -1'),
                                  ('board', 'left', '0 0 -2', '0.5 0 0'),
                                  ('right', 'frame', '1 0 0', '0 0 -1'))))
PIN = {'frame': 'board', 'to': 'right', 'pose': (1.0, 0.0, 0.0), 'to_pose': (0.0, 0.0, -2.0)}
PINNED = (Constraint('along', 'point_on_plane', axis=(1.0, 0.0, 0.0), **PIN),
          Constraint('up', 'point_on_plane', axis=(0.0, 0.0, 1.0), **PIN))


def test_a_closed_loop_keeps_its_energy_for_ten_seconds():
    """Without friction, under gravity."""
    model = Robot.from_urdf(SWING, compile=False).model
    q, v, dt = np.array([1.0, -1.0, 1.0]), np.zeros(3), 0.05
    energies = [(kinetic_energy(model, q, v), potential_energy(model, q))]
    for _ in range(200):
        q, v = _rk4(model, q, v, dt)
        q = project_configuration(model, q, PINNED)
        v = project_velocity(model, q, v, PINNED)
        energies.append((kinetic_energy(model, q, v), potential_energy(model, q)))
    kinetic, potential = np.array(energies).T
    assert kinetic.max() > 10.0  # it does swing [J]
    assert np.ptp(kinetic + potential) < DRIFT * kinetic.max()


def _rk4(model, q, v, dt):
    def rate(q, v):
        return v, constrained_forward_dynamics(model, q, v, np.zeros(3), PINNED).a
    v1, a1 = rate(q, v)
    v2, a2 = rate(q + dt / 2 * v1, v + dt / 2 * a1)
    v3, a3 = rate(q + dt / 2 * v2, v + dt / 2 * a2)
    v4, a4 = rate(q + dt * v3, v + dt * a3)
    return (q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4))
