"""Test every service over DDS against the library: named joints given, the others measured."""

import json
import time
from typing import NamedTuple

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from scipy.spatial.transform import Rotation
from support import random_trees
from support.remote_node import assert_close, floats, stamped_wrench, wait_until
from support.reply_stamps import stamp_of
from support.tolerances import EXACT_MATHS, SOLVED
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node.control.spline import Spline
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.robot.self_test import self_test
from dynamics_node.ros import convert
from dynamics_node.ros.services.table import SERVICES

FRAMES = ['link_7', 'base_link', 'link_3']


class Asked(NamedTuple):
    """A request that names some joints, and the complete state that it stands for."""

    names: list          # of the request
    order: np.ndarray    # of the reply
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    given: np.ndarray

    def fields(self, *which):
        """Return the fields of the request."""
        named = self.order[:len(self.names)]
        values = {'position': self.q, 'velocity': self.v, 'acceleration': self.a,
                  'effort': self.tau}
        fields = {name: floats(values[name][named]) for name in which if name in values}
        if 'acceleration_given' in which:
            fields['acceleration_given'] = [bool(value) for value in self.given[named]]
        return {'joint_names': self.names, **fields}


def some_joints(arm, count, seed):
    """Return the Asked of `count` joints in random order, at a random state."""
    rng = np.random.default_rng(seed)
    named = rng.permutation(7)[:count]
    others = [k for k in range(7) if k not in named]
    q, v, a, tau = arm.q.copy(), arm.v.copy(), np.zeros(7), arm.tau.copy()
    given = np.ones(7, dtype=bool)
    q[named] = arm.robot.random_configuration(rng)[named]
    for vector in (v, a, tau):
        vector[named] = rng.normal(size=count)
    given[named] = rng.random(count) < 0.5
    return Asked([arm.robot.joint_names[k] for k in named], np.array([*named, *others]), q, v, a,
                 tau, given)


def terms(robot, s):
    C = robot.coriolis_matrix(s.q, s.v)
    return {'mass_matrix': robot.mass_matrix(s.q)[np.ix_(s.order, s.order)],
            'coriolis_matrix': C[np.ix_(s.order, s.order)], 'coriolis': (C @ s.v)[s.order],
            'gravity': robot.gravity_torque(s.q)[s.order],
            'friction': robot.friction_torque(s.v)[s.order],
            'kinetic_energy': robot.kinetic_energy(s.q, s.v),
            'potential_energy': robot.potential_energy(s.q), 'momentum': robot.momentum(s.q, s.v),
            'total_mass': robot.total_mass}


def hybrid(robot, s):
    a, tau = robot.hybrid_dynamics(s.q, s.v, s.a, s.tau, s.given)
    return {'acceleration': a[s.order], 'effort': tau[s.order]}


# service: (fields that a request may have, what the library says)
ANSWERS = {
    'inverse_dynamics': (('position', 'velocity', 'acceleration'), lambda robot, s: {
        'effort': robot.inverse_dynamics(s.q, s.v, s.a)[s.order]}),
    'forward_dynamics': (('position', 'velocity', 'effort'), lambda robot, s: {
        'acceleration': robot.forward_dynamics(s.q, s.v, s.tau)[s.order]}),
    'hybrid_dynamics': (('position', 'velocity', 'acceleration', 'effort', 'acceleration_given'),
                        hybrid),
    'dynamics_terms': (('position', 'velocity'), terms),
    'kinematics': (('position', 'velocity'), lambda robot, s: {}),  # more below
}


def test_the_node_has_these_services(arm):
    """All of srv/, and the standard ones of a lifecycle node."""
    assert len(SERVICES) == 25
    wanted = {f'{arm.node.name}/{name}': [f'dynamics_node/srv/{kind.__name__}']
              for name, (kind, _, _) in SERVICES.items()}
    wanted |= {f'{arm.node.name}/{name}': [f'lifecycle_msgs/srv/{kind}']
               for name, kind in (('change_state', 'ChangeState'), ('get_state', 'GetState'))}
    wait_until(lambda: wanted.items() <= dict(
        arm.node.client.get_service_names_and_types()).items(), 'all services')


