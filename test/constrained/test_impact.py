"""Test impacts: rods and balls by hand, laws on random trees, Pinocchio on quadrupeds."""

import numpy as np
import pinocchio as pin
import pytest
from support import random_trees
from support.contact_null_space import support_of
from support.differences import relative
from support.looped_trees import KINDS, make
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.rigid_robots import body, leg_with_massless_foot, on_random_links, point, still
from support.tolerances import EXACT_MATHS, PINOCCHIO, SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.energy import kinetic_energy
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.compiler.trace import evaluate, trace
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.impact import impact, restitution_of_rows
from dynamics_node.constrained.redundant_impact import redundant_impact
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.errors import DynamicsError

BOTH = pytest.mark.parametrize('strike', [impact, redundant_impact])
FEET = {'solo12': ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT'),
        'anymal_c': ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'),
        'go2': ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')}


# On paper ------------------------------------------------------------------------------------

M, L, U = 1.5, 0.8, 2.0   # mass, length of the rod, speed of its fall


def rod():
    """Return a thin rod along its x axis, its centre at the origin."""
    return body(mass=M, inertia=(1e-4, M * L * L / 12, M * L * L / 12))


def fallen(angle):
    """Return (q, v) of a rod that falls with its +x end raised by the angle, and does not turn."""
    q = np.array([0, 0, L / 2 * np.sin(angle), 0, -np.sin(angle / 2), 0, np.cos(angle / 2)])
    return q, np.array([-U * np.sin(angle), 0, -U * np.cos(angle), 0, 0, 0])


@BOTH
@pytest.mark.parametrize('e', [0.0, 0.3, 1.0])
@pytest.mark.parametrize('angle', [0.0, 0.4, 1.2, np.pi / 2])
def test_a_rod_falls_on_smooth_ground(strike, angle, e):
    """P (1/m + (L/2 cos)^2 / I) = (1 + e) u: P = (1 + e) m u / (1 + 3 cos^2)."""
    end = Constraint('end', 'point_on_plane', 'body', pose=(-L / 2, 0, 0))
    q, v = fallen(angle)
    hit = strike(rod().model, q, v, [end], {'end': e})
    share = 1 / (1 + 3 * np.cos(angle) ** 2)
    assert hit.impulse == pytest.approx([(1 + e) * M * U * share], rel=SOLVED)
    assert hit.energy_loss == pytest.approx((1 - e * e) * M * U * U / 2 * share, abs=SOLVED)
    # the raised end goes on down: the rod turns the other way than it was raised
    assert hit.v[4] == pytest.approx((1 + e) * 6 * U / L * np.cos(angle) * share, abs=SOLVED)


@BOTH
@pytest.mark.parametrize('angle', [0.0, 0.4, 1.2])
def test_a_rod_falls_on_rough_ground(strike, angle):
    """The end sticks: it turns about it by I_end w = m u L/2 cos."""
    q, v = fallen(angle)
    hit = strike(rod().model, q, v, [point('end', (-L / 2, 0, 0))])
    w = 3 * U * np.cos(angle) / (2 * L)
    assert hit.v[4] == pytest.approx(w, rel=SOLVED)
    assert hit.energy_loss == pytest.approx(M * U * U / 2 * (1 - 0.75 * np.cos(angle) ** 2),
                                            rel=SOLVED)
    center = w * L / 2 * np.array([np.sin(angle), 0, -np.cos(angle)])   # its velocity after
    assert hit.impulse == pytest.approx(M * (center - [0, 0, -U]), rel=SOLVED, abs=SOLVED)


@BOTH
@pytest.mark.parametrize('e', [0.0, 0.5, 0.9, 1.0])
def test_a_ball_bounces_with_e_squared_of_its_energy(strike, e):
    """The impulse is (1 + e) m u."""
    ball, radius = body(mass=M, inertia=(0.01, 0.01, 0.01)), 0.1
    hit = strike(ball.model, still(radius), np.array([0, 0, -U, 0, 0, 0]),
                 [point('c', (0, 0, -radius))], e)
    energy = M * U * U / 2
    assert hit.v == pytest.approx([0, 0, e * U, 0, 0, 0])
    assert energy - hit.energy_loss == pytest.approx(e * e * energy)
    assert hit.impulse == pytest.approx([0, 0, (1 + e) * M * U])


def test_a_thrown_ball_rolls_on_and_bounces():
    """Restitution of the normal row alone: 5/7 of the speed is left to roll, e along the normal."""
    radius, e = 0.1, 0.6
    inertia = 0.4 * M * radius ** 2
    ball = body(mass=M, inertia=(inertia,) * 3)
    hit = impact(ball.model, still(radius), np.array([3.0, 0, -U, 0, 0, 0]),
                 [point('c', (0, 0, -radius))], {'c': (0, 0, e)})
    rolling = 3.0 * 5 / 7
    assert hit.v == pytest.approx([rolling, 0, e * U, 0, rolling / radius, 0], abs=1e-12)


# Laws ----------------------------------------------------------------------------------------

@pytest.fixture(params=[0.0, 0.35, 1.0], ids=lambda e: f'e={e}')
def struck(request, tree):
    """A random tree whose contacts hit, half of them redundant: with one e no contradiction."""
    constraints = on_random_links(tree)
    model, e = tree.robot.model, request.param
    return tree, constraints, e, redundant_impact(model, tree.q, tree.v, constraints, e)


def test_contacts_bounce_by_the_restitution(struck):
    """A v+ = -e A v-."""
    tree, constraints, e, hit = struck
    A = constraint_matrix(tree.robot.model, tree.q, constraints)
    assert relative(A @ hit.v, -e * (A @ tree.v)) < SOLVED
    assert relative(hit.violation, 0.0) < SOLVED


def test_momentum_changes_by_the_impulse_alone(struck):
    """M (v+ - v-) = A' p: the momentum along free motions is kept."""
    tree, constraints, _, hit = struck
    M = mass_matrix(tree.robot.model, tree.q)
    A = constraint_matrix(tree.robot.model, tree.q, constraints)
    change = M @ (hit.v - tree.v)
    assert relative(change, A.T @ hit.impulse) < SOLVED
    free = support_of(tree.robot.model, tree.q, constraints).null_space
    assert relative(free.T @ change, 0.0) < SOLVED * np.abs(change).max()


def test_energy_is_lost_by_1_minus_e_squared(struck):
    """Of 1/2 (A v)' Lambda (A v), eq. 3.71: never negative."""
    tree, constraints, e, hit = struck
    model = tree.robot.model
    before, after = (kinetic_energy(model, tree.q, v) for v in (tree.v, hit.v))
    assert hit.energy_loss == pytest.approx(before - after, abs=SOLVED * before)
    A = constraint_matrix(model, tree.q, constraints)
    inertia = support_of(model, tree.q, constraints).inertia
    met = (A @ tree.v) @ inertia @ (A @ tree.v) / 2
    assert hit.energy_loss == pytest.approx((1 - e * e) * met, abs=SOLVED * before)
    assert hit.energy_loss >= -SOLVED * before
    assert met > 0.0


def test_a_plastic_impact_is_the_projection(struck):
    """v+ = N v-, eq. 3.69, and (N - e (1 - N)) v- with restitution."""
    tree, constraints, e, hit = struck
    N = support_of(tree.robot.model, tree.q, constraints).null_space
    assert relative(hit.v, N @ tree.v - e * (tree.v - N @ tree.v)) < SOLVED


@pytest.mark.parametrize('kinds', KINDS, ids='-'.join)
@pytest.mark.parametrize('case', random_trees.TREES, ids=str)
def test_loops_stay_closed_when_a_contact_hits(case, kinds):
    """Both solvers: the contact bounces, the loops have no restitution."""
    looped = make(case, kinds)
    loops = [loop for loop in looped.constraints if not loop.is_contact]
    constraints = with_a_foot(looped.model, looped.q, loops)
    v = support_of(looped.model, looped.q, loops).null_space @ looped.v
    hit = impact(looped.model, looped.q, v, constraints, 0.5)
    A = constraint_matrix(looped.model, looped.q, constraints)
    assert np.all(hit.margin > 0) and np.all(hit.inertia_margin > 0)
    assert relative(A[:-3] @ hit.v, np.zeros(len(A) - 3)) < SOLVED
    assert relative(A[-3:] @ hit.v, -0.5 * (A[-3:] @ v)) < SOLVED
    other = redundant_impact(looped.model, looped.q, v, constraints, 0.5)
    assert relative(hit.v, other.v) < SOLVED
    assert relative(hit.impulse, other.impulse) < SOLVED
    assert hit.energy_loss == pytest.approx(other.energy_loss, rel=SOLVED, abs=SOLVED)


def with_a_foot(model, q, loops):
    """Return the loops and a contact that they have left free to move."""
    rows = sum(map(size, loops)) + 3
    for link in ('l2', 'l10'):
        feet = [*loops, Constraint('foot', 'point_contact', link, pose=(0.3, 0.1, -0.2))]
        if support_of(model, q, feet).rank == rows:
            return feet
    raise AssertionError('no link is free')


# Rank ----------------------------------------------------------------------------------------

CORNERS = [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]


def test_four_feet_of_a_table_land_together():
    """12 rows of rank 6: the full-rank solver reports it, the other shares the impulse evenly."""
    table = body(mass=M)
    feet = [point(f'foot{k}', corner) for k, corner in enumerate(CORNERS)]
    v = np.array([0, 0, -U, 0, 0, 0])
    with np.errstate(all='ignore'):
        assert not np.all(impact(table.model, still(), v, feet).margin > 0)
    hit = redundant_impact(table.model, still(), v, feet, 0.5)
    assert hit.rank == 6
    assert hit.impulse == pytest.approx([0, 0, 1.5 * M * U / 4] * 4)
    assert hit.v == pytest.approx([0, 0, U / 2, 0, 0, 0])


def test_the_same_contact_twice_has_no_margin():
    """Its pivot is rounding, which is below the threshold."""
    q, v = fallen(0.4)
    twice = [Constraint(name, 'point_on_plane', 'body', pose=(-L / 2, 0, 0)) for name in 'ab']
    with np.errstate(all='ignore'):
        hit = impact(rod().model, q, v, twice)
    assert hit.margin[0] < 0 < hit.margin[1]
    assert redundant_impact(rod().model, q, v, twice).rank == 1


def test_a_massless_foot_has_an_impact():
    """M is singular, but for the contact: M (v+ - v-) = A' p and A v+ = -e A v- hold."""
    robot = leg_with_massless_foot()
    q, v, e = np.array([0.3, 0.5]), np.array([1.0, -2.0]), 0.4
    sole = [Constraint('sole', 'spherical', 'foot', pose=(0.2, 0.0, 0.0))]
    hit = redundant_impact(robot.model, q, v, sole, {'sole': e})
    M, A = mass_matrix(robot.model, q), constraint_matrix(robot.model, q, sole)
    assert M[1, 1] == 0.0
    assert relative(A @ hit.v, -e * (A @ v)) < SOLVED
    assert relative(M @ (hit.v - v), A.T @ hit.impulse) < SOLVED
    assert hit.energy_loss == pytest.approx((v @ M @ v - hit.v @ M @ hit.v) / 2)


def test_incompatible_restitutions_are_reported_row_by_row():
    """Four restitutions on a plane's three normal speeds."""
    table = body(mass=M)
    feet = [point(f'foot{k}', corner) for k, corner in enumerate(CORNERS)]
    v = np.array([0, 0, -U, 0, 0, 0])
    hit = redundant_impact(table.model, still(), v, feet, {'foot0': 0.8})
    assert np.isfinite(hit.impulse).all()
    # of (0.8, 0, 0, 0) u a plane misses a quarter, up and down by turns
    assert hit.violation[2::3] == pytest.approx(0.2 * U * np.array([-1, 1, 1, -1]))


def test_different_restitutions_can_add_energy():
    """Newton's law with friction does (Kane): the loss is then negative, and shown."""
    slanted = body(mass=M, inertia=(0.02, 0.02, 0.02), com=(0.3, 0.0, 0.3))
    foot = [point('foot', (0, 0, 0))]
    losses = [impact(slanted.model, still(), np.array([speed, 0, -U, 0, 0, 0]), foot,
                     {'foot': (0, 0, 1.0)}).energy_loss for speed in (-2.0, 0.0, 2.0)]
    assert min(losses) < 0.0 < max(losses)


# Peers and the compiler ----------------------------------------------------------------------

@pytest.mark.parametrize('e', [0.0, 0.4])
@pytest.mark.parametrize('feet', [1, 2, 4])
@pytest.mark.parametrize('name', FEET)
def test_pinocchio_agrees_on_the_impact_of_a_quadruped(name, feet, e):
    """Its impulseDynamics on its own model and foot Jacobians."""
    example = next(robot for robot in ROBOTS if robot.name == name)
    robot = Robot.from_urdf(example.urdf, base='floating', friction=False)
    oracle = PinocchioOracle(example, robot.joint_names)
    rng = np.random.default_rng(feet)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    frames = FEET[name][:feet]
    hit = impact(robot.model, q, v,
                 [Constraint(frame, 'point_contact', frame) for frame in frames], e)
    J = np.concatenate([J[:3] for J in oracle.jacobians([q], frames=frames)[0]]) @ oracle.G.T
    after = pin.impulseDynamics(oracle.model, oracle.data, oracle.configuration(q), oracle.G @ v,
                                J, e, 0.0)
    assert np.all(hit.margin > 0)
    assert relative(hit.v, oracle.G.T @ after) < PINOCCHIO
    assert relative(hit.impulse, oracle.data.impulse_c) < PINOCCHIO


def test_the_impact_can_be_compiled(tree):
    """It compares no value, restitutions included: the traced program gives the same numbers."""
    model = tree.robot.model
    constraints = on_random_links(tree, ('point_contact',)) + [
        Constraint('drive', 'coupling', joints=('j0', 'j1'), ratio=2.0)]

    def result(q, v, e):
        return tuple(impact(model, q, v, constraints, e))
    e = np.array([0.1, 0.2, 0.3, 0.0])
    program = trace(result, {'q': (model.nq,), 'v': (model.nv,), 'e': (4,)})
    got = evaluate(program, np.concatenate([tree.q, tree.v, e]))
    found = impact(model, tree.q, tree.v, constraints, e)
    if not (found.margin > 0.0).all():  # rows that are dependent but for a hair: refused
        assert not (got[found._fields.index('margin')] > 0.0).all()
        return
    for ours, theirs in zip(got, found):
        assert relative(ours, theirs) < EXACT_MATHS


# Arguments -----------------------------------------------------------------------------------

def test_a_single_restitution_is_for_contacts_alone():
    """Names select constraints; rows are rows."""
    constraints = [Constraint('loop', 'spherical', 'a', 'b'), point('foot', (0, 0, 0)),
                   Constraint('plane', 'point_on_plane', 'a')]
    assert restitution_of_rows(constraints, 0.5).tolist() == [0, 0, 0, 0.5, 0.5, 0.5, 0]
    assert restitution_of_rows(constraints, {'plane': 1.0, 'foot': (0, 0, 0.2)}).tolist() == [
        0, 0, 0, 0, 0, 0.2, 1]
    assert restitution_of_rows(constraints, [0.1] * 7).tolist() == [0.1] * 7
    assert restitution_of_rows([], 0.5).shape == (0,)
    with pytest.raises(DynamicsError, match="no constraint 'hand'; the set has: loop, foot, plane"):
        restitution_of_rows(constraints, {'hand': 0.5})
