"""Test payload transitions: linear in time, physical at every time, exact at the end."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError
from dynamics_node.model.model import Payload
from dynamics_node.ros.payload_ramp import PayloadRamps

BOX = Payload('hand', 2.0, (0.1, 0.2, 0.3),
              ((0.03, 0.001, 0.0), (0.001, 0.04, 0.0), (0.0, 0.0, 0.05)))
BALL = Payload('hand', 5.0, (0.0, 0.0, 0.1), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))


@pytest.fixture
def ramps():
    """Without a payload, at any time."""
    return PayloadRamps()


def mass(ramps, now):
    return math.fsum(load.mass for load in ramps.at(now).values())


def test_a_payload_without_transition_changes_at_once(ramps):
    """To the bit."""
    ramps.set('box', BOX, 0.0, now=1.0)
    assert ramps.at(1.0) == {'box': BOX}
    assert ramps.settled(1.0)
    ramps.remove('box', 0.0, now=1.0)
    assert ramps.at(1.0) == {}
    assert ramps.attached == {}


@pytest.mark.parametrize('share', [0.0, 0.25, 0.5, 0.99])
def test_mass_and_inertia_grow_linearly_about_one_centre_of_mass(ramps, share):
    """A share of a rigid load is a rigid load."""
    ramps.set('box', BOX, 4.0, now=10.0)
    load = ramps.at(10.0 + 4.0 * share)['box']
    assert load.mass == pytest.approx(share * BOX.mass, rel=EXACT_MATHS)
    assert np.array(load.inertia) == pytest.approx(share * np.array(BOX.inertia), rel=EXACT_MATHS)
    assert (load.frame, load.com) == (BOX.frame, BOX.com)
    assert ramps.share('box', 10.0 + 4.0 * share) == pytest.approx(share)
    assert not ramps.settled(10.0 + 4.0 * share)


@pytest.mark.parametrize('later', [0.0, 1e-9, 1e6])
def test_the_payload_is_exact_after_its_transition(ramps, later):
    """It stays so."""
    ramps.set('box', BOX, 4.0, now=10.0)
    assert ramps.at(14.0 + later) == {'box': BOX}
    assert ramps.settled(14.0 + later)


def test_the_listed_payloads_are_those_at_the_end_of_transitions(ramps):
    """Not those of the moment."""
    ramps.set('box', BOX, 4.0, now=0.0)
    assert ramps.attached == {'box': BOX}
    ramps.remove('box', 4.0, now=10.0)
    assert ramps.attached == {}
    assert mass(ramps, 11.0) == pytest.approx(0.75 * BOX.mass)
    assert not ramps.settled(13.9)
    assert ramps.at(14.0) == {}
    assert ramps.settled(14.0)


def test_a_payload_removed_in_its_transition_continues_from_there(ramps):
    """No jump to the full payload."""
    ramps.set('box', BOX, 4.0, now=0.0)
    ramps.remove('box', 2.0, now=1.0)
    assert mass(ramps, 1.0) == pytest.approx(0.25 * BOX.mass)
    assert mass(ramps, 2.0) == pytest.approx(0.125 * BOX.mass)
    assert ramps.at(3.0) == {}


def test_a_replaced_payload_fades_into_the_new_one(ramps):
    """The sum is between the two, at every time."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BALL, 2.0, now=1.0)
    for now in np.linspace(1.0, 3.0, 21):
        u = (now - 1.0) / 2.0
        assert mass(ramps, now) == pytest.approx((1 - u) * BOX.mass + u * BALL.mass)
    assert ramps.at(3.0) == {'load': BALL}


def test_a_repeated_payload_has_constant_mass(ramps):
    """A caller may repeat its request."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BOX, 2.0, now=1.0)
    for now in (1.0, 1.3, 2.0, 2.9, 3.0):
        assert mass(ramps, now) == pytest.approx(BOX.mass)


def test_a_payload_may_change_its_frame_in_a_transition(ramps):
    """Both frames carry their share, under different names."""
    ramps.set('load', BOX, 2.0, now=0.0)
    ramps.set('load', BOX._replace(frame='wrist'), 2.0, now=1.0)
    loads = ramps.at(2.0)
    assert {load.frame: load.mass for load in loads.values()} == pytest.approx(
        {'hand': 0.25 * BOX.mass, 'wrist': 0.5 * BOX.mass})
    assert len(loads) == 2
    assert loads['load'].frame == 'wrist'


def test_the_name_of_a_payload_being_removed_may_be_reused(ramps):
    """No payload is lost."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BALL, 2.0, now=1.0)
    (leaving,) = set(ramps.at(2.0)) - {'load'}
    ramps.set(leaving, BOX, 0.0, now=2.0)
    assert len(ramps.at(2.0)) == 3
    assert mass(ramps, 2.0) == pytest.approx(BOX.mass / 2 + BALL.mass / 2 + BOX.mass)


