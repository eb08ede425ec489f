"""Test missing velocities: unknown, or the filtered difference of positions."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tiny_robots import EVERY_KIND, chain
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.ros.state.measured_state import MeasuredState

MILLISECOND, SECOND = 1_000_000, 1_000_000_000  # [ns]


def one_joint(kind='revolute', filter_time=0.02, missing='difference'):
    return MeasuredState(Robot.from_urdf(chain(('joint', kind))).model, missing, filter_time)


def speeds(state, positions, step=10 * MILLISECOND):
    """Return the velocity after each of the positions, one every `step`."""
    return [(state.take(k * step, ['joint'], [q]), state.v[0])[1]
            for k, q in enumerate(positions)]


def test_a_missing_velocity_is_unknown_on_request():
    """Also where an earlier message had one; the next velocity is known."""
    state = one_joint(missing='fault')
    state.take(1, ['joint'], [0.5], [3.0])
    state.take(2, ['joint'], [0.6])
    assert math.isnan(state.v[0])
    state.take(3, ['joint'], [0.6], [2.0])
    assert state.v[0] == 2.0


def test_the_difference_begins_at_rest_after_an_unknown_velocity():
    state = one_joint(missing='fault', filter_time=0.0)
    state.take(0, ['joint'], [0.5])
    state.missing_velocity = 'difference'
    state.take(SECOND, ['joint'], [0.7])
    assert state.v[0] == pytest.approx(0.2)


@pytest.mark.parametrize('step', [0.001, 0.005, 0.02, 0.05])
@pytest.mark.parametrize('filter_time', [0.0, 0.02, 0.1])
def test_a_speed_is_seen_within_two_filter_times_and_one_joint_state(step, filter_time):
    """Four fifths of it: a joint at 1.25 times the speed of a fault is a fault by then."""
    count = math.ceil(round((2.0 * filter_time + step) / step, 6))
    found = speeds(one_joint(filter_time=filter_time), 3.0 * step * np.arange(count + 1),
                   round(step * SECOND))
    assert found[-1] >= 0.8 * 3.0


def test_the_first_position_is_at_rest():
    """There is no earlier one."""
    assert speeds(one_joint(), [1.7]) == [0.0]


def test_the_unfiltered_difference_is_the_speed():
    """Filter time zero."""
    assert speeds(one_joint(filter_time=0.0), [0.0, 0.01, 0.03]) == pytest.approx([0.0, 1.0, 2.0])


def test_the_filter_converges_to_the_speed_of_a_ramp():
    """Each step removes the same share of the error."""
    speed, step, filter_time = 0.7, 0.01, 0.02
    found = speeds(one_joint(filter_time=filter_time), speed * step * np.arange(200))
    left = (1.0 + step / filter_time) ** -np.arange(200.0)  # of the error, backward Euler
    assert found == pytest.approx((speed * (1.0 - left)).tolist(), abs=EXACT_MATHS)
    assert found[-1] == pytest.approx(speed, abs=EXACT_MATHS)


def test_the_filter_does_not_depend_on_the_sample_rate():
    """Half of the messages lost: the same end value."""
    whole, half = (speeds(one_joint(), 0.7e-2 * n * np.arange(400 // n),
                          n * 10 * MILLISECOND)[-1] for n in (1, 2))
    assert whole == pytest.approx(half, abs=EXACT_MATHS)


@pytest.mark.parametrize(('kind', 'expected'), [
    ('continuous', 0.2), ('revolute', 0.2 - 2 * math.pi), ('prismatic', 0.2 - 2 * math.pi)])
def test_a_continuous_joint_that_crosses_pi_has_no_jump(kind, expected):
    """Its angle is wrapped by many drivers; those of other joints are not."""
    positions = [math.pi - 0.1, -math.pi + 0.1]
    assert speeds(one_joint(kind, 0.0), positions, SECOND)[1] == pytest.approx(expected)
    back = speeds(one_joint(kind, 0.0), positions[::-1], SECOND)[1]
    assert back == pytest.approx(-expected)


def test_a_repeated_stamp_keeps_the_velocity():
    """The newer position is the start of the next difference."""
    state = one_joint(filter_time=0.0)
    speeds(state, [0.0, 0.1], SECOND)
    state.take(SECOND, ['joint'], [0.4])
    assert (state.q[0], state.v[0]) == (0.4, pytest.approx(0.1))
    state.take(2 * SECOND, ['joint'], [0.6])
    assert state.v[0] == pytest.approx(0.2)


def test_a_joint_is_at_rest_after_the_clock_was_set_back():
    """The jump of a reset is no speed."""
    state = one_joint(filter_time=0.0)
    state.take(100 * SECOND, ['joint'], [0.0])
    state.take(101 * SECOND, ['joint'], [1.0])
    state.take(SECOND, ['joint'], [-1.0])
    assert state.v[0] == 0.0
    state.take(2 * SECOND, ['joint'], [-0.5])
    assert state.v[0] == pytest.approx(0.5)


def test_only_the_joint_that_lacks_a_velocity_is_differentiated():
    """A measured velocity is used as it is."""
    state = MeasuredState(Robot.from_urdf(chain(('a', 'revolute'), ('b', 'revolute'))).model,
                          'difference', 0.0)
    state.take(0, ['a', 'b'], [0.0, 0.0], [5.0, math.nan])
    state.take(SECOND, ['a', 'b'], [1.0, 1.0], [5.0, math.nan])
    assert state.v.tolist() == [5.0, pytest.approx(1.0)]


# Whatever comes ------------------------------------------------------------------------------

class Slow:
    """A simple reference implementation: a dictionary for each joint."""

    def __init__(self, model, missing, filter_time):
        self.missing, self.filter_time = missing, filter_time
        self.kinds = {joint.name: joint.kind for joint in model.joints}
        self.known = {name: {} for name, kind in self.kinds.items()
                      if kind not in ('planar', 'floating')}
        self.late = self.back = 0
        self.rows = {}   # (stored stamp, stamps of the late messages that came in a row)

    def take(self, stamp, names, *quantities):
        if any(len(values) not in (0, len(names)) for values in quantities):
            return
        set_back = False
        for name, i in {name: i for i, name in enumerate(names)}.items():
            if name not in self.known:
                continue
            old = self.known[name]
            age = old.get('stamp', stamp) - stamp
            restart = age > SECOND or 0 < age and self.third_in_a_row(name, old['stamp'], stamp)
            set_back |= restart
            if 0 < age and not restart:
                self.late += 1
            else:
                self.take_joint(name, stamp, *(
                    values[i] if len(values) and math.isfinite(values[i]) else None
                    for values in quantities))
        self.back += set_back

    def third_in_a_row(self, name, stored, stamp):
        after, late = self.rows.get(name, (stored, []))
        if after != stored or late and stamp <= late[-1]:
            late = []
        self.rows[name] = stored, [*late, stamp]
        return len(late) >= 2

    def take_joint(self, name, stamp, q, v, effort):
        old = self.known[name]
        if q is None:
            self.known[name] = old | ({} if v is None else {'v': v})
            return
        v = self.speed(name, stamp, q) if v is None else v
        self.known[name] = {'stamp': stamp, 'q': q, 'v': v, 'effort': effort}

    def speed(self, name, stamp, q):
        old = self.known[name]
        if self.missing == 'fault':
            return math.nan
        if 'stamp' not in old or old['stamp'] > stamp:
            return 0.0
        dt = (stamp - old['stamp']) / SECOND
        if dt == 0.0:
            return old['v']
        turns = self.kinds[name] == 'continuous'
        moved = math.remainder(q - old['q'], 2 * math.pi) if turns else q - old['q']
        share = dt / (dt + self.filter_time)
        return share * moved / dt + (1.0 - share) * old['v']


NAMES = ['lift', 'turn', 'elbow', 'drift', 'floating_base', 'follower', 'flange', 'finger']
NUMBERS = st.one_of(st.integers(-60, 60).map(lambda k: k / 10),
                    st.sampled_from([math.nan, math.inf, -math.inf]))


@st.composite
def messages(draw):
    names = draw(st.lists(st.sampled_from(NAMES), max_size=6))
    sizes = st.sampled_from([len(names)] * 6 + [0] * 3 + [len(names) + 1])
    return (draw(st.integers(0, 40)) * SECOND // 10, names, *(
        draw(st.lists(NUMBERS, min_size=n, max_size=n)) for n in (draw(sizes) for _ in range(3))))


@functools.cache
def floating_model():
    """Return a model in which q and v differ in size."""
    return Robot.from_urdf(EVERY_KIND, base='floating').model


@settings(max_examples=300, deadline=None)
@given(st.lists(messages(), max_size=12), st.sampled_from(['fault', 'difference']),
       st.sampled_from([0.0, 0.02, 1.0]))
def test_the_state_agrees_with_a_simple_implementation(sent, missing, filter_time):
    """For any order, subset, size, stamp or number."""
    model = floating_model()
    state, slow = MeasuredState(model, missing, filter_time), Slow(model, missing, filter_time)
    for message in sent:
        state.take(*message)
        slow.take(*message)
    assert state.snapshot().never_measured == [name for name in slow.kinds
                                    if 'stamp' not in slow.known.get(name, {})]
    assert (state.counts['out of order'], state.counts['clock set back']) == (slow.late, slow.back)
    for joint, stamp in zip(model.joints, state.stamps):
        if joint.name in slow.known:
            want = slow.known[joint.name]
            assert stamp == want.get('stamp', stamp)
            for got, key in ((state.q[joint.q], 'q'), (state.v[joint.v], 'v'),
                             (state.effort[joint.v], 'effort')):
                value = want.get(key)
                assert got[0] == pytest.approx(math.nan if value is None else value,
                                               rel=EXACT_MATHS, abs=EXACT_MATHS, nan_ok=True)
