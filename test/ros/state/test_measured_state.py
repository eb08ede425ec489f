"""Test the measured state: merged from any number of publishers and incomplete messages."""

import math

import numpy as np
import pytest
from support.tiny_robots import EVERY_KIND, TWO_JOINTS, chain

from dynamics_node import Robot
from dynamics_node.ros.state.measured_state import AHEAD, NEVER, MeasuredState

SECOND = 1_000_000_000  # [ns]
NAN, INF = math.nan, math.inf


@pytest.fixture
def state():
    """Two revolute joints, shoulder and elbow; nothing measured."""
    return MeasuredState(Robot.from_urdf(TWO_JOINTS).model)


def of(*joints, **options):
    return MeasuredState(Robot.from_urdf(chain(*joints)).model, **options)


def test_no_joint_is_measured_at_the_start(state):
    """Every joint is reported, by name."""
    assert state.snapshot().never_measured == ['shoulder', 'elbow']
    assert np.isnan([*state.q, *state.v, *state.effort]).all()
    assert (state.stamps == NEVER).all()


def test_joints_are_found_by_name_in_any_order(state):
    """Among unknown ones, such as a gripper."""
    state.take(5, ['finger', 'elbow', 'palm', 'shoulder'], [9.0, 0.2, 9.0, 0.1],
               [9.0, 2.0, 9.0, 1.0], [9.0, 20.0, 9.0, 10.0])
    assert state.q.tolist() == [0.1, 0.2]
    assert state.v.tolist() == [1.0, 2.0]
    assert state.effort.tolist() == [10.0, 20.0]
    assert state.stamps.tolist() == [5, 5]
    assert state.snapshot().never_measured == []
    assert not state.counts


def test_the_order_of_names_may_change_from_one_message_to_the_next(state):
    """The cached indices of one order are not used for another."""
    state.take(1, ['shoulder', 'elbow'], [0.1, 0.2])
    state.take(2, ['elbow', 'shoulder'], [0.4, 0.3])
    state.take(3, ['shoulder', 'elbow'], [0.5, 0.6])
    assert state.q.tolist() == [0.5, 0.6]


def test_two_publishers_of_different_joints_are_merged(state):
    """Each joint has its own stamp, so a slow publisher is not late."""
    state.take(100, ['shoulder'], [0.1], [1.0], [10.0])
    assert state.snapshot().never_measured == ['elbow']
    state.take(50, ['elbow', 'finger'], [0.2, 9.0], [2.0, 9.0], [20.0, 9.0])
    assert state.q.tolist() == [0.1, 0.2]
    assert state.v.tolist() == [1.0, 2.0]
    assert state.effort.tolist() == [10.0, 20.0]
    assert state.stamps.tolist() == [100, 50]
    assert not state.counts


@pytest.mark.parametrize('unknown', [NAN, INF, -INF])
def test_a_position_that_is_not_finite_keeps_the_last_one(state, unknown):
    """Its stamp too; the velocity is used, and the message is counted."""
    state.take(1, ['shoulder', 'elbow'], [0.1, 0.2], [1.0, 2.0], [10.0, 20.0])
    state.take(2, ['shoulder', 'elbow'], [unknown, 0.4], [3.0, 4.0], [30.0, 40.0])
    assert state.q.tolist() == [0.1, 0.4]
    assert state.v.tolist() == [3.0, 4.0]
    assert state.effort.tolist() == [10.0, 40.0]
    assert state.stamps.tolist() == [1, 2]
    assert state.counts == {'position missing': 1}


@pytest.mark.parametrize('unknown', [NAN, INF, -INF])
def test_a_velocity_that_is_not_finite_is_missing(state, unknown):
    """Estimated for that joint only: there is no earlier position, so at rest."""
    state.take(1, ['shoulder', 'elbow'], [0.1, 0.2], [unknown, 2.0])
    assert state.v.tolist() == [0.0, 2.0]


def test_an_effort_that_is_not_finite_is_unknown(state):
    """An older one is not used instead."""
    state.take(1, ['shoulder', 'elbow'], [0.1, 0.2], effort=[10.0, 20.0])
    state.take(2, ['shoulder', 'elbow'], [0.1, 0.2], effort=[NAN, INF])
    assert np.isnan(state.effort).all()
    assert state.snapshot().never_measured == []


def test_velocities_alone_do_not_make_a_joint_measured(state):
    """A measured joint needs a position."""
    state.take(1, ['shoulder', 'elbow'], [], [1.0, 2.0])
    assert state.v.tolist() == [1.0, 2.0]
    assert state.snapshot().never_measured == ['shoulder', 'elbow']
    assert state.counts == {'position missing': 2}


@pytest.mark.parametrize('values', [
    ([0.1], [1.0, 1.0], []), ([0.1, 0.2], [1.0], []), ([0.1, 0.2], [], [1.0, 2.0, 3.0]),
    ([0.1, 0.2, 0.3], [], [])])
