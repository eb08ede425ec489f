"""Test recordings of some joints: completed to motions of the whole mechanism, or refused."""

import numpy as np
import pytest
from support.moving_mechanisms import loop_motion, mechanism, moved, raw, recorded

from dynamics_node import DynamicsError
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.csv_files import read_csv
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.loop_recording import (
    complete_recording,
    velocity_signs,
    with_gravity,
)
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import Recording

ROCKER = ('crank_joint', 'coupler_joint')   # passive where the rocker is driven


pytestmark = pytest.mark.usefixtures('kernels')


@pytest.fixture(scope='module')
def five_bar(kernels):
    """(robot, a motion of 6 s, the motors' torques of the URDF's model)."""
    robot = mechanism('five_bar')
    motion = moved('five_bar', robot, 600, 3)
    tau = np.zeros_like(motion.v)
    tau[:, motion.motors] = project(loop_motion(robot), motion.q, robot.inverse_dynamics(
        motion.q, motion.v, motion.a))
    return robot, motion, tau


def of_motors(robot, motion, tau):
    return Recording(motion.names, motion.time, motion.q[:, motion.q_indices],
                     *(x[:, motion.motors] for x in (motion.v, motion.a, tau)))


def test_the_loops_determine_the_other_joints(five_bar):
    """Positions, velocities and accelerations; a completed recording stays as it is."""
    robot, motion, tau = five_bar
    done = complete_recording(robot, of_motors(robot, motion, tau))
    assert done.recording.joint_names == robot.joint_names
    assert done.kept.all()
    assert done.warnings == ()
    for key, want in (('q', motion.q), ('v', motion.v), ('a', motion.a), ('tau', tau)):
        np.testing.assert_allclose(getattr(done.recording, key), want, atol=1e-9)
    again = complete_recording(robot, done.recording).recording
    for key in ('q', 'v', 'a', 'tau'):
        np.testing.assert_allclose(getattr(again, key), getattr(done.recording, key), atol=1e-12)


def test_the_pose_of_an_unmeasured_platform_is_found():
    """The positions then have the coordinates of the floating joint too."""
    robot = mechanism('delta')
    motion = moved('delta', robot, 50, 3)
    done = complete_recording(robot, of_motors(robot, motion, 0.0 * motion.v))
    np.testing.assert_allclose(done.recording.q, motion.q, atol=1e-9)
    again = complete_recording(robot, done.recording)
    np.testing.assert_allclose(again.recording.q, motion.q, atol=1e-9)


def test_measured_positions_select_the_branch(five_bar):
    """With the elbows on the other side; motors alone would select the side of q = 0."""
    robot, motion, tau = five_bar
    flipped = robot.neutral()
    for name in ('left_elbow', 'right_elbow'):   # mirror the forearms about the line of the tips
        flipped[robot.joint_names.index(name)] = -1.3 if name.startswith('left') else 1.3
    loops = LoopMotion(robot, flipped)
    here = loop_motion(robot)
    assert np.abs(loops.home - here.home).max() > 0.5
    where = motion.q[:100, motion.q_indices] * 0.2 + loops.home[loops.q_indices]
    q = loops.follow(where, loops.home)
    other = loops.motion(q, motion.v[:100, motion.motors], motion.a[:100, motion.motors])
    done = complete_recording(robot, Recording(robot.joint_names, motion.time[:100], *other[:3],
                                      tau[:100]))
    np.testing.assert_allclose(done.recording.q, q, atol=1e-9)


def test_noise_of_passive_joints_does_not_matter(five_bar):
    """Their positions follow from the loops; only the motors' noise is left."""
    robot, motion, tau = five_bar
    noisy = recorded(robot, motion, tau)
    noise = 1e-3 * np.random.default_rng(1).normal(size=motion.q.shape)
    noise[:, motion.q_indices] = 0.0
    done = complete_recording(robot, noisy._replace(q=motion.q + noise))
    np.testing.assert_allclose(done.recording.q, motion.q, atol=1e-9)
    assert done.warnings == ()


def test_singular_configurations_are_left_out_and_counted():
    """A four-bar driven at its rocker, whose ends are singular; the crank is measured too."""
    crank, robot = mechanism('four_bar'), mechanism('four_bar', ROCKER)
    loops, t = LoopMotion(crank), 0.01 * np.arange(900)
    where, speed = 1.5 * t, np.full(900, 1.5)
    q = loops.follow(where[:, None], loops.home)
    motion = loops.motion(q, speed[:, None], np.zeros((900, 1)))
    tau = np.zeros_like(motion.v)
    done = complete_recording(robot, Recording(robot.joint_names, t, *motion[:3], tau))
    left_out = 900 - len(done.recording.time)
    assert 5 < left_out < 100
    assert f'{left_out} of 900 samples are in or near singular configurations' in done.warnings[0]
    assert done.kept.sum() == 900 - left_out
    with pytest.raises(DynamicsError, match="singular.* Record the positions of .'crank_joint', "):
        complete_recording(robot, Recording(('rocker_joint',), t, *(
            x[:, 2:] for x in (*motion[:3], tau))))


