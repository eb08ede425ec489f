"""Test smooth motions through timed points: exactness, derivatives, ends."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from scipy.interpolate import BPoly
from support.differences import STEP, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError
from dynamics_node.control.spline import MotionSample, Spline, followed_by, quintics_from

GIVEN = {'positions': 1, 'velocities': 2, 'accelerations': 3}  # how many of q, v, a it is given
JOINTS = 3


@st.composite
def paths(draw, least=2):
    """Return (times, points of q, v, a), all at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(least, 9))
    times = rng.uniform(-5, 5) + np.cumsum(rng.uniform(0.1, 1.0, n))
    return times, rng.normal(size=(3, n, JOINTS))


def sampled(curve, times):
    """Return q, v, a of a list of Polynomials, (3, N, joints)."""
    return np.array([[[p.deriv(order)(t) for p in curve] for t in times] for order in range(3)])


def within(times, count=50):
    """Return times between the points."""
    return np.random.default_rng(1).uniform(times[0], times[-1], count)


def spread(motion, expected):
    """Return the greatest relative difference of two motions."""
    return max(relative(one, other) for one, other in zip(motion, expected))


@pytest.mark.parametrize('known, points, degree', [
    ('velocities', 2, 2), ('velocities', 3, 3), ('velocities', 4, 4), ('velocities', 7, 4),
    ('accelerations', 2, 5), ('accelerations', 5, 5)])
def test_polynomials_are_reproduced_up_to_the_documented_degree(
        known, points, degree):
    """With all derivatives, from the points alone."""
    rng = np.random.default_rng(points)
    times = np.cumsum(rng.uniform(0.3, 1.0, points))
    t = within(times)
    for extra in (0, 1):
        curve = [Polynomial(rng.normal(size=degree + extra + 1)) for _ in range(JOINTS)]
        spline = Spline(times, *sampled(curve, times)[:GIVEN[known]])
        missed = spread(spline.at(t), sampled(curve, t))
        assert missed > 1e-6 if extra else missed < 100 * EXACT_MATHS


@pytest.mark.parametrize('points', [2, 3, 6])
def test_positions_of_a_cubic_from_rest_to_rest_are_met_exactly(points):
    """Two points make it, 3 u^2 - 2 u^3; more points on it change nothing."""
    times = 2.0 + np.linspace(0.0, 1.5, points) ** 1.3
    u = Polynomial([-times[0], 1.0]) / (times[-1] - times[0])
    curve = [0.5 + scale * (3 * u**2 - 2 * u**3) for scale in (1.0, -2.0)]
    spline = Spline(times, sampled(curve, times)[0])
    t = within(times)
    assert spread(spline.at(t), sampled(curve, t)) < 100 * EXACT_MATHS
    assert spread((spline.velocities, spline.accelerations),
                  sampled(curve, times)[1:]) < 100 * EXACT_MATHS


def test_two_points_at_rest_with_velocities_give_minimum_jerk():
    """10 u^3 - 15 u^4 + 6 u^5."""
    spline = Spline([0.0, 2.0], [[0.0], [1.0]], [[0.0], [0.0]])
    u = np.linspace(0.0, 1.0, 11)
    assert relative(spline.at(2 * u).q[:, 0], 10 * u**3 - 15 * u**4 + 6 * u**5) < EXACT_MATHS


@given(paths())
@settings(max_examples=30, deadline=None)
def test_the_quintics_are_those_of_scipy(path):
    """BPoly.from_derivatives, another formula in another basis."""
    times, points = path
    other = BPoly.from_derivatives(times, points.swapaxes(0, 1))
    t = within(times)
    expected = other(t), other(t, 1), other(t, 2)
    assert spread(Spline(times, *points).at(t), expected) < 100 * EXACT_MATHS


