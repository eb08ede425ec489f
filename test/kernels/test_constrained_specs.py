"""Test that kernels with constraints agree with NumPy, by every call path."""


import numpy as np
import pytest
from support import looped_trees, random_trees
from support.agreement_of_paths import installed, without_numpy
from support.differences import relative

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels import robot_kernels
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.constrained_specs import CONSTRAINED
from dynamics_node.kernels.keys import all_keys, key_of
from dynamics_node.robot.dispatch import Dispatcher

pytestmark = pytest.mark.long

N = 11             # states of a batch: a whole register and a rest, at any width
AGREEMENT = 1e-9   # solves of condition numbers up to 1e4 squared, in another order of additions
FOOT = Constraint('foot', 'point_contact', 'coupler')
SPECS = {spec.name: spec for spec in CONSTRAINED}
MOTIONS = {name for name, spec in SPECS.items() if not spec.derivative}


def constrained_calls(robot, q, v, a, tau, given, restitution, **external):
    """Return {kernel: f(robot)}, calls of one state or a batch."""
    constraints = robot.loops.constraints
    return {
        'constrained_forward_dynamics': lambda r: r.constrained_forward_dynamics(
            q, v, tau, constraints, **external),
        'stabilised_forward_dynamics': lambda r: r.constrained_forward_dynamics(
            q, v, tau, constraints, stabilisation=(3.0, 4.0), **external),
        'constrained_hybrid_dynamics': lambda r: r.constrained_hybrid_dynamics(
            q, v, a, tau, given, constraints, **external),
        'stabilised_hybrid_dynamics': lambda r: r.constrained_hybrid_dynamics(
            q, v, a, tau, given, constraints, stabilisation=(3.0, 4.0), **external),
        'impact': lambda r: r.impact(q, v, [], restitution),
        'constraint_rows': lambda r: r.constraint_rows(q, v, constraints),
        'constrained_forward_dynamics_derivatives':
            lambda r: r.constrained_forward_dynamics_derivatives(q, v, tau, constraints,
                                                                 **external),
    }


def paths_agree(robot, calls, with_wrenches=False):
    """Compile the kernels, call them without the NumPy path, and compare."""
    in_numpy = Robot(robot.model, compile=False)
    constraints = robot.loops.constraints
    keys = [key_of(robot.model, name, (), with_wrenches and bool(SPECS[name].wrenches),
                   constraints) for name in calls]
    robot._dispatcher.compile(keys, wait=True)
    for name, call in calls.items():
        with without_numpy(robot):
            results = call(robot)
            again = call(robot)  # by the fast way, where there is one
        wanted = call(in_numpy)
        assert type(results) is type(again) is type(wanted), name
        for got, same, want in zip(results, again, wanted, strict=True):
            assert relative(got, same) < AGREEMENT, name  # quaternions normalised once more
            assert np.shape(got) == np.shape(want), name
            assert relative(got, want) < AGREEMENT, name


def robot_of(name, **options):
    return Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, **options)


def some_states(robot, n, rng, spread=0.1):
    """Return (q, v, a, tau) of random states near neutral, which need not keep the loops."""
    def draw(size):
        return rng.normal(size=size if n is None else (n, size))
    q = robot.integrate(robot.neutral(), spread * draw(robot.nv))
    return q, draw(robot.nv), draw(robot.nv), draw(robot.nv)


def restitution_of(robot, value):
    return np.full(sum(map(size, robot.loops.constraints)), value)


@pytest.mark.parametrize('n', [None, N])
@pytest.mark.parametrize('name', ['four_bar', 'delta'])
def test_a_mechanism_agrees_with_numpy(name, n):
    """Loaded, with friction, one state and a batch; planes, distances."""
    rng = np.random.default_rng(3)
    robot = robot_of(name)
    robot = robot.with_payload('box', robot.frame_names[-1], 2.0, (0.1, 0.0, 0.2))
    robot = robot.with_friction({robot.joint_names[0]: 0.2}, {robot.joint_names[1]: 0.1})
    given = np.arange(robot.nv) == 0
    states = some_states(robot, n, rng)
    calls = constrained_calls(robot, *states, given, restitution_of(robot, 0.4))
    if name == 'delta':  # what takes longest to compile is tried on the smaller one
        calls = {name: calls[name] for name in
                     ('constrained_forward_dynamics', 'stabilised_hybrid_dynamics', 'impact')}
    paths_agree(robot, calls)