@pytest.mark.parametrize('count', [0, 1, 3, 7])
@pytest.mark.parametrize('service', ANSWERS)
def test_named_joints_are_given_and_the_others_measured(arm, service, count):
    """The reply begins with the named joints; then come the others, as in the model."""
    which, answer = ANSWERS[service]
    s = some_joints(arm, count, seed=count)
    fields = s.fields(*which) if count else {}
    if not count:  # of no joint at all anything is given: all efforts are measured
        s = s._replace(given=np.zeros(7, dtype=bool))
    before = time.time_ns()
    reply = arm.node.call(service, **fields)
    after = time.time_ns()
    assert (reply.success, reply.message) == (True, '')
    assert reply.joint_names == [arm.robot.joint_names[k] for k in s.order]
    assert reply.model_id == arm.node.call('model_report').model_id
    for field, expected in answer(arm.robot, s).items():
        assert_close(getattr(reply, field), expected, SOLVED)
    if count == 7:  # nothing was left out
        assert (stamp_of(reply), reply.state_age) == (0, 0.0)
    else:
        assert stamp_of(reply) == arm.stamp
        assert (before - arm.stamp) * 1e-9 <= reply.state_age <= (after - arm.stamp) * 1e-9


@pytest.mark.parametrize('left_out', ['position', 'velocity', 'acceleration'])
def test_a_quantity_may_be_left_out(arm, left_out):
    """It is measured; an acceleration is zero."""
    s = some_joints(arm, 4, seed=10)
    reply = arm.node.call('inverse_dynamics', **s.fields(
        *{'position', 'velocity', 'acceleration'} - {left_out}))
    whole = {'position': ('q', arm.q), 'velocity': ('v', arm.v), 'acceleration': ('a', np.zeros(7))}
    s = s._replace(**dict([whole[left_out]]))
    assert_close(reply.effort, arm.robot.inverse_dynamics(s.q, s.v, s.a)[s.order], EXACT_MATHS)


@pytest.mark.parametrize('service', ['inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics'])
def test_wrenches_act_in_any_frame_and_add_up(arm, service):
    """Three wrenches on two links, each in the axes of its own."""
    rng, s = np.random.default_rng(1), some_joints(arm, 5, seed=11)
    pushes = [('link_7', rng.normal(size=6)), ('link_3', rng.normal(size=6)),
              ('link_7', rng.normal(size=6))]
    wrenches = {'link_3': pushes[1][1], 'link_7': pushes[0][1] + pushes[2][1]}
    reply = arm.node.call(service, **s.fields(*ANSWERS[service][0]),
                          external_wrenches=[stamped_wrench(*push) for push in pushes])
    expected = {
        'inverse_dynamics': lambda r: {'effort': r.inverse_dynamics(s.q, s.v, s.a, wrenches)},
        'forward_dynamics': lambda r: {
            'acceleration': r.forward_dynamics(s.q, s.v, s.tau, wrenches)},
        'hybrid_dynamics': lambda r: dict(zip(
            ('acceleration', 'effort'),
            r.hybrid_dynamics(s.q, s.v, s.a, s.tau, s.given, wrenches))),
    }[service](arm.robot)
    for field, value in expected.items():
        assert_close(getattr(reply, field), value[s.order], SOLVED)


@pytest.mark.parametrize('local', [False, True])
def test_kinematics_of_any_frames_are_those_of_the_library(arm, local):
    """Poses, twists, Jacobians and their rates, in the order asked for."""
    s = some_joints(arm, 3, seed=12)
    reply = arm.node.call('kinematics', **s.fields('position', 'velocity'), frames=FRAMES,
                          local=local, jacobians=True, jacobian_rates=True)
    assert reply.frames == FRAMES
    for pose, twist, frame in zip(reply.poses, reply.twists, FRAMES):
        expected = arm.robot.frame_pose(s.q, frame)
        assert_close(convert.xyz(pose.position), expected[:3, 3], EXACT_MATHS)
        assert_close(Rotation.from_quat(convert.xyzw(pose.orientation)).as_matrix(),
                     expected[:3, :3], EXACT_MATHS)
        assert_close([*convert.xyz(twist.linear), *convert.xyz(twist.angular)],
                     arm.robot.frame_twist(s.q, s.v, frame), EXACT_MATHS)
    J = [arm.robot.jacobian(s.q, frame, local)[:, s.order] for frame in FRAMES]
    rate = [arm.robot.jacobian_rate(s.q, s.v, frame, local)[:, s.order] for frame in FRAMES]
    assert_close(reply.jacobians, J, EXACT_MATHS)
    assert_close(reply.jacobian_rates, rate, EXACT_MATHS)


