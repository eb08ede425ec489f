"""Test the Robot's methods for loops, contacts and impacts: batches, names, errors."""

import pickle
import re
import warnings

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import relative
from support.legged_robots import CONTACTS, example
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.proximal import Proximal
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.example_robots import MECHANISMS

FOOT = Constraint('foot', 'point_contact', 'coupler', friction=0.5)


@pytest.fixture
def four_bar():
    return robot_of('four_bar')


def robot_of(name, **options):
    urdf, loops = MECHANISMS[name]
    return Robot.from_urdf(urdf, loops=loops, **options)


def state(robot, seed=0, constraints=None):
    constrained_by = robot.loops.constraints if constraints is None else constraints
    return standing(robot.model, constrained_by, seed)


def keeps(robot, q, v, a, constraints=None):
    """Return by how much an acceleration violates the rows."""
    found = robot.constraint_rows(q, v, constraints)
    return np.abs((found.A @ a[..., None])[..., 0] + found.gamma).max()


# Loops --------------------------------------------------------------------------------------------

def test_loops_may_be_given_in_every_form(four_bar):
    """A path, a text, a dict, dicts, Constraints, Loops; the passive joints only from some."""
    urdf, path = MECHANISMS['four_bar']
    loops = four_bar.loops
    assert [c.name for c in loops.constraints] == ['tip_x', 'tip_z']
    assert loops.passive
    text = path.read_text()
    for source in (path, str(path), text, loops, {'constraints': loops.constraints,
                                                  'passive': list(loops.passive)}):
        assert Robot.from_urdf(urdf, loops=source).loops == loops
    assert Robot.from_urdf(urdf, loops=list(loops.constraints)).loops == (loops.constraints, ())
    assert Robot.from_urdf(urdf).loops == Loops((), ())


def test_derived_robots_keep_the_loops(four_bar):
    """Payload, gravity, friction, pickle; with_loops has others."""
    others = (four_bar.with_payload('box', 'coupler', 1.0), four_bar.with_gravity((0, 0, -1.6)),
              four_bar.with_friction({'crank_joint': 0.1}) if 'crank_joint' in four_bar.joint_names
              else four_bar, pickle.loads(pickle.dumps(four_bar)))
    for other in others:
        assert other.loops == four_bar.loops
    assert four_bar.with_loops([FOOT]).loops.constraints == (FOOT,)
    assert four_bar.with_loops(None).loops == Loops((), ())


def test_a_pickled_robot_gives_the_same_results(four_bar):
    """Bit for bit."""
    copy = pickle.loads(pickle.dumps(four_bar))
    for one, other in zip(four_bar.constrained_forward_dynamics(*state(four_bar)),
                          copy.constrained_forward_dynamics(*state(four_bar))):
        assert np.array_equal(one, other)


# Dynamics -----------------------------------------------------------------------------------------

@pytest.mark.parametrize('name', MECHANISMS)
def test_forward_inverse_and_hybrid_dynamics_agree(name):
    """Torques from the motion under tau are tau, up to the passive joints' share."""
    robot = robot_of(name)
    q, v, tau = state(robot)
    active = actuated_dofs(robot.model, robot.loops.passive)
    tau = np.where(active, tau, 0.0)
    moved = robot.constrained_forward_dynamics(q, v, tau)
    assert keeps(robot, q, v, moved.a) < SOLVED * max(1.0, np.abs(moved.a).max())
    # M a + b = tau + A' lambda
    A = robot.constraint_rows(q, v).A
    assert relative(robot.inverse_dynamics(q, v, moved.a), tau + A.T @ moved.multipliers) < SOLVED
    back = robot.constrained_inverse_dynamics(q, v, moved.a, choice='unique')
    assert relative(back.tau, tau) < SOLVED and not np.shares_memory(back.a, moved.a)
    assert relative(back.multipliers, moved.multipliers) < SOLVED
    given = np.zeros(robot.nv, dtype=bool)
    given[np.flatnonzero(active)[0]] = True
    mixed = robot.constrained_hybrid_dynamics(q, v, moved.a, tau * ~given, given)
    for got, want in zip(mixed, moved):
        assert relative(got, want) < SOLVED


