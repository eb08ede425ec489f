"""Test operational space along selected axes, and of robots that cannot move along all six."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.operational_space import DAMPED_BELOW
from dynamics_node.errors import DynamicsError
from dynamics_node.example_robots import ARM7

POSE = {'joint_1': 0.3, 'joint_2': 0.6, 'joint_3': -0.2, 'joint_4': -1.2, 'joint_5': 0.4,
        'joint_6': 0.9, 'joint_7': 0.1}
# s^2 / (h e^4) of a lost direction, whose s^2 is what rounding leaves of the largest, here 5e4
LOST_INERTIA = 1e-5
# axes of the arm that is left -> the joints that are locked
LOCKED = {6: ['joint_3'], 5: ['joint_3', 'joint_5'], 4: ['joint_3', 'joint_5', 'joint_7'],
          3: ['joint_3', 'joint_5', 'joint_6', 'joint_7'],
          2: ['joint_1', 'joint_3', 'joint_5', 'joint_6', 'joint_7'],
          1: ['joint_1', 'joint_3', 'joint_4', 'joint_5', 'joint_6', 'joint_7']}


def planar_arm(lengths, masses):
    """Return an arm in the xy plane, a point mass at the end of each link, and a link 'tip'."""
    links, joints = ['<link name="l0"/>'], []
    for k, (length, mass) in enumerate(zip(lengths, masses), 1):
        links.append(f'<link name="l{k}"><inertial><origin xyz="{length} 0 0"/><mass '
                     f'value="{mass}"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
                     '</inertial></link>')
        joints.append(f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child '
                      f'link="l{k}"/><origin xyz="{lengths[k - 2] if k > 1 else 0} 0 0"/><axis '
                      'xyz="0 0 1"/></joint>')
    links.append('<link name="tip"/>')
    joints.append(f'<joint name="end" type="fixed"><parent link="l{len(lengths)}"/><child '
                  f'link="tip"/><origin xyz="{lengths[-1]} 0 0"/></joint>')
    return Robot.from_urdf(f'<robot name="planar">{"".join(links + joints)}</robot>',
                           gravity=(0.0, -9.81, 0.0), compile=False)


@pytest.fixture(params=LOCKED, ids=lambda n: f'{n} axes')
def short_arm(request):
    """The bundled arm with some joints locked, and a bent configuration of it."""
    locked = LOCKED[request.param]
    robot = Robot.from_urdf(ARM7, locked={name: POSE[name] for name in locked}, compile=False)
    assert robot.nv == request.param
    return robot, np.array([POSE[name] for name in robot.joint_names])


def test_the_two_link_arm_of_modern_robotics():
    """J^-T M J^-1 of section 8.6, links of 1 m with 1 kg at their tips, q = (0.3, 0.9)."""
    two, q = planar_arm([1.0, 1.0], [1.0, 1.0]), np.array([0.3, 0.9])
    found = two.operational_space(q, np.zeros(2), 'tip', axes=('x', 'y'))
    np.testing.assert_allclose(found.inertia, [[1.2140, 0.5504], [0.5504, 2.4157]], atol=5e-5)
    J = two.jacobian(q, 'tip')[:2]
    paper = np.linalg.inv(J).T @ two.mass_matrix(q) @ np.linalg.inv(J)
    assert relative(found.inertia, paper) < SOLVED
    assert not found.lost.any() and not found.damping.any()


def test_chosen_axes_are_the_rows_of_the_whole(tree):
    """Of one frame, of several with the same axes, and of several with axes of their own."""
    robot, q, v = tree.robot, tree.q, tree.v
    whole = robot.operational_space(q, v, ['l2', 'l7'])
    for axes, rows in ((('x', 'z', 'ry'), [0, 2, 4, 6, 8, 10]), ([('z',), ['rx', 'y']], [2, 9, 7]),
                       (('rz', 'ry', 'rx', 'z', 'y', 'x'), [5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6])):
        some = robot.operational_space(q, v, ['l2', 'l7'], axes)
        np.testing.assert_array_equal(some.jacobian, whole.jacobian[rows])
        np.testing.assert_allclose(some.bias_acceleration, whole.bias_acceleration[rows])
        J = some.jacobian
        if not some.damping.any():
            inverse = robot.mass_matrix_inverse(q)
            assert relative(some.inertia @ J @ inverse @ J.T, np.eye(len(rows))) < 1e-8


def test_selected_axes_get_the_wanted_acceleration(short_arm):
    """As many rows as the arm has joints: each is accelerated exactly, by forward dynamics."""
    robot, q = short_arm
    rng = np.random.default_rng(2)
    checked = 0
    for _ in range(20):
        axes = list(rng.permutation(['x', 'y', 'z', 'rx', 'ry', 'rz'])[:robot.nv])
        v = rng.normal(size=robot.nv)
        found = robot.operational_space(q, v, 'tool0', axes)
        if found.damping.any():
            continue
        wanted = rng.normal(size=robot.nv)
        F = found.inertia @ wanted + found.bias + found.gravity
        a = robot.forward_dynamics(q, v, found.jacobian.T @ F + robot.friction_torque(v))
        assert relative(found.jacobian @ a + found.bias_acceleration, wanted) < 1e-8
        checked += 1
    assert checked >= 3


def test_six_rows_are_exact_in_feasible_directions(short_arm):
    """Every feasible acceleration is reached; lost directions cause no damping."""
    robot, q = short_arm
    rng = np.random.default_rng(3)
    v = rng.normal(size=robot.nv)
    found = robot.operational_space(q, v, 'tool0')
    assert (found.singular_values[:robot.nv] > DAMPED_BELOW).all()
    wanted = found.jacobian @ rng.normal(size=robot.nv) + found.bias_acceleration
    F = found.inertia @ wanted + found.bias + found.gravity
    tau = found.jacobian.T @ F + found.null_space.T @ rng.normal(size=robot.nv)
    a = robot.forward_dynamics(q, v, tau + robot.friction_torque(v))
    assert relative(found.jacobian @ a + found.bias_acceleration, wanted) < 1e-8
    A = found.jacobian @ robot.mass_matrix_inverse(q) @ found.jacobian.T
    inertia = found.inertia     # and A are generalised inverses of each other: no more, no less
    assert relative(A @ inertia @ A, A) < 1e-8
    assert relative(inertia @ A @ inertia, inertia) < LOST_INERTIA


def test_lost_directions_are_reported(short_arm):
    """As many as rows exceed the joints; a wrench along one needs no joint torque."""
    robot, q = short_arm
    found = robot.operational_space(q, np.zeros(robot.nv), 'tool0')
    assert found.lost.tolist() == [False] * robot.nv + [True] * (6 - robot.nv)
    lost = found.directions[:, found.lost]
    np.testing.assert_allclose(np.linalg.norm(found.directions, axis=0), 1.0)
    assert np.abs(lost.T @ found.jacobian).max(initial=0.0) < 1e-6
    assert robot.nv == 6 or np.linalg.matrix_rank(lost) == 6 - robot.nv


def test_a_batch_reports_the_lost_directions_of_every_state():
    """Bent, all directions of x and y exist; stretched along x, the one along x is lost."""
    two = planar_arm([1.0, 1.0], [3.0, 2.0])
    q = np.array([[0.0, 1.0], [0.0, 0.0]])
    found = two.operational_space(q, np.zeros((2, 2)), 'tip', ('x', 'y'))
    assert found.lost.tolist() == [[False, False], [False, True]]
    np.testing.assert_allclose(np.abs(found.directions[1, :, 1]), [1.0, 0.0], atol=1e-8)


@pytest.mark.parametrize('axes', [None, ('x', 'y', 'z'), ('x', 'y', 'rz')], ids=str)
@pytest.mark.parametrize('n', [3, 4, 5])
def test_a_short_arm_passes_its_singularities_without_a_step(n, axes):
    """Twice as fine a grid halves the steps, for directions lost everywhere or only here."""
    robot = Robot.from_urdf(ARM7, locked={name: POSE[name] for name in LOCKED[n]}, compile=False)
    start = np.array([POSE[name] for name in robot.joint_names])
    elbow, v = robot.joint_names.index('joint_4'), np.linspace(-1.0, 1.0, n)
    q = np.tile(start, (401, 1))
    q[:, elbow] = np.linspace(-0.3, 0.3, len(q))
    found = robot.operational_space(q, np.tile(v, (len(q), 1)), 'tool0', axes)
    if (n, axes) in ((3, ('x', 'y', 'z')), (5, None)):   # stretched, a direction is nearly lost
        least = found.singular_values[:, 2 if n == 3 else 4]
        assert least.min() < 0.5 * DAMPED_BELOW < DAMPED_BELOW < least.max()
    for part in ('inertia', 'bias', 'gravity', 'consistent_inverse', 'null_space'):
        fine = getattr(found, part)
        steps = [np.abs(np.diff(each, axis=0)).max() for each in (fine[::2], fine)]
        assert steps[1] < 0.55 * steps[0] + SOLVED, part


@pytest.mark.parametrize('tree', random_trees.TREES[:3], ids=str)
def test_every_frame_of_a_tree_is_exact_in_feasible_directions(tree):
    """Frames near the root have few joints: all directions that are not damped are exact."""
    specimen = random_trees.make(tree)
    robot, q, v = specimen.robot, specimen.q, specimen.v
    inverse = robot.mass_matrix_inverse(q)
    lost = 0
    for frame in robot.frame_names:
        found = robot.operational_space(q, v, frame)
        J = found.jacobian
        assert (~found.lost).sum() == np.linalg.matrix_rank(J @ inverse @ J.T, tol=1e-9)
        regular = found.damping == 0.0
        kept = found.directions[:, regular]
        # d' A Lambda = d' along regular directions d
        assert relative(kept.T @ J @ inverse @ J.T @ found.inertia, kept.T) < 1e-7
        lost += found.lost.any()
    assert lost >= 2 or tree.base == 'floating'


@pytest.mark.parametrize('axes, words', [
    ('xy', "axes is 'xy'; expected a list of some of: x, y, z, rx, ry, rz"),
    ((), r'axes is \(\); expected a list'), (3, 'axes is 3; expected a list'),
    (['x', 'w'], "axes has 'w'; expected some of: x, y, z, rx, ry, rz"),
    (['x', 3], 'axes has 3; expected some of'), (['x', 'x'], 'at least one axis, each once'),
    ([['x'], ['y']], 'axes has 2 lists; expected one per frame, 1'),
    ([[]], 'at least one axis, each once'), ([['x', ['y']]], r"axes has \['y'\]; expected some of"),
])
def test_wrong_axes_are_refused(arm, axes, words):
    with pytest.raises(DynamicsError, match=words):
        arm.operational_space(np.zeros(7), np.zeros(7), 'tool0', axes)