@pytest.mark.parametrize('local', [False, True])
def test_reactions_are_those_of_the_library(arm, local):
    """Wrenches of joints and of a sensor, accelerations by both services, under a push."""
    s, push = some_joints(arm, 3, seed=13), np.random.default_rng(2).normal(size=6)
    fields = s.fields('position', 'velocity', 'acceleration')
    reply = arm.node.call('joint_reactions', **fields, local=local, sensor_links=['tool0'],
                          sensor_frames=['link_7'],
                          external_wrenches=[stamped_wrench('tool0', push)])
    found = arm.robot.joint_reactions(s.q, s.v, s.a, {'tool0': push}, local)
    sensor = arm.robot.sensor_wrench(s.q, s.v, s.a, 'tool0', 'link_7', {'tool0': push}, local)
    assert tuple(reply.frames) == arm.robot.body_names
    for wrenches, expected in ((reply.wrenches, found.wrenches),
                               (reply.sensor_wrenches, [sensor])):
        assert_close([[*convert.xyz(F.force), *convert.xyz(F.torque)] for F in wrenches],
                     expected, EXACT_MATHS)
    accelerations = arm.node.call('kinematics', **fields, frames=list(arm.robot.body_names),
                                  accelerations=True, local=local).accelerations
    for messages in (reply.accelerations, accelerations):
        assert_close([[*convert.xyz(each.linear), *convert.xyz(each.angular)] for each in messages],
                     found.accelerations, EXACT_MATHS)


def test_kinematics_without_frames_are_those_of_all(arm):
    """Without Jacobians unless requested."""
    reply = arm.node.call('kinematics')
    assert tuple(reply.frames) == arm.robot.frame_names
    assert len(reply.poses) == len(reply.twists) == len(reply.frames)
    assert not reply.jacobians and not reply.jacobian_rates
    center = arm.node.call('dynamics_terms').center_of_mass
    assert_close(convert.xyz(center), arm.robot.center_of_mass(arm.q), EXACT_MATHS)


@pytest.mark.parametrize('question', ['inverse', 'forward', 'hybrid', 'terms'])
def test_a_batch_gives_the_results_of_single_states(arm, question):
    """N states of some joints in any order; one row of velocity is used for all."""
    n, s = 5, some_joints(arm, 4, seed=13)
    q, a, tau = (np.tile(x, (n, 1)) for x in (s.q, s.a, s.tau))
    rng, named = np.random.default_rng(2), s.order[:4]
    for array in (q, a, tau):
        array[:, named] = rng.normal(size=(n, 4))
    read = {'inverse': ('acceleration',), 'forward': ('effort',), 'terms': (),
            'hybrid': ('acceleration', 'effort', 'acceleration_given')}[question]
    given = {name: floats(x[:, named].ravel()) for name, x in (
        ('position', q), ('acceleration', a), ('effort', tau)) if name in ('position', *read)}
    reply = arm.node.call('batch_dynamics', question=question,
                          **{**s.fields('velocity', *read), **given})
    assert (reply.success, reply.states) == (True, n), reply.message
    service = {'terms': 'dynamics_terms'}.get(question, f'{question}_dynamics')
    rows = [ANSWERS[service][1](arm.robot, s._replace(q=q[k], a=a[k], tau=tau[k]))
            for k in range(n)]
    for field in set(rows[0]) - {'momentum', 'total_mass'}:
        assert_close(getattr(reply, field), [row[field] for row in rows], SOLVED)
    assert reply.joint_names == [arm.robot.joint_names[k] for k in s.order]
    assert stamp_of(reply) == arm.stamp


def test_thousands_of_states_fit_in_one_call(arm):
    """Arrays of 14,000 numbers each way."""
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 2000, 7))
    reply = arm.node.call('batch_dynamics', question='inverse', position=convert.floats(q),
                          velocity=convert.floats(v), acceleration=convert.floats(a))
    assert reply.success, reply.message
    assert (reply.states, stamp_of(reply)) == (2000, 0)
    effort, some = np.reshape(reply.effort, (2000, 7)), slice(None, None, 40)
    assert_close(effort[some], arm.robot.inverse_dynamics(q[some], v[some], a[some]), EXACT_MATHS)


def trajectory(names, times, positions):
    points = [JointTrajectoryPoint(positions=floats(q), time_from_start=Duration(
        sec=int(t), nanosec=round(t % 1 * 1e9))) for t, q in zip(times, positions)]
    return JointTrajectory(joint_names=names, points=points)


