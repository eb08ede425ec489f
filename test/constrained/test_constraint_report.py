"""Test the constraint report: rank, redundant and contradictory rows, unactuated motions."""

import numpy as np
import pytest
from support.bundled_mechanisms import load, standing
from support.differences import relative
from support.massless_links import MASSLESS
from support.rigid_robots import body, point, still
from support.tolerances import SOLVED

from dynamics_node import Robot, SingularModel
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.classification import EXACTLY, OVER, UNDER, Classification
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.constraint_report import report
from dynamics_node.constrained.proximal import Proximal, proximal_forward_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward
from dynamics_node.constrained.row_decomposition import decompose, dependent_rows
from dynamics_node.constrained.rows import rows


def test_independent_rows_are_not_reported_redundant(looped):
    """None redundant, none contradicted, and the freedoms add up."""
    found = report(looped.model, looped.q, looped.v, looped.constraints)
    m = len(row_names(looped.constraints))
    assert found.rank == m and found.redundant == () and found.freedom == looped.model.nv - m
    assert found.passive.kind == UNDER and not found.singular and found.failure == 0
    assert 0.0 < found.clearance <= 1.0
    assert np.abs(found.residual).max() < SOLVED and np.abs(found.velocity).max() < SOLVED


def test_actuation_is_counted_with_locked_motors(looped):
    """Freedom - actuated motions keep the constraints and move no motor (rank by NumPy)."""
    active = looped.rng.random(looped.model.nv) < 0.5
    found = report(looped.model, looped.q, looped.v, looped.constraints, active)
    A = rows(looped.model, looped.q, looped.v, looped.constraints).A
    held = np.vstack([A, np.eye(looped.model.nv)[active]])
    rank = np.linalg.matrix_rank(held, tol=1e-6)
    assert found.freedom - found.actuated == looped.model.nv - rank == found.driven.free
    assert found.redundant_actuation == active.sum() - found.actuated
    assert bool(found.loose) == (rank < looped.model.nv)


def test_redundant_rows_are_named(looped):
    """The later one of each pair."""
    again = tuple(Constraint(**{**vars(constraint), 'name': constraint.name + '_again'})
                  for constraint in looped.constraints)
    found = report(looped.model, looped.q, looped.v, looped.constraints + again)
    assert found.redundant == tuple(row_names(again))
    assert found.rank == len(row_names(again)) and found.failure == 0 and not found.singular
    assert f'repeated: {row_names(again)[0]}' in str(found)


def test_violated_rows_are_measured_and_named(looped):
    """Position and velocity, with the worst row of each."""
    q = looped.robot.integrate(looped.q, 1e-2 * looped.rng.normal(size=looped.model.nv))
    v = looped.v + looped.rng.normal(size=looped.model.nv)
    found = report(looped.model, q, v, looped.constraints)
    expected = rows(looped.model, q, v, looped.constraints)
    assert (found.residual == expected.residual).all()
    assert (found.velocity == expected.A @ v).all()
    worst = row_names(looped.constraints)[np.argmax(np.abs(found.velocity))]
    assert f'velocity off by {np.abs(found.velocity).max():.3g} at {worst}' in str(found)


def test_no_constraints_leave_everything_free(tree):
    """The report is empty and readable."""
    found = report(tree.robot.model, tree.q, tree.v, ())
    assert found.rank == 0 and found.freedom == tree.robot.nv and found.clearance == np.inf
    assert found.actuated == actuated_dofs(tree.robot.model).sum()
    assert '0 constraint rows' in str(found)


def test_classification_of_mechanisms():
    """Rows, rank, coordinates."""
    assert Classification(3, 3, 3).kind == EXACTLY
    assert Classification(4, 3, 3).kind == OVER and Classification(4, 3, 3).redundant == 1
    assert Classification(2, 2, 3).kind == UNDER and Classification(2, 2, 3).free == 1
    assert Classification(4, 2, 3).kind == UNDER  # free to move, though two rows are too many


