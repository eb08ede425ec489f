"""Loads that come and go gently: linear in time, physical all the way, exact at the end."""

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
    """No load, at any time."""
    return PayloadRamps()


def mass(ramps, now):
    return math.fsum(load.mass for load in ramps.at(now).values())


def test_without_a_transition_a_load_is_there_at_once_and_gone_at_once(ramps):
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
def test_when_the_time_has_passed_it_is_the_load_to_the_bit(ramps, later):
    """And stays so."""
    ramps.set('box', BOX, 4.0, now=10.0)
    assert ramps.at(14.0 + later) == {'box': BOX}
    assert ramps.settled(14.0 + later)


def test_what_is_held_is_told_before_it_has_come_and_not_while_it_goes(ramps):
    """It is the intention, not the moment."""
    ramps.set('box', BOX, 4.0, now=0.0)
    assert ramps.attached == {'box': BOX}
    ramps.remove('box', 4.0, now=10.0)
    assert ramps.attached == {}
    assert mass(ramps, 11.0) == pytest.approx(0.75 * BOX.mass)
    assert not ramps.settled(13.9)
    assert ramps.at(14.0) == {}
    assert ramps.settled(14.0)


def test_a_load_taken_off_while_it_comes_goes_from_where_it_is(ramps):
    """No jump to the full load first."""
    ramps.set('box', BOX, 4.0, now=0.0)
    ramps.remove('box', 2.0, now=1.0)
    assert mass(ramps, 1.0) == pytest.approx(0.25 * BOX.mass)
    assert mass(ramps, 2.0) == pytest.approx(0.125 * BOX.mass)
    assert ramps.at(3.0) == {}


def test_set_again_the_old_load_goes_as_the_new_one_comes(ramps):
    """The sum is between the two, at every moment."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BALL, 2.0, now=1.0)
    for now in np.linspace(1.0, 3.0, 21):
        u = (now - 1.0) / 2.0
        assert mass(ramps, now) == pytest.approx((1 - u) * BOX.mass + u * BALL.mass)
    assert ramps.at(3.0) == {'load': BALL}


def test_the_same_load_set_again_weighs_the_same_all_the_time(ramps):
    """A caller that repeats itself does no harm."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BOX, 2.0, now=1.0)
    for now in (1.0, 1.3, 2.0, 2.9, 3.0):
        assert mass(ramps, now) == pytest.approx(BOX.mass)


def test_a_load_may_change_to_another_frame_in_the_midst_of_a_transition(ramps):
    """Both frames carry their share, under names that do not clash."""
    ramps.set('load', BOX, 2.0, now=0.0)
    ramps.set('load', BOX._replace(frame='wrist'), 2.0, now=1.0)
    loads = ramps.at(2.0)
    assert {load.frame: load.mass for load in loads.values()} == pytest.approx(
        {'hand': 0.25 * BOX.mass, 'wrist': 0.5 * BOX.mass})
    assert len(loads) == 2
    assert loads['load'].frame == 'wrist'


def test_a_user_may_take_the_name_of_a_load_on_its_way_out(ramps):
    """No load is lost to a clash of names."""
    ramps.set('load', BOX, 0.0, now=0.0)
    ramps.set('load', BALL, 2.0, now=1.0)
    (leaving,) = set(ramps.at(2.0)) - {'load'}
    ramps.set(leaving, BOX, 0.0, now=2.0)
    assert len(ramps.at(2.0)) == 3
    assert mass(ramps, 2.0) == pytest.approx(BOX.mass / 2 + BALL.mass / 2 + BOX.mass)


def test_several_loads_have_each_its_own_time(ramps):
    """One comes, one goes, one stays."""
    for name in ('stays', 'goes'):
        ramps.set(name, BOX, 0.0, now=0.0)
    ramps.set('comes', BALL, 10.0, now=0.0)
    ramps.remove('goes', 2.0, now=0.0)
    assert {name: load.mass for name, load in ramps.at(1.0).items()} == pytest.approx(
        {'stays': 2.0, 'goes': 1.0, 'comes': 0.5})
    assert sorted(ramps.attached) == ['comes', 'stays']


