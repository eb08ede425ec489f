"""Test assembly: states that keep constraints, found quadratically, within limits, or refused."""

import numpy as np
import pytest
from support import random_loops
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.constrained import assembly
from dynamics_node.constrained.assembly import anchored, project_configuration, project_velocity
from dynamics_node.constrained.constraint import KINDS, Constraint
from dynamics_node.constrained.read_loops import read_constraints
from dynamics_node.constrained.rows import constraint_matrix, residual
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.model.configuration import difference, integrate, neutral

OFF = 0.1            # [rad or m] how far off each coordinate starts
STEPS = 8            # quadratic from there: 1e-1, 1e-2, 1e-4, 1e-8, 1e-16, and some to settle in
TOLERANCE = 1e-12    # [rad or m] of what is found
PAIRS = [('weld',), ('revolute', 'distance'), ('spherical', 'coupling'), ('flat_contact',),
         ('planar', 'point_on_plane'), ('weld', 'line_contact'), ('point_contact', 'spherical'),
         ('screw', 'rolling_wheel'), ('expression', 'rolling_ball')]


def closed(tree, kinds):
    """Return constraints that the tree's state keeps, to l5 and to the world in turn."""
    return [random_loops.kept(tree.robot.model, tree.q, kind, random_loops.HELD, to, tree.rng)
            for kind, to in zip(kinds, ('l5', 'world'))]


def off(tree):
    """Return the tree's configuration with every coordinate a little off."""
    return tree.robot.integrate(tree.q, tree.rng.uniform(-OFF, OFF, tree.robot.nv))


@pytest.mark.parametrize('kinds', PAIRS, ids='-'.join)
def test_random_loops_close_in_a_few_steps(tree, kinds):
    """From 0.1 rad off, on trees of every joint type, whatever the kind."""
    model, constraints = tree.robot.model, closed(tree, kinds)
    start = off(tree)
    assert np.abs(residual(model, start, constraints)).max() > 1e-3
    q = project_configuration(model, start, constraints, TOLERANCE, STEPS)
    assert np.abs(residual(model, q, constraints)).max() <= TOLERANCE


def test_steps_are_quadratic(tree, monkeypatch):
    """Once near, a step squares the residual, but for a factor; the last one ends in rounding."""
    left = []
    best_part = assembly._best_part

    def listened(*args):
        result = best_part(*args)
        left.append(np.linalg.norm(result[1]))
        return result

    monkeypatch.setattr(assembly, '_best_part', listened)
    project_configuration(tree.robot.model, off(tree), closed(tree, ('weld', 'spherical')))
    near = [(r, r_next) for r, r_next in zip(left, left[1:]) if 1e-7 < r < 1e-2]
    assert near
    assert all(r_next < 50.0 * r ** 2 for r, r_next in near)


@pytest.mark.parametrize('name', MECHANISMS)
def test_bundled_mechanisms_are_assembled(name):
    """Within their joints' limits, from a configuration that is off."""
    model = Robot.from_urdf(MECHANISMS[name].urdf, compile=False).model
    loops = read_constraints(MECHANISMS[name].loops.read_text())
    rng = np.random.default_rng(0)
    start = integrate(model, neutral(model), rng.uniform(-OFF, OFF, model.nv))
    q = project_configuration(model, start, loops)
    assert np.abs(residual(model, q, loops)).max() <= TOLERANCE
    assert_within_limits(model, q)


def assert_within_limits(model, q):
    for joint in model.joints:
        if joint.kind != 'floating':
            assert (joint.lower <= q[joint.q]).all()
            assert (q[joint.q] <= joint.upper).all()


def test_redundant_rows_do_not_change_the_assembly(tree):
    """The same loop under two names, and as weld, revolute and spherical of one closure."""
    model, (weld,) = tree.robot.model, closed(tree, ('weld',))
    same = [Constraint(f'{kind}{k}', kind, weld.frame, weld.to, weld.pose, weld.to_pose)
            for k, kind in enumerate(('weld', 'weld', 'revolute', 'spherical'))]
    start = off(tree)
    once, often = (project_configuration(model, start, constraints)
                   for constraints in ([weld], same))
    assert np.abs(residual(model, often, same)).max() <= TOLERANCE
    assert np.abs(residual(model, once, same)).max() <= 10 * TOLERANCE


