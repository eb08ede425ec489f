"""Test the page about a trajectory: margins, energies and saturation of the library."""

import json

import numpy as np
import pytest
from support.differences import relative
from support.html_checks import checked
from support.nasty_robot import NASTY, NASTY_URDF
from support.real_robots import ROBOTS
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, UnknownName
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.reports.sampled_motion import sampled_motion
from dynamics_node.reports.trajectory_page import demand, trajectory_report_page

EXAMPLES = {example.name: example for example in ROBOTS}
TRAPEZOIDS = 1e-4   # relative: steps of 5 ms, of a motion of seconds


def swing(robot, scale=0.5, samples=301):
    """Return times, q, v, a of a sine of every joint, from rest, within the limits."""
    t = np.linspace(0.0, 3.0, samples)
    q = np.tile(robot.neutral(), (samples, 1))
    v, a = np.zeros((2, samples, robot.nv))
    for joint in robot.model.joints:
        if joint.q.stop - joint.q.start == 1:
            k, w = joint.v.start, 1.0 + 0.2 * joint.v.start
            q[:, joint.q.start] += scale * (1.0 - np.cos(w * t))
            v[:, k], a[:, k] = scale * w * np.sin(w * t), scale * w * w * np.cos(w * t)
    return t, q, v, a


@pytest.mark.parametrize('name', ['panda', 'talos'])
def test_pages_of_real_robots_are_complete(name):
    """The JSON has all results of the library, every joint has a plot."""
    example = EXAMPLES[name]
    robot = Robot.from_urdf(example.urdf, base=example.base)
    motion = swing(robot, samples=31)
    frame = robot.frame_names[-1]
    html, answers = trajectory_report_page(robot, *motion, frame, (0.0, 0.0, 0.1))
    checked(html)
    want = trajectory_torques(robot, *motion, payload_frame=frame, payload_com=(0.0, 0.0, 0.1))
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers
    assert answers['effort'] == want.effort.tolist()
    assert answers['peak_effort'] == want.peak.tolist()
    known = np.isfinite(want.margin)
    assert [m is not None for m in answers['margin']] == known.tolist()
    assert answers['greatest_payload'] == pytest.approx(want.greatest_payload)
    moved = [joint for joint in robot.model.joints if joint.q.stop - joint.q.start == 1]
    assert html.count('effort [N m] over') + html.count('effort [N] over') == robot.nv
    assert html.count('/s] over') == len(moved)


def test_energy_is_that_of_the_motion(arm):
    """Without friction, power over time is the change of kinetic and potential energy."""
    free = arm.with_friction({name: 0.0 for name in arm.joint_names},
                             {name: 0.0 for name in arm.joint_names})
    motion = swing(free, samples=601)
    found = demand(free, *motion)
    t, q, v, _ = motion
    energies = [free.kinetic_energy(q[k], v[k]) + free.potential_energy(q[k]) for k in (0, -1)]
    total = found.energy_in.sum() + found.energy_back.sum()
    assert total == pytest.approx(energies[1] - energies[0],
                                  abs=TRAPEZOIDS * found.energy_in.sum())
    assert (found.energy_in >= 0.0).all() and (found.energy_back <= 0.0).all()


def test_the_mean_is_over_time_not_over_samples(arm):
    """Twice as many samples in the first half change rounding and trapezoids only."""
    t = np.concatenate([np.linspace(0.0, 1.5, 401)[:-1], np.linspace(1.5, 3.0, 201)])
    q = np.outer(1.0 - np.cos(t), np.full(7, 0.3))
    v, a = np.outer(np.sin(t), np.full(7, 0.3)), np.outer(np.cos(t), np.full(7, 0.3))
    even = slice(None, 400, 2), slice(400, None)
    thin = [np.concatenate([x[even[0]], x[even[1]]]) for x in (t, q, v, a)]
    assert relative(demand(arm, t, q, v, a).rms, demand(arm, *thin).rms) < TRAPEZOIDS


