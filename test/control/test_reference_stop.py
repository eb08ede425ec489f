"""Test how references stop: along their path, or back to a position; held trajectories."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.differences import STEP, relative
from support.reference_histories import BLEND, FREE, N, histories, spread
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.control.reference import Reference


@given(histories(), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_a_stop_stays_on_the_path_and_rests_after_the_blend_time(history, later):
    """No joint becomes faster than on the path, or passes more of it than half the blend time."""
    now, reference = history[-1]
    now += later
    stopped = reference.stopped(now)
    assert spread(stopped.at(now), reference.at(now)) < 100 * EXACT_MATHS
    for u in np.linspace(0.0, 1.0, 21):
        s = BLEND * (u - u**3 + u**4 / 2)
        path, motion = reference.at(now + s), stopped.at(now + BLEND * u)
        assert relative(motion.q, path.q) < 100 * EXACT_MATHS
        assert (np.abs(motion.v) <= np.abs(path.v) + 100 * EXACT_MATHS).all()
    rest = stopped.at(now + BLEND + 1e-9)
    assert relative(rest.q, reference.at(now + BLEND / 2).q) < 100 * EXACT_MATHS
    assert not rest.v.any() and not rest.a.any() and stopped.done(now + BLEND + 1e-9)
    assert stopped.age(now + 100.0) == 0.0


@given(histories())
@settings(max_examples=60, deadline=None)
def test_the_motions_of_a_stop_are_derivatives_of_each_other(history):
    now, reference = history[-1]
    for stop in (reference.stopped(now), reference.resting_at(np.ones(N), now)):
        for t in now + BLEND * np.array([0.1, 0.3, 0.7, 1.4]):
            ahead, behind = stop.at(float(t + STEP)), stop.at(float(t - STEP))
            middle = stop.at(float(t))
            for one, other, rate in zip(ahead[:2], behind[:2], middle[1:]):
                assert relative((one - other) / (2 * STEP), rate) < RATE_BY_DIFFERENCES


def test_some_joints_stop_and_the_others_go_on():
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [1.0], [[1.0, 1.0, 1.0]], start=0.0, now=0.0)
    stopped = reference.stopped(0.5, [1])
    end = stopped.at(2.0).q
    np.testing.assert_array_equal(end[[0, 2]], [1.0, 1.0])
    assert end[1] == reference.at(0.6).q[1]


def test_a_second_stop_changes_nothing_more():
    reference = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [1.0], [[1.0, 1.0, 1.0]], start=0.0, now=0.0)
    once = reference.stopped(0.5)
    twice = once.stopped(0.55)
    for t in (0.5, 0.6, 0.65, 5.0):
        assert spread(once.at(t), twice.at(t)) == 0.0


def test_a_stop_can_be_replaced_by_a_trajectory():
    stopped = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [1.0], [[1.0, 1.0, 1.0]], start=0.0, now=0.0).stopped(0.5)
    new = stopped.replaced_by([1.0], [[2.0, 2.0, 2.0]], start=0.55, now=0.55)
    assert spread(new.at(0.55), stopped.at(0.55)) < 100 * EXACT_MATHS
    np.testing.assert_array_equal(new.at(2.0).q, 2.0)


def test_a_reference_goes_back_to_a_position_slowly_where_it_is_far():
    """It stops first, at once, then needs the time in which MAX_START_ERROR per blend is passed."""
    moving = Reference.hold(np.zeros(N), 0.0, FREE).replaced_by(
        [1.0], [[1.0, 1.0, 1.0]], start=0.0, now=0.0)
    before = moving.at(0.5)
    back = moving.resting_at(np.zeros(N), 0.5)
    assert spread(back.at(0.5), before) < 100 * EXACT_MATHS
    stop = before.q + before.v * BLEND / 2
    assert relative(back.at(0.5 + BLEND).q, stop) < 100 * EXACT_MATHS
    assert np.abs(back.at(0.5 + BLEND).v).max() < 100 * EXACT_MATHS
    arrival = 0.5 + BLEND + BLEND * stop[0] / 0.1
    assert back.at(arrival - 0.01).q.any() and not back.at(arrival + 1e-9).q.any()
    fastest = max(np.abs(back.at(float(t)).v).max() for t in np.linspace(0.5 + BLEND, arrival, 99))
    assert fastest < 1.9 * 0.1 / BLEND
    assert back.age(100.0) == 0.0


def test_a_reference_goes_back_within_its_limits_and_by_the_shorter_way_round():
    limits = FREE._replace(upper=np.array([0.6, np.inf, np.inf]), turning=np.array([1]))
    moving = Reference.hold(np.zeros(N), 0.0, limits).replaced_by(
        [1.0], [[0.6, 1.0, 1.0]], start=0.0, now=0.0)
    now = 0.9
    back = moving.resting_at(np.array([0.0, 0.5 + 2 * np.pi, 0.0]), now)
    assert back.at(now + BLEND).q[0] <= 0.6
    assert abs(back.at(100.0).q[1] - 0.5) < EXACT_MATHS


def test_a_held_trajectory_has_no_age():
    hold = Reference.hold(np.zeros(N), 0.0, FREE)
    for held, age in ((True, 0.0), (False, 4.0)):
        reference = hold.replaced_by([1.0], np.ones((1, N)), start=0.0, now=0.0, held=held)
        assert reference.age(5.0) == age
        np.testing.assert_array_equal(reference.at(5.0).q, 1.0)
