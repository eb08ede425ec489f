"""Test the checks of the points of a JointTrajectory: the first wrong entry is named."""

import math

import numpy as np
import pytest
from support.trajectories import trajectory

from dynamics_node import DynamicsError

NAMES = ['a', 'b']
FINE = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
NAN = [math.nan, 0.0]


def points(times=(0.5, 1.0, 2.0), names=NAMES, **columns):
    """Return points_of a message, and the same after its way through bytes."""
    from rclpy.serialization import serialize_message

    from dynamics_node.ros.torque.joint_trajectory import checked_points, points_of
    from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
    message = trajectory(names, times, **columns)
    return [lambda: points_of(message),
            lambda: checked_points(read_trajectory(serialize_message(message)))]


@pytest.mark.parametrize('given', [1, 2, 3])
def test_points_become_arrays(given):
    fields = ('positions', 'velocities', 'accelerations')[:given]
    for result in points(**dict.fromkeys(fields, FINE)):
        times, *columns = result()
        np.testing.assert_allclose(times, [0.5, 1.0, 2.0], rtol=1e-15)
        assert [column is not None for column in columns] == [k < given for k in range(3)]
        for column in columns[:given]:
            np.testing.assert_array_equal(column, FINE)


@pytest.mark.parametrize(('wrong', 'message'), [
    ({'names': []}, 'joint_names is empty'),
    ({'times': []}, 'points is empty'),
    ({}, r'points\[0\].positions is empty; every point needs positions'),
    ({'positions': [[0.0], [0.0], [0.0]]}, r'points\[0\].positions has 1 entries; expected 2, one'),
    ({'positions': [[], FINE[1], FINE[2]]}, r'points\[0\].positions has 0 entries'),
    ({'positions': [FINE[0], FINE[1], []]}, r'points\[2\].positions has 0 entries'),
    ({'positions': [FINE[0], NAN, [0.0]]}, r'points\[1\].positions is \[nan, 0.0\]; every entry'),
    ({'positions': [FINE[0], [0.0], NAN]}, r'points\[1\].positions has 1 entries'),
    ({'positions': FINE, 'velocities': [[], [], FINE[0]]}, r'points\[0\].velocities has 0'),
    ({'positions': FINE, 'accelerations': [FINE[0], FINE[0], [0.0, math.inf]]},
     r'points\[2\].accelerations is \[0.0, inf\]'),
    ({'positions': FINE, 'times': [0.0, 1.0, 1.0]},
     r'points\[2\].time_from_start is 1 s, not after the point before it'),
    ({'positions': FINE, 'times': [-0.5, 1.0, 2.0]},
     r'points\[0\].time_from_start is -0.5 s; expected zero or more'),
])
def test_the_first_wrong_entry_is_named(wrong, message):
    for result in points(**wrong):
        with pytest.raises(DynamicsError, match=message):
            result()