def test_the_torques_of_a_trajectory_are_filled_in(arm):
    """At its points; margins between them too, and the greatest payload."""
    s, times = some_joints(arm, 3, seed=14), np.array([0.0, 0.5, 1.25, 2.0])
    named, rng = s.order[:3], np.random.default_rng(4)
    positions = np.array([arm.robot.random_configuration(rng)[named] for _ in times]) / 4
    com = (0.0, 0.02, 0.1)
    reply = arm.node.call('trajectory_torques', trajectory=trajectory(s.names, times, positions),
                          check_period=0.1, payload_frame='link_7',
                          payload_com=Point(x=com[0], y=com[1], z=com[2]))
    assert reply.success, reply.message
    spline = Spline(times, positions)
    checked = np.union1d(times, np.arange(0.0, 2.0, 0.1))
    q, v, a = (np.tile(x, (len(checked), 1)) for x in (arm.q, np.zeros(7), np.zeros(7)))
    for whole, part in zip((q, v, a), spline.at(checked)):
        whole[:, named] = part
    expected = trajectory_torques(arm.robot, checked, q, v, a, payload_frame='link_7',
                                  payload_com=com)
    at_points = np.searchsorted(checked, times)
    filled = reply.trajectory.points
    assert_close([point.velocities for point in filled], v[at_points][:, named], EXACT_MATHS)
    assert_close([point.accelerations for point in filled], a[at_points][:, named], EXACT_MATHS)
    assert_close([point.effort for point in filled], expected.effort[at_points][:, named], SOLVED)
    for field, value in (('effort_limit', expected.effort_limit), ('peak_effort', expected.peak),
                         ('margin', expected.margin)):
        assert_close(getattr(reply, field), value[s.order], SOLVED)
    assert reply.greatest_payload == pytest.approx(expected.greatest_payload, rel=SOLVED)
    assert (reply.first_saturated_joint, np.isnan(reply.first_saturation_time)) == ('', True)
    assert stamp_of(reply) == arm.stamp


def test_a_trajectory_beyond_limits_names_joint_and_time(arm):
    """Limits of the request replace those of the URDF."""
    names = list(arm.robot.joint_names)
    reply = arm.node.call('trajectory_torques', effort_limits=[1e3, 1e-3, *[1e3] * 5],
                          trajectory=trajectory(names, [0.0, 1.0], [arm.q, arm.q + 0.1]))
    assert reply.first_saturated_joint == names[1]
    assert reply.first_saturation_time == 0.0
    assert reply.margin[1] == pytest.approx(1e-3 - reply.peak_effort[1])
    assert np.isnan(reply.greatest_payload)


def test_the_report_is_that_of_the_library(arm):
    """The same text, limits in the same order."""
    reply, report = arm.node.call('model_report'), arm.robot.report()
    assert (reply.robot, reply.report) == ('arm7', str(report))
    assert json.loads(reply.json) == json.loads(json.dumps(report.as_dict()))
    assert tuple(reply.joint_names) == arm.robot.joint_names
    assert reply.joint_types == ['revolute'] * 7
    for field in ('lower', 'upper'):
        assert list(getattr(reply, f'{field}_position')) == [
            getattr(joint, field) for joint in arm.robot.model.joints]
    assert list(reply.max_effort) == [joint.max_effort for joint in arm.robot.model.joints]
    assert list(convert.xyz(reply.gravity)) == [0.0, 0.0, -9.81]
    assert (reply.never_measured, reply.compiled) == ([], False)


def test_the_self_test_runs_in_the_node(arm):
    """The laws of physics on its own robot, the states by the seed."""
    reply, expected = arm.node.call('self_test', samples=3, seed=5), self_test(arm.robot, 3, 5)
    assert reply.success and reply.passed, reply.report
    assert reply.checks == [check.name for check in expected.checks]
    assert np.array_equal(reply.residuals, [check.residual for check in expected.checks],
                          equal_nan=True)
    assert reply.model_id == arm.node.call('model_report').model_id


def test_planar_and_floating_joints_have_several_numbers(launch):
    """A tree of every joint type, its joints in random order, single states and a batch."""
    tree = random_trees.make(random_trees.TREES[1], gravity=(0.0, 0.0, -9.81), armature={})
    text = random_trees.urdf(np.random.default_rng(1), mimic=True)
    robot = tree.robot
    assert {joint.kind for joint in robot.model.joints} >= {'planar', 'floating'}
    node = launch()
    node.describe(text)
    wait_until(lambda: node.call('model_report').success, 'the description')
    order = np.random.default_rng(5).permutation(len(robot.joint_names))
    joints = [robot.model.joints[k] for k in order]
    q, v, a = (np.concatenate([x[getattr(joint, where)] for joint in joints]) for x, where in (
        (tree.q, 'q'), (tree.v, 'v'), (tree.a, 'v')))
    expected = robot.inverse_dynamics(tree.q, tree.v, tree.a)
    expected = np.concatenate([expected[joint.v] for joint in joints])
    names = [joint.name for joint in joints]
    fields = {'joint_names': names, 'position': floats(q), 'velocity': floats(v),
              'acceleration': floats(a)}
    reply = node.call('inverse_dynamics', **fields)
    assert reply.joint_names == names, reply.message
    assert_close(reply.effort, expected, EXACT_MATHS)
    fields['position'] = floats(np.tile(q, 3))
    reply = node.call('batch_dynamics', question='inverse', **fields)
    assert reply.states == 3
    assert_close(reply.effort, np.tile(expected, 3), EXACT_MATHS)
