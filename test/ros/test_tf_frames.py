"""Test the pose of a frame of another tree: by a stand-in for tf2_ros, which has no wheel."""

import sys

import numpy as np
import pytest
from support import tf2_stand_in

from dynamics_node.ros.tf_frames import MAX_AGE, TfFrames

BOUND = tf2_stand_in.NEWEST + round(MAX_AGE * 1e9)   # [ns] newest stamp for the latest transform


@pytest.fixture
def tf2(monkeypatch):
    """The stand-in, imported as tf2_ros."""
    monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_stand_in)
    monkeypatch.setattr(tf2_stand_in.TransformListener, 'made', [])
    return tf2_stand_in


def test_the_pose_is_that_of_the_transform(tf2):
    pose, refusal = TfFrames('node').pose('map', 'base', 0)
    assert refusal == ''
    np.testing.assert_allclose(pose, [[0, -1, 0, 0.5], [1, 0, 0, -0.2], [0, 0, 1, 0.1],
                                      [0, 0, 0, 1]], atol=1e-15)


def test_it_listens_from_the_first_frame_on_until_closed(tf2):
    """To its node, once."""
    frames = TfFrames('node')
    assert tf2.TransformListener.made == []
    frames.pose('map', 'base', 0)
    frames.pose('nowhere', 'base', 0)
    listener, = tf2.TransformListener.made
    assert listener.node == 'node' and listener.registered
    frames.close()
    assert not listener.registered
    frames.close()
    frames.pose('map', 'base', 0)
    assert len(tf2.TransformListener.made) == 2


@pytest.mark.parametrize(('stamp', 'asked'), [
    (0, [0]), (5_000_000_000, [5_000_000_000]), (BOUND, [BOUND, 0])])
def test_the_stamp_is_used_and_the_latest_after_it(tf2, stamp, asked):
    """A transform of now arrives after a message of now."""
    frames = TfFrames('node')
    assert frames.pose('camera', 'base', stamp)[1] == ''
    assert tf2.TransformListener.made[0].buffer.asked == asked


@pytest.mark.parametrize(('stamp', 'reason'), [
    (BOUND + 2_000_000, 'the latest one is 0.502 s older than the stamp of the reference; at most '
                        '0.5 s are permitted'),
    (tf2_stand_in.OLDEST - 1, 'Lookup would require extrapolation into the past')])
def test_a_stamp_too_far_from_all_transforms_is_refused(tf2, stamp, reason):
    assert TfFrames('node').pose('camera', 'base', stamp) == (
        None, f"tf2 has no transform from 'camera' to 'base': {reason}")


@pytest.mark.parametrize('stamp', [1, 10 * BOUND])
def test_a_static_transform_is_valid_at_every_stamp(tf2, stamp):
    assert TfFrames('node').pose('map', 'base', stamp)[1] == ''


def test_an_unknown_frame_is_refused_with_the_reason_of_tf2(tf2):
    assert TfFrames('node').pose('nowhere', 'left/base', 0) == (
        None, "tf2 has no transform from 'nowhere' to 'left/base': \"nowhere\" passed to "
        'lookupTransform does not exist')


def test_without_tf2_ros_the_refusal_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    assert TfFrames('node').pose('map', 'base', 0) == (
        None, 'tf2_ros, which may know it, is not installed')
