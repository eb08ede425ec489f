"""Test torques of a trajectory: effort filled in, margins to limits, the greatest payload."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from support.differences import relative
from support.node_states import NOW, ask, measure, node_state_of, scene, tree_scene
from support.random_trees import one_of_each_sort
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS
from support.trajectories import QUANTITIES, column, trajectory

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

TIMES = np.array([0.0, 0.5, 1.25, 2.0])
LIMIT = 50.0  # [N m] of each joint in TWO_JOINTS


@pytest.fixture
def s():
    """Two joints, all measured."""
    return scene(TWO_JOINTS)


def random_points(s, names, n=4):
    return {field: s.rng.uniform(-1.0, 1.0, (n, len(names))) for field in QUANTITIES}


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_the_effort_is_that_of_inverse_dynamics(tree):
    """Any subset of joints in any order; the others rest where they were measured."""
    s = tree_scene(tree)
    driven = [j.name for j in s.robot.model.joints if j.kind not in ('planar', 'floating')]
    names = [str(name) for name in s.rng.permutation(driven)[:s.rng.integers(1, len(driven) + 1)]]
    points = random_points(s, names)
    reply = ask(s.node_state, 'trajectory_torques', trajectory=trajectory(names, TIMES, **points))
    assert reply.joint_names == s.reply_order(names)
    q, v, a = np.tile(s.q, (4, 1)), np.zeros((4, s.robot.nv)), np.zeros((4, s.robot.nv))
    for x, which, field in ((q, 'q', 'positions'), (v, 'v', 'velocities'),
                            (a, 'v', 'accelerations')):
        for k, name in enumerate(names):
            x[:, getattr(s.robot.model.joint(name), which)] = points[field][:, [k]]
    want = s.robot.inverse_dynamics(q, v, a)
    assert relative(column(reply.trajectory, 'effort'), s.of(names, want)) < EXACT_MATHS
    assert relative(reply.peak_effort,
                    np.abs(s.of(reply.joint_names, want)).max(axis=0)) < EXACT_MATHS


def test_a_trajectory_is_returned_with_effort(s):
    """Header and times unchanged; the request is not written."""
    points = random_points(s, ['elbow', 'shoulder'])
    sent = trajectory(['elbow', 'shoulder'], TIMES, **points)
    sent.header.frame_id = 'world'
    sent.header.stamp.sec = 7
    got = ask(s.node_state, 'trajectory_torques', trajectory=sent).trajectory
    assert (got.header, got.joint_names) == (sent.header, sent.joint_names)
    assert [point.time_from_start for point in got.points] == [
        point.time_from_start for point in sent.points]
    for field in QUANTITIES:
        assert (column(got, field) == points[field]).all()
    assert sent == trajectory(['elbow', 'shoulder'], TIMES, **points, like=sent.header)


def test_positions_alone_are_joined_by_a_spline_from_rest_to_rest(s):
    """Velocities and accelerations are its derivatives, and the effort belongs to them."""
    q = random_points(s, 'ab')['positions']
    got = ask(s.node_state, 'trajectory_torques', trajectory=trajectory(
        ['shoulder', 'elbow'], TIMES, positions=q)).trajectory
    spline = CubicSpline(TIMES, q, bc_type='clamped')
    v, a = spline(TIMES, 1), spline(TIMES, 2)
    assert relative(column(got, 'velocities'), v) < EXACT_MATHS
    assert relative(column(got, 'accelerations'), a) < EXACT_MATHS
    assert relative(column(got, 'effort'), s.robot.inverse_dynamics(q, v, a)) < EXACT_MATHS


def test_given_velocities_stay_and_accelerations_are_derived(s):
    """The slope of the spline through the velocities."""
    points = random_points(s, 'ab')
    del points['accelerations']
    got = ask(s.node_state, 'trajectory_torques', trajectory=trajectory(
        ['shoulder', 'elbow'], TIMES, **points)).trajectory
    a = CubicSpline(TIMES, points['velocities'])(TIMES, 1)
    assert (column(got, 'velocities') == points['velocities']).all()
    assert relative(column(got, 'accelerations'), a) < EXACT_MATHS


def test_given_accelerations_stay_where_velocities_are_derived(s):
    """They are never dropped silently."""
    points = random_points(s, 'ab')
    v = CubicSpline(TIMES, points['positions'], bc_type='clamped')(TIMES, 1)
    del points['velocities']
    got = ask(s.node_state, 'trajectory_torques', trajectory=trajectory(
        ['shoulder', 'elbow'], TIMES, **points)).trajectory
    assert (column(got, 'accelerations') == points['accelerations']).all()
    assert relative(column(got, 'velocities'), v) < EXACT_MATHS
    want = s.robot.inverse_dynamics(points['positions'], v, points['accelerations'])
    assert relative(column(got, 'effort'), want) < EXACT_MATHS


def test_one_point_is_a_posture():
    """At rest, its effort holds it against gravity."""
    node_state, robot = node_state_of(ARM7), Robot.from_urdf(ARM7)
    q = robot.random_configuration(3)
    reply = ask(node_state, 'trajectory_torques', trajectory=trajectory(
        robot.joint_names, [1.5], positions=q[None]))
    assert reply.trajectory.points[0].effort.tolist() == robot.gravity_torque(q).tolist()


# Limits --------------------------------------------------------------------------------------

def swing(**more):
    """Return a request in which both joints go from -1 to 1 in two seconds."""
    return {'trajectory': trajectory(['elbow', 'shoulder'], [0.0, 2.0],
                                     positions=[[-1.0, -1.0], [1.0, 1.0]]), **more}


def test_margins_are_the_distances_to_the_limits_in_reply_order(s):
    """Limits of the URDF, or of the request for the joints of the trajectory."""
    reply = ask(s.node_state, 'trajectory_torques', **swing())
    assert reply.effort_limit.tolist() == [LIMIT, LIMIT]
    assert relative(reply.margin, LIMIT - np.array(reply.peak_effort)) < EXACT_MATHS
    reply = ask(s.node_state, 'trajectory_torques', **swing(effort_limits=[0.7, 300.0]))
    assert reply.joint_names == ['elbow', 'shoulder']
    assert reply.effort_limit.tolist() == [0.7, 300.0]
    assert relative(reply.margin, [0.7, 300.0] - np.array(reply.peak_effort)) < EXACT_MATHS


def test_limits_belong_to_their_joints_of_a_floating_robot():
    """The base has no known limit."""
    s = scene(TWO_JOINTS, base='floating')
    reply = ask(s.node_state, 'trajectory_torques', **swing())
    assert reply.joint_names == ['elbow', 'shoulder', 'floating_base']
    assert reply.effort_limit.tolist()[:2] == [LIMIT, LIMIT]
    assert np.isnan(reply.effort_limit[2:]).all()
    assert len(reply.effort_limit) == len(reply.margin) == len(reply.peak_effort) == 8
    reply = ask(s.node_state, 'trajectory_torques', **swing(effort_limits=[0.7, 300.0]))
    assert reply.effort_limit.tolist()[:2] == [0.7, 300.0]


def test_limits_are_checked_between_the_points_on_request(s):
    """A finer period finds no lower peak, and converges."""
    peaks = [np.array(ask(s.node_state, 'trajectory_torques',
                          **swing(check_period=period)).peak_effort)
             for period in (0.0, 0.5, 0.125, 0.0625 / 2, 0.0625 / 4)]
    assert all((finer >= coarser).all() for coarser, finer in zip(peaks, peaks[1:]))
    assert (peaks[-1] > peaks[0]).any()
    times = np.linspace(0.0, 2.0, 1001)
    spline = CubicSpline([0.0, 2.0], [[-1.0, -1.0], [1.0, 1.0]], bc_type='clamped')
    efforts = s.robot.inverse_dynamics(spline(times), spline(times, 1), spline(times, 2))
    finest = ask(s.node_state, 'trajectory_torques', **swing(check_period=0.002))
    assert relative(finest.peak_effort, np.abs(efforts).max(axis=0)[::-1]) < EXACT_MATHS
    assert len(finest.trajectory.points) == 2


def test_the_first_time_of_a_trajectory_does_not_matter(s):
    """Samples are counted from its first point to its last."""
    late = trajectory(['elbow', 'shoulder'], [1e6, 1e6 + 2.0],
                      positions=[[-1.0, -1.0], [1.0, 1.0]])
    reply, early = (ask(s.node_state, 'trajectory_torques', check_period=0.125, **{
        'trajectory': one}) for one in (late, swing()['trajectory']))
    assert relative(reply.peak_effort, early.peak_effort) < 1e-6  # times of 1e6 s have 1e-10 s


def test_the_first_joint_beyond_its_limit_is_named_with_the_time(s):
    """None where all margins are positive; the time is from the start."""
    free = ask(s.node_state, 'trajectory_torques', **swing(check_period=0.01, effort_limits=[1e3,
                                                                                             1e3]))
    assert free.first_saturated_joint == ''
    assert np.isnan(free.first_saturation_time)
    assert min(free.margin) > 0.0
    limit = 0.98 * free.peak_effort[1]
    bound = ask(s.node_state, 'trajectory_torques', **swing(check_period=0.01,
                                                      effort_limits=[1e3, limit]))
    assert bound.first_saturated_joint == 'shoulder'
    assert bound.margin[1] < 0.0 < bound.margin[0]
    times = np.arange(0.0, 2.0, 0.01)
    spline = CubicSpline([0.0, 2.0], [-1.0, 1.0], bc_type='clamped')
    states = [np.tile(spline(times, order)[:, None], 2) for order in range(3)]
    exceeded = np.abs(s.robot.inverse_dynamics(*states)[:, 0]) > limit
    assert bound.first_saturation_time == pytest.approx(times[exceeded.argmax()])


def test_the_greatest_payload_is_the_one_that_leaves_no_margin(s):
    """Set as a payload, some joint is exactly at its limit; a little more is too much."""
    from geometry_msgs.msg import Inertia, Point, Vector3
    com = {'x': 0.1, 'y': -0.2, 'z': 0.3}
    request = swing(check_period=0.1, payload_frame='elbow_link', payload_com=Point(**com),
                 effort_limits=[100.0, 200.0])
    most = ask(s.node_state, 'trajectory_torques', **request).greatest_payload
    assert 0.0 < most < np.inf
    for share, exceeded in ((1.0 - EXACT_MATHS, False), (1.0 + 1e-6, True)):
        assert ask(s.node_state, 'set_payload', name='box', frame='elbow_link', payload=Inertia(
            m=most * share, com=Vector3(**com))).success
        reply = ask(s.node_state, 'trajectory_torques', **request)
        assert (min(reply.margin) < -EXACT_MATHS) == exceeded
        assert reply.greatest_payload == pytest.approx(0.0, abs=1e-6 * most)


def test_the_greatest_payload_is_nan_without_request_and_inf_without_limits(s):
    """NaN and infinity in the reply."""
    assert np.isnan(ask(s.node_state, 'trajectory_torques', **swing()).greatest_payload)
    node_state = node_state_of(TWO_JOINTS.replace('effort="50"', 'effort="0"'))
    reply = ask(node_state, 'trajectory_torques', **swing(payload_frame='elbow_link'))
    assert reply.greatest_payload == np.inf
    assert np.isnan(reply.effort_limit).all()
    assert np.isnan(reply.margin).all()
    assert reply.first_saturated_joint == ''


def test_only_joints_that_are_not_named_are_measured():
    """Their stamp is in the reply; a trajectory of all joints needs none."""
    node_state = node_state_of(TWO_JOINTS)
    reply = ask(node_state, 'trajectory_torques', **swing())
    assert (stamp_of(reply), reply.state_age) == (0, 0.0)
    measure(node_state, np.zeros(2), np.zeros(2), age=2_000_000_000, joints=['elbow'])
    reply = ask(node_state, 'trajectory_torques', trajectory=trajectory(
        ['shoulder'], [0.0, 1.0], positions=[[0.0], [1.0]]))
    stamp = stamp_of(reply)
    assert (stamp, reply.state_age) == (NOW - 2_000_000_000, 2.0)