def test_several_payloads_have_their_own_transitions(ramps):
    """One comes, one goes, one stays."""
    for name in ('stays', 'goes'):
        ramps.set(name, BOX, 0.0, now=0.0)
    ramps.set('comes', BALL, 10.0, now=0.0)
    ramps.remove('goes', 2.0, now=0.0)
    assert {name: load.mass for name, load in ramps.at(1.0).items()} == pytest.approx(
        {'stays': 2.0, 'goes': 1.0, 'comes': 0.5})
    assert sorted(ramps.attached) == ['comes', 'stays']


@pytest.mark.parametrize('gone', [False, True])
def test_an_unknown_payload_cannot_be_removed(ramps, gone):
    """Nor one that is being removed; the valid names are listed."""
    ramps.set('box', BOX, 0.0, now=0.0)
    if gone:
        ramps.set('ball', BALL, 0.0, now=0.0)
        ramps.remove('ball', 5.0, now=1.0)
    with pytest.raises(DynamicsError, match="no payload 'ball'.*box"):
        ramps.remove('ball', 1.0, now=2.0)
    assert ramps.attached == {'box': BOX}


# Faster than the transition ------------------------------------------------------------------

MANY = 10   # loads at a time: one that comes, nine that leave


def stream(ramps, count, period, duration, change):
    """Yield the time of each of many calls; the mass is continuous, few payloads are active."""
    before = None
    for k in range(count):
        now = k * period
        if before is not None:
            halfway = mass(ramps, now - 0.5 * period)
            for t0, m0, t1, m1 in ((now - period, before, now - 0.5 * period, halfway),
                                   (now - 0.5 * period, halfway, now, mass(ramps, now))):
                assert abs(m1 - m0) <= (1 + MANY) * 10.0 / duration * (t1 - t0) + EXACT_MATHS
        before = mass(ramps, now)
        change(k, now)
        assert mass(ramps, now) == pytest.approx(before, abs=EXACT_MATHS)
        yield now


@pytest.mark.parametrize('period', [0.2, 0.05, 0.001])
@pytest.mark.parametrize('frames', [1, 2, 3])
def test_the_number_of_active_payloads_is_bounded(ramps, period, frames):
    """Per frame, for any number of calls; all transitions end in time."""
    def change(k, now):
        ramps.set('load', BOX._replace(frame=f'frame {k % frames}', mass=1.0 + k % 7), 1.0, now)
    for now in stream(ramps, round(2.5 / period), period, 1.0, change):
        assert len(ramps.at(now)) <= 1 + (MANY - 1) * frames
    assert not ramps.settled(now + 0.99)
    assert list(ramps.at(now + 1.0)) == ['load'] and ramps.settled(now + 1.0)


@pytest.mark.parametrize('period', [0.2, 0.001])
def test_payloads_removed_and_set_again_stay_few(ramps, period):
    def change(k, now):
        if k % 2:
            ramps.remove('load', 1.0, now)
        else:
            ramps.set('load', BOX._replace(mass=1.0 + k % 7), 1.0, now)
    for now in stream(ramps, round(5.0 / period), period, 1.0, change):
        assert len(ramps.at(now)) <= MANY
    assert ramps.settled(now + 1.0)


def test_a_replaced_payload_is_gone_after_its_transition(ramps):
    """At the same frame, and at another."""
    for name, frame in (('here', BALL.frame), ('there', 'wrist')):
        ramps.set(name, BALL, 0.0, now=0.0)
        for k in range(50):
            now = 10.0 + 0.2 * k
            ramps.set(name, BOX._replace(frame=frame, mass=1.0 + 0.01 * (k % 2)), 1.0, now)
            if now >= 11.0:
                assert sum(load.mass for key, load in ramps.at(now).items()
                           if key.startswith(name)) <= 1.01


