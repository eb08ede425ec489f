"""Test operational-space dynamics: identities, forward dynamics and energy."""

from functools import cache

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.algorithms.operational_space import consistent, reference_inertia
from dynamics_node.errors import DynamicsError, UnknownName


@cache
def results(tree):
    """Return a Specimen, and (frames, OperationalSpace) where these can move every way."""
    specimen = random_trees.make(tree)
    frames = [f'l{k}' for k in range(11)]
    stacks = [*frames, *map(list, zip(frames, frames[3:]))]
    found = [(stack, specimen.robot.operational_space(specimen.q, specimen.v, stack))
             for stack in stacks]
    return specimen, [(stack, result) for stack, result in found if not result.damping.any()]


@pytest.fixture(params=random_trees.TREES, ids=str)
def regular(request):
    tree, found = results(request.param)
    assert len(found) >= 3
    return tree, found


def test_each_field_of_the_result_is_its_named_quantity(regular):
    tree, found = regular
    for frames, result in found:
        names = [frames] if isinstance(frames, str) else frames
        J = np.concatenate([tree.robot.jacobian(tree.q, name) for name in names])
        rate = np.concatenate([tree.robot.jacobian_rate(tree.q, tree.v, name) for name in names])
        np.testing.assert_array_equal(result.jacobian, J)
        np.testing.assert_allclose(result.bias_acceleration, rate @ tree.v, atol=EXACT_MATHS)


def test_identities_of_the_consistent_inverse(regular):
    """J J-bar = 1, J-bar = M^-1 J' Lambda, J N = 0, J M^-1 N' = 0, N N = N, Lambda = Lambda'."""
    tree, found = regular
    inverse = tree.robot.mass_matrix_inverse(tree.q)
    for _, result in found:
        J, back, N = result.jacobian, result.consistent_inverse, result.null_space
        scale = np.abs(back).max() * np.abs(J).max()
        assert np.abs(J @ back - np.eye(len(J))).max() < SOLVED * scale
        assert relative(back, inverse @ J.T @ result.inertia) < SOLVED
        np.testing.assert_allclose(N, np.eye(tree.robot.nv) - back @ J, atol=EXACT_MATHS)
        assert np.abs(J @ N).max() < SOLVED * scale * np.abs(J).max()
        assert np.abs(J @ inverse @ N.T).max() < SOLVED * scale * np.abs(J @ inverse).max()
        assert np.abs(N @ N - N).max() < SOLVED * scale ** 2
        assert relative(result.inertia, result.inertia.T) < SOLVED
        assert (np.linalg.eigvalsh(result.inertia) > 0.0).all()
        assert relative(result.inertia @ (J @ inverse @ J.T), np.eye(len(J))) < SOLVED * scale


def test_the_task_force_gives_the_wanted_acceleration(regular):
    """F = Lambda w' + mu + p, for any motion in the null space (eq. 3.84, 3.85)."""
    tree, found = regular
    for _, result in found:
        wanted = tree.rng.normal(size=len(result.bias))
        F = result.inertia @ wanted + result.bias + result.gravity
        tau = result.jacobian.T @ F + result.null_space.T @ (10.0 * tree.tau)
        a = tree.robot.forward_dynamics(tree.q, tree.v,
                                        tau + tree.robot.friction_torque(tree.v))
        reached = result.jacobian @ a + result.bias_acceleration
        size = np.abs(result.jacobian).max() * np.abs(a).max() + np.abs(reached).max()
        assert np.abs(reached - wanted).max() < SOLVED * size


def test_task_forces_do_not_depend_on_friction(tree):
    """A robot without friction has the same ones."""
    bare = tree.robot.with_friction(dict.fromkeys(tree.robot.joint_names[:2], 0.0),
                                    dict.fromkeys(tree.robot.joint_names[:2], 0.0))
    ours, theirs = (robot.operational_space(tree.q, tree.v, 'l6') for robot in (tree.robot, bare))
    for mine, its in zip(ours, theirs):
        np.testing.assert_array_equal(mine, its)