@pytest.mark.parametrize('gone', [False, True])
def test_what_is_not_held_cannot_be_removed(ramps, gone):
    """Neither one that never was nor one on its way out; the valid names are listed."""
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
    """Yield the time of each of many calls; the mass never jumps, and few loads are alive."""
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
def test_loads_that_come_faster_than_they_go_stay_few(ramps, period, frames):
    """Of each frame a bounded number, however many calls there are; all end in time."""
    def change(k, now):
        ramps.set('load', BOX._replace(frame=f'frame {k % frames}', mass=1.0 + k % 7), 1.0, now)
    for now in stream(ramps, round(2.5 / period), period, 1.0, change):
        assert len(ramps.at(now)) <= 1 + (MANY - 1) * frames
    assert not ramps.settled(now + 0.99)
    assert list(ramps.at(now + 1.0)) == ['load'] and ramps.settled(now + 1.0)


@pytest.mark.parametrize('period', [0.2, 0.001])
def test_loads_taken_off_and_set_again_stay_few(ramps, period):
    def change(k, now):
        if k % 2:
            ramps.remove('load', 1.0, now)
        else:
            ramps.set('load', BOX._replace(mass=1.0 + k % 7), 1.0, now)
    for now in stream(ramps, round(5.0 / period), period, 1.0, change):
        assert len(ramps.at(now)) <= MANY
    assert ramps.settled(now + 1.0)


def test_a_load_that_was_replaced_is_gone_in_its_time_whatever_comes_after_it(ramps):
    """At the same frame, and at another."""
    for name, frame in (('here', BALL.frame), ('there', 'wrist')):
        ramps.set(name, BALL, 0.0, now=0.0)
        for k in range(50):
            now = 10.0 + 0.2 * k
            ramps.set(name, BOX._replace(frame=frame, mass=1.0 + 0.01 * (k % 2)), 1.0, now)
            if now >= 11.0:
                assert sum(load.mass for key, load in ramps.at(now).items()
                           if key.startswith(name)) <= 1.01


def test_a_load_that_is_estimated_anew_all_the_time_weighs_what_was_estimated(ramps):
    """It is followed; nothing of it gets lost between one estimate and the next."""
    for k in range(100):
        ramps.set('load', BOX._replace(mass=2.0 + 0.001 * (k % 2)), 1.0, now=0.2 * k)
        if k > 25:   # five transitions: what was missing has faded to 0.8^25
            assert mass(ramps, 0.2 * k) == pytest.approx(2.0, abs=0.01)


def test_a_load_that_is_set_once_more_does_not_begin_anew(ramps):
    """It is there when the first call said; or when the last one says, if that is sooner."""
    ramps.set('load', BOX, 1.0, now=0.0)
    for k in range(1, 6):
        ramps.set('load', BOX, 1.0, now=0.15 * k)
        assert mass(ramps, 0.15 * k) == pytest.approx(0.15 * k * BOX.mass)
        assert len(ramps.at(0.15 * k)) == 1
    ramps.set('load', BOX, 0.125, now=0.75)
    assert mass(ramps, 0.8125) == pytest.approx(0.875 * BOX.mass)
    assert ramps.at(0.875) == {'load': BOX} and ramps.settled(0.875)


def test_at_once_is_at_once_for_what_is_leaving_too(ramps):
    ramps.set('load', BALL, 0.0, now=0.0)
    ramps.set('load', BOX, 10.0, now=1.0)
    ramps.set('load', BALL._replace(frame='wrist'), 10.0, now=2.0)
    ramps.set('load', BOX, 0.0, now=3.0)
    assert ramps.at(3.0) == {'load': BOX} and ramps.settled(3.0)


def test_what_is_replaced_while_it_comes_is_continued_as_one_rigid_load(ramps):
    """The sum of two has their mass, their centre and their inertia, seen from anywhere."""
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
def test_whatever_is_asked_for_the_mass_is_continuous_and_ends_exactly_at_its_target(
        commands, data):
    """No faster than each load at its own pace, no load beyond its full weight, none lost."""
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
