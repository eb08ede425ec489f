"""Test the derivatives of poses and velocities of frames on random trees of every joint type."""

import numpy as np
import pytest
from support import complex_steps
from support.differences import along, gradient, relative, some_directions
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.jacobian import jacobian, jacobian_rate
from dynamics_node.algorithms.kinematics import frame_pose, frame_twist
from dynamics_node.algorithms.kinematics_derivatives import (
    frame_pose_derivatives,
    frame_twist_derivatives,
)
from dynamics_node.errors import UnknownName

FRAMES = ('base', 'l2', 'l5', 'l9', 'l10')  # a root, bodies, and a link that is fixed to one
AXES = pytest.mark.parametrize('local', [False, True], ids=['world_axes', 'local'])


@pytest.fixture(params=FRAMES)
def frame(request):
    return request.param


def test_pose_derivatives_are_complex_steps(tree, frame):
    """First index: by which coordinate."""
    model, q = tree.robot.model, tree.q
    D = some_directions(model.nv)
    expected = complex_steps.by_q(model, lambda x: frame_pose(model, x, frame), q, D)
    assert relative(np.tensordot(D.T, frame_pose_derivatives(model, q, frame), axes=1),
                    np.moveaxis(expected, -1, 0)) < EXACT_MATHS


def test_pose_derivatives_are_central_differences(tree, frame):
    """Along the configuration manifold; a sum of them times v is the rate of the pose."""
    robot, q, v = tree.robot, tree.q, tree.v
    derivatives = frame_pose_derivatives(robot.model, q, frame)
    D = some_directions(robot.nv)
    expected = np.moveaxis(gradient(robot, lambda x: frame_pose(robot.model, x, frame), q, D), -1,
                           0)
    assert relative(np.tensordot(D.T, derivatives, axes=1), expected) < RATE_BY_DIFFERENCES
    rate = along(robot, lambda x: frame_pose(robot.model, x, frame), q, v)
    assert relative(np.tensordot(v, derivatives, axes=1), rate) < RATE_BY_DIFFERENCES


@AXES
def test_twist_derivatives_are_complex_steps(tree, frame, local):
    """By q of J(q) v, and by v the Jacobian."""
    model, q, v = tree.robot.model, tree.q, tree.v
    dq, dv = frame_twist_derivatives(model, q, v, frame, local)
    D = some_directions(model.nv)
    expected = complex_steps.by_q(model, lambda x: jacobian(model, x, frame, local) @ v, q, D)
    assert relative(dq @ D, expected) < EXACT_MATHS
    assert relative(dv, jacobian(model, q, frame, local)) < EXACT_MATHS


def test_twist_derivatives_are_central_differences(tree, frame):
    """Of the frame's velocity, along the configuration manifold."""
    robot, q, v = tree.robot, tree.q, tree.v
    D = some_directions(robot.nv)
    expected = gradient(robot, lambda x: frame_twist(robot.model, x, v, frame), q, D)
    assert relative(frame_twist_derivatives(robot.model, q, v, frame).dq @ D,
                    expected) < RATE_BY_DIFFERENCES


@AXES
def test_twist_derivatives_along_the_motion_are_the_jacobians_rate(tree, frame, local):
    """d(Jv)/dq v = (dJ/dt) v."""
    model, q, v = tree.robot.model, tree.q, tree.v
    dq = frame_twist_derivatives(model, q, v, frame, local).dq
    assert relative(dq @ v, jacobian_rate(model, q, v, frame, local) @ v) < EXACT_MATHS


def test_an_unknown_frame_is_named(tree):
    """The message lists the known frames."""
    model, q, v = tree.robot.model, tree.q, tree.v
    with pytest.raises(UnknownName, match='nowhere'):
        frame_twist_derivatives(model, q, v, 'nowhere')
    with pytest.raises(UnknownName, match='nowhere'):
        frame_pose_derivatives(model, q, 'nowhere')
