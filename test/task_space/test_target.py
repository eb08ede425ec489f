"""Test targets: poses and parts of poses, several frames, and refusals by name."""

import numpy as np
import pytest
from support.planar_arms import planar_arm

from dynamics_node import DynamicsError, Robot, Target
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial import so3

WITHIN = 1e-6  # the tolerance that is asked for


@pytest.fixture(scope='module')
def arm7():
    return Robot.from_urdf(ARM7)


def test_a_pose_may_be_written_in_three_ways(arm7):
    """Matrix, position and quaternion, position and rotation matrix: the same result."""
    rng = np.random.default_rng(0)
    q = arm7.random_configuration(rng)
    X = arm7.frame_pose(q, 'tool0')
    start = arm7.integrate(q, 0.2 * rng.normal(size=7))
    results = [arm7.inverse_kinematics(target, start) for target in (
        Target.pose('tool0', X), Target('tool0', X[:3, 3], so3.to_quaternion(X[:3, :3])),
        Target('tool0', X[:3, 3], X[:3, :3]))]
    for found in results:
        assert found.success and found.restarts == 0
        assert np.abs(found.q - results[0].q).max() < WITHIN
        assert np.abs(arm7.frame_pose(found.q, 'tool0') - X).max() < 2.0 * WITHIN


def test_a_position_leaves_the_orientation_free(arm7):
    """Redundant by four; the error of the free part is zero."""
    found = arm7.inverse_kinematics(Target('tool0', (0.3, 0.2, 0.5)))
    assert found.success and found.error.shape == (1, 2) and found.error[0, 1] == 0.0
    assert np.abs(arm7.frame_pose(found.q, 'tool0')[:3, 3] - (0.3, 0.2, 0.5)).max() < WITHIN


def test_an_orientation_leaves_the_position_free(arm7):
    """Half a turn away, too: the rotation error does not vanish there."""
    start = arm7.neutral() + 0.3
    R = arm7.frame_pose(start, 'tool0')[:3, :3]
    for turn in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, -1.0, 1.0]), so3.exp([0.1, 2.0, 1.0])):
        found = arm7.inverse_kinematics(Target('tool0', orientation=R @ turn), start)
        assert found.success and found.error[0, 0] == 0.0
        got = arm7.frame_pose(found.q, 'tool0')[:3, :3]
        assert np.linalg.norm(so3.log(got.T @ R @ turn)) < WITHIN


def test_an_axis_leaves_the_rotation_about_it_free(arm7):
    """A direction and a position of the tool: five numbers, seven joints."""
    rng = np.random.default_rng(3)
    want = arm7.frame_pose(arm7.random_configuration(rng), 'tool0')
    target = Target('tool0', want[:3, 3], axis=(0.0, 0.0, 1.0), direction=want[:3, 2])
    turns = []
    for _ in range(4):
        found = arm7.inverse_kinematics(target, arm7.random_configuration(rng))
        X = arm7.frame_pose(found.q, 'tool0')
        assert found.success
        assert np.abs(X[:3, 3] - want[:3, 3]).max() < WITHIN
        assert np.linalg.norm(X[:3, 2] - want[:3, 2]) < WITHIN
        turns.append(X[0, 0])
    assert np.ptp(turns) > 0.1  # it has been used


def test_an_opposite_axis_is_reached():
    """Where the shortest rotation is not unique: the arm along x, the wanted axis along -x."""
    arm = planar_arm(3, -3.1, 3.1)
    found = arm.inverse_kinematics(
        Target('tip', axis=(1.0, 0.0, 0.0), direction=(-1.0, 0.0, 0.0)), restarts=0)
    assert found.success
    assert np.abs(arm.frame_pose(found.q, 'tip')[:3, 0] - (-1.0, 0.0, 0.0)).max() < WITHIN


def test_weights_decide_between_incompatible_targets():
    """On the circle of one link, at +-0.1 rad: the heavier one has less error.

    The sum of weight^2 chord^2 is least where  w^2 sin(0.1 - x) = sin(0.1 + x).
    """
    arm = planar_arm(1)
    up, down = ((np.cos(a), np.sin(a), 0.0) for a in (0.1, -0.1))
    for weight in (1.0, 2.0, 10.0):
        found = arm.inverse_kinematics([Target('tip', up, position_weight=weight),
                                        Target('tip', down)], restarts=8)
        x = np.arctan(np.tan(0.1) * (weight ** 2 - 1.0) / (weight ** 2 + 1.0))
        assert found.reason == 'out of reach'
        assert found.q[0] == pytest.approx(x, abs=1e-5)


BAD = [
    (dict(frame='tip'), 'is empty'),
    (dict(frame='tip', position=(0.0, 1.0)), 'position'),
    (dict(frame='tip', position=(0.0, 1.0, np.nan)), 'position'),
    (dict(frame='tip', orientation=(0.0, 0.0, 0.0, 2.0)), 'norm 2'),
    (dict(frame='tip', orientation=np.diag([1.0, 1.0, -1.0])), 'not a rotation'),
    (dict(frame='tip', orientation=np.diag([1.0, 1.0, 1.1])), 'not a rotation'),
    (dict(frame='tip', axis=(1.0, 0.0, 0.0)), 'direction'),
    (dict(frame='tip', axis=(2.0, 0.0, 0.0), direction=(1.0, 0.0, 0.0)), 'axis is of length 2'),
    (dict(frame='tip', orientation=(0.0, 0.0, 0.0, 1.0), axis=(1.0, 0.0, 0.0),
          direction=(1.0, 0.0, 0.0)), 'both'),
    (dict(frame='tip', position=(1.0, 0.0, 0.0), position_weight=0.0), 'position_weight'),
    (dict(frame='tip', position=(1.0, 0.0, 0.0), position_weight='much'), 'position_weight'),
]


@pytest.mark.parametrize(('fields', 'word'), BAD, ids=[word for _, word in BAD])
def test_a_bad_target_is_refused_by_name(fields, word):
    """When it is made, not when it is used."""
    with pytest.raises(DynamicsError, match=word):
        Target(**fields)


@pytest.mark.parametrize(('change', 'word'), [
    (dict(targets=Target('nose', (1.0, 0.0, 0.0))), "no frame 'nose'"),
    (dict(targets=[]), 'targets'), (dict(targets='tip'), 'targets'),
    (dict(start=(0.0,)), 'start'), (dict(start=np.zeros((3, 2))), 'start'),
    (dict(start=(np.nan, 0.0)), 'start'), (dict(tolerance=0.0), 'tolerance'),
    (dict(tolerance=1e-300), 'tolerance'), (dict(tolerance=(1e-6, 1.7e308)), 'tolerance'),
    (dict(tolerance=(1e-6, 1e-6, 1.0)), 'tolerance'), (dict(tolerance='small'), 'tolerance'),
    (dict(restarts=-1), 'restarts'), (dict(restarts=1.5), 'restarts'), (dict(seed=None), 'seed')])
def test_a_bad_request_is_refused_by_name(change, word):
    """Unknown frames, sizes, numbers that are not finite."""
    arguments = {'targets': Target('tip', (1.0, 0.0, 0.0)), **change}
    with pytest.raises(DynamicsError, match=word):
        planar_arm().inverse_kinematics(**arguments)


@pytest.mark.parametrize('matrix', [np.eye(3), np.diag([1.0, 1.0, 1.0, 2.0]), 'pose'])
def test_a_matrix_that_is_no_pose_is_refused(matrix):
    """By its shape or its last row."""
    with pytest.raises(DynamicsError, match='matrix'):
        Target.pose('tip', matrix)
