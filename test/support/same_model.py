"""Compare two models field by field, numbers to rounding."""

import numpy as np

from support.differences import relative

NAMES = ('name', 'joint_name', 'parent', 'q', 'v')
LIMITS = ('lower', 'upper', 'max_velocity', 'max_effort')
CONSTANTS = ('gravity', 'damping', 'friction', 'armature')


def assert_same_model(ours, expected, tolerance, frames=None):
    """Assert that bodies, joints, frames and constants agree.

    :param frames: those to compare; None for all, and no others.
    """
    assert [_names(body) for body in ours.bodies] == [_names(body) for body in expected.bodies]
    for mine, its in zip(ours.bodies, expected.bodies):
        _close(mine.placement.matrix(), its.placement.matrix(), tolerance)
        _close(getattr(mine.joint, 'axis', 0.0), getattr(its.joint, 'axis', 0.0), tolerance)
        _close([mine.ratio, mine.offset], [its.ratio, its.offset], tolerance)
    for mine, its in zip(ours.inertias, expected.inertias):
        assert relative(mine.matrix(), its.matrix()) < tolerance
    assert [(each.name, each.kind, each.mimics, each.q, each.v) for each in ours.joints] == [
        (each.name, each.kind, each.mimics, each.q, each.v) for each in expected.joints]
    for mine, its in zip(ours.joints, expected.joints):
        for key in LIMITS:
            np.testing.assert_allclose(getattr(mine, key), getattr(its, key), tolerance)
    if frames is None:
        frames = expected.frames
        assert list(ours.frames) == list(frames)
    for name in frames:
        assert ours.frames[name].body == expected.frames[name].body
        _close(ours.frames[name].pose.matrix(), expected.frames[name].pose.matrix(), tolerance)
    for key in CONSTANTS:
        _close(getattr(ours, key), getattr(expected, key), tolerance)


def _names(body):
    return (type(body.joint).__name__, *(getattr(body, key) for key in NAMES))


def _close(mine, its, tolerance):
    np.testing.assert_allclose(mine, its, rtol=tolerance, atol=tolerance)