def test_a_payload_that_is_set_continually_follows_its_values(ramps):
    """No mass is lost between two calls."""
    for k in range(100):
        ramps.set('load', BOX._replace(mass=2.0 + 0.001 * (k % 2)), 1.0, now=0.2 * k)
        if k > 25:   # five transitions: what was missing has faded to 0.8^25
            assert mass(ramps, 0.2 * k) == pytest.approx(2.0, abs=0.01)


def test_a_repeated_payload_does_not_restart_its_transition(ramps):
    """It ends at the time of the first call, or of the last if that is sooner."""
    ramps.set('load', BOX, 1.0, now=0.0)
    for k in range(1, 6):
        ramps.set('load', BOX, 1.0, now=0.15 * k)
        assert mass(ramps, 0.15 * k) == pytest.approx(0.15 * k * BOX.mass)
        assert len(ramps.at(0.15 * k)) == 1
    ramps.set('load', BOX, 0.125, now=0.75)
    assert mass(ramps, 0.8125) == pytest.approx(0.875 * BOX.mass)
    assert ramps.at(0.875) == {'load': BOX} and ramps.settled(0.875)


def test_a_removal_at_once_ends_a_transition_at_once(ramps):
    ramps.set('load', BALL, 0.0, now=0.0)
    ramps.set('load', BOX, 10.0, now=1.0)
    ramps.set('load', BALL._replace(frame='wrist'), 10.0, now=2.0)
    ramps.set('load', BOX, 0.0, now=3.0)
    assert ramps.at(3.0) == {'load': BOX} and ramps.settled(3.0)


def test_a_payload_replaced_in_its_transition_stays_one_rigid_load(ramps):
    """The sum of two has their mass, centre and inertia, in any frame."""
    def moments(load):
        c, eye = np.array(load.com), np.eye(3)
        return (load.mass, load.mass * c,
                np.array(load.inertia) + load.mass * (c @ c * eye - np.outer(c, c)))
    ramps.set('load', BALL, 4.0, now=0.0)
    ramps.set('load', BOX, 4.0, now=1.0)
    ramps.set('load', BALL._replace(mass=3.0), 4.0, now=2.0)
    parts = [moments(load) for load in ramps.at(2.0).values()]
    shares = [(BALL, 0.25 * 0.75), (BOX, 0.25)]
    for k in range(3):
        expected = sum(share * moments(load)[k] for load, share in shares)
        np.testing.assert_allclose(sum(part[k] for part in parts), expected, atol=EXACT_MATHS)


# Whatever is asked for -----------------------------------------------------------------------

NAMES = st.sampled_from(['a', 'b', 'a (leaving 1)'])
COMMANDS = st.lists(st.tuples(
    st.floats(0.0, 2.0), NAMES, st.booleans(), st.floats(0.1, 10.0), st.floats(0.1, 3.0)),
    max_size=8)


@settings(max_examples=200, deadline=None)
@given(COMMANDS, st.data())
def test_the_mass_is_continuous_and_ends_exactly_at_its_target(
        commands, data):
    """At most the rate of each payload, no payload beyond its full mass, none lost."""
    ramps, now, wanted = PayloadRamps(), 0.0, {}
    heaviest = [load_mass for *_, load_mass, _ in commands]
    pace = sum(heaviest) / min([duration for *_, duration in commands], default=1.0)  # [kg/s]
    for wait, name, remove, load_mass, duration in commands:
        times = [now, now + wait * data.draw(st.floats(0.0, 1.0)), now + wait]  # never goes back
        for (t0, m0), (t1, m1) in pairwise([(t, mass(ramps, t)) for t in times]):
            assert abs(m1 - m0) <= pace * (t1 - t0) + EXACT_MATHS
        now = times[-1]
        for load in ramps.at(now).values():
            assert 0.0 <= load.mass <= max(heaviest)
            assert np.linalg.eigvalsh(load.inertia).min() >= 0.0
        before = mass(ramps, now)
        if remove and name in wanted:
            ramps.remove(name, duration, now)
            del wanted[name]
        elif not remove:
            wanted[name] = BOX._replace(mass=load_mass)
            ramps.set(name, wanted[name], duration, now)
        assert mass(ramps, now) == pytest.approx(before, abs=EXACT_MATHS)
        assert ramps.attached == wanted
    assert ramps.at(now + 4.0) == wanted
    assert ramps.settled(now + 4.0)
