"""Test that several recordings are joined, and fitted as one."""

import numpy as np
import pytest
from support.recorded_arm import THREE_JOINTS, heavier, recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification import identify_recording
from dynamics_node.identification.joined_recordings import BETWEEN, join_recordings
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import raw_recording

TIME = 100.0 + 0.01 * np.arange(50)


def recording(names, shift, v=None):
    values = shift + np.arange(50.0)[:, None] + 1000.0 * np.arange(len(names))
    return raw_recording(names, TIME, values, 2.0 * values, v if v is None else v * values)


def test_samples_follow_each_other_after_a_pause():
    """By name, in the order of the first; stamps of any origin."""
    first, second = recording(('a', 'b'), 0.0, 1.0), recording(('b', 'x', 'a'), 5.0, 3.0)
    joined = join_recordings([first, second])
    assert joined.joint_names == ('a', 'b')
    np.testing.assert_allclose(joined.time[[49, 50, 99]],
                               [TIME[-1], TIME[-1] + BETWEEN, TIME[-1] + BETWEEN + 0.49])
    np.testing.assert_array_equal(joined.q[50:], second.q[:, [2, 0]])
    np.testing.assert_array_equal(joined.tau[50:], second.tau[:, [2, 0]])
    np.testing.assert_array_equal(joined.v[:50], first.v)


def test_velocities_need_all_recordings():
    assert join_recordings([recording(('a',), 0.0, 1.0), recording(('a',), 5.0)]).v is None


def test_other_joints_are_refused():
    with pytest.raises(DynamicsError, match=r"recording 2 lacks the joints \['b'\] of the first"):
        join_recordings([recording(('a', 'b'), 0.0), recording(('a',), 0.0)])
    with pytest.raises(DynamicsError, match='there is no recording'):
        join_recordings([])


def test_an_empty_recording_is_refused_by_its_name():
    full = recording(('a',), 0.0)
    empty = full.rows(slice(0))
    with pytest.raises(DynamicsError, match='recording 1 has no samples'):
        join_recordings([empty, full])
    with pytest.raises(DynamicsError, match='recording 2 has no samples'):
        join_recordings([full, empty])
    with pytest.raises(DynamicsError, match='empty.csv has no samples'):
        join_recordings([full, empty], ['full.csv', 'empty.csv'])


def test_a_slow_and_a_fast_recording_are_identified_together(kernels):
    """The cutoff is that of the fast one, though the slow one is longer."""
    arm = Robot.from_urdf(THREE_JOINTS)
    truth, values = heavier(arm)
    fast = recorded(truth, 20.0, seed=2)
    long = recorded(truth, 60.0, slower=10.0)
    cutoff = prepare(arm, fast).cutoff
    assert prepare(arm, long).cutoff < 0.5 * cutoff
    done = identify_recording(arm, join_recordings([fast, long]))
    found = done.result
    assert done.prepared.cutoff == pytest.approx(cutoff)
    off = np.abs(found.base_values - found.base.values(values)) / found.base_spread.sigma
    assert off.max() < 4.0


@pytest.fixture(scope='module')
def robot(kernels):
    return Robot.from_urdf(THREE_JOINTS)


@pytest.mark.parametrize('origin', [0.0, 1.7e9])
def test_short_recordings_without_a_flaw_pass_together(robot, origin):
    """Ten of 4 s: the pauses between them are neither recorded time nor missing samples."""
    whole = recorded(robot, 40.0)
    parts = [whole.rows((whole.time >= start) & (whole.time < start + 4.0))
             for start in range(0, 40, 4)]
    joined = join_recordings([part._replace(time=part.time + origin) for part in parts])
    prepared = prepare(robot, joined)
    assert prepared.recorded == pytest.approx(sum(np.ptp(part.time) for part in parts), abs=1e-3)
    assert prepared.used > 0.5 * prepared.recorded


def test_a_pause_is_no_recorded_time(robot):
    """Two recordings of 2 s are not 9 s long."""
    short = recorded(robot, 2.0)
    with pytest.raises(DynamicsError, match=r'the recording is 3\.9\d? s long; expected 5 s'):
        prepare(robot, join_recordings([short, short]))