def test_an_assembled_state_stays_unchanged(tree):
    """To the last bit, but for the length of quaternions."""
    model, constraints = tree.robot.model, closed(tree, ('weld', 'spherical'))
    q = project_configuration(model, tree.q, constraints, tolerance=1e-9)
    assert relative(q, tree.q) < EXACT_MATHS
    assert relative(project_configuration(model, tree.q, []), tree.q) < EXACT_MATHS


def test_fixed_joints_keep_their_positions(tree):
    """And the others close the loop."""
    model = tree.robot.model
    fixed = ('j0', 'j1', 'j3')  # the floating joint of the tree among them
    constraints = closed(tree, ('spherical',))
    start = off(tree)
    for name in fixed:
        joint = model.joint(name)
        start[joint.q] = tree.q[joint.q]
    q = project_configuration(model, start, constraints, fixed=fixed)
    assert np.abs(residual(model, q, constraints)).max() <= TOLERANCE
    for name in fixed:
        joint = model.joint(name)
        assert relative(q[joint.q], start[joint.q]) < EXACT_MATHS


def test_a_contact_without_anchor_stays_where_it_is(tree):
    """While a loop elsewhere closes; frame 2 keeps its position and orientation."""
    model = tree.robot.model
    foot = Constraint('foot', 'flat_contact', 'l5', pose=(0.1, 0.2, 0.3))
    loop = random_loops.kept(model, tree.q, 'point_on_plane', 'l10', 'world', tree.rng)
    start = off(tree)
    pinned = anchored(model, start, [foot])
    assert np.abs(residual(model, start, pinned)).max() < EXACT_MATHS
    q = project_configuration(model, start, [foot, loop])
    assert np.abs(residual(model, q, [*pinned, loop])).max() <= TOLERANCE
    assert np.abs(difference(model, start, q)).max() > 1e-6


def arm(**settings):
    return Robot.from_urdf(ARM7, compile=False, **settings).model


def test_rotation_errors_of_half_a_turn_are_corrected():
    """Sin(angle) alone is zero there."""
    model = arm(base='floating')
    for quaternion in ((np.sin(1.5), 0.0, 0.0, np.cos(1.5)), (1.0, 0.0, 0.0, 0.0)):
        for kind, axis in (('weld', {}), ('revolute', {'axis': (0, 0, 1)})):
            start = neutral(model)
            start[3:7] = quaternion
            hold = Constraint('hold', kind, 'base_link', to_pose=(0, 0, 0), **axis)
            q = project_configuration(model, start, [hold])
            assert abs(q[6]) == pytest.approx(1.0) or kind == 'revolute'
            assert np.abs(residual(model, q, [hold], assembly.angle_of_rotation)).max() <= TOLERANCE


def test_a_robot_that_is_far_away_can_be_assembled():
    """At 1e6 m a coordinate is known to 1e-10 m; the tolerance follows."""
    model = arm(base='floating')
    q = neutral(model)
    q[:3] = 1e6, -2e6, 10.0
    foot = Constraint('foot', 'spherical', 'base_link', to_pose=(1e6 + 0.01, -2e6, 10.1))
    found = project_configuration(model, q, [foot])
    assert relative(found[:3], (1e6 + 0.01, -2e6, 10.1)) < 1e-14


def test_an_impossible_assembly_is_refused_with_its_residual():
    """Out of reach, by the distance that is missing; and two that contradict each other."""
    model = arm()
    q = neutral(model)
    far = Constraint('far', 'spherical', 'tool0', to_pose=(10.0, 0.0, 0.0))
    with pytest.raises(DynamicsError, match=r"'far' by [89](\.\d+)? .*out of reach"):
        project_configuration(model, q + 0.3, [far])
    low, high = (Constraint(name, 'point_on_plane', 'tool0', distance=height)
                 for name, height in (('low', 0.4), ('high', 0.6)))
    with pytest.raises(DynamicsError, match=r"'(low|high)' by 0\.1, '(low|high)' by 0\.1 .*"
                                            'contradict'):
        project_configuration(model, q + 0.3, [low, high])


def test_limits_are_kept_or_named():
    """A joint stops at its limit and others close the loop; if they cannot, the error says so."""
    model = arm()
    joint = model.joint('joint_2')
    beyond = joint.upper + 0.5
    follows = Constraint('gear', 'coupling', joints=('joint_2', 'joint_4'), ratio=1.0,
                         offset=beyond - 0.1)
    q = project_configuration(model, neutral(model), [follows])
    assert_within_limits(model, q)
    assert np.abs(residual(model, q, [follows])).max() <= TOLERANCE
    held = Constraint('held', 'coupling', joints=('joint_2', 'joint_4'), ratio=0.0, offset=beyond)
    with pytest.raises(DynamicsError, match=r"'held' by 0.5 .*at their limits: joint_2"):
        project_configuration(model, neutral(model), [held])