def test_wrenches_and_payloads_are_included(four_bar):
    """At rest a payload acts as the wrench of its weight."""
    q, v, tau = state(four_bar)
    v = np.zeros_like(v)
    load = four_bar.with_payload('box', 'coupler', 2.0)
    R = four_bar.frame_pose(q, 'coupler')[:3, :3]
    weight = np.concatenate([R.T @ (2.0 * four_bar.gravity), np.zeros(3)])
    bare = four_bar.constrained_inverse_dynamics(q, v, np.zeros_like(v),
                                                 wrenches={'coupler': weight})
    carried = load.constrained_inverse_dynamics(q, v, np.zeros_like(v))
    for got, want in zip(carried, bare):
        assert relative(got, want) < SOLVED
    loaded = four_bar.constrained_forward_dynamics(q, v, tau, wrenches={'coupler': weight})
    assert relative(loaded.a, four_bar.constrained_forward_dynamics(q, v, tau).a) > 1e-3


def test_stabilisation_follows_its_equation(four_bar):
    """A a + gamma = -2 alpha A v - beta^2 residual."""
    q, v, tau = state(four_bar)
    q, v = q + 0.01, v + 0.1
    moved = four_bar.constrained_forward_dynamics(q, v, tau, stabilisation=(20.0, 30.0))
    found = four_bar.constraint_rows(q, v)
    left = found.A @ moved.a + found.gamma
    assert relative(left, -40.0 * found.A @ v - 900.0 * found.residual) < SOLVED
    mixed = four_bar.constrained_hybrid_dynamics(q, v, moved.a, tau, np.zeros(3, dtype=bool),
                                                 stabilisation=(20.0, 30.0))
    assert relative(mixed.a, moved.a) < SOLVED


@pytest.mark.parametrize('settings', [True, Proximal(mu=1e-8)])
def test_proximal_is_exact_for_independent_rows(four_bar, settings):
    """Single and in batches, with wrenches and stabilisation."""
    q, v, tau = state(four_bar)
    how = {'wrenches': {four_bar.frame_names[-1]: np.ones(6)}, 'stabilisation': (20.0, 30.0)}
    exact = four_bar.constrained_forward_dynamics(q, v, tau, **how)
    near = four_bar.constrained_forward_dynamics([q, q], v, tau, **how, proximal=settings)
    for one, two in zip(exact, near):
        assert relative(two[1], one) < SOLVED


def test_without_constraints_it_is_plain_dynamics(four_bar):
    """An empty set is valid."""
    q, v, tau = state(four_bar)
    moved = four_bar.constrained_forward_dynamics(q, v, tau, ())
    assert relative(moved.a, four_bar.forward_dynamics(q, v, tau)) < EXACT_MATHS
    assert moved.multipliers.shape == (0,)


# Batches ------------------------------------------------------------------------------------------

def methods(q, v, a, tau):
    """Return {method: arguments} of all that take batches."""
    given = np.array([True, False, False])
    return {
        'constrained_forward_dynamics': (q, v, tau),
        'constrained_inverse_dynamics': (q, v, a),
        'constrained_hybrid_dynamics': (q, v, a, tau, given),
        'constraint_rows': (q, v),
        'constrained_forward_dynamics_derivatives': (q, v, tau),
        'constrained_inverse_dynamics_derivatives': (q, v, a),
        'project_configuration': (q + 0.01,),
        'project_velocity': (q, v + 0.1),
        'contact_forces': (q, v, tau, [FOOT]),
        'floating_base_torques': (q, v, a, []),
        'impact': (q, v + 0.1, [FOOT]),
    }


def states(robot, n):
    """Return n states (q, v, a, tau) that keep the loops."""
    rows = [state(robot, seed) for seed in range(n)]
    rows = [(q, v, robot.constrained_forward_dynamics(q, v, tau).a, tau) for q, v, tau in rows]
    return [np.array(part) for part in zip(*rows)]


def test_batches_give_the_results_of_single_states(four_bar):
    """Every method; the empty batch too, in the right shape."""
    batch = states(four_bar, 3)
    for name, arguments in methods(*batch).items():
        ask = getattr(four_bar, name)
        many = listed(ask(*arguments))
        none = listed(ask(*(part[:0] if np.ndim(part) == 2 else part for part in arguments)))
        for row in range(3):
            one = listed(ask(*(part[row] if np.ndim(part) == 2 else part for part in arguments)))
            for part, whole, empty in zip(one, many, none, strict=True):
                assert np.shape(part) == np.shape(whole)[1:], name
                assert np.shape(empty) == (0, *np.shape(part)), name
                assert relative(whole[row], part) < EXACT_MATHS, name


def listed(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(part, dtype=float) for part in parts]