@pytest.mark.parametrize('spoil, words', [
    (lambda q: q * [1, -1, 1, 1], "'left_elbow' differ by .* positions do not close the loops"),
    (lambda q: q + [0, 0, 0, 0.1], "'right_elbow' differ by 0.1 rad .RMS. from those that follow"),
    (lambda q: q * [1, 180 / np.pi, 1, 1], 'cannot be closed near the measured positions'),
    (lambda q: q * 180 / np.pi, "'left_shoulder' goes from .* it seems to be in degrees"),
])
def test_positions_that_do_not_close_the_loops_are_refused(five_bar, spoil, words):
    robot, motion, tau = five_bar
    with pytest.raises(DynamicsError, match=words):
        prepare(robot, raw(robot, motion._replace(q=spoil(motion.q)), tau))


def test_small_residuals_of_the_loops_are_warned_of(five_bar):
    robot, motion, tau = five_bar
    ready = prepare(robot, raw(robot, motion._replace(q=motion.q + [0, 0.01, 0, 0]), tau))
    assert "'left_elbow' differ by 0.01 rad" in ' '.join(ready.warnings)
    assert 'a little off' in ' '.join(ready.warnings)


def test_missing_joints_are_named(five_bar):
    """A motor; a passive joint that the loops leave free."""
    robot, motion, tau = five_bar
    with pytest.raises(DynamicsError, match=r"lacks the joints \['right_shoulder'\]"):
        prepare(robot, raw(robot, motion, tau, ('left_shoulder', 'left_elbow')))
    loose = mechanism('five_bar', ('left_elbow', 'right_elbow', 'right_shoulder'))
    with pytest.raises(DynamicsError, match='more degrees of freedom than motors. Record the'):
        complete_recording(loose, of_motors(robot, motion, tau)._replace(
            joint_names=('left_shoulder', 'other')))


def test_gravity_is_added_to_torques_without_it(five_bar):
    """At the motors, for the whole mechanism; also without a measured effort."""
    robot, motion, tau = five_bar
    gravity = project(loop_motion(robot), motion.q, robot.gravity_torque(motion.q))
    less = tau.copy()
    less[:, motion.motors] -= gravity
    given = raw(robot, motion, less, motion.names)
    given.q[7] = np.nan
    back = with_gravity(robot, given)
    want = tau[:, motion.motors]
    want[7] = less[7, motion.motors]
    np.testing.assert_allclose(back, want, atol=1e-9)


def test_signs_of_velocities_follow_where_they_are_determined():
    """Of one freedom all; of two only where both say the same."""
    gripper = loop_motion(mechanism('gripper'))
    signs = velocity_signs(gripper, gripper.home[None], {'left_crank_joint': np.ones(1)})[0]
    N = gripper.transmission(gripper.home[None]).N[0, :, 0]
    assert np.array_equal(signs, np.sign(np.where(np.abs(N) > 1e-9, N, 0.0)))
    five = loop_motion(mechanism('five_bar'))
    N = five.transmission(five.home[None]).N[0]
    for left, right in ((1.0, 1.0), (1.0, -1.0), (0.0, 1.0)):
        signs = velocity_signs(five, five.home[None], {
            'left_shoulder': np.array([left]), 'right_shoulder': np.array([right])})[0]
        parts = N * [left, right]
        told = (left != 0.0) & ((parts >= 0.0).all(axis=1) | (parts <= 0.0).all(axis=1))
        want = np.where(told, np.sign(parts.sum(axis=1)), 0.0)
        want[five.independent] = left, right
        assert np.array_equal(signs, want)


def test_a_table_needs_no_effort_of_passive_joints(tmp_path):
    """Position alone; without any effort it is still refused."""
    (tmp_path / 'x.csv').write_text('time,position_a,position_b,effort_a\n1,2,3,4\n2,3,4,5\n')
    found = read_csv(tmp_path / 'x.csv')
    assert found.joint_names == ('a', 'b')
    assert found.tau[:, 0].tolist() == [4.0, 5.0]
    assert np.isnan(found.tau[:, 1]).all()
    (tmp_path / 'y.csv').write_text('time,position_a,effort_b\n1,2,3\n')
    with pytest.raises(DynamicsError, match="no column with the position of joint 'b'"):
        read_csv(tmp_path / 'y.csv')