@given(paths(), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_computation_in_blocks_changes_nothing(path, block):
    """Blocks of a few points give the coefficients of one block."""
    times, points = path
    with pytest.MonkeyPatch.context() as patch:
        whole = Spline(times, *points)
        patch.setattr('dynamics_node.control.spline.BLOCK', block)
        np.testing.assert_array_equal(Spline(times, *points)._coefficients, whole._coefficients)


@given(paths())
@settings(max_examples=30, deadline=None)
def test_one_more_point_makes_the_spline_of_all_points(path):
    times, points = path
    less = followed_by(Spline(times[:-1], *points[:, :-1]), times[-1],
                       MotionSample(*points[:, -1:]))
    t = within(times)
    assert spread(less.at(t), Spline(times, *points).at(t)) == 0.0


@given(paths())
@settings(max_examples=30, deadline=None)
def test_quintics_from_any_time_on_are_those_of_the_motion(path):
    """Up to the next point; before the first and after the last at rest."""
    times, points = path
    spline = Spline(times, *points)
    starts = np.sort(np.append(within(times, 10), [times[0] - 1.0, *times, times[-1] + 1.0]))
    for start, after, c in zip(starts, starts[1:], quintics_from(spline, starts)):
        for u in (0.0, 0.3, 0.9):
            s = u * (after - start)
            assert relative(c.T @ s ** np.arange(6), spline.at(start + s).q) < 100 * EXACT_MATHS


@pytest.mark.parametrize('known', GIVEN)
@given(path=paths())
@settings(max_examples=20, deadline=None)
def test_the_motion_is_continuous_at_its_points(known, path):
    """Position, velocity and acceleration, from the left and from the right; else torque steps."""
    times, points = path
    points = points[:GIVEN[known]]
    spline = Spline(times, *points)
    knots = spline.positions, spline.velocities, spline.accelerations
    for made, wanted in zip(knots, points):
        np.testing.assert_array_equal(made, wanted)
    assert spread(spline.at(times), knots) == 0.0
    left = spline.at(np.nextafter(times[1:], -np.inf))
    assert spread(left, [knot[1:] for knot in knots]) < 100 * EXACT_MATHS


@pytest.mark.parametrize('known', GIVEN)
@given(path=paths())
@settings(max_examples=20, deadline=None)
def test_velocity_and_acceleration_are_the_derivatives(known, path):
    """By central differences, and smooth over the points."""
    times, points = path
    spline = Spline(times, *points[:GIVEN[known]])
    t = np.random.default_rng(2).uniform(times[0] + STEP, times[-1] - STEP, 50)
    before, now, after = spline.at(t - STEP), spline.at(t), spline.at(t + STEP)
    # Over a point the difference of v has an error of the order of STEP, not of its square.
    smooth = np.abs(t[:, None] - times).min(axis=1) > STEP
    assert relative((after.q - before.q) / (2 * STEP), now.v) < RATE_BY_DIFFERENCES
    assert relative(((after.v - before.v) / (2 * STEP))[smooth],
                    now.a[smooth]) < RATE_BY_DIFFERENCES


@given(paths())
@settings(max_examples=20, deadline=None)
def test_positions_alone_make_a_cubic_spline_at_rest_at_both_ends(path):
    """The acceleration is linear between the points; that, C2 and the ends determine it."""
    times, points = path
    spline = Spline(times, points[0])
    middle = spline.at((times[1:] + times[:-1]) / 2).a
    a = spline.accelerations
    assert relative(middle, (a[1:] + a[:-1]) / 2) < 100 * EXACT_MATHS
    assert np.abs(spline.velocities[[0, -1]]).max() < EXACT_MATHS


@pytest.mark.parametrize('known, order', [
    ('positions', 4), ('velocities', 5), ('accelerations', 6)])
def test_points_on_a_cosine_converge_to_it(known, order):
    """Half the step, 2^order less of an error; the cosine is at rest at both ends."""
    def error(points):
        t = np.linspace(0.0, 2 * np.pi, points + 1)
        q, v, a = np.cos(t)[:, None], -np.sin(t)[:, None], -np.cos(t)[:, None]
        fine = np.linspace(0.0, 2 * np.pi, 1000)
        made = Spline(t, *(q, v, a)[:GIVEN[known]]).at(fine).q[:, 0]
        return np.abs(made - np.cos(fine)).max()

    assert error(16) < 1e-3
    assert error(16) / error(32) > 2 ** (order - 0.3)


@pytest.mark.parametrize('known', GIVEN)
@given(path=paths(least=1))
@settings(max_examples=20, deadline=None)
def test_many_times_give_the_results_of_single_times(known, path):
    """Before, at, between and after the points, in any order."""
    times, points = path
    spline = Spline(times, *points[:GIVEN[known]])
    t = np.concatenate([within(times), times, times[[0, -1]] + (-0.3, 0.3)])
    many = spline.at(t)
    assert [part.shape for part in many] == [(len(t), JOINTS)] * 3
    for row, time in enumerate(t):
        one = spline.at(float(time))
        assert isinstance(one, MotionSample) and one.q.shape == (JOINTS,)
        assert spread(one, [part[row] for part in many]) < 100 * EXACT_MATHS
    assert spread(spline.at(t.tolist()), many) == 0.0


def test_a_time_may_be_any_kind_of_number():
    """An int, a NumPy number, no times at all."""
    spline = Spline([0, 4], [[0], [1]])
    for t in (1, np.float64(1), np.float32(1), np.int64(1), np.array(1.0)):
        assert spread(spline.at(t), spline.at(1.0)) == 0.0
    assert [part.shape for part in spline.at([])] == [(0, 1)] * 3


@pytest.mark.parametrize('points', [1, 4])
@pytest.mark.parametrize('many', [False, True])
def test_outside_its_times_the_motion_rests_at_its_ends(points, many):
    """With zero velocity, also where the velocity at the end is not zero."""
    rng = np.random.default_rng(0)
    times, p, v, a = np.arange(points), *rng.normal(size=(3, points, 2))
    spline = Spline(times, p, v, a)
    for end, t in ((0, -1e-9), (-1, times[-1] + 1e-9)):
        inside = spline.at([times[end]] if many else float(times[end]))
        held = spline.at([t] if many else t)
        for part, wanted in zip(inside, (p, v, a)):
            np.testing.assert_array_equal(part.ravel(), wanted[end])
        for part, wanted in zip(held, (p[end], np.zeros(2), np.zeros(2))):
            np.testing.assert_array_equal(part.ravel(), wanted)


def test_a_single_point_is_at_rest_by_default():
    """What is not given is zero there."""
    assert spread(Spline([1.0], [[2.0]]).at(1.0), ([2.0], [0.0], [0.0])) == 0.0
    assert spread(Spline([1.0], [[2.0]], [[3.0]]).at(1.0), ([2.0], [3.0], [0.0])) == 0.0


@pytest.mark.parametrize('points', [1, 2, 3, 5])
def test_a_motion_of_no_joints_is_valid(points):
    """Its arrays are empty."""
    nothing = np.zeros((points, 0))
    for spline in (Spline(range(points), nothing), Spline(range(points), nothing, nothing)):
        assert spline.at(0.5).v.shape == (0,) and spline.at([0.5, 9.0]).a.shape == (2, 0)


def test_arguments_and_results_are_copied():
    """Writing into either does not change the motion; and it pickles."""
    times, p = np.arange(3.0), np.arange(6.0).reshape(3, 2)
    spline = Spline(times, p)
    expected = spline.at(0.7)
    times[:], p[:] = 7.0, 7.0
    for t in (-1.0, 0.0, 0.7, [0.0]):
        for part in spline.at(t):
            part[:] = 9.0
    for knots in (spline.times, spline.positions, spline.velocities, spline.accelerations):
        with pytest.raises(ValueError, match='read-only'):
            knots[0] = 9.0
    assert spread(spline.at(0.7), expected) == 0.0
    assert spread(pickle.loads(pickle.dumps(spline)).at(0.7), expected) == 0.0


NAN = float('nan')
FLAT = [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize('arguments, message', [
    (([], np.zeros((0, 2))), r'times is empty; expected at least one time'),
    (([[0, 1]], FLAT), r'times must have shape \(N,\), got \(1, 2\)'),
    ((['a', 'b'], FLAT), r"times must hold real numbers, got \['a', 'b'\]"),
    (([0, 1, NAN], FLAT), r'times\[2\] is nan; every entry must be finite'),
    (([0, 2, 1], FLAT), r'times\[2\] is 1.0, not after times\[1\] = 2.0; .* strictly increasing'),
    (([0, 0, 1], FLAT), r'times\[1\] is 0.0, not after times\[0\] = 0.0; .* strictly increasing'),
    (([0, 1, 2], [0.0, 1.0, 2.0]), r'positions must have shape \(3, n\), got \(3,\)'),
    (([0, 1], FLAT), r'positions must have shape \(2, n\), got \(3, 1\)'),
    (([0, 1, 2], [[0.0], [1.0], [2.0, 3.0]]), r'positions must hold real numbers'),
    (([0, 1, 2], [[0.0], [np.inf], [2.0]]), r'positions\[1, 0\] is inf; .* finite'),
    (([0, 1, 2], [[0.0], [1j], [2.0]]), r'positions must hold real numbers'),
    (([0, 1, 2], FLAT, [[0.0], [1.0]]), r'velocities must have shape \(3, 1\), got \(2, 1\)'),
    (([0, 1, 2], FLAT, [[0.0], [1.0], [NAN]]), r'velocities\[2, 0\] is nan'),
    (([0, 1, 2], FLAT, FLAT, [[0.0, 0.0]] * 3), r'accelerations must have shape \(3, 1\)'),
    (([0, 1, 2], FLAT, None, FLAT), r'accelerations are given without velocities; expected both'),
    (([0, 1e-200, 1], FLAT), r'from times\[0\] = 0.0 to times\[1\] = 1e-200 is not finite'),
    (([0, 1, 2], [[0.0], [1e308], [-1e308]]), r'not finite: the values are too large'),
    (([0, 1], [[0], [0]], [[0], [0]], [[0], [1.7e308]]), r'not finite: the values are too large'),
])
def test_bad_points_are_refused_by_name(arguments, message):
    """Which argument, where, and what is valid."""
    with pytest.raises(DynamicsError, match=message):
        Spline(*arguments)


@pytest.mark.parametrize('t, message', [
    (NAN, 't is nan'), (float('inf'), 't is inf'), ([0.0, NAN], r't\[1\] is nan'),
    ([[0.0]], r't must have shape \(\) or \(T,\), got \(1, 1\)'),
    ('now', "t must hold real numbers, got 'now'"), (None, 't must hold real numbers, got None'),
    ([[0.0], [1.0, 2.0]], 't must hold real numbers')])
def test_a_bad_time_is_refused(t, message):
    """A loop with a broken clock must not send NaN to its drives."""
    with pytest.raises(DynamicsError, match=message):
        Spline([0, 1, 2], FLAT).at(t)