def test_a_message_whose_sizes_differ_is_dropped_whole(state, values):
    """Its entries cannot be assigned."""
    state.take(1, ['shoulder', 'elbow'], *values)
    assert state.snapshot().never_measured == ['shoulder', 'elbow']
    assert np.isnan(state.v).all()
    assert state.counts == {'sizes of names and values differ': 1}


def test_an_older_message_is_dropped_joint_by_joint(state):
    """It may be newer for one joint and older for another."""
    state.take(200, ['shoulder'], [0.1], [1.0], [10.0])
    state.take(150, ['shoulder', 'elbow'], [0.9, 0.2], [9.0, 2.0], [90.0, 20.0])
    assert state.q.tolist() == [0.1, 0.2]
    assert state.v.tolist() == [1.0, 2.0]
    assert state.effort.tolist() == [10.0, 20.0]
    assert state.stamps.tolist() == [200, 150]
    assert state.counts == {'out of order': 1}


def test_a_repeated_stamp_is_not_late(state):
    """An older one is."""
    state.take(150, ['shoulder'], [0.1])
    state.take(200, ['elbow'], [0.2])
    state.take(150, ['shoulder', 'elbow'], [0.3, 0.4])
    assert state.q.tolist() == [0.3, 0.2]
    assert state.counts == {'out of order': 1}


def test_a_late_velocity_is_dropped_too(state):
    """It is older than its position."""
    state.take(200, ['shoulder'], [0.1], [1.0])
    state.take(150, ['shoulder'], [], [9.0])
    assert state.v[0] == 1.0


@pytest.mark.parametrize(('back', 'taken'), [(SECOND, False), (SECOND + 1, True)])
def test_a_clock_set_back_by_more_than_a_second_restarts_the_state(state, back, taken):
    """After a reset of a simulation; a smaller step is a late message."""
    state.take(100 * SECOND, ['shoulder', 'elbow'], [0.1, 0.2], [1.0, 2.0])
    state.take(100 * SECOND - back, ['shoulder', 'elbow'], [0.3, 0.4], [3.0, 4.0])
    assert state.q.tolist() == ([0.3, 0.4] if taken else [0.1, 0.2])
    assert state.counts == ({'clock set back': 1} if taken else {'out of order': 2})
    state.take(100 * SECOND - back + 1, ['shoulder'], [0.5], [5.0])
    assert state.q[0] == (0.5 if taken else 0.1)  # time goes on from there


@pytest.mark.parametrize(('ahead', 'taken'), [(AHEAD, False), (AHEAD + 1, True)])
def test_a_stamp_ahead_of_the_clock_shows_that_it_was_set_back(ahead, taken):
    """By less than a second; a smaller step is taken for a late message."""
    state = of(('shoulder', 'revolute'), ('elbow', 'revolute'), clock=lambda: 9 * SECOND)
    state.take(9 * SECOND + ahead, ['shoulder'], [0.1])
    state.take(9 * SECOND, ['shoulder', 'elbow'], [0.2, 0.3])
    assert state.q.tolist() == [0.2 if taken else 0.1, 0.3]
    assert state.counts == {'clock set back' if taken else 'out of order': 1}
    state.take(9 * SECOND - 1, ['elbow'], [0.4])   # late by the clock
    assert state.q[1] == 0.3


def test_a_late_message_of_a_driver_whose_clock_is_ahead_is_dropped():
    """Both stamps are ahead of the clock: it was not set back."""
    state = of(('shoulder', 'revolute'), clock=lambda: 9 * SECOND)
    state.take(9 * SECOND + 2 * AHEAD, ['shoulder'], [0.1])
    state.take(9 * SECOND + 2 * AHEAD - 1, ['shoulder'], [0.2])
    assert state.q.tolist() == [0.1]
    assert state.counts == {'out of order': 1}


def test_planar_mimic_and_unknown_joints_in_a_message_are_ignored():
    """A JointState has one number per joint, and a follower is where its master puts it."""
    state = MeasuredState(Robot.from_urdf(EVERY_KIND).model)
    state.take(1, ['follower', 'drift', 'flange', 'nobody', 'elbow'], [1.0, 2.0, 3.0, 4.0, 0.5])
    assert state.snapshot().never_measured == ['lift', 'turn', 'drift']
    assert np.nansum(state.q) == 0.5


def test_joints_without_a_motor_have_zero_effort():
    """Planar and floating ones, from the start."""
    state = MeasuredState(Robot.from_urdf(EVERY_KIND, base='floating').model)
    for joint in state.model.joints:
        if joint.kind in ('planar', 'floating'):
            assert (state.effort[joint.v] == 0.0).all()
        else:
            assert np.isnan(state.effort[joint.v]).all()


