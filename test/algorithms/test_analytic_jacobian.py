"""Test the analytic Jacobian: E J_A is the geometric one, J_A v the rate of the parameters."""

import itertools

import numpy as np
import pytest
from support.differences import along
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import Robot
from dynamics_node.errors import DynamicsError, SingularParametrisation, UnknownName
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial.positions import POSITIONS, from_cartesian
from dynamics_node.spatial.rate_maps import inverse_rate_map, rate_map
from dynamics_node.spatial.rotations import SIZES, from_matrix

KINDS = [*itertools.product(SIZES, POSITIONS)]
FRAMES = ('l4', 'l10')


def parameters(robot, q, frame, rotation, position):
    """Return chi_P and chi_R of the frame."""
    pose = robot.frame_pose(q, frame)
    return from_cartesian(position, pose[:3, 3]), from_matrix(rotation, pose[:3, :3])


@pytest.mark.parametrize(('rotation', 'position'), KINDS)
def test_the_geometric_jacobian_is_e_times_the_analytic(tree, rotation, position):
    """Eq. 2.192, of every parametrisation on every tree."""
    for frame in FRAMES:
        place, turn = parameters(tree.robot, tree.q, frame, rotation, position)
        ours = tree.robot.analytic_jacobian(tree.q, frame, rotation, position)
        assert ours.shape == (3 + np.size(turn), tree.robot.nv)
        back = np.concatenate([rate_map(position, place) @ ours[:3],
                               rate_map(rotation, turn) @ ours[3:]])
        J = tree.robot.jacobian(tree.q, frame)
        clearance = min(inverse_rate_map(position, place).clearance,
                        inverse_rate_map(rotation, turn).clearance)
        assert np.abs(back - J).max() <= EXACT_MATHS * np.abs(J).max() / clearance


@pytest.mark.parametrize(('rotation', 'position'), KINDS)
def test_parameter_rates_are_the_analytic_jacobian_times_velocity(tree, rotation, position):
    """Eq. 2.189, by differences of the parameters along a motion, to their third derivative."""
    def chi(q):
        return np.concatenate([np.ravel(part) for part in parameters(
            tree.robot, q, 'l4', rotation, position)])
    v = 0.3 * tree.v
    place, turn = parameters(tree.robot, tree.q, 'l4', rotation, position)
    clearance = min(1.0, inverse_rate_map(position, place).clearance,
                    inverse_rate_map(rotation, turn).clearance)
    rate = tree.robot.analytic_jacobian(tree.q, 'l4', rotation, position) @ v
    error = np.abs(rate - along(tree.robot, chi, tree.q, v)).max()
    assert error <= RATE_BY_DIFFERENCES / clearance ** 3


def test_cartesian_rows_are_those_of_the_geometric_jacobian(arm, states):
    q = states[0]
    np.testing.assert_allclose(arm.analytic_jacobian(q, 'tool0')[:, :3],
                               arm.jacobian(q, 'tool0')[:, :3], atol=EXACT_MATHS)


@pytest.mark.parametrize('rotation', SIZES)
def test_a_batch_gives_the_results_of_single_states(arm, states, rotation):
    q = states[0]
    many = arm.analytic_jacobian(q, 'tool0', rotation, 'spherical')
    for row, one in zip(q, many):
        np.testing.assert_allclose(arm.analytic_jacobian(row, 'tool0', rotation, 'spherical'), one,
                                   atol=EXACT_MATHS)
    assert arm.analytic_jacobian(q[:0], 'tool0', rotation).shape == (0, *many.shape[1:])


def test_a_singular_parametrisation_raises(arm):
    """In the upright arm the tool is on the z axis, with no rotation about any axis."""
    q = np.zeros(7)
    for rotation in ('euler_zyz', 'euler_zxz', 'angle_axis'):
        with pytest.raises(SingularParametrisation, match=rotation):
            arm.analytic_jacobian(q, 'tool0', rotation)
    for position in ('cylindrical', 'spherical'):
        with pytest.raises(SingularParametrisation, match=position):
            arm.analytic_jacobian(q, 'tool0', position=position)
    assert np.isfinite(arm.analytic_jacobian(q, 'tool0', 'quaternion')).all()


def test_wrong_arguments_are_refused_by_name():
    arm = Robot.from_urdf(ARM7)
    with pytest.raises(UnknownName, match='tool1'):
        arm.analytic_jacobian(np.zeros(7), 'tool1')
    with pytest.raises(DynamicsError, match="'rpy'; expected one of matrix"):
        arm.analytic_jacobian(np.zeros(7), 'tool0', 'rpy')
    with pytest.raises(DynamicsError, match="'polar'; expected one of cartesian"):
        arm.analytic_jacobian(np.zeros(7), 'tool0', position='polar')