def test_saturation_is_reported_and_marked(arm):
    """Joint and time; in the plot of that joint alone."""
    motion = swing(arm, scale=6.0, samples=61)
    want = trajectory_torques(arm, *motion)
    html, answers = trajectory_report_page(arm, *motion)
    page = checked(html)
    assert want.first_saturated >= 0
    assert answers['first_saturated'] == arm.dof_names[want.first_saturated]
    assert answers['first_saturation_time'] == want.first_saturation_time
    assert f'{answers["first_saturated"]} saturates first' in page.text
    assert html.count('class="event"') == 1 and 'class="bar over"' in html


def test_positions_beyond_their_limits_are_reported(arm):
    """At any speed."""
    q = arm.neutral()
    q[2] = arm.model.joints[2].upper + 0.25
    html, answers = trajectory_report_page(arm, [0.0, 1.0], q, np.zeros(7), np.zeros(7))
    assert 'Within the limitsno' in checked(html).text
    assert answers['position_overrun'] == pytest.approx([0, 0, 0.25, 0, 0, 0, 0])


def test_a_motion_within_the_limits_is_reported_so(arm):
    html, answers = trajectory_report_page(arm, *swing(arm, scale=0.01))
    text = checked(html).text
    assert 'No known limit is exceeded.' in text and 'Within the limitsyes' in text
    assert answers['first_saturated'] is None and answers['greatest_payload'] is None


def test_a_single_sample_is_a_trajectory():
    """With names of markup."""
    robot = Robot.from_urdf(NASTY_URDF).with_payload('<i>', f'{NASTY}3', 0.1)
    html, answers = trajectory_report_page(robot, [0.0], *np.zeros((3, 1, 2)), f'{NASTY}3')
    page = checked(html)
    assert NASTY in page.text
    assert answers['rms_effort'] == answers['peak_effort']


def test_unsupported_robots_are_refused(arm):
    urdf, loops = MECHANISMS['four_bar']
    robot = Robot.from_urdf(urdf, loops=loops)
    with pytest.raises(DynamicsError, match='closed loops'):
        trajectory_report_page(robot, [0.0], *np.zeros((3, 1, robot.nv)))
    with pytest.raises(DynamicsError, match='no movable joint'):
        trajectory_report_page(Robot.from_urdf('<robot name="a"><link name="b"/></robot>'),
                               [0.0], *np.zeros((3, 1, 0)))
    with pytest.raises(DynamicsError, match='times'):
        trajectory_report_page(arm, [1.0, 0.0], *np.zeros((3, 2, 7)))


# Some joints of a robot ------------------------------------------------------------------------

def test_joints_that_are_not_named_stay_at_rest(arm):
    times, points = [0.0, 1.0, 2.0], [[0.0, 0.1], [0.5, 0.2], [0.0, 0.4]]
    motion = sampled_motion(arm, ['joint_5', 'joint_2'], times, points, check_period=0.25)
    assert motion.times.tolist() == np.arange(0.0, 2.1, 0.25).tolist()
    assert motion.q[[0, 4, 8]][:, [4, 1]].tolist() == points
    others = [0, 2, 3, 5, 6]
    assert (motion.q[:, others] == arm.neutral()[others]).all()
    assert not motion.v[:, others].any() and not motion.a[:, others].any()
    assert motion.v[:, 4].any()


def test_points_are_met_with_their_velocities(arm):
    """And accelerations without velocities are completed."""
    rng = np.random.default_rng(1)
    points, v, a = rng.normal(size=(3, 4, 7))
    for given in ((v, a), (v, None), (None, a)):
        motion = sampled_motion(arm, arm.joint_names, np.arange(4.0), points, *given,
                                check_period=0.0)
        assert motion.q.tolist() == points.tolist()
        for got, want in zip((motion.v, motion.a), given):
            assert want is None or relative(got, want) < EXACT_MATHS


@pytest.mark.parametrize('base, joint, error, reason', [
    ('fixed', 'elbow', UnknownName, 'elbow'),
    ('floating', 'floating_base', DynamicsError, 'one coordinate')])
def test_invalid_joint_names_are_refused(base, joint, error, reason):
    with pytest.raises(error, match=reason):
        sampled_motion(Robot.from_urdf(ARM7, base=base), [joint], [0.0], [[0.0]])
