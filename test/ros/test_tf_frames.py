"""Test the pose of a frame of another tree: by a stand-in for tf2_ros, which has no wheel."""

import sys

import numpy as np
import pytest
from support import tf2_stand_in

from dynamics_node.ros.tf_frames import TfFrames


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
    (0, [0]), (5_000_000_000, [5_000_000_000]), (tf2_stand_in.NEWEST + 1,
                                                 [tf2_stand_in.NEWEST + 1, 0])])
def test_the_stamp_is_used_and_the_latest_after_it(tf2, stamp, asked):
    """A transform of now arrives after a message of now."""
    frames = TfFrames('node')
    assert frames.pose('camera', 'base', stamp)[1] == ''
    assert tf2.TransformListener.made[0].buffer.asked == asked


def test_an_unknown_frame_is_refused_with_the_reason_of_tf2(tf2):
    assert TfFrames('node').pose('nowhere', 'left/base', 0) == (
        None, "tf2 has no transform from 'nowhere' to 'left/base': \"nowhere\" passed to "
        'lookupTransform does not exist')


def test_without_tf2_ros_the_refusal_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    assert TfFrames('node').pose('map', 'base', 0) == (
        None, 'tf2_ros, which may know it, is not installed')
