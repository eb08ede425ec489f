"""Test lumping: fixed and locked links become part of their parent, exactly, and stay frames."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS, SOLVED
from support.urdf_pieces import EVERYTHING, joint, link, robot

from dynamics_node import Robot

TENSOR = np.array([[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])  # of every link()
COM = (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)      # xyz, rpy of every link()'s inertia
JOINT = (0.0, 0.1, 0.5), (0.3, -0.2, 0.1)   # xyz, rpy of every joint()


def pose(xyz, rpy):
    """Return the homogeneous matrix of a URDF origin: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (a, b, c), (d, e, f) = np.cos(rpy), np.sin(rpy)
    X = np.eye(4)
    X[:3, :3] = (np.array([[c, -f, 0], [f, c, 0], [0, 0, 1]])
                 @ np.array([[b, 0, e], [0, 1, 0], [-e, 0, b]])
                 @ np.array([[1, 0, 0], [0, a, -d], [0, d, a]]))
    X[:3, 3] = xyz
    return X


def skew(p):
    return np.cross(np.eye(3), p)


def spatial_inertia(mass, X):
    """Return the 6 x 6 inertia, angular first, of mass and TENSOR whose centre is at the pose X.

    A' diag(TENSOR, mass 1) A, where A takes a twist at the origin to the centre of mass.
    """
    R, p = X[:3, :3], X[:3, 3]
    A = np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew(p), R.T]])
    centre = np.block([[TENSOR, np.zeros((3, 3))], [np.zeros((3, 3)), mass * np.eye(3)]])
    return A.T @ centre @ A


def merged(name, M):
    """Return the URDF link that has the 6 x 6 inertia M."""
    mass = M[5, 5]
    com = np.array([M[2, 4], M[0, 5], M[1, 3]]) / mass
    tensor = M[:3, :3] + mass * skew(com) @ skew(com)
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    inertia = ' '.join(f'{key}="{value!r}"' for key, value in zip(
        keys, map(float, tensor[np.triu_indices(3)])))
    x, y, z = map(float, com)
    return link(name, float(mass), inertia, f'<origin xyz="{x!r} {y!r} {z!r}"/>')


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_fixed_links_are_merged_exactly(base):
    """Two links in a row fixed to a moving one, against the sum of their 6 x 6 inertias."""
    made = Robot.from_urdf(robot(
        link('base'), link('arm', 1.0), link('hand', 2.0), link('finger', 3.0),
        joint('shoulder', 'base', 'arm'), joint('wrist', 'arm', 'hand', 'fixed'),
        joint('knuckle', 'hand', 'finger', 'fixed')), base)
    M = sum(spatial_inertia(mass, X @ pose(*COM)) for mass, X in (
        (1.0, np.eye(4)), (2.0, pose(*JOINT)), (3.0, pose(*JOINT) @ pose(*JOINT))))
    np.testing.assert_allclose(made.model.bodies[-1].inertia.matrix(), M, rtol=EXACT_MATHS,
                               atol=EXACT_MATHS)
    same = Robot.from_urdf(robot(link('base'), merged('arm', M), joint('shoulder', 'base', 'arm')),
                           base)
    assert made.joint_names == same.joint_names
    rng = np.random.default_rng(1)
    q, (v, a) = made.random_configuration(rng), rng.normal(size=(2, made.nv))
    np.testing.assert_allclose(made.inverse_dynamics(q, v, a), same.inverse_dynamics(q, v, a),
                               rtol=EXACT_MATHS, atol=EXACT_MATHS)


def test_lumped_links_stay_frames():
    """Their poses are those of the chain, and wrenches act on them."""
    made = Robot.from_urdf(EVERYTHING)
    q = made.random_configuration(2)
    for parent, child in (('c', 'd'), ('h', 'tool')):
        np.testing.assert_allclose(made.frame_pose(q, child),
                                   made.frame_pose(q, parent) @ pose(*JOINT), atol=EXACT_MATHS)
    rest = np.zeros(made.nv)
    wrench = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    loaded = made.inverse_dynamics(q, rest, rest, {'tool': wrench})
    np.testing.assert_allclose(made.gravity_torque(q) - loaded,
                               made.jacobian(q, 'tool', local=True).T @ wrench, rtol=EXACT_MATHS,
                               atol=EXACT_MATHS)


