"""Test task references: refusals by name, and the axes in which numbers are given."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError
from dynamics_node.control.task_reference import task_reference
from dynamics_node.spatial import so3

NAN = float('nan')
Q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
DOWN = (False, False, True, False, False, False)
GOOD = {'frame': 'tool0', 'position': (0.3, 0.1, 0.5), 'orientation': (0.0, 0.0, 0.0, 1.0)}


def asked(arm, **changes):
    return task_reference(arm, Q, **{**GOOD, **changes})


@pytest.mark.parametrize('changes, message', [
    ({'frame': 'tool1'}, "frame: no frame 'tool1'; the robot has: .*tool0"),
    ({'frame': ''}, "frame: no frame ''"),
    ({'seen_from': 'table'}, "header.frame_id: no frame 'table'"),
    ({'seen_from': np.eye(3)}, '(?s)seen_from is .*; expected 4 x 4 finite numbers'),
    ({'seen_from': np.full((4, 4), NAN)}, '(?s)seen_from is .*; expected 4 x 4 finite numbers'),
    ({'position': (0.0, 0.0)}, 'pose.position is .*; expected 3 finite numbers'),
    ({'position': (0.0, 0.0, NAN)}, 'pose.position is .*finite'),
    ({'position': (0.0, 0.0, 1e300)}, 'pose.position is .*finite'),
    ({'orientation': (0.0, 0.0, 0.0, 0.0)}, 'pose.orientation has the norm 0; expected a unit'),
    ({'orientation': (0.0, 0.0, 0.1, 1.0)}, 'pose.orientation has the norm 1.00499'),
    ({'orientation': (0.0, 0.0, NAN, 1.0)}, 'pose.orientation is .*finite'),
    ({'axes': (0.0, 0.0, 0.0, 2.0)}, 'axes has the norm 2; expected a unit quaternion'),
    ({'twist': [0.0] * 5}, 'twist is .*; expected 6 finite numbers'),
    ({'acceleration': [np.inf] * 6}, 'acceleration is .*finite'),
    ({'wrench': [NAN] * 6, 'force_axes': (True,) * 6}, 'wrench is .*finite'),
    ({'force_axes': (True, False)}, 'force_axes is .*; expected six booleans'),
    ({'force_axes': (1.0,) * 6}, 'force_axes is .*; expected six booleans'),
    ({'free_axes': 'xyz'}, 'free_axes is .*; expected six booleans'),
    ({'free_axes': (True,) * 6}, 'free_axes: all six axes are free; expected at least one'),
    ({'free_axes': DOWN, 'force_axes': DOWN},
     r'force_axes\[2\] and free_axes\[2\] are both True; the axis along z'),
    ({'free_axes': DOWN, 'twist': (0, 0, 0.1, 0, 0, 0)},
     r'twist has 0.1 along z .* a free axis; expected zero there, or free_axes\[2\] to be False'),
    ({'free_axes': DOWN, 'wrench': (0, 0, 5.0, 0, 0, 0)}, 'wrench has 5 along z .* a free axis'),
    ({'stiffness': [-1.0]}, r'stiffness\[0\] is -1.0; expected zero or a positive number'),
    ({'stiffness': [1.0] * 3}, r'stiffness must have shape \(1,\) or \(2,\) or \(6,\), got \(3,\)'),
    ({'damping': [1.0, 2.0, 3.0, NAN, 5.0, 6.0]}, r'damping\[3\] is nan'),
    ({'damping': [1.0, -2.0]}, r'damping\[1\] is -2.0'),
    ({'wrench': (0, 0, 5.0, 0, 0, 0)},
     r'wrench has 5 along z of the contact axes, .* axis of motion; .* force_axes\[2\] to be True'),
    ({'wrench': (0, 0, 5.0, 0, 1.0, 0), 'force_axes': DOWN}, 'wrench has 1 about y'),
    ({'twist': (0.1, 0, -0.2, 0, 0, 0), 'force_axes': DOWN},
     r'twist has -0.2 along z .* axis of force; expected zero there, or force_axes\[2\] to be F'),
    ({'acceleration': (0, 0, 1.0, 0, 0, 0), 'force_axes': DOWN}, 'acceleration has 1 along z'),
    ({'twist': (1.0, 0, 0, 0, 0, 0), 'force_axes': DOWN,
      'axes': (0, np.sqrt(0.5), 0, np.sqrt(0.5))}, 'twist has 1 along z'),
])
def test_invalid_references_are_refused_by_name(arm, changes, message):
    with pytest.raises(DynamicsError, match=message):
        asked(arm, **changes)


@pytest.mark.parametrize('by_pose', [False, True])
def test_numbers_may_be_in_the_axes_of_any_frame(arm, by_pose):
    """Against poses and vectors rotated by hand; a moving frame counts at its present pose."""
    rng = np.random.default_rng(0)
    X = arm.frame_pose(Q, 'link_3')
    C = so3.quaternion_exp(rng.normal(size=3))
    twist, wrench = rng.normal(size=(2, 3))
    found = asked(arm, seen_from=X if by_pose else 'link_3', axes=C, twist=(*twist, 0, 0, 0),
                  wrench=(0, 0, 0, *wrench), force_axes=(False,) * 3 + (True,) * 3)
    np.testing.assert_allclose(found.pose[:3, :3], X[:3, :3], atol=EXACT_MATHS)
    np.testing.assert_allclose(found.pose[:3, 3], X[:3, :3] @ GOOD['position'] + X[:3, 3],
                               atol=EXACT_MATHS)
    np.testing.assert_allclose(found.twist, [*(X[:3, :3] @ twist), 0, 0, 0], atol=EXACT_MATHS)
    np.testing.assert_allclose(found.wrench, [0, 0, 0, *(X[:3, :3] @ wrench)], atol=EXACT_MATHS)
    np.testing.assert_allclose(found.selection.rotation[:3, :3],
                               X[:3, :3] @ so3.from_quaternion(C), atol=EXACT_MATHS)


@pytest.mark.parametrize('angle', [0.7854, -1.234])
def test_axes_rounded_to_four_digits_are_accepted(arm, angle):
    """A force along the exact axis; its parts along the other axes are not exerted."""
    axes = np.round([0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)], 4)
    push = np.array([50.0 * np.sin(angle), 0.0, 50.0 * np.cos(angle), 0.0, 0.0, 0.0])
    found = asked(arm, axes=axes, wrench=push, force_axes=DOWN)
    C = found.selection.rotation
    assert 1e-4 < np.abs(C.T @ push)[[0, 1]].max() < 0.05
    np.testing.assert_allclose((C.T @ (push - found.selection.motion @ push))[[0, 1, 3, 4, 5]], 0.0,
                               atol=EXACT_MATHS * 50.0)
    with pytest.raises(DynamicsError, match='wrench has 0.0001 about y'):
        asked(arm, axes=axes, wrench=push + 1e-4 * np.eye(6)[4], force_axes=DOWN)


def test_the_root_frame_is_the_default(arm):
    found = asked(arm, twist=(1, 2, 3, 4, 5, 6))
    np.testing.assert_array_equal(found.pose[:3, 3], GOOD['position'])
    np.testing.assert_array_equal(found.twist, [1, 2, 3, 4, 5, 6])
    assert found.stiffness is None and found.damping is None and found.selection.all_motion


@pytest.mark.parametrize('given, six', [([5.0], [5.0] * 6), ([5.0, 2.0], [5.0] * 3 + [2.0] * 3),
                                        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6])])
def test_stiffness_is_one_two_or_six_numbers(arm, given, six):
    """Linear first."""
    np.testing.assert_array_equal(asked(arm, stiffness=given).stiffness, six)


def test_a_nearly_unit_quaternion_is_normalised(arm):
    """As those of a measurement are; an unnormalised one would shear the frame."""
    R = asked(arm, orientation=(0.0, 0.0, 0.7074, 0.7074)).pose[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=EXACT_MATHS)
