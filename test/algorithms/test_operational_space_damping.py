"""Test damping near singularities and redundant rows: smooth, bounded, exact elsewhere."""

import numpy as np
import pytest
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.operational_space import (
    DAMPED_BELOW,
    FADE,
    consistent,
    reference_inertia,
)

E = DAMPED_BELOW
BENT = np.array([0.3, 0.8, 0.2, 0.0, 0.4, 1.1, 0.2])  # all but the elbow, joint 4
LINK = ('<link name="{}"><inertial><origin xyz="1 0 0"/><mass value="{}"/>'
        '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>')
JOINT = ('<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
         '<origin xyz="{3} 0 0"/><axis xyz="0 0 1"/></joint>')
TWO_LINKS = ''.join([
    '<robot name="two"><link name="base"/>', LINK.format('upper', 3.0), LINK.format('lower', 2.0),
    '<link name="tip"/>', JOINT.format('a', 'base', 'upper', 0),
    JOINT.format('b', 'upper', 'lower', 1), '<joint name="c" type="fixed"><parent link="lower"/>'
    '<child link="tip"/><origin xyz="1 0 0"/></joint></robot>'])


@pytest.fixture
def two():
    """Two links of 1 m, a point mass at the end of each: 3 kg at the elbow, 2 kg at the tip."""
    return Robot.from_urdf(TWO_LINKS, gravity=(0.0, -9.81, 0.0))


def position_only(two, q):
    """Return what is Consistent with the tip's x and y."""
    q = np.array(q)
    return consistent(two.jacobian(q, 'tip')[:2], two.mass_matrix_inverse(q),
                      reference_inertia(two.model, ['tip'])[:2])


def stretching(angles):
    """Return configurations of the arm with these elbow angles."""
    q = np.tile(BENT, (len(angles), 1))
    q[:, 3] = angles
    return q


def undamped(robot, q, frame):
    J = robot.jacobian(q, frame)
    return np.linalg.inv(J @ robot.mass_matrix_inverse(q) @ J.swapaxes(-1, -2))


def test_the_effective_mass_of_two_links(two):
    """Bent at a right angle the tip is 2 kg across the lower link and 2 + 3 kg along it."""
    found = position_only(two, [0.0, np.pi / 2])
    assert not found.damping.any()
    np.testing.assert_allclose(found.inertia, np.diag([2.0, 5.0]), atol=1e-12)


def test_damping_follows_its_equation(arm):
    """lambda^4 = (1 - s^2/e^2)^2 (s^2/2 + h e^2) e^2 below e, else 0; s from an SVD."""
    for q in stretching(np.linspace(0.0, 0.3, 31)):
        found = arm.operational_space(q, np.zeros(7), 'tool0')
        L = np.linalg.cholesky(arm.mass_matrix(q))
        unit = np.sqrt(reference_inertia(arm.model, ['tool0']))[:, None]
        s = np.linalg.svd(unit * np.linalg.solve(L, arm.jacobian(q, 'tool0').T).T)[1]
        np.testing.assert_allclose(found.singular_values, s, atol=1e-5 * E, rtol=1e-9)
        expected = np.maximum(1 - s ** 2 / E ** 2, 0.0) ** 2 * (s ** 2 / 2 + FADE * E ** 2) * E ** 2
        np.testing.assert_allclose(found.damping ** 4, expected, atol=1e-9 * E ** 4)


def test_the_inertia_is_exact_without_damping(arm):
    """Up to the threshold; beyond it the exact inertia has no bound, the damped one has."""
    damped = 0
    for q in stretching(np.linspace(0.02, 0.3, 15)):
        found = arm.operational_space(q, np.zeros(7), 'tool0')
        exact = undamped(arm, q, 'tool0')
        same = np.abs(found.inertia - exact).max() < 1e-8 * np.abs(exact).max()
        assert same == (not found.damping.any())
        damped += not same
    assert damped >= 3


def test_regular_directions_stay_exact_in_a_singularity(arm):
    """J J-bar = 1 on the motions that the stretched arm can do, and 0 on the other."""
    found = arm.operational_space(BENT, np.zeros(7), 'tool0')
    assert (found.damping[:-1] == 0.0).all()
    assert found.damping[-1] == pytest.approx(E * FADE ** 0.25)
    J = found.jacobian
    assert np.linalg.matrix_rank(J, tol=1e-6) == 5
    U, _, _ = np.linalg.svd(J)
    product = J @ found.consistent_inverse
    possible = U[:, :5]
    assert np.abs(product @ possible - possible).max() < 1e-8
    assert np.abs(U[:, 5] @ product).max() < 1e-8


