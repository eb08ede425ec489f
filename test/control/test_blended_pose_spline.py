"""Test the motion of a frame: smooth for any sequence of references, at rest after the last."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError
from dynamics_node.control.blended_pose_spline import BlendedPoseSpline, PoseLimits
from dynamics_node.control.pose_coordinates import (
    PoseMotion,
    from_coordinates,
    pose_error,
    stepped,
    to_coordinates,
)
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.task_reference import TaskReference, selection
from dynamics_node.spatial import so3

RULES = PoseLimits(blend_time=0.2, max_speed=0.25, max_turn=1.0, timeout=0.1)
NONE = np.zeros(6)
POSTURE = np.zeros(7)
STEP = 1e-4  # [s]
JERK = 0.1 * 2.0 ** 3  # [m/s^3] of a circle of 0.1 m at 2 rad/s


def pose_at(x):
    return stepped(np.eye(4), np.asarray(x, dtype=float))


def reference(pose, twist=NONE, acceleration=NONE, force=(), frame='tool0'):
    axes = np.zeros(6, dtype=bool)
    axes[list(force)] = True
    return TaskReference(frame, pose, np.array(twist, dtype=float),
                         np.array(acceleration, dtype=float), NONE, selection(np.eye(3), axes),
                         None, None)


def holding(x=NONE):
    return BlendedPoseSpline.hold('tool0', pose_at(x), 0.0, RULES, POSTURE)


def sampled(track, times):
    return [track.at(float(t)).pose_motion for t in times]


# Coordinates about a pose ------------------------------------------------------------------------


@pytest.mark.parametrize('angle', [0.0, 1e-5, 0.0999, 0.1001, 1.0, 3.0])
def test_twist_and_acceleration_are_the_rates_of_the_pose(angle):
    """By differences along a parabola of the coordinates, on both sides of the series."""
    rng = np.random.default_rng(0)
    x, dx, ddx = rng.normal(size=(3, 6))
    x[3:] *= angle / np.linalg.norm(x[3:])
    origin, h = pose_at(rng.normal(size=6)), 1e-5

    def at(t):
        return from_coordinates(origin, MotionSample(x + dx * t + ddx * t * t / 2, dx + ddx * t,
                                                     ddx))
    before, now, after = at(-h), at(0.0), at(h)
    twist = (pose_error(now.pose, after.pose) - pose_error(now.pose, before.pose)) / (2 * h)
    np.testing.assert_allclose(now.twist, twist, atol=10 * RATE_BY_DIFFERENCES)
    np.testing.assert_allclose(now.acceleration, (after.twist - before.twist) / (2 * h),
                               atol=10 * RATE_BY_DIFFERENCES)


def test_coordinates_convert_back_to_the_pose():
    rng = np.random.default_rng(1)
    for _ in range(20):
        moving = PoseMotion(pose_at(rng.uniform(-2, 2, 6)), *rng.normal(size=(2, 6)))
        origin = pose_at(rng.normal(size=6))
        again = from_coordinates(origin, to_coordinates(origin, moving))
        for one, other in zip(moving, again):
            np.testing.assert_allclose(one, other, atol=1000 * EXACT_MATHS)


@pytest.mark.parametrize('angle', [0.0, 1e-12, 1e-3, 1.5, 1.6, 3.1])
def test_the_error_of_a_rotation_is_its_rotation_vector(angle):
    """Below and beyond a quarter turn."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    error = pose_error(pose_at([0, 0, 0, 0.3, 0, 0]),
                       stepped(pose_at([0, 0, 0, 0.3, 0, 0]), [1, 2, 3, *(angle * axis)]))
    np.testing.assert_allclose(error, [1, 2, 3, *(angle * axis)], atol=100 * EXACT_MATHS)


# Over time ---------------------------------------------------------------------------------------


