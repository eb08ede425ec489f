"""Test that several recordings are joined, and fitted as one."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.identification.joined_recordings import PAUSE, join_recordings
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
                               [TIME[-1], TIME[-1] + PAUSE, TIME[-1] + PAUSE + 0.49])
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