def test_the_mass_of_the_root_link_is_included():
    """KDL drops it with a warning; here it is part of the robot, on either base."""
    text = robot(link('base', 7.0), link('foot', 5.0), link('arm', 2.0),
                 joint('weld', 'base', 'foot', 'fixed'), joint('shoulder', 'base', 'arm'))
    for base in ('fixed', 'floating'):
        assert Robot.from_urdf(text, base).total_mass == 14.0
    fixed, free = (Robot.from_urdf(text, base) for base in ('fixed', 'floating'))
    np.testing.assert_allclose(fixed.center_of_mass([0.3]),
                               free.center_of_mass([0, 0, 0, 0, 0, 0, 1, 0.3]), rtol=EXACT_MATHS)
    M = free.mass_matrix(free.neutral())
    np.testing.assert_allclose(M[:3, :3], 14.0 * np.eye(3), atol=EXACT_MATHS)


@pytest.mark.parametrize(('kind', 'axis', 'position', 'origin'), [
    ('revolute', '0 0 1', 0.7, '<origin rpy="0 0 0.7"/>'),
    ('continuous', '0 1 0', -4.0, '<origin rpy="0 -4 0"/>'),
    ('prismatic', '0 3 4', 0.5, '<origin xyz="0 0.3 0.4"/>'),
    ('planar', '0 0 1', (1.0, 2.0, 0.3), '<origin xyz="1 2 0" rpy="0 0 0.3"/>'),
    ('floating', '1 0 0', (1.0, 2.0, 3.0, np.sin(0.2), 0.0, 0.0, np.cos(0.2)),
     '<origin xyz="1 2 3" rpy="0.4 0 0"/>'),
])
def test_locked_joint_is_a_fixed_joint_at_that_pose(kind, axis, position, origin):
    """The same robot with the joint's own motion written as a second fixed joint."""
    ends = [link('base'), link('arm'), link('hand'), joint('wrist', 'arm', 'hand')]
    losses = '<limit lower="-9" upper="9"/><dynamics damping="3" friction="2"/>'
    locked = Robot.from_urdf(robot(*ends, joint(
        'elbow', 'base', 'arm', kind, f'<axis xyz="{axis}"/>{losses}')),
        locked={'elbow': position})
    fixed = Robot.from_urdf(robot(
        *ends, link('between', mass=None), joint('elbow', 'base', 'between', 'fixed', ''),
        joint('moved', 'between', 'arm', 'fixed', '', origin)))
    assert locked.joint_names == fixed.joint_names == ('wrist',)
    q, v, a, tau = np.random.default_rng(3).normal(size=(4, 1))
    for frame in ('arm', 'hand'):
        np.testing.assert_allclose(locked.frame_pose(q, frame), fixed.frame_pose(q, frame),
                                   atol=EXACT_MATHS)
    np.testing.assert_allclose(locked.inverse_dynamics(q, v, a), fixed.inverse_dynamics(q, v, a),
                               rtol=EXACT_MATHS)
    np.testing.assert_allclose(locked.forward_dynamics(q, v, tau),
                               fixed.forward_dynamics(q, v, tau), rtol=SOLVED)
    assert locked.total_mass == fixed.total_mass


def test_everything_can_be_locked():
    """A robot without degrees of freedom still has poses, mass and empty torques."""
    free = Robot.from_urdf(EVERYTHING)
    q = free.random_configuration(7)
    locked = Robot.from_urdf(EVERYTHING, locked={
        part.name: q[part.q] for part in free.model.joints})
    assert (locked.nq, locked.nv) == (0, 0)
    assert locked.total_mass == pytest.approx(free.total_mass, rel=EXACT_MATHS)
    for frame in free.frame_names:
        np.testing.assert_allclose(locked.frame_pose([], frame), free.frame_pose(q, frame),
                                   atol=EXACT_MATHS)
    np.testing.assert_allclose(locked.center_of_mass([]), free.center_of_mass(q),
                               atol=EXACT_MATHS)
    assert locked.inverse_dynamics([], [], []).shape == (0,)
    assert locked.mass_matrix([]).shape == (0, 0)


def test_floating_base_can_be_locked():
    """At the identity it is the robot on a fixed base."""
    fixed = Robot.from_urdf(EVERYTHING)
    locked = Robot.from_urdf(EVERYTHING, 'floating',
                             locked={'floating_base': [0, 0, 0, 0, 0, 0, 1]})
    q = fixed.random_configuration(8)
    assert locked.joint_names == fixed.joint_names
    np.testing.assert_allclose(locked.gravity_torque(q), fixed.gravity_torque(q),
                               rtol=EXACT_MATHS, atol=EXACT_MATHS)