def test_the_result_is_smooth_through_the_singularity(arm):
    """On a grid twice as fine the largest step is half, the largest bend a quarter as large."""
    q = stretching(np.linspace(-0.1, 0.1, 801))
    found = arm.operational_space(q, np.tile(np.linspace(-1.0, 1.0, 7), (len(q), 1)), 'tool0')
    for part in ('inertia', 'bias', 'gravity', 'consistent_inverse', 'null_space'):
        fine = getattr(found, part)
        coarse = fine[::2]
        for order, share in ((1, 0.5), (2, 0.25)):
            steps = [np.abs(np.diff(values, order, axis=0)).max() for values in (coarse, fine)]
            assert steps[1] < 1.1 * share * steps[0], (part, order)


def test_the_undamped_inertia_is_not_smooth_through_the_singularity(arm):
    """Control of the test above: the steps of the exact inertia grow on finer grids."""
    steps = []
    for points in (100, 200):  # even: the singularity itself is left out
        values = undamped(arm, stretching(np.linspace(-0.2, 0.2, points)), 'tool0')
        steps.append(np.abs(np.diff(values, axis=0)).max())
    assert steps[1] > steps[0]


def test_the_damped_inertia_is_bounded(arm):
    """So is the joint acceleration: 1.95 / e^2 and 1.14 / e times the reference."""
    rng = np.random.default_rng(0)
    q = np.array([arm.random_configuration(rng) for _ in range(50)])
    q[::2, 3] *= 1e-3
    q[::3, 5] *= 1e-6
    q = np.concatenate([q, stretching(np.linspace(0.0, 0.2, 21))])
    found = arm.operational_space(q, np.zeros_like(q), 'tool0')
    unit = np.sqrt(reference_inertia(arm.model, ['tool0']))
    heaviest = np.linalg.eigvalsh(found.inertia / (unit[:, None] * unit))[:, -1]
    assert 1.9 / E ** 2 < heaviest.max() < 1.95 / E ** 2
    fastest = [np.linalg.norm(np.linalg.cholesky(M).T @ back / unit, 2)
               for M, back in zip(arm.mass_matrix(q), found.consistent_inverse)]
    assert 1.1 / E < max(fastest) < 1.14 / E
    assert np.isfinite(found.bias).all() and (found.damping > 0.0).any(axis=1).sum() >= 25


def test_damped_torques_stay_bounded_near_a_singularity(two):
    """Pulling a stretched arm along itself asks for no torque; just beside it for some, not all."""
    def torque(q, found):
        return np.abs(two.jacobian(q, 'tip')[:2].T @ found @ [1.0, 0.0]).max()
    for angle in (0.0, 1e-9, 1e-6, 1e-3, 1e-2):
        q = np.array([0.0, angle])
        assert torque(q, position_only(two, q).inertia) < 60.0
    q = np.array([0.0, 1e-6])
    J = two.jacobian(q, 'tip')[:2]
    assert torque(q, np.linalg.inv(J @ two.mass_matrix_inverse(q) @ J.T)) > 1e6
    assert torque(np.zeros(2), position_only(two, np.zeros(2)).inertia) < 1e-9


def test_repeated_rows_change_neither_torques_nor_null_space(arm, states):
    """Two frames of one link, and one frame twice, give the results of one."""
    q, v = states[0][0], states[1][0]
    one = arm.operational_space(q, v, 'tool0')
    wanted = np.array([0.3, -0.2, 0.5, 1.0, 0.4, -0.7])
    torque = one.jacobian.T @ (one.inertia @ wanted + one.bias + one.gravity)
    for stack in (['tool0', 'tool0'], ['link_7', 'tool0']):
        two = arm.operational_space(q, v, stack)
        assert (two.damping[:6] == 0.0).all() and (two.damping[6:] > 0.0).all()
        # the accelerations of both that go with it: those of J a + dJ/dt v for one a
        a = arm.forward_dynamics(q, v, torque + arm.friction_torque(v))
        both = two.jacobian @ a + two.bias_acceleration
        again = two.jacobian.T @ (two.inertia @ both + two.bias + two.gravity)
        assert np.abs(again - torque).max() < 1e-8 * np.abs(torque).max()
        np.testing.assert_allclose(two.null_space, one.null_space, atol=1e-8)


def test_more_rows_than_joints_leave_no_null_space(arm, states):
    """18 rows of an arm of 7 joints: the motion is determined, all numbers are finite."""
    found = arm.operational_space(states[0][0], states[1][0], ['tool0', 'link_4', 'link_2'])
    assert all(np.isfinite(part).all() for part in found)
    assert (found.singular_values[7:] < 1e-5).all()
    assert np.abs(found.null_space).max() < 1.0


def test_a_frame_that_cannot_move_has_a_result(arm):
    """The base link, and a robot without joints."""
    found = arm.operational_space(np.zeros(7), np.zeros(7), 'base_link')
    assert not found.bias.any() and (found.singular_values == 0.0).all()
    np.testing.assert_allclose(found.null_space, np.eye(7), atol=SOLVED)
    still = Robot.from_urdf('<robot name="r"><link name="a"/></robot>')
    found = still.operational_space(np.zeros(0), np.zeros(0), 'a')
    assert found.inertia.shape == (6, 6) and found.null_space.shape == (0, 0)
    assert np.isfinite(found.inertia).all()