def test_the_pose_is_constant_before_the_first_reference():
    track, pose = holding([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), pose_at([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for moving in sampled(track, [0.0, 1.0, 1000.0, -1.0]):
        np.testing.assert_allclose(moving.pose, pose, atol=EXACT_MATHS)
        assert not moving.twist.any() and not moving.acceleration.any()
    assert track.age(1000.0) == 0.0   # no reference, no age


def test_no_reference_makes_the_motion_jump():
    """At any time of any motion; twist and acceleration are the rates of the pose."""
    rng = np.random.default_rng(0)
    track, now, last = holding(), 0.0, None
    for _ in range(12):
        asked = reference(pose_at(rng.uniform(-0.6, 0.6, 6)), *rng.normal(size=(2, 6)) * 0.05)
        track = track.replaced_by(asked, now, now, np.eye(4))
        for moving in sampled(track, now + STEP * np.arange(200)):
            if last is not None:
                step = pose_error(last.pose, moving.pose) / STEP
                np.testing.assert_allclose(step, (last.twist + moving.twist) / 2, atol=1e-3)
                np.testing.assert_allclose(
                    (moving.twist - last.twist) / STEP,
                    (last.acceleration + moving.acceleration) / 2, atol=0.05)
            last = moving
        now += STEP * 200


def test_a_far_reference_is_approached_within_the_speed_limit():
    """At once, and in a stream that repeats it; it is reached, at rest."""
    for pose, limit, part in ((pose_at([0.5, 0.0, 0.2, 0, 0, 0]), RULES.max_speed, slice(3)),
                              (pose_at([0, 0, 0, 0.0, 2.0, 1.0]), RULES.max_turn, slice(3, 6))):
        for period in (1000, 0.02):
            track, fastest = holding(), 0.0
            for now in np.arange(0.0, 8.0, 0.02):
                if period < 1 or now == 0.0:
                    track = track.replaced_by(reference(pose), now, now, np.eye(4))
                fastest = max(fastest, np.linalg.norm(track.at(float(now)).pose_motion.twist[part]))
            assert 0.5 * limit < fastest <= 1.001 * limit
            np.testing.assert_allclose(track.at(20.0).pose_motion.pose, pose, atol=1e-6)


def test_a_stream_with_twists_is_followed_without_delay():
    """Circles on a table, a hundred references a second, each valid for 10 ms.

    What it leaves out is the rate of the acceleration.
    """
    def circle(t):
        c, s, w = np.cos(2 * t), np.sin(2 * t), 2.0
        return (np.array([0.1 * c, 0.1 * s, 0, 0, 0, t]),
                [-0.1 * w * s, 0.1 * w * c, 0, 0, 0, 1.0],
                [-0.1 * w * w * c, -0.1 * w * w * s, 0, 0, 0, 0])
    track, errors = holding(circle(0.0)[0]), []
    for now in np.arange(0.0, 2.0, 0.01):
        x, *rates = circle(now)
        track = track.replaced_by(reference(pose_at(x), *rates), now, now, np.eye(4))
        errors += [np.abs(pose_error(track.at(float(t)).pose_motion.pose,
                                     pose_at(circle(t)[0]))).max()
                   for t in (now, now + 0.009)]
    assert max(errors[100:]) < 0.02 * JERK * RULES.blend_time ** 3


def test_the_motion_stops_when_the_stream_stops():
    """It goes on by its twist until the timeout, then stops within the blend time."""
    twist = np.array([0.2, 0, 0, 0, 0, 0.5])
    track = holding().replaced_by(reference(np.eye(4), twist), 0.0, 0.0, np.eye(4))
    stop = RULES.timeout + RULES.blend_time
    assert np.linalg.norm(track.at(RULES.timeout).pose_motion.twist) > 0.1
    end = track.at(stop + 0.2).pose_motion
    assert not end.twist.any() and not end.acceleration.any()
    assert end.pose[0, 3] == pytest.approx(0.2 * (RULES.timeout + RULES.blend_time / 2))
    np.testing.assert_array_equal(track.at(1000.0).pose_motion.pose, end.pose)
    assert track.age(3.0) == 3.0


@pytest.mark.parametrize('start, message', [(9.0, '1 s ago'), (11.0, '1 s ahead')])
def test_a_stamp_far_from_now_is_refused(start, message):
    with pytest.raises(DynamicsError, match=f'the stamp is {message}; expected zero, or one within '
                                            'the timeout of 0.1 s'):
        holding().replaced_by(reference(np.eye(4)), start, 10.0, np.eye(4))


@pytest.mark.parametrize('twist, acceleration, message', [
    ([0.2, 0.2, 0, 0, 0, 0], NONE, r'twist.linear reaches 0.283 .* 0.25 m/s \(task_max_speed\)'),
    ([0, 0, 0, 0, 1.1, 0], NONE, r'twist.angular reaches 1.1 .* at most 1 rad/s \(task_max_turn\)'),
    (NONE, [0, 0, 3.0, 0, 0, 0], 'twist.linear reaches 0.3 before the timeout')])
def test_a_reference_that_is_too_fast_is_refused(twist, acceleration, message):
    with pytest.raises(DynamicsError, match=message):
        holding().replaced_by(reference(np.eye(4), twist, acceleration), 0.0, 0.0, np.eye(4))


def test_a_reference_with_a_recent_stamp_is_caught_up_with():
    twist = np.array([0.2, 0, 0, 0, 0, 0])
    track = holding().replaced_by(reference(np.eye(4), twist), 9.95, 10.0, np.eye(4))
    assert track._spline_of(reference(np.eye(4), twist)).at(0.05).q[0] == pytest.approx(0.01)
    assert track.at(10.05).pose_motion.twist[0] > 0.05


def test_a_force_axis_continues_from_the_measured_position():
    """The other axes are unchanged."""
    pushing = reference(pose_at([0.0, 0.0, -9.0, 0, 0, 0]), force=[2])
    track = holding().replaced_by(pushing, 0.0, 0.0, np.eye(4))
    assert track._spline.rest == pytest.approx(0.0)   # what is not moved along takes no time
    measured = pose_at([0.01, 0.0, 0.4, 0, 0, 0])
    track = track.replaced_by(reference(pose_at([0.0, 0.0, 0.4, 0, 0, 0])), 1.0, 1.0, measured)
    np.testing.assert_allclose(track.at(1.0).pose_motion.pose, pose_at([0.0, 0.0, 0.4, 0, 0, 0]),
                               atol=EXACT_MATHS)


def test_a_new_frame_starts_at_its_measured_pose():
    measured = stepped(np.eye(4), np.array([0.3, 0.2, 0.1, 0.0, 0.4, 0.0]))
    track = holding().replaced_by(reference(np.eye(4), frame='link_3'), 1.0, 1.0, measured)
    np.testing.assert_allclose(track.at(1.0).pose_motion.pose, measured, atol=EXACT_MATHS)
    np.testing.assert_allclose(track.at(10.0).pose_motion.pose, np.eye(4), atol=EXACT_MATHS)


def test_the_posture_is_part_of_the_sample():
    track = holding().replaced_by(reference(np.eye(4)), 0.0, 0.0, np.eye(4))
    assert track.at(0.0).posture is POSTURE
    assert np.abs(so3.log(track.at(0.0).pose_motion.pose[:3, :3])).max() == 0.0


def test_a_motion_that_stops_begins_with_pose_and_twist_and_rests():
    pose, twist = pose_at([0.1, 0.2, 0.3, 0.4, -0.5, 0.6]), np.array([0.2, 0.0, -0.1, 0.3, 0.5, 0])
    track = BlendedPoseSpline.stop('tool0', pose, twist, 1.0, RULES, POSTURE)
    first, last = sampled(track, [1.0, 1.01 + RULES.blend_time])
    np.testing.assert_allclose(first.pose, pose, atol=1e-12)
    np.testing.assert_allclose(first.twist, twist, atol=1e-12)
    np.testing.assert_allclose(pose_error(pose, last.pose), RULES.blend_time / 2 * twist,
                               atol=1e-12)
    assert not last.twist.any() and not last.acceleration.any()
    assert track.age(100.0) == 0.0   # no reference was given yet