QUESTION_OF = {('fixed', False): 'constrained_forward_dynamics',  # others take longer to compile
               ('fixed', True): 'constrained_hybrid_dynamics',
               ('floating', False): 'constrained_forward_dynamics', ('floating', True): 'impact'}


@pytest.mark.parametrize(('tree', 'kinds'), zip(random_trees.TREES, looped_trees.KINDS), ids=str)
def test_a_looped_tree_agrees_with_numpy(tree, kinds):
    """Every kind of constraint on trees of every kind of joint, with wrenches."""
    looped = looped_trees.make(tree, kinds)
    robot = Robot(looped.robot.model).with_loops(list(looped.constraints))
    given = looped_trees.some_prescribed(looped)
    wrenches = {robot.frame_names[-1]: np.arange(6.0)}
    calls = constrained_calls(robot, looped.q, looped.v, looped.a, looped.tau, given,
                      restitution_of(robot, 0.3), wrenches=wrenches)
    name = QUESTION_OF[tree.base, tree.mimic]
    paths_agree(robot, {name: calls[name]}, with_wrenches=True)


def test_the_robots_own_loops_are_called_in_c():
    """Without them the set is recognised by its identity."""
    robot = robot_of('four_bar')
    robot.compile(wait=True, constraints=True)
    q, v, _, tau = some_states(robot, None, np.random.default_rng(0))
    first = robot.constrained_forward_dynamics(q, v, tau)
    assert 'constrained_forward_dynamics' in installed(robot)
    one_row = tuple(robot.loops.constraints[:1])
    robot._dispatcher.compile([key_of(robot.model, 'constrained_forward_dynamics', (), False,
                                      one_row)], wait=True)
    with without_numpy(robot):
        for constraints in (None, robot.loops.constraints, list(robot.loops.constraints)):
            again = robot.constrained_forward_dynamics(q, v, tau, constraints)
            assert all(map(np.array_equal, first, again))
        for _ in range(2):
            other = robot.constrained_forward_dynamics(q, v, tau, one_row)
            assert other.multipliers.shape == (1,)
    assert not np.array_equal(other.a, first.a)
    # arguments that no kernel takes
    assert np.array_equal(robot.constrained_forward_dynamics(list(q), v, tau).a, first.a)
    assert np.array_equal(robot.constrained_forward_dynamics(q=q, v=v, tau=tau).a, first.a)
    with pytest.raises(DynamicsError, match='tau must have shape'):
        robot.constrained_forward_dynamics(q, v, tau[:1])


def test_sets_of_one_shape_have_different_kernels():
    """All fields equal but one number, through the same cache on disk."""
    q, v, tau = np.full(3, 0.1), np.ones(3), np.ones(3)
    results = []
    for axis in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)):
        robot = robot_of('four_bar').with_loops(
            [Constraint('tip', 'point_on_plane', 'coupler', axis=axis)])
        robot.compile(wait=True, constraints=True)
        found = robot.constrained_forward_dynamics(q, v, tau)
        A = robot.constraint_rows(q, v)
        assert abs(A.A @ found.a + A.gamma).max() < AGREEMENT * np.abs(found.a).max()
        results.append(found.a)
    assert relative(*results) > 1e-3


def test_frames_of_one_name_at_other_places_have_different_kernels():
    """The file name depends on the poses of the frames."""
    constraints = (FOOT,)
    one, other = robot_of('four_bar').model, robot_of('four_bar').model
    frame = other.frames['coupler']
    moved = frame._replace(pose=frame.pose._replace(p=frame.pose.p + 0.1))
    other = other.with_(frames={**other.frames, 'coupler': moved})
    key = key_of(one, 'constrained_forward_dynamics', (), False, constraints)
    assert name_of(one, key) == name_of(robot_of('four_bar').model, key)
    assert name_of(one, key) != name_of(other, key)


