"""Test hybrid dynamics of closed mechanisms: against inverse, forward and multipliers."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.errors import SingularModel
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.spatial.inertia import Inertia

CASES = [('four_bar', None), ('five_bar', ['left_elbow', 'right_shoulder']), ('delta', None),
         ('stewart', ['platform_joint'])]


@pytest.fixture(params=CASES, ids=str, scope='module')
def closed(request):
    """(robot, q, v, a, tau, coordinates, their entries of v) of a mechanism in a state."""
    name, coordinates = request.param
    robot = Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, compile=False)
    q, v, a = standing(robot.model, robot.loops.constraints, 4)
    names = coordinates or [name for name in robot.joint_names if name not in robot.loops.passive]
    entries = [k for name in names for k in range(robot.nv)[robot.model.joint(name).v]]
    return robot, q, v, a, np.random.default_rng(1).normal(size=robot.nv), names, entries


def some(closed):
    """Return `given` with every second coordinate, the first among them."""
    given = np.zeros(closed[0].nv, dtype=bool)
    given[closed[-1][::2]] = True
    return given


def push(robot):
    return {robot.frame_names[-1]: np.array([3.0, -1.0, 2.0, 0.2, 0.4, -0.3])}


def test_it_agrees_with_the_multipliers(closed):
    """constrained_hybrid_dynamics with the same entries given, torques at all other joints."""
    robot, q, v, a, tau, names, _ = closed
    given = some(closed)
    found = robot.closed_hybrid_dynamics(q, v, a, tau, given, coordinates=names,
                                         wrenches=push(robot))
    want = robot.constrained_hybrid_dynamics(q, v, a, tau, given, wrenches=push(robot))
    assert relative(found.a, want.a) < SOLVED
    assert relative(found.tau, want.tau) < SOLVED
    assert (found.a[given] == pytest.approx(a[given])) and (found.tau[~given] == tau[~given]).all()


def test_all_given_is_inverse_and_none_is_forward_dynamics(closed):
    """In the equation of closed_dynamics: H du/dt + h = G' tau."""
    robot, q, v, a, tau, names, entries = closed
    terms = robot.closed_dynamics(q, v, coordinates=names)
    h = terms.coriolis + terms.gravity + terms.friction
    every = np.zeros(robot.nv, dtype=bool)
    every[entries] = True
    inverse = robot.closed_hybrid_dynamics(q, v, a, tau, every, coordinates=names)
    assert relative(terms.transmission.T @ inverse.tau, terms.mass_matrix @ a[entries] + h) < SOLVED
    forward = robot.closed_hybrid_dynamics(q, v, a, tau, ~every & False, coordinates=names)
    assert relative(terms.mass_matrix @ forward.a[entries] + h,
                    terms.transmission.T @ tau) < SOLVED
    assert (forward.tau == tau).all()


def test_forward_dynamics_under_the_torques_gives_the_accelerations(closed):
    """And the loops stay closed: A a + gamma = 0."""
    robot, q, v, a, tau, names, _ = closed
    found = robot.closed_hybrid_dynamics(q, v, a, tau, some(closed), coordinates=names)
    again = robot.constrained_forward_dynamics(q, v, found.tau)
    assert relative(again.a, found.a) < SOLVED
    rows = robot.constraint_rows(q, v)
    assert np.abs(rows.A @ found.a + rows.gamma).max() < SOLVED * (1 + np.abs(found.a).max())


def test_a_batch_is_its_states():
    robot = Robot.from_urdf(MECHANISMS['five_bar'].urdf, loops=MECHANISMS['five_bar'].loops)
    q, v, a = map(np.array, zip(*(standing(robot.model, robot.loops.constraints, seed)
                                  for seed in range(2))))
    given = np.array([robot.joint_names[k] == 'left_shoulder' for k in range(4)])
    both = robot.closed_hybrid_dynamics(q, v, a, np.ones(4), given)
    for k in range(2):
        one = robot.closed_hybrid_dynamics(q[k], v[k], a[k], np.ones(4), given)
        np.testing.assert_allclose(both.a[k], one.a)
        np.testing.assert_allclose(both.tau[k], one.tau)
    assert robot.closed_hybrid_dynamics(q[:0], v[:0], a[:0], np.ones(4), given).a.shape == (0, 4)


def test_bad_input_is_refused_by_name():
    mechanism = MECHANISMS['four_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops)
    q, zero = robot.neutral(), np.zeros(3)
    for given, q_given, words in (
            ([False, True, False], q, "'coupler_joint' is not a coordinate"),
            ([True], q, 'given must be 3 booleans'),
            ([True, False, False], q + 0.5, 'the loops are open')):
        with pytest.raises(DynamicsError, match=words):
            robot.closed_hybrid_dynamics(q_given, zero, zero, zero, given)
    empty = Robot(robot.model.with_(inertias=(Inertia(0.0, np.zeros(3), np.zeros((3, 3))),) * 4,
                                    armature=zero))
    with pytest.raises(SingularModel, match='has no inertia'):
        empty.closed_hybrid_dynamics(q, zero, zero, zero, [False, False, False])