# Rows that repeat or contradict each other --------------------------------------------------------

def test_a_redundant_row_changes_no_motion(four_bar):
    """The same motion, finite multipliers, no warning; its report names the row."""
    q, v, tau = state(four_bar)
    twice = (*four_bar.loops.constraints, *(
        Constraint(c.name + '_again', c.kind, c.frame, c.to, c.pose, c.to_pose, c.axis, c.distance)
        for c in four_bar.loops.constraints))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        moved = four_bar.constrained_forward_dynamics(q, v, tau, twice)
        hit = four_bar.impact(q, v + 0.1, [])
        hit_twice = four_bar.with_loops(twice).impact(q, v + 0.1, [])
        mixed = four_bar.constrained_hybrid_dynamics(q, v, moved.a, tau, np.zeros(3, dtype=bool),
                                                     twice)
    plain = four_bar.constrained_forward_dynamics(q, v, tau)
    assert relative(moved.a, plain.a) < SOLVED
    assert relative(mixed.a, plain.a) < SOLVED
    assert relative(moved.multipliers[:2] + moved.multipliers[2:], plain.multipliers) < SOLVED
    assert relative(hit_twice.v, hit.v) < SOLVED
    assert four_bar.constraint_report(q, v, twice).redundant == ('tip_x_again.n', 'tip_z_again.n')
    with pytest.raises(DynamicsError, match=r'depend on each other.*tip_'):
        four_bar.constrained_forward_dynamics_derivatives(q, v, tau, twice)


def test_fully_constrained_robots_have_finite_results():
    """Every link of the mechanism fixed: more rows than freedoms."""
    robot = robot_of('four_bar')
    q, v, tau = state(robot)
    nails = [Constraint(f'nail_{link}', 'flat_contact', link)
             for link in robot.frame_names if robot.model.frame(link).body >= 0]
    moved = robot.constrained_forward_dynamics(q, 0.0 * v, tau, nails)
    assert np.abs(moved.a).max() < SOLVED
    assert np.isfinite(moved.multipliers).all()
    assert np.abs(robot.impact(q, v, nails).v).max() < SOLVED


# Contact and impact -------------------------------------------------------------------------------