def test_a_redundant_set_is_computed_in_numpy():
    """The kernel exists, refuses the state, and the result is finite."""
    robot = robot_of('four_bar').with_loops(
        [FOOT, Constraint('again', 'point_contact', 'coupler')])
    robot.compile(wait=True, constraints=True)
    rng = np.random.default_rng(0)
    in_numpy = Robot(robot.model, compile=False)
    nothing = np.zeros(robot.nv, dtype=bool)
    for n in (None, N):
        q, v, a, tau = some_states(robot, n, rng)
        calls = constrained_calls(robot, q, v, a, tau, nothing, 0.0)
        for name in MOTIONS - {'constraint_rows'}:
            for got, want in zip(*map(calls[name], (robot, in_numpy)), strict=True):
                assert np.isfinite(got).all()
                assert np.array_equal(got, want)
    with pytest.raises(DynamicsError, match='depend on each other'):
        robot.constrained_forward_dynamics_derivatives(q[0], v[0], tau[0])


def test_a_singular_state_in_a_batch_is_computed_in_numpy(monkeypatch):
    """It alone; the rest by the kernel."""
    robot = robot_of('four_bar').with_loops(
        [Constraint(axis, 'point_on_plane', 'coupler', pose=(0.0, 0.0, 0.2), axis=direction)
         for axis, direction in (('x', (1.0, 0.0, 0.0)), ('z', (0.0, 0.0, 1.0)))])
    robot.compile(wait=True, constraints=True)
    q, v, _, tau = some_states(robot, 100, np.random.default_rng(2))
    q[:, 1] += 1.0
    count = []
    plain = Dispatcher._in_numpy
    monkeypatch.setattr(Dispatcher, '_in_numpy', lambda self, key, states: (
        count.append(len(states[0])), plain(self, key, states))[1])
    expected = robot.constrained_forward_dynamics(q, v, tau)
    assert count == []
    stretched = q.copy()
    stretched[37, 1] = 0.0  # crank and coupler in line: no motion of the tip along them
    found = robot.constrained_forward_dynamics(stretched, v, tau)
    assert count == [1]
    assert all(np.isfinite(part).all() for part in found)
    others = np.arange(100) != 37
    for got, want in zip(found, expected, strict=True):
        assert np.array_equal(got[others], want[others])
    alone = Robot(robot.model, compile=False).constrained_forward_dynamics(
        stretched[37], v[37], tau[37])
    for got, want in zip(found, alone, strict=True):
        assert np.array_equal(got[37], want)


def test_the_number_of_compiled_sets_is_bounded(monkeypatch):
    """Further sets are computed in NumPy, unless compile() is called for them."""
    monkeypatch.setattr(robot_kernels, 'MOST_SETS', 2)
    requested = []
    monkeypatch.setattr(robot_kernels.RobotKernels, 'request', lambda self, key,
                        urgent=False: requested.append(
        key.constraints[0].pose[0] if key.constraints else None))
    robot = robot_of('four_bar')
    q, v, _, tau = some_states(robot, None, np.random.default_rng(0))
    for step in (1.0, 2.0, 3.0, 2.0, 4.0):
        constraints = [Constraint('foot', 'point_contact', 'coupler', pose=(step, 0.0, 0.0))]
        assert np.isfinite(robot.constrained_forward_dynamics(q, v, tau, constraints).a).all()
    assert requested == [1.0, 2.0, 2.0]
    robot.compile(constraints=[Constraint('foot', 'point_contact', 'coupler', pose=(4, 0, 0))])
    assert 4.0 in requested


def test_keys_contain_the_set_once():
    """Only keys of constrained kernels contain it."""
    robot = robot_of('four_bar', compile=False)
    constraints = robot.loops.constraints
    plain, more = all_keys(robot.model), all_keys(robot.model, constraints=constraints)
    assert set(plain) <= set(more)
    assert {key.kernel for key in set(more) - set(plain)} == MOTIONS
    assert all(key.constraints == constraints for key in set(more) - set(plain))
