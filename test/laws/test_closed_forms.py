"""Test arms whose equations of motion are written out in textbooks."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot

G = 9.81


def planar_arm(lengths, masses, centers, inertias):
    """Return the URDF of an arm in the xy plane: links along x, joints about z."""
    parts = ['<robot name="planar"><link name="l0"/>']
    for k, (m, c, i) in enumerate(zip(masses, centers, inertias), start=1):
        x = 0.0 if k == 1 else lengths[k - 2]
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{c} 0 0"/><mass value="{m}"/>'
            f'<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial></link>'
            f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>')
    return ''.join([*parts, '</robot>'])


@pytest.fixture(params=range(5))
def state2(request):
    return np.random.default_rng(request.param).normal(size=(3, 2))


def test_the_two_link_arm_agrees_with_modern_robotics(state2):
    """Modern Robotics, chapter 8: point masses at the ends of both links."""
    L1, L2, m1, m2 = 0.7, 0.5, 2.0, 1.5
    robot = Robot.from_urdf(planar_arm([L1, L2], [m1, m2], [L1, L2], [0.0, 0.0]),
                            gravity=(0, -G, 0))
    (q1, q2), (v1, v2), (a1, a2) = state2
    c2, s2 = np.cos(q2), np.sin(q2)
    tau1 = ((m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2)) * a1
            + m2 * (L1 * L2 * c2 + L2**2) * a2
            - m2 * L1 * L2 * s2 * (2 * v1 * v2 + v2**2)
            + (m1 + m2) * L1 * G * np.cos(q1) + m2 * G * L2 * np.cos(q1 + q2))
    tau2 = (m2 * (L1 * L2 * c2 + L2**2) * a1 + m2 * L2**2 * a2
            + m2 * L1 * L2 * v1**2 * s2 + m2 * G * L2 * np.cos(q1 + q2))
    assert relative(robot.inverse_dynamics(*state2), [tau1, tau2]) < EXACT_MATHS


def test_two_link_coriolis_matrix_is_that_of_the_christoffel_symbols(state2):
    """C_ij = sum_k Gamma_ijk v_k with Gamma from the M of Modern Robotics."""
    L1, L2, m1, m2 = 0.7, 0.5, 2.0, 1.5
    robot = Robot.from_urdf(planar_arm([L1, L2], [m1, m2], [L1, L2], [0.0, 0.0]))
    (q1, q2), (v1, v2), _ = state2
    h = m2 * L1 * L2 * np.sin(q2)
    expected = [[-h * v2, -h * (v1 + v2)], [h * v1, 0.0]]
    assert relative(robot.coriolis_matrix([q1, q2], [v1, v2]), expected) < EXACT_MATHS
    assert relative(robot.denoc([q1, q2], [v1, v2])[1], expected) < EXACT_MATHS


@pytest.mark.parametrize('seed', range(5))
def test_the_three_link_planar_arm_agrees_with_lagrange(seed):
    """Saha 1999, first example, by Lagrange in absolute angles t = cumsum(q).

    sum_j a_ij (cos(t_i - t_j) t_j'' + sin(t_i - t_j) t_j'^2) + I_i t_i'' + g b_i cos t_i = Q_i.
    """
    rng = np.random.default_rng(seed)
    lengths, masses, inertias = rng.uniform(0.2, 1.0, (3, 3))
    centers = lengths * rng.uniform(0.2, 0.8, 3)
    robot = Robot.from_urdf(planar_arm(lengths, masses, centers, inertias), gravity=(0, -G, 0))
    q, v, a = rng.normal(size=(3, 3))

    lever = np.tril(np.tile(lengths, (3, 1)), -1) + np.diag(centers)  # of mass k on angle i
    A = lever.T @ np.diag(masses) @ lever
    t, dt, ddt = np.cumsum(q), np.cumsum(v), np.cumsum(a)
    angle = t[:, None] - t
    Q = ((A * np.cos(angle)) @ ddt + (A * np.sin(angle)) @ dt**2 + inertias * ddt
         + G * masses @ lever * np.cos(t))
    tau = np.cumsum(Q[::-1])[::-1]  # a relative joint turns all angles after it
    assert relative(robot.inverse_dynamics(q, v, a), tau) < EXACT_MATHS
    assert relative(robot.forward_dynamics(q, v, tau), a) < EXACT_MATHS

    sums = np.tril(np.ones((3, 3)))
    M = sums.T @ (A * np.cos(angle) + np.diag(inertias)) @ sums
    inertia, coriolis, force = robot.denoc(q, v)
    assert relative(robot.mass_matrix(q), M) < EXACT_MATHS
    assert relative(inertia, M) < EXACT_MATHS
    assert relative(inertia @ a + coriolis @ v - force, tau) < EXACT_MATHS


D2, D6 = 0.154, 0.263  # Paul's Stanford arm [m]
HALF = np.pi / 2


def stanford_arm(wrist_mass):
    """Return the URDF of the Stanford arm: two turns, a slide, a spherical wrist.

    Denavit-Hartenberg links (Paul 1981): alpha = -90, 90, 0, -90, 90, 0 degrees. A URDF joint
    frame is the previous DH frame, so a DH row (d, a, alpha) stands in the next joint's origin.
    """
    rows = [  # type, origin of the joint in the previous link
        ('continuous', (0, 0, 0), 0.0), ('continuous', (0, 0, 0), -HALF),
        ('prismatic', (0, 0, D2), HALF), ('continuous', (0, 0, 0), 0.0),
        ('continuous', (0, 0, 0), -HALF), ('continuous', (0, 0, 0), HALF)]
    parts = ['<robot name="stanford"><link name="s0"/>']
    for k, (kind, xyz, roll) in enumerate(rows, start=1):
        mass = wrist_mass if k == 3 else 0.0
        parts.append(
            f'<link name="s{k}"><inertial><mass value="{mass}"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><parent link="s{k - 1}"/><child link="s{k}"/>'
            '<origin xyz="{} {} {}" rpy="{} 0 0"/>'.format(*xyz, roll)
            + '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>')
    tool = (f'<link name="hand"/><joint name="hand_joint" type="fixed"><parent link="s6"/>'
            f'<child link="hand"/><origin xyz="0 0 {D6}"/></joint>')
    return ''.join([*parts, tool, '</robot>'])


@pytest.mark.parametrize('seed', range(5))
def test_the_pose_of_the_stanford_arm_is_that_of_paul(seed):
    """The hand's position and approach vector in closed form (Paul 1981, chapter 2)."""
    q = np.random.default_rng(seed).normal(size=6)
    c1, c2, _, c4, c5, _ = np.cos(q)
    s1, s2, _, s4, s5, _ = np.sin(q)
    d3 = q[2]
    approach = np.array([c1 * (c2 * c4 * s5 + s2 * c5) - s1 * s4 * s5,
                         s1 * (c2 * c4 * s5 + s2 * c5) + c1 * s4 * s5,
                         -s2 * c4 * s5 + c2 * c5])
    wrist = np.array([c1 * s2 * d3 - s1 * D2, s1 * s2 * d3 + c1 * D2, c2 * d3])
    T = Robot.from_urdf(stanford_arm(1.0)).frame_pose(q, 'hand')
    assert relative(T[:3, 2], approach) < EXACT_MATHS
    assert relative(T[:3, 3], wrist + D6 * approach) < EXACT_MATHS


@pytest.mark.parametrize('seed', range(5))
def test_the_stanford_arm_with_a_wrist_mass_agrees_with_lagrange(seed):
    """Kinetic energy of a point at (c1 s2 d - s1 D2, s1 s2 d + c1 D2, c2 d), written out."""
    rng = np.random.default_rng(seed)
    m = 2.3
    robot = Robot.from_urdf(stanford_arm(m))
    q, v, a = rng.normal(size=(3, 6))
    q2, d = q[1:3]
    c, s = np.cos(q2), np.sin(q2)
    v1, v2, vd = v[:3]
    M = m * np.array([[D2**2 + s**2 * d**2, -D2 * c * d, -D2 * s],
                      [-D2 * c * d, d**2, 0.0],
                      [-D2 * s, 0.0, 1.0]])
    h = m * np.array([2 * v1 * (s * c * d**2 * v2 + s**2 * d * vd) - D2 * (2 * c * v2 * vd
                                                                         - s * d * v2**2),
                      2 * d * vd * v2 - s * c * d**2 * v1**2,
                      -d * v2**2 - s**2 * d * v1**2])
    g = m * G * np.array([0.0, -s * d, c])
    tau = np.concatenate([M @ a[:3] + h + g, np.zeros(3)])
    assert relative(robot.inverse_dynamics(q, v, a), tau) < EXACT_MATHS
    assert relative(robot.mass_matrix(q)[:3, :3], M) < EXACT_MATHS
    inertia, coriolis, force = robot.denoc(q, v)
    assert relative(inertia @ a + coriolis @ v - force, tau) < EXACT_MATHS


def test_single_pendulum_swings_with_its_textbook_period():
    """Small oscillation of a physical pendulum: omega^2 = m g c / (I + m c^2)."""
    m, c, i = 1.2, 0.4, 0.05
    robot = Robot.from_urdf(planar_arm([1.0], [m], [c], [i]), gravity=(G, 0, 0))
    small = 1e-6
    stiffness = -robot.forward_dynamics([small], [0.0], [0.0])[0] / small
    assert stiffness == pytest.approx(m * G * c / (i + m * c**2), rel=1e-9)