def test_energy_is_a_metric_of_both_spaces(regular):
    """The least energy of a motion V of the frames is 1/2 V' Lambda V, that of v = J-bar V."""
    tree, found = regular
    for _, result in found:
        V = result.jacobian @ tree.v
        least = 0.5 * V @ result.inertia @ V
        assert least <= tree.robot.kinetic_energy(tree.q, tree.v) * (1.0 + SOLVED)
        v = result.consistent_inverse @ V
        assert tree.robot.kinetic_energy(tree.q, v) == pytest.approx(least, rel=1e-8)
        rest = result.null_space @ tree.v
        assert tree.robot.kinetic_energy(tree.q, tree.v) == pytest.approx(
            least + tree.robot.kinetic_energy(tree.q, rest), rel=1e-8)


def test_a_square_jacobian_gives_the_transformed_mass_matrix(arm, states):
    """Lambda = J^-T M J^-1, one of the seven joints locked."""
    q = states[0][0]
    J, M = arm.jacobian(q, 'tool0'), arm.mass_matrix(q)
    keep = [0, 1, 3, 4, 5, 6]
    Ji = np.linalg.inv(J[:, keep])
    reduced = Ji.T @ M[np.ix_(keep, keep)] @ Ji
    ours = consistent(J[:, keep], np.linalg.inv(M[np.ix_(keep, keep)]),
                      reference_inertia(arm.model, ['tool0']))
    assert not ours.damping.any()
    assert relative(ours.inertia, reduced) < SOLVED
    np.testing.assert_allclose(ours.null_space, 0.0, atol=1e-9)


def test_a_batch_gives_the_results_of_single_states(arm, states):
    """Also where only q or only v is a batch; an empty batch keeps the shapes."""
    q, v = states[:2]
    for stack in ('tool0', ['tool0', 'link_4']):
        many = arm.operational_space(q, v, stack)
        for k, row in enumerate(q):
            single = arm.operational_space(row, v[k], stack)
            for part, one in zip(many[:-2], single[:-2]):
                assert relative(part[k], one) < 1e-9
            np.testing.assert_array_equal(many.lost[k], single.lost)
            # directions that share a singular value may be any basis
            share = [found.directions * found.singular_values for found in (
                single, single._replace(directions=many.directions[k]))]
            assert relative(share[0] @ share[0].T, share[1] @ share[1].T) < 1e-6
        for one_q, one_v in ((q[0], v), (q, v[0])):
            mixed = arm.operational_space(one_q, one_v, stack)
            for part, whole in zip(mixed, many):
                assert part.shape == whole.shape
            assert relative(mixed.bias[0], many.bias[0]) < 1e-9
        none = arm.operational_space(q[:0], v[:0], stack)
        assert [part.shape[1:] for part in none] == [part.shape[1:] for part in many]
    lists = arm.operational_space(q[0].tolist(), v[0].tolist(), 'tool0')
    np.testing.assert_array_equal(lists.bias, arm.operational_space(q[0], v[0], 'tool0').bias)


@pytest.mark.parametrize(('q', 'v', 'frame', 'error', 'words'), [
    (np.zeros(7), np.zeros(7), 'tool1', UnknownName, 'tool1'),
    (np.zeros(7), np.zeros(7), ['tool0', 'tool1'], UnknownName, 'tool1'),
    (np.zeros(7), np.zeros(7), [], DynamicsError, 'empty list'),
    (np.zeros(7), np.zeros(7), 3, DynamicsError, 'frame is 3; expected the name'),
    (np.zeros(7), np.zeros(7), [['tool0']], DynamicsError, 'expected the name'),
    (np.zeros(6), np.zeros(7), 'tool0', DynamicsError, r'q must have shape \(7,\)'),
    (np.zeros(7), np.zeros(6), 'tool0', DynamicsError, r'v must have shape \(7,\)'),
    (np.zeros(7), 'fast', 'tool0', DynamicsError, 'v must hold real numbers'),
    (np.full(7, np.nan), np.zeros(7), 'tool0', DynamicsError, r'q\[0\] is nan'),
    (np.zeros((3, 7)), np.zeros((2, 7)), 'tool0', DynamicsError, 'batches must be of one size'),
])
def test_wrong_arguments_are_refused_by_name(arm, q, v, frame, error, words):
    with pytest.raises(error, match=words):
        arm.operational_space(q, v, frame)
