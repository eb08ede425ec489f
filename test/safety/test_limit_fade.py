"""Test the fade of torques towards position and velocity limits; gravity does not fade."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.gate_bench import GRAVITY, QUICK, Bench
from support.safe_arm import EFFORT, HOME, LOWER, UPPER, VELOCITY, gate_limits

from dynamics_node.safety.limit_fade import fade_near_limits

LIMITS = gate_limits(position_margin=0.1, velocity_margin=0.2)
MARGIN = np.array([0.1, 0.1, 0.05])   # of the slide: a tenth of its range
ZERO = np.zeros(3)


def at(k, value, of=HOME):
    vector = of.copy()
    vector[k] = value
    return vector


def guarded(torque, gravity=ZERO, position=HOME, v=ZERO):
    return fade_near_limits(LIMITS, np.asarray(torque, dtype=float), gravity, position, v)


@pytest.mark.parametrize('share', [1.01, 0.75, 0.5, 0.0, -0.4])
@pytest.mark.parametrize('k', [0, 2])
def test_an_outward_torque_fades_linearly_to_zero_at_the_limit(k, share):
    """At either end; an inward torque is unchanged, also beyond the limit."""
    torque = 0.5 * EFFORT
    for limit, outward in ((UPPER[k], 1.0), (LOWER[k], -1.0)):
        position = at(k, limit - outward * share * MARGIN[k])
        out = guarded(outward * torque, position=position)
        assert out.torque == pytest.approx(
            outward * at(k, min(max(share, 0.0), 1.0) * torque[k], torque), abs=1e-6)
        assert out.by_position == ([k] if share < 1.0 else [])
        inward = guarded(-outward * torque, position=position)
        assert np.array_equal(inward.torque, -outward * torque)
        assert inward.by_position == inward.by_velocity == []


@pytest.mark.parametrize('share', [1.01, 0.75, 0.5, 0.0, -0.5])
@pytest.mark.parametrize('k', [0, 1, 2])
def test_a_torque_along_the_motion_fades_to_zero_at_the_velocity_limit(k, share):
    """Both ways; a braking torque is unchanged."""
    torque, speed = 0.5 * EFFORT, VELOCITY[k] * (1.0 - 0.2 * share)
    for way in (1.0, -1.0):
        out = guarded(way * torque, v=at(k, way * speed, ZERO))
        assert out.torque == pytest.approx(
            way * at(k, min(max(share, 0.0), 1.0) * torque[k], torque), abs=1e-6)
        assert out.by_velocity == ([k] if share < 1.0 else []) and out.by_position == []
        assert np.array_equal(guarded(-way * torque, v=at(k, way * speed, ZERO)).torque,
                              -way * torque)


def test_the_gravity_torque_does_not_fade_at_a_limit():
    """In either direction."""
    for gravity in (GRAVITY, -GRAVITY):
        for q in (at(0, UPPER[0]), at(0, LOWER[0]), at(2, UPPER[2])):
            out = guarded(gravity, gravity, q, at(0, VELOCITY[0], ZERO))
            assert np.array_equal(out.torque, gravity) and out.by_position == []


def test_a_torque_below_gravity_fades_too():
    """Zero torque on the way down at the velocity limit: gravity is compensated."""
    v = at(0, -VELOCITY[0], ZERO)
    assert np.array_equal(guarded(ZERO, GRAVITY, HOME, v).torque, at(0, GRAVITY[0], ZERO))


SHARES = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).map(np.array)


@given(torque=SHARES, gravity=SHARES, place=SHARES, speed=SHARES)
def test_a_faded_torque_is_between_gravity_and_the_wanted_one(torque, gravity, place, speed):
    """Within the limits, and no further out than wanted."""
    torque, gravity = torque * EFFORT, gravity * EFFORT
    position = np.array([-0.25, 0.0, 0.25]) + place * np.array([1.85, 9.0, 0.3])
    out = np.array(guarded(torque, gravity, position, 1.3 * speed * VELOCITY).torque)
    assert (np.abs(out) <= EFFORT).all()
    between = np.clip(out, np.minimum(torque, gravity), np.maximum(torque, gravity))
    assert out == pytest.approx(between, abs=1e-9)
    v = 1.3 * speed * VELOCITY
    if all(lower <= position[k] <= upper and abs(v[k]) <= fastest
           for k, lower, upper, fastest, _ in LIMITS.zones):
        assert np.array_equal(out, torque)


@pytest.mark.parametrize('k, outward', [(0, 1.0), (0, -1.0), (2, 1.0), (2, -1.0)])
def test_a_joint_driven_against_a_limit_stops_before_it(k, outward):
    """If it moves slowly: the fade removes the torque, it does not brake."""
    bench = Bench(**QUICK)
    end = UPPER[k] if outward > 0.0 else LOWER[k]
    bench.q, bench.torque, bench.gravity = at(k, end - outward * 0.2), outward * 0.5 * EFFORT, ZERO
    bench.up()
    mass, damping, dt = EFFORT[k] / 50.0, 4.0 * EFFORT[k] / VELOCITY[k], 2.0 ** -9
    for _ in range(1500):
        tau = bench.step().effort
        rate = (tau[k] - damping * bench.v[k]) / mass
        bench.v = at(k, bench.v[k] + dt * rate, ZERO)
        bench.q = at(k, bench.q[k] + dt * bench.v[k], bench.q)
    assert bench.state.value == 'enabled'
    assert 0.0 < outward * (end - bench.q[k]) < 0.01 and abs(bench.v[k]) < 0.01
    assert bench.gate.status().limited['position', ('shoulder', 'elbow', 'slide')[k]] > 100


def test_a_margin_of_zero_is_a_step():
    """Full torque just before the limit, none at it."""
    wall = gate_limits(position_margin=0.0, velocity_margin=0.0)
    for position, share in ((at(0, UPPER[0] - 1e-6), 1.0), (at(0, UPPER[0]), 0.0)):
        out = fade_near_limits(wall, EFFORT, ZERO, position, ZERO)
        assert out.torque[0] == share * EFFORT[0]
    out = fade_near_limits(wall, EFFORT, ZERO, HOME, at(1, VELOCITY[1], ZERO))
    assert np.array_equal(out.torque, at(1, 0.0, EFFORT))
