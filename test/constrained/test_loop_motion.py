"""Test independent joints of the bundled mechanisms and the motion of the others."""

import numpy as np
import pytest
from support.moving_mechanisms import mechanism, moved
from support.tolerances import RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.example_robots import ARM7, MECHANISMS

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]

COUNT = 8
ROCKER = ('crank_joint', 'coupler_joint')   # passive where the rocker is driven


@pytest.fixture(params=MECHANISMS, scope='module')
def moving(request):
    """(robot, LoopMotion, Motion of random states) of each mechanism."""
    robot = mechanism(request.param)
    loops = LoopMotion(robot)
    return robot, loops, loops.random_states(np.random.default_rng(0), COUNT)


def test_every_motion_keeps_the_loops(moving):
    """A N = 0, A v = 0, A a + gamma = 0, residual 0; independent joints are as given."""
    robot, loops, (q, v, a, N, clear) = moving
    residual, A, gamma = robot.constraint_rows(q, v)
    scale = 1.0 + np.abs(gamma).max()
    assert np.abs(residual).max() < SOLVED
    assert np.abs(A @ N).max() < SOLVED
    assert np.abs(np.einsum('nmi,ni->nm', A, v)).max() < SOLVED * scale
    assert np.abs(np.einsum('nmi,ni->nm', A, a) + gamma).max() < SOLVED * scale
    assert np.array_equal(N[:, loops.independent], np.broadcast_to(
        np.eye(len(loops.names)), (COUNT, len(loops.names), len(loops.names))))
    assert clear.all()


def test_all_motors_are_independent_and_nothing_else_is(moving):
    """Bundled mechanisms have as many motors as freedoms."""
    loops = moving[1]
    assert sorted(loops.independent) == np.flatnonzero(loops.active).tolist()


def test_velocities_and_accelerations_are_the_rates_of_positions(moving):
    """By differences of configurations that were followed at three instants."""
    robot, loops, (q, v, a, *_) = moving
    h = 1e-4
    v_I, a_I = v[:, loops.independent], a[:, loops.independent]
    before, after = (np.array([loops.follow(
        (q[k, loops.q_indices] + s * h * v_I[k] + 0.5 * h * h * a_I[k])[None], q[k])[0]
        for k in range(COUNT)]) for s in (-1.0, 1.0))
    backwards, forwards = (robot.difference(q, there) for there in (before, after))
    scale = 1.0 + np.abs(a).max()
    assert np.abs((forwards - backwards) / (2 * h) - v).max() < 100 * h * h * scale ** 2
    if robot.nq == robot.nv:   # a body twist's rate is not a second difference of poses
        second = (forwards + backwards) / h ** 2
        assert np.abs(second - a).max() < RATE_BY_DIFFERENCES ** 0.5 * scale


def test_motions_are_followed_without_jumps():
    """Fast and slow sampling give the same configurations, on the same branch."""
    robot = mechanism('four_bar')
    motion = moved('four_bar', robot, 300, 3)
    loops = LoopMotion(robot)
    coarse = loops.follow(motion.q[::60, motion.q_indices], loops.home)
    assert np.abs(coarse - motion.q[::60]).max() < 1e-9
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.2


def test_all_joints_are_independent_without_loops():
    """A passive joint alone: N is the identity."""
    robot = Robot.from_urdf(ARM7).with_loops(Loops((), ('joint_3',)))
    loops = LoopMotion(robot)
    assert loops.names == robot.joint_names
    q = np.array([robot.random_configuration(1)])
    assert np.array_equal(loops.transmission(q).N[0], np.eye(7))


@pytest.mark.parametrize('passive', [('left_elbow',), ()])
def test_of_more_motors_than_freedoms_some_are_independent(passive):
    """As many as there are freedoms, all with a motor; the others follow."""
    loops = LoopMotion(mechanism('five_bar', passive))
    assert len(loops.names) == 2
    assert loops.active[loops.independent].all()


def test_with_fewer_motors_than_freedoms_a_passive_joint_is_independent():
    """The motor is one of them."""
    loops = LoopMotion(mechanism('five_bar', ('left_elbow', 'right_elbow', 'right_shoulder')))
    assert loops.names[0] == 'left_shoulder'
    assert len(loops.names) == 2


def test_a_singular_configuration_is_reported():
    """The rocker at its end: the crank can move either way."""
    robot = mechanism('four_bar', ROCKER)
    crank = mechanism('four_bar')
    angles = np.linspace(-np.pi, np.pi, 721)[:, None]
    loops = LoopMotion(crank)
    q = loops.follow(angles, loops.walk_to(loops.home, angles[0])[0])
    turning = np.argmax(q[:, 2])
    clear = np.abs(LoopMotion(robot).transmission(q[[turning - 200, turning]]).N).max(axis=(1, 2))
    assert clear[0] < 10.0
    assert clear[1] > 20.0


def test_a_mechanism_that_is_closed_in_a_singular_configuration_is_moved_a_little():
    """The rocker at its end is where a recording may begin; a structure is refused."""
    crank, robot = LoopMotion(mechanism('four_bar')), mechanism('four_bar', ROCKER)
    low, high = 0.0, 3.0     # between them the rocker turns back: its entry of N changes its sign
    at = crank.walk_to(crank.home, np.array([low]))[0]
    sign = np.sign(crank.transmission(at[None]).N[0, 2, 0])
    for _ in range(50):
        middle = 0.5 * (low + high)
        there, N = crank.walk_to(at, np.array([middle]))
        low, high = (middle, high) if np.sign(N[2, 0]) == sign else (low, middle)
    assert abs(N[2, 0]) < 1e-9
    loops = LoopMotion(robot, there)
    assert loops.names == ('rocker_joint',)
    assert loops.transmission(loops.home[None]).regular[0]
    assert 0.0 < np.abs(loops.home - there).max() < 0.3
    held = {'name': 'held', 'kind': 'weld', 'frame': 'crank'}
    with pytest.raises(DynamicsError, match='no degree of freedom'):
        LoopMotion(robot.with_loops([*robot.loops.constraints, held]))


def test_motions_that_cannot_be_followed_are_refused():
    """Out of reach; a floating base; contacts without an anchor."""
    loops = LoopMotion(mechanism('four_bar', ROCKER))
    with pytest.raises(DynamicsError, match='cannot be followed to rocker_joint 3: they'):
        loops.walk_to(loops.home, np.array([3.0]))
    with pytest.raises(DynamicsError, match='do not determine the motion of .*, which has more'):
        LoopMotion(Robot.from_urdf(MECHANISMS['five_bar'].urdf, base='floating',
                                   loops=MECHANISMS['five_bar'].loops))
    robot = mechanism('five_bar')
    contact = [*robot.loops.constraints, {'name': 'foot', 'kind': 'point_contact', 'frame': 'tool'}]
    with pytest.raises(DynamicsError, match=r"contacts \['foot'\] of the loops have no to_pose"):
        LoopMotion(robot.with_loops(contact))