def test_a_late_state_of_a_floating_base_is_dropped():
    """Like any other."""
    state = MeasuredState(Robot.from_urdf(TWO_JOINTS, base='floating').model)
    q, v = np.array([1, 2, 3, 0, 0, 0, 1.0]), np.arange(6.0)
    state.take_joint(10, 'floating_base', q, v)
    state.take_joint(9, 'floating_base', 2 * q, 2 * v)
    assert state.q[:7].tolist() == q.tolist()
    assert state.v[:6].tolist() == v.tolist()
    assert state.snapshot().never_measured == ['shoulder', 'elbow']
    assert state.counts == {'out of order': 1}


def test_a_new_model_keeps_joints_of_equal_name_and_type():
    """Stamps, counts and the order of coordinates follow."""
    old = of(('a', 'revolute'), ('b', 'prismatic'), ('c', 'revolute'))
    old.take(7, ['a', 'b', 'c'], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [10.0, 20.0, 30.0])
    old.take(6, ['a'], [0.0])
    new = Robot.from_urdf(chain(('c', 'revolute'), ('b', 'revolute'), ('new', 'revolute'),
                                ('a', 'revolute'))).model
    moved = old.moved_to(new, 'difference', 0.5)
    assert moved.snapshot().never_measured == ['b', 'new']  # another kind of b is another b
    assert moved.q[[0, 3]].tolist() == [0.3, 0.1]
    assert moved.v[[0, 3]].tolist() == [3.0, 1.0]
    assert moved.effort[[0, 3]].tolist() == [30.0, 10.0]
    assert moved.stamps[[0, 3]].tolist() == [7, 7]
    assert moved.counts == {'out of order': 1}
    assert (moved.missing_velocity, moved.filter_time) == ('difference', 0.5)
    moved.take(8, ['a', 'b'], [0.5, 0.6], [5.0, 6.0])
    assert moved.q[[1, 3]].tolist() == [0.6, 0.5]
    assert old.q.tolist() == [0.1, 0.2, 0.3]


def test_a_floating_base_and_its_arm_move_to_another_model_together():
    """Though position and velocity differ in size."""
    old = MeasuredState(Robot.from_urdf(TWO_JOINTS, base='floating').model)
    q, v = np.array([1, 2, 3, 0, 0, 0, 1.0]), np.arange(6.0)
    old.take_joint(5, 'floating_base', q, v)
    old.take(6, ['shoulder', 'elbow'], [0.1, 0.2], [1.0, 2.0], [10.0, 20.0])
    moved = old.moved_to(Robot.from_urdf(TWO_JOINTS, base='floating').model, 'zero', 0.02)
    for got, want in ((moved.q, old.q), (moved.v, old.v), (moved.effort, old.effort),
                      (moved.stamps, old.stamps)):
        assert got.tolist() == want.tolist()
    assert moved.q.tolist() == [*q, 0.1, 0.2]
    assert moved.v.tolist() == [*v, 1.0, 2.0]


@pytest.mark.parametrize('take', [
    lambda state: state.take(9, ['shoulder', 'elbow'], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]),
    lambda state: state.take(9, ['elbow'], [2.0], [4.0], [6.0]),
    lambda state: state.take(9, ['elbow', 'shoulder'], [2.0, NAN], [4.0, 3.0]),
    lambda state: state.take_joint(9, 'elbow', np.array([2.0]), np.array([4.0])),
    lambda state: state.take_velocity('elbow', np.array([4.0]))])
def test_a_snapshot_is_read_only_and_never_changes(state, take):
    state.take(5, ['shoulder', 'elbow'], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    before = state.snapshot()
    take(state)
    after = state.snapshot()
    assert [before.q.tolist(), before.v.tolist(), before.effort.tolist(), before.stamps.tolist(),
            before.oldest] == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [5, 5], 5]
    assert after is not before and after.v[1] == 4.0
    for each in (before, after):
        for array in (each.q, each.v, each.effort):
            with pytest.raises(ValueError, match='read-only'):
                array[0] = 9.0


def test_stamps_of_joints_are_those_of_their_messages(state):
    """Whether a message has all joints or some of them; also as the oldest of some joints."""
    before = None
    for names, stamp, stamps in ((['shoulder', 'elbow'], 5, [5, 5]), (['elbow'], 7, [5, 7]),
                                 (['shoulder'], 9, [9, 7]), (['elbow', 'shoulder'], 9, [9, 9])):
        state.take(stamp, names, [0.1] * len(names))
        measured = state.snapshot()
        assert measured.stamps.tolist() == stamps and measured.oldest == min(stamps)
        for joints in ([0], [1], [0, 1]):
            some = np.array(joints)
            assert measured.oldest_of(some) == min(stamps[k] for k in joints)
            assert measured.name_oldest(some) == (
                '' if len({stamps[k] for k in joints}) == 1 else
                ('shoulder', 'elbow')[stamps.index(min(stamps))])
            assert measured.repeats(measured, some) and not measured.repeats(None, some)
            if before is not None:
                assert measured.repeats(before, some) == all(
                    stamps[k] == before.stamps[k] for k in joints)
        before = measured