def test_the_feet_of_a_quadruped_carry_its_weight():
    """By every method."""
    robot = Robot.from_urdf(example('solo12').urdf, base='floating', friction=False)
    contacts = CONTACTS['solo12']
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    for leg in range(4):  # bent knees
        q[7 + 3 * leg:10 + 3 * leg] = 0.0, 0.8 * (-1) ** (leg // 2), -1.6 * (-1) ** (leg // 2)
    shared = robot.floating_base_torques(q, v, np.zeros(robot.nv), contacts)
    assert shared.supported
    assert isinstance(shared.rank, (int, np.integer))
    weight = robot.total_mass * 9.81
    assert relative(shared.force[2::3].sum(), weight) < SOLVED
    assert not shared.tau[:6].any()
    found = robot.contact_forces(q, v, shared.tau, contacts)
    assert relative(found.force[2::3].sum(), weight) < SOLVED
    assert np.abs(found.a).max() < 1e-8 * np.abs(robot.forward_dynamics(q, v, tau)).max()
    moved = robot.constrained_forward_dynamics(q, v, shared.tau, contacts)
    assert relative(moved.multipliers, found.force) < SOLVED


def test_an_impact_stops_or_bounces(four_bar):
    """A v^+ = -e A v^-, energy is lost as it should; a plain number is for contacts alone."""
    q, v, _ = state(four_bar)
    constrained_by = (*four_bar.loops.constraints, FOOT)
    A = four_bar.constraint_rows(q, v, constrained_by).A
    for bounce, restitution in ((0.0, 0.0), (0.7, 0.7), (0.7, {'foot': 0.7}),
                                (1.0, {'foot': (1, 1, 1)}), (0.3, [0, 0, 0.3, 0.3, 0.3])):
        after = four_bar.impact(q, v, [FOOT], restitution)
        lost = four_bar.kinetic_energy(q, v) - four_bar.kinetic_energy(q, after.v)
        assert after.impulse.shape == (5,)
        assert abs(after.energy_loss - lost) < SOLVED
        assert np.abs(A[:2] @ after.v).max() < SOLVED
        assert np.abs(A[2:] @ (after.v + bounce * v)).max() < SOLVED


# What is refused ----------------------------------------------------------------------------------

Q, V = np.zeros(3), np.zeros(3)
REFUSED = {
    'kind': (lambda r: r.constrained_forward_dynamics(Q, V, V, [{'name': 'x', 'kind': 'glue'}]),
             "constraints: constraint 'x': kind is 'glue'; expected one of: weld"),
    'field': (lambda r: r.constrained_forward_dynamics(
        Q, V, V, [{'name': 'x', 'kind': 'weld', 'frame': 'coupler', 'colour': 1}]), 'colour'),
    'frame': (lambda r: r.impact(Q, V, [Constraint('x', 'point_contact', 'nose')]),
              "constraint 'x': frame is 'nose'; expected a link: "),
    'joint': (lambda r: r.constraint_rows(Q, V, [Constraint('x', 'coupling', joints=('a', 'b'))]),
              "constraint 'x': joints has 'a'"),
    'name': (lambda r: r.contact_forces(Q, V, V, [Constraint('tip_x', 'point_contact',
                                                            'coupler')]),
             "two constraints are called 'tip_x'"),
    'no set': (lambda r: r.constraint_rows(Q, V, 3), 'constraints: the constraints are 3'),
    'contacts': (lambda r: r.impact(Q, V, 3), 'contacts: the constraints are 3'),
    'passive': (lambda r: r.constrained_inverse_dynamics(Q, V, V, passive=['elbow']),
                "passive: no joint 'elbow'; the robot has: "),
    'passive text': (lambda r: r.constraint_report(Q, V, passive='elbow'),
                     "passive is 'elbow'; expected a list of joint names"),
    'fixed': (lambda r: r.project_configuration(Q, fixed=['elbow']), "fixed: no joint 'elbow'"),
    'choice': (lambda r: r.constrained_inverse_dynamics(Q, V, V, choice='best'),
               "choice is 'best'; expected one of least_force, least_torque"),
    'weights pair': (lambda r: r.constrained_inverse_dynamics(Q, V, V, weights=[1, 2, 3]),
                     'weights is [1, 2, 3]; expected a pair'),
    'weights size': (lambda r: r.constrained_inverse_dynamics(Q, V, V, weights=([1.0], None)),
                     'weights[0] must have shape (3,)'),
    'weights of forces': (lambda r: r.floating_base_torques(Q, V, V, [], weights=(None, [1.0])),
                          'weights[1] must have shape (2,)'),
    'weights sign': (lambda r: r.constrained_inverse_dynamics(Q, V, V, weights=([1, -1, 1], None)),
                     'weights[0][1] is -1.0; no weight may be below zero'),
    'passive torques': (lambda r: r.constrained_inverse_dynamics(Q, V, V, passive_torques=[1.0]),
                        'passive_torques must have shape (3,)'),
    'preferred': (lambda r: r.floating_base_torques(Q, V, V, [], preferred=[1.0]),
                  'preferred must have shape (3,)'),
    'restitution': (lambda r: r.impact(Q, V, [FOOT], {'foot': -0.1}), 'restitution is -0.1; exp'),
    'restitution nan': (lambda r: r.impact(Q, V, [FOOT], np.nan), 'restitution is nan; every'),
    'restitution size': (lambda r: r.impact(Q, V, [FOOT], [0.1, 0.2]),
                         'restitution must be a number or have shape (5,), got (2,)'),
    'restitution name': (lambda r: r.impact(Q, V, [FOOT], {'hand': 0.1}),
                         "restitution: no constraint 'hand'; the set has: tip_x, tip_z, foot"),
    'restitution row': (lambda r: r.impact(Q, V, [FOOT], {'foot': [0.1, 0.2]}),
                        "restitution['foot'] must be a number or have shape (3,)"),
    'stabilisation': (lambda r: r.constrained_forward_dynamics(Q, V, V, stabilisation=3.0),
                      'stabilisation must have shape (2,)'),
    'proximal': (lambda r: r.constrained_forward_dynamics(Q, V, V, proximal='hard'),
                 "proximal is 'hard'; expected True, or Proximal"),
    'proximal mu': (lambda r: r.constrained_forward_dynamics(Q, V, V, proximal=Proximal(mu=0.0)),
                    'mu > 0'),
    'stabilisation sign': (lambda r: r.constrained_forward_dynamics(Q, V, V,
                                                                    stabilisation=(1, -1)),
                           'stabilisation is (1.0, -1.0); expected (alpha, beta)'),
    'given': (lambda r: r.constrained_hybrid_dynamics(Q, V, V, V, [1, 0, 0]), 'given must be 3'),
    'q': (lambda r: r.constrained_forward_dynamics([0.0, np.nan, 0.0], V, V), 'q[1] is nan'),
    'tau': (lambda r: r.constrained_forward_dynamics(Q, V, [0.0]), 'tau must have shape (3,)'),
    'wrenches': (lambda r: r.constrained_forward_dynamics(Q, V, V, None, {'nose': np.zeros(6)}),
                 "no frame 'nose'"),
    'batches': (lambda r: r.constrained_forward_dynamics([Q] * 2, [V] * 3, V),
                'batches must be of one size; q has 2, v has 3 rows'),
    'one state': (lambda r: r.constraint_report([Q], V), 'q must be one state, (3,)'),
    'broken': (lambda r: r.constrained_inverse_dynamics(Q + 0.1, V, V),
               'the position violates constraint row'),
    'under-actuated': (lambda r: r.constrained_inverse_dynamics(
        Q, V, V, passive=r.joint_names), 'under-actuated'),
    'loops': (lambda r: r.with_loops('nowhere.yaml'), "loops: cannot read 'nowhere.yaml'"),
    'loops passive': (lambda r: r.with_loops({'constraints': [], 'passive': ['elbow']}),
                      "passive: no joint 'elbow'"),
    'compile': (lambda r: r.compile(constraints=[FOOT, FOOT]), "two constraints are called 'foot'"),
}


@pytest.mark.parametrize('what', REFUSED)
def test_invalid_arguments_are_refused_by_name(four_bar, what):
    """The message says which argument, and what would be valid."""
    ask, message = REFUSED[what]
    with pytest.raises(DynamicsError, match=re.escape(message)):
        ask(four_bar)


def test_a_batch_names_the_state_that_is_wrong(four_bar):
    """The first that fails."""
    q, v, a, _ = states(four_bar, 3)
    q[1] += 0.1
    with pytest.raises(DynamicsError, match='state 1 of the batch: the position violates'):
        four_bar.constrained_inverse_dynamics(q, v, a)


@pytest.mark.parametrize('size', [1e100, 1e200, 1e300])
@pytest.mark.parametrize('name', ['four_bar', 'slider_crank', 'delta'])
def test_huge_numbers_give_finite_results_or_are_refused(name, size):
    """An overflow is a DynamicsError, never a NaN, a warning or a LAPACK error."""
    robot = robot_of(name)
    foot = [Constraint('foot', 'flat_contact', robot.frame_names[-1])]
    q, n = robot.neutral(), robot.nv
    far = robot.integrate(q, np.full(n, size if name != 'delta' else 1.0))
    asked = [lambda q, v, m=method, more=more: getattr(robot, m)(q, v, *more) for method, more in (
        ('constrained_forward_dynamics', (np.full(n, size),)),
        ('constrained_forward_dynamics', (np.full(n, size), foot)),
        ('constrained_inverse_dynamics', (np.full(n, size),)),
        ('constrained_hybrid_dynamics', (np.full(n, size),) * 2 + (np.arange(n) == 0,)),
        ('constraint_report', ()), ('constraint_rows', ()), ('project_velocity', ()),
        ('impact', (foot,)), ('contact_forces', (np.full(n, size), foot)),
        ('floating_base_torques', (np.full(n, size), foot)),
        ('constrained_forward_dynamics_derivatives', (np.full(n, size),)),
        ('constrained_inverse_dynamics_derivatives', (np.full(n, size),)))]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for where in (q, far):
            for speed in (np.zeros(n), np.full(n, size)):
                for ask in asked:
                    try:
                        result = ask(where, speed)
                    except DynamicsError:
                        continue
                    if isinstance(result, tuple):
                        assert all(np.isfinite(part).all() for part in result)


def test_the_rows_are_in_the_order_of_their_names(four_bar):
    """Loops first, then contacts."""
    constrained_by = (*four_bar.loops.constraints, FOOT)
    assert row_names(constrained_by) == ['tip_x.n', 'tip_z.n', 'foot.x', 'foot.y', 'foot.z']
    q, v, tau = state(four_bar)
    found = four_bar.contact_forces(q, v, tau, [FOOT])
    assert found.force.shape == (5,)
    A = four_bar.constraint_rows(q, v, constrained_by).A
    assert relative(four_bar.inverse_dynamics(q, v, found.a), tau + A.T @ found.force) < SOLVED