def test_a_massless_link_is_failure_condition_2_until_it_is_constrained():
    """A torque at the wrist meets no inertia; pinned, the arm and its inertia do."""
    model = Robot.from_urdf(MASSLESS, compile=False).model
    zero, tau = np.zeros(2), np.array([0.0, 1.0])
    found = report(model, zero, zero, ())
    assert found.failure == 2 and 'failure condition 2' in str(found)
    with pytest.raises(SingularModel, match='failure condition 2'):
        rank_deficient_forward(model, zero, zero, tau, ())
    gear = (Constraint('gear', 'coupling', joints=('wrist', 'shoulder'), ratio=2.0),)
    assert report(model, zero, zero, gear).failure == 0
    result = rank_deficient_forward(model, zero, zero, tau, gear)
    assert relative(result.a, [2.0, 4.0]) < SOLVED  # twice the torque on 1 kg m^2
    assert relative(result.multipliers, [-1.0]) < SOLVED


def test_a_contradiction_is_failure_condition_1_and_stays_finite():
    """A rod that spins between two pins: the report, and the results of the solvers."""
    model, ends = body().model, (point('l', (-0.4, 0.0, 0.0)), point('r', (0.4, 0.0, 0.0)))
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    found = report(model, still(), v, ends)
    assert found.failure == 1 and 'failure condition 1' in str(found)
    exact = rank_deficient_forward(model, still(), v, np.zeros(6), ends)
    assert relative(exact.violation, found.contradiction) < SOLVED
    settings = Proximal()
    near = proximal_forward_dynamics(model, still(), v, np.zeros(6), ends)
    assert near.iterations < settings.max_iterations  # A a does not get better: it stops
    assert np.abs(near.violation - exact.violation).max() < 1e-5
    assert np.isfinite(near.multipliers).all()


def test_proximal_forces_stay_bounded_near_a_singularity():
    """A five-bar stretched flat: exact multipliers grow without bound, proximal ones do not."""
    mechanism = load('five_bar', friction=False)
    model, constraints = mechanism.model, mechanism.constraints
    q, v, tau = standing(model, constraints, 4)
    A = rows(model, q, v, constraints).A
    # the same rows, and one more that leaves the first by an angle that goes to zero
    pin = constraints[0]
    sizes = []
    for angle in (1e-2, 1e-4, 1e-6):
        axis = tuple(np.cos(angle) * np.array(pin.axis)
                     + np.sin(angle) * np.array([0.0, 0.0, 1.0]))
        leaning = (pin, Constraint('leaning', 'point_on_plane', pin.frame, pin.to, pin.pose,
                                   pin.to_pose, axis=axis))
        exact = rank_deficient_forward(model, q, v, tau, leaning)
        near = proximal_forward_dynamics(model, q, v, tau, leaning,
                                         settings=Proximal(max_iterations=5))
        sizes.append((np.abs(exact.multipliers).max(), np.abs(near.multipliers).max()))
    exact, near = np.array(sizes).T
    assert exact[2] > 1e3 * exact[0]
    assert near.max() < 1e2 * exact[0]
    assert np.linalg.matrix_rank(A) == 2


def test_decompositions_span_the_named_spaces(looped):
    """Free motions, internal multipliers and the solution of the rows."""
    A = rows(looped.model, looped.q, looped.v, looped.constraints).A
    M = mass_matrix(looped.model, looped.q)
    A = np.vstack([A, A[:2] - A[2:4], 1e-17 * A[:1]])
    found = decompose(M, A)
    assert found.rank == len(A) - 3 and found.added == 0.0
    assert dependent_rows(A, M) == dependent_rows(A) == [len(A) - 3, len(A) - 2, len(A) - 1]
    free, internal = found.free(), found.internal()
    assert np.abs(A @ free).max() < SOLVED and relative(free.T @ M @ free,
                                                        np.eye(free.shape[1])) < SOLVED
    assert np.abs(A.T @ internal).max() < SOLVED and internal.shape == (len(A), 3)
    error = A @ looped.rng.normal(size=looped.model.nv)
    x = found.step(error)
    assert relative(A @ np.linalg.solve(found.L.T, x), error) < SOLVED
    multipliers = found.multipliers(x)
    assert relative(np.linalg.solve(found.L, A.T @ multipliers), x) < SOLVED
    assert np.abs(internal.T @ multipliers).max() < SOLVED * np.abs(multipliers).max()


def test_a_robot_in_the_air_is_groundless():
    """Six motions are free with every motor locked; three points on the ground leave none."""
    zero = np.zeros(6)
    assert 'groundless' in str(report(body().model, still(), zero, ()))
    feet = tuple(point(f'foot{k}', where) for k, where in enumerate(np.eye(3)))
    assert 'groundless' not in str(report(body().model, still(), zero, feet))
