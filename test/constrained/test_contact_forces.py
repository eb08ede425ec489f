"""Test contact forces: blocks and levers by hand, laws on random trees, MuJoCo."""

import mujoco
import numpy as np
import pytest
from support import random_trees
from support.contact_null_space import support_of
from support.differences import STEP, relative
from support.rigid_robots import G, body, lever, on_random_links, point, still
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.contact_forces import contact_forces
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.rows import rows

CORNERS = [(0.2, 0.1, -0.05), (0.2, -0.1, -0.05), (-0.2, 0.1, -0.05), (-0.2, -0.1, -0.05)]
# MuJoCo's contacts are soft: what may be left of the settling after 2 s, relative to the weight.
SETTLED = 1e-6


def feet(places):
    return [point(f'foot{k}', place) for k, place in enumerate(places)]


def test_four_feet_of_a_block_carry_a_quarter_each():
    """Redundant: 12 rows of rank 6, the six internal forces are left at zero."""
    robot = body(mass=3.0)
    found = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), feet(CORNERS))
    assert found.rank == 6
    assert relative(found.force, [0.0, 0.0, 3.0 * G / 4] * 4) < SOLVED
    assert relative(found.a, np.zeros(6)) < SOLVED
    assert relative(found.violation, np.zeros(12)) < SOLVED


def test_three_feet_share_the_weight_by_their_levers():
    """Off-centre mass: the normal forces put the centre of pressure below it."""
    com = np.array([0.05, -0.03, 0.2])
    robot = body(mass=3.0, com=com)
    places = np.array([(0.3, 0.0, 0.0), (-0.2, 0.25, 0.0), (-0.1, -0.3, 0.0)])
    found = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), feet(places))
    share = np.linalg.solve([*places[:, :2].T, np.ones(3)], [*com[:2], 1.0])
    assert relative(found.force[2::3], 3.0 * G * share) < SOLVED


def test_a_lever_rests_on_its_tip():
    """Fixed base, three rows of rank one: f L = m g c - tau."""
    robot = lever(mass=2.0, center=0.3)
    for tau in (0.0, 1.7):
        found = contact_forces(robot.model, np.zeros(1), np.zeros(1), np.array([-tau]),
                               [point('tip', (0.8, 0.0, 0.0), 'lever')])
        assert relative(found.force, [0.0, 0.0, (2.0 * G * 0.3 - tau) / 0.8]) < EXACT_MATHS
        assert found.rank == 1


def test_a_spinning_bar_cannot_stand_on_both_ends():
    """Contradiction: each end lacks w^2 r of inward acceleration, and the result reports it."""
    r, w = 0.4, 3.0
    found = contact_forces(body(gravity=(0, 0, 0)).model, still(), np.array([0, 0, 0, 0, 0, w]),
                           np.zeros(6), feet([(r, 0, 0), (-r, 0, 0)]))
    assert np.isfinite(found.force).all()
    assert relative(found.violation, [-w * w * r, 0, 0, w * w * r, 0, 0]) < SOLVED


def test_forces_obey_the_equation_of_motion_and_the_contacts(tree):
    """On random trees under external wrenches, half of them with redundant contacts."""
    model, constraints = tree.robot.model, on_random_links(tree)
    wrenches = body_wrenches(model, tree.wrenches)
    held = support_of(model, tree.q, constraints)
    v = held.null_space @ tree.v
    found = contact_forces(model, tree.q, v, tree.tau, constraints, wrenches)
    _, A, gamma = rows(model, tree.q, v, constraints)
    needed = inverse_dynamics(model, tree.q, v, found.a, wrenches)
    assert relative(tree.tau + A.T @ found.force, needed) < SOLVED
    assert relative(A @ found.a, -gamma) < SOLVED
    assert found.rank == held.rank
    assert relative(held.internal.T @ found.force, 0.0) < SOLVED * (1 + np.abs(found.force).max())


def test_the_order_n_solver_gives_the_same_forces(tree):
    """Where rows are independent, at any velocity."""
    model = tree.robot.model
    constraints = independent(model, tree.q, on_random_links(tree))
    found = contact_forces(model, tree.q, tree.v, tree.tau, constraints)
    forward = constrained_forward_dynamics(model, tree.q, tree.v, tree.tau, constraints)
    assert relative(found.a, forward.a) < SOLVED
    assert relative(found.force, forward.multipliers) < SOLVED


def independent(model, q, constraints):
    """Return the constraints that add as many ranks as they have rows."""
    kept = []
    for constraint in constraints:
        if support_of(model, q, [*kept, constraint]).rank == sum(map(size, [*kept, constraint])):
            kept.append(constraint)
    assert kept
    return kept


def test_contact_forces_change_the_momentum():
    """Newton: sum of forces + weight is the rate of the linear momentum."""
    for tree in (random_trees.make(case) for case in random_trees.TREES if case.base == 'floating'):
        robot = tree.robot
        kinds = ('point_contact', 'line_contact', 'flat_contact')
        contacts = [Constraint(f'c{k}', kind, f'l{3 * k}', axis=(1, 0, 0) if 'line' in kind
                               else (0, 0, 1)) for k, kind in enumerate(kinds)]
        tau = np.concatenate([np.zeros(6), tree.tau[6:]])
        found = contact_forces(robot.model, tree.q, tree.v, tau, contacts)

        def momentum(h, robot=robot, tree=tree, a=found.a):
            return robot.momentum(robot.integrate(tree.q, tree.v, h), tree.v + h * a)[:3]
        rate = (momentum(STEP) - momentum(-STEP)) / (2 * STEP)
        force = sum(found.force[first:first + 3] for first in (0, 3, 8))
        assert relative(force + robot.total_mass * robot.gravity, rate) < RATE_BY_DIFFERENCES


def test_mujoco_block_settles_on_the_same_forces():
    """Soft contacts: its four corner forces after two seconds are ours."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 {-G}"/><worldbody><geom type="plane" size="2 2 .1"/>'
        '<body pos="0 0 .051"><freejoint/><geom type="box" size=".2 .1 .05" mass="3"/></body>'
        '</worldbody></mujoco>')
    data = mujoco.MjData(model)
    while data.time < 2.0:
        mujoco.mj_step(model, data)
    theirs = {}
    for k, contact in enumerate(data.contact[:data.ncon]):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, k, wrench)
        theirs[tuple(np.sign(contact.pos[:2]))] = wrench[0]  # MuJoCo's first axis is the normal
    robot = body(mass=3.0)
    ours = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), feet(CORNERS)).force[2::3]
    expected = [theirs[tuple(np.sign(corner[:2]))] for corner in CORNERS]
    assert sum(expected) == pytest.approx(3.0 * G, rel=SETTLED)
    assert ours == pytest.approx(expected, rel=SETTLED)
