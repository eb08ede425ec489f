"""Test references: continuous over replacements, constant after the end, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from support.differences import STEP, relative
from support.reference_histories import BLEND, FREE, N, histories, spread
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError
from dynamics_node.control.reference import Reference
from dynamics_node.control.spline import Spline

GIVEN = {'positions': 1, 'velocities': 2, 'accelerations': 3}
NAN = float('nan')
SETTLED = 1e-6  # what is left of the start after five blends


def close_to(rules=FREE, **changes):
    return rules._replace(**changes)


def test_a_reference_that_stops_begins_with_the_motion_and_rests_within_the_limits():
    q, v = np.array([0.1, -0.2, 0.95]), np.array([0.4, -0.3, 2.0])
    stopping = Reference.stop(q, v, 1.0, close_to(lower=np.full(N, -1.0), upper=np.full(N, 1.0)))
    first, last = stopping.at(1.0), stopping.at(1.01 + BLEND)
    np.testing.assert_allclose([first.q, first.v, first.a], [q, v, np.zeros(N)], atol=1e-12)
    np.testing.assert_allclose(last.q, [*(q + BLEND / 2 * v)[:2], 1.0], atol=1e-12)
    assert not last.v.any() and stopping.done(1.01 + BLEND)
    assert stopping.age(100.0) == 0.0   # it has no end


# Nothing jumps -----------------------------------------------------------------------------------


@given(histories())
@settings(max_examples=60, deadline=None)
def test_position_velocity_and_acceleration_are_continuous(history):
    """Over every replacement, to the last digits."""
    for (_, old), (now, new) in zip(history, history[1:]):
        assert spread(new.at(now), old.at(now)) < 100 * EXACT_MATHS


@given(histories())
@settings(max_examples=60, deadline=None)
def test_the_motion_is_continuous_between_replacements(history):
    """Where most changes within 10 ms, halve that time: in the limit the change vanishes."""
    now, reference = history[-1]
    t = now + 0.01 * np.arange(400)
    whole = np.array([reference.at(float(t)) for t in t])  # (T, q v a, N)
    for part in range(3):
        change = np.abs(np.diff(whole[:, part], axis=0)).max(axis=1)
        early, late = (float(t) for t in t[change.argmax():][:2])
        for _ in range(25):
            middle = (early + late) / 2
            at = [reference.at(t)[part] for t in (early, middle, late)]
            first, second = (np.abs(one - other).max() for one, other in zip(at, at[1:]))
            early, late = (early, middle) if first > second else (middle, late)
        assert max(first, second) < 1e-5 * max(1.0, change.max())


@given(histories())
@settings(max_examples=40, deadline=None)
def test_velocity_and_acceleration_are_the_derivatives(history):
    """By central differences."""
    now, reference = history[-1]
    for t in np.random.default_rng(0).uniform(now + 0.01, now + 4.0, 20):
        before, at, after = (reference.at(float(t + step)) for step in (-STEP, 0.0, STEP))
        assert relative((after.q - before.q) / (2 * STEP), at.v) < 10 * RATE_BY_DIFFERENCES


@given(histories())
@settings(max_examples=40, deadline=None)
def test_the_samples_for_the_limits_are_those_of_the_motion(history):
    """In blocks, against the motion at each time; eight in the time between two points."""
    now, reference = history[-1]
    spline = reference._splines[-1]
    for times, positions, velocities in spline.sampled():
        for s, q, v in zip(times.ravel(), *(x.reshape(times.size, -1)
                                            for x in (positions, velocities))):
            motion = spline.at(now + s)
            assert relative(q, motion.q) < 1000 * EXACT_MATHS   # now + s is rounded
            assert relative(v, motion.v) < 1000 * EXACT_MATHS


@pytest.mark.parametrize('given', GIVEN)
def test_the_trajectory_is_met_once_the_difference_has_faded(given):
    """Exactly at its points, from the end of the blend on."""
    rng = np.random.default_rng(0)
    times, *parts = [0.0, 0.1, 0.4, 0.9, 1.3], *rng.normal(size=(GIVEN[given], 5, N))
    reference = Reference.hold(np.zeros(N), 10.0, FREE).replaced_by(
        times, *parts, start=10.0, now=10.0)
    asked = Spline(times, *parts)
    for s in (BLEND, 0.4, 0.7, 0.9, 1.3):
        assert spread(reference.at(10.0 + s), asked.at(s)) < 100 * EXACT_MATHS


def test_on_the_way_the_difference_is_the_quintic():
    """From (d, 0, 0) to rest: d (1 - 10 u^3 + 15 u^4 - 6 u^5)."""
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [0.0], [[1.0, 2.0, 3.0]], start=0.0, now=0.0)
    for u in (0.1, 0.5, 0.8):
        left = 1 - 10 * u**3 + 15 * u**4 - 6 * u**5
        np.testing.assert_allclose(reference.at(u * BLEND).q, [1 - left, 2 - 2 * left,
                                                               3 - 3 * left], atol=EXACT_MATHS)


# Its beginning -----------------------------------------------------------------------------------


def test_time_before_the_first_point_is_used_to_get_there():
    """A single point in two seconds is a motion of two seconds, from rest to rest."""
    start = Reference.hold(np.zeros(N), 5.0, close_to(max_start_error=0.01))
    reference = start.replaced_by([2.0], [[1.0, -1.0, 0.5]], start=5.0, now=5.0)
    for s in (0.3, 1.0, 1.7):
        u = s / 2.0
        np.testing.assert_allclose(reference.at(5.0 + s).q,
                                   (3 * u**2 - 2 * u**3) * np.array([1.0, -1.0, 0.5]),
                                   atol=0.02)  # the fade of the cubic's first acceleration
    np.testing.assert_array_equal(reference.at(7.0).q, [1.0, -1.0, 0.5])


def test_a_trajectory_that_knows_its_start_is_followed_at_once():
    """With nothing to fade, it is the trajectory from the first moment."""
    points = [0.0, 1.0], [[0.0] * N, [1.0] * N], np.zeros((2, N)), np.zeros((2, N))
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(*points, start=0.0, now=0.0)
    for s in (0.0, 0.01, 0.5):
        assert spread(reference.at(s), Spline(*points).at(s)) < EXACT_MATHS


@pytest.mark.parametrize('given, speed, acceleration, lag', [
    ('positions', 0.2, 0.0, 0.6 * BLEND * 0.2), ('velocities', 0.2, 0.5, 0.15 * BLEND**2 * 0.5),
    ('accelerations', 0.2, 0.5, 0.0)])
def test_a_stream_of_points_is_followed_as_late_as_what_it_leaves_out(given, speed, acceleration,
                                                                      lag):
    """It tends to  jerk = - 60/T^3 d - 36/T^2 dv - 9/T da,  of which the lag is a quotient."""
    reference = Reference.hold(np.zeros(N), 0.0, close_to(max_start_error=0.1))
    every, ahead = 1e-3, 2e-3

    def asked(t):
        return np.array([speed * t + acceleration * t**2 / 2, speed + acceleration * t,
                         acceleration])

    for k in range(1000):
        now = every * k
        points = np.repeat(asked(now + ahead), N).reshape(3, 1, N)[:GIVEN[given]]
        reference = reference.replaced_by([ahead], *points, start=now, now=now)
    behind = asked(now)[0] - reference.at(now).q
    # positions are taken for those of now, though of a moment ahead; 5 %: it is sampled
    np.testing.assert_allclose(behind, lag - speed * ahead * (given == 'positions'),
                               atol=0.05 * lag + SETTLED)


def test_a_late_trajectory_is_joined_at_its_present_point():
    """Its past points are skipped."""
    times = np.arange(4.0)
    points = times, np.outer(times, np.ones(N)), np.ones((4, N))
    reference = Reference.hold(np.full(N, 1.5), 1.5, close_to(max_start_error=1e-9)).replaced_by(
        *points, start=0.0, now=1.5)
    assert relative(reference.at(2.0).q, np.full(N, 2.0)) < EXACT_MATHS


# Its end -----------------------------------------------------------------------------------------


def test_a_motion_that_ends_at_rest_is_held_exactly_at_its_last_point():
    """Positions only end with an acceleration; it fades around the point."""
    goal = np.array([0.1, 0.2, -0.3])
    for points in (([1.0], [goal]), ([0.5, 1.0], [goal / 2, goal]),
                   ([1.0], [goal], np.zeros((1, N)))):
        reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(*points, start=0.0, now=0.0)
        assert reference.done(1.0 + BLEND) and not reference.done(0.9)
        for now in (1.0, 1.0 + BLEND, 1.5, 99.0):
            np.testing.assert_array_equal(reference.at(now).q, goal)
        for now in (1.0 + BLEND, 1.5, 99.0):
            np.testing.assert_array_equal(reference.at(now).v, 0.0)
            np.testing.assert_array_equal(reference.at(now).a, 0.0)


def test_a_motion_that_ends_at_speed_is_stopped():
    """Never backwards: within the blend time, over half of the way at constant speed."""
    v = np.array([1.0, -2.0, 0.5])
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [0.5, 1.0], [0.5 * v, v], [v, v], start=0.0, now=0.0)
    fall = np.array([reference.at(float(t)).v / v for t in np.linspace(1.0, 1.0 + BLEND, 50)])
    assert (np.diff(fall, axis=0) <= EXACT_MATHS).all() and (fall >= -EXACT_MATHS).all()
    np.testing.assert_allclose(reference.at(9.0).q, v + v * BLEND / 2, rtol=EXACT_MATHS)
    assert not reference.at(9.0).v.any() and not reference.done(1.1) and reference.done(1.21)


def test_the_reference_is_done_when_the_blend_has_ended():
    """A single point for now ends at once, but not the blend to it."""
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [0.0], [[0.1] * N], start=0.0, now=0.0)
    assert not reference.done(0.9 * BLEND) and reference.done(BLEND)
    other = reference.replaced_by([2.0], [[0.5]], start=0.0, now=0.0, joints=[1])
    assert not other.done(1.0) and other.done(2.0 + BLEND)


def test_age_counts_from_the_last_point():
    """A reference that was never replaced has no age."""
    held = Reference.hold(np.zeros(N), 0.0, FREE)
    assert held.age(1e6) == 0.0 and held.done(0.0)
    moving = held.replaced_by([0.5, 2.0], np.zeros((2, N)), np.ones((2, N)), start=1.0, now=1.0)
    assert [moving.age(now) for now in (1.0, 2.9, 3.0, 3.25)] == [0.0, 0.0, 0.0, 0.25]
    other = moving.replaced_by([3.0], [[0.0]], start=2.0, now=2.0, joints=[1])
    assert other.age(4.0) == 1.0  # the other joints' has ended
    whole = other.replaced_by([9.0], np.zeros((1, N)), start=2.0, now=2.0)
    assert whole.age(10.0) == 0.0 and whole.age(12.0) == 1.0


def test_a_clock_that_is_set_back_does_not_move_the_reference():
    """It is where it was when it took over."""
    reference = Reference.hold(np.zeros(N), 5.0, FREE).replaced_by(
        [0.05, 2.0], [[0.1] * N, [0.5] * N], np.ones((2, N)), start=5.0, now=5.0)
    for now in (4.9, -1e3):
        np.testing.assert_array_equal(reference.at(now).q, reference.at(5.0).q)
        assert not reference.at(now).v.any() and not reference.at(now).a.any()
        assert reference.age(now) == 0.0


# Some joints -------------------------------------------------------------------------------------


def test_joints_that_are_not_named_keep_their_trajectories():
    """Bit for bit; columns in any order."""
    rng = np.random.default_rng(3)
    first = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [0.5, 1.0, 2.0], *rng.normal(size=(2, 3, N)), start=0.0, now=0.0)
    second = first.replaced_by([1.0], [[7.0, 5.0]], start=1.0, now=1.0, joints=[2, 0])
    third = second.replaced_by([1.0], [[-4.0]], start=1.5, now=1.5, joints=np.array([2]))
    for now in (1.5, 1.7, 2.5, 9.0):
        for kept, former in ((1, first), (0, second)):
            for part, before in zip(third.at(now), former.at(now)):
                assert part[kept] == before[kept]
    np.testing.assert_array_equal(third.at(9.0).q[[0, 2]], [5.0, -4.0])


def test_the_size_of_a_reference_is_bounded():
    """Every joint follows one trajectory; those without a joint are dropped."""
    rng = np.random.default_rng(0)
    reference = Reference.hold(np.zeros(N), 0.0, FREE)
    for k in range(50):
        joints = rng.permutation(N)[:rng.integers(1, N + 1)]
        reference = reference.replaced_by([0.5], np.zeros((1, len(joints))), start=0.1 * k,
                                          now=0.1 * k, joints=joints)
        followed = np.concatenate([track.joints for track in reference._splines])
        assert sorted(followed) == [0, 1, 2]


def test_arguments_and_results_are_copied():
    """Writing into either does not change the reference."""
    q = np.zeros(N)
    reference = Reference.hold(q, 0.0, FREE)
    q[:] = 7.0
    reference.at(1.0).q[:] = 9.0
    np.testing.assert_array_equal(reference.at(1.0).q, 0.0)


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize('changes, message', [
    ({'times': [], 'positions': np.zeros((0, N))}, 'times is empty'),
    ({'times': [2.0, 1.0]}, r'times\[1\] is 1.0, not after times\[0\]'),
    ({'positions': [[0.0, NAN, 0.0]] * 2}, r'positions\[0, 1\] is nan'),
    ({'positions': [[0.0] * 4] * 2}, r'positions must have shape \(N, 3\), got \(2, 4\)'),
    ({'positions': [[0.0] * 3] * 2, 'joints': [0, 1]}, r'positions must have shape \(N, 2\)'),
    ({'velocities': [[0.0] * 3]}, r'velocities must have shape \(2, 3\)'),
    ({'accelerations': [[0.0] * 3] * 2}, 'accelerations are given without velocities'),
    ({'start': -2.5}, 'the trajectory was over 0.5 s ago'),
    ({'start': NAN}, 'start is nan; expected a finite time'),
    ({'now': np.inf}, 'now is inf; expected a finite time'),
    ({'now': 'soon'}, "now is 'soon'; expected a finite time"),
    ({'joints': [0, 1, 1]}, r'joints is \[0, 1, 1\]; expected different integers from 0 to 2'),
    ({'joints': [0, 1, 3]}, 'joints is'), ({'joints': [-1, 0, 1]}, 'joints is'),
    ({'joints': []}, 'joints is'), ({'joints': [0.0, 1.0, 2.0]}, 'joints is'),
    ({'joints': 'abc'}, 'joints is'),
])
def test_a_malformed_or_stale_trajectory_is_refused(changes, message):
    """By name; the present reference goes on."""
    reference = Reference.hold(np.zeros(N), 0.0, FREE)
    arguments = {'times': [1.0, 2.0], 'positions': np.zeros((2, N)), 'start': 0.0, 'now': 0.0}
    with pytest.raises(DynamicsError, match=message):
        reference.replaced_by(**{**arguments, **changes})
    np.testing.assert_array_equal(reference.at(5.0).q, 0.0)


def test_a_bad_position_or_time_is_refused():
    """By name."""
    with pytest.raises(DynamicsError, match=r'q must have shape \(3,\), got \(2,\)'):
        Reference.hold([0.0, 0.0], 0.0, FREE)
    with pytest.raises(DynamicsError, match=r'q\[0\] is nan'):
        Reference.hold([NAN, 0.0, 0.0], 0.0, FREE)
    for ask in (Reference.hold(np.zeros(N), 0.0, FREE).at, Reference.hold([0] * N, 0.0, FREE).age):
        with pytest.raises(DynamicsError, match='now is nan; expected a finite time'):
            ask(NAN)