def test_limits_can_be_switched_off():
    """A simulation without stops moves beyond them; else the joint comes back."""
    model = arm()
    q = neutral(model)
    q[1] = model.joint('joint_2').upper + 0.2
    gear = Constraint('gear', 'coupling', joints=('joint_2', 'joint_4'), ratio=0.5,
                      offset=q[1] - 0.5 * q[3])
    assert (project_configuration(model, q, [gear], limits=False) == q).all()
    assert_within_limits(model, project_configuration(model, q, [gear]))


def test_bad_arguments_are_refused():
    """By name."""
    model = arm()
    weld = Constraint('w', 'weld', 'nowhere')
    q = neutral(model)
    with pytest.raises(DynamicsError, match='nowhere'):
        project_configuration(model, q, [weld])
    with pytest.raises(DynamicsError, match='nowhere'):
        project_velocity(model, q, q, [weld])
    with pytest.raises(UnknownName, match='joint_9'):
        project_configuration(model, q, [], fixed=['joint_9'])
    with pytest.raises(DynamicsError, match='q is'):
        project_configuration(model, q * np.nan, [])
    with pytest.raises(DynamicsError, match='tolerance is'):
        project_configuration(model, q, [], tolerance=0.0)
    with pytest.raises(DynamicsError, match='v is'):
        project_velocity(model, q, q[:3], [])


def test_a_robot_without_joints_has_nothing_to_move():
    """No coordinate, no constraint that could be."""
    model = Robot.from_urdf('<robot name="r"><link name="a"/></robot>', compile=False).model
    assert project_configuration(model, [], []).shape == (0,)
    assert project_velocity(model, [], [], []).shape == (0,)


@pytest.fixture
def massless():
    """Two links of 1 m in a plane, without any mass."""
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
      </joint><joint name="k" type="continuous"><parent link="b"/><child link="c"/>
      <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
    return Robot.from_urdf(text, compile=False).model


def test_massless_links_can_be_assembled(massless):
    """The kinetic energy does not determine their motion; a small inertia is added."""
    tip = Constraint('tip', 'point_on_plane', 'c', pose=(1, 0, 0), axis=(1, 0, 0), distance=1.0)
    q = project_configuration(massless, [0.1, 0.2], [tip])
    assert np.abs(residual(massless, q, [tip])).max() <= TOLERANCE


def test_a_stretched_arm_is_assembled(massless):
    """No small step shortens it: the configuration is perturbed first."""
    model = massless
    tip = Constraint('tip', 'spherical', 'c', pose=(1, 0, 0), to_pose=(1, 0, 0))
    q = project_configuration(model, [0.0, 0.0], [tip])
    assert np.abs(residual(model, q, [tip])).max() <= TOLERANCE


@pytest.mark.parametrize('kinds', PAIRS, ids='-'.join)
def test_a_projected_velocity_keeps_the_constraints_and_is_nearest(tree, kinds):
    """A x = 0, and M (x - v) is a force of the constraints."""
    robot, constraints = tree.robot, closed(tree, kinds)
    A = constraint_matrix(robot.model, tree.q, constraints)
    x = project_velocity(robot.model, tree.q, tree.v, constraints)
    assert relative(A @ x, np.zeros(len(A))) < SOLVED
    allowed = np.linalg.svd(A)[2][np.linalg.matrix_rank(A):].T
    pull = robot.mass_matrix(tree.q) @ (x - tree.v)
    assert relative(allowed.T @ pull, np.zeros(allowed.shape[1])) < SOLVED
    assert np.abs(x - tree.v).max() > 1e-3
    again = project_velocity(robot.model, tree.q, x, constraints)
    assert relative(again, x) < SOLVED


def test_redundant_constraints_do_not_change_the_projected_velocity(tree):
    """Repeated rows."""
    model, (weld,) = tree.robot.model, closed(tree, ('weld',))
    twin = Constraint('twin', 'weld', weld.frame, weld.to, weld.pose, weld.to_pose)
    once, twice = (project_velocity(model, tree.q, tree.v, constraints)
                   for constraints in ([weld], [weld, twin]))
    assert relative(once, twice) < SOLVED


def test_every_constraint_kind_is_tested():
    """The list above is complete."""
    assert {kind for kinds in PAIRS for kind in kinds} == set(KINDS)
