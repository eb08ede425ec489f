"""Test rolling and screws against closed forms of textbooks and against energy."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Constraint, Robot, RobotLink

MASS, RADIUS, SLOPE, G = 2.0, 0.3, 0.4, 9.81
UPHILL = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])  # normal of a plane that falls along x
DOWNHILL = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])


def body(inertia):
    """Return a robot of one floating link."""
    return Robot.from_links([RobotLink('body', mass=MASS, inertia=np.diag(inertia))],
                            base='floating', compile=False)


def disc():
    """Return a thin disc with the axle along y."""
    across, along = MASS * RADIUS ** 2 / 4, MASS * RADIUS ** 2 / 2
    return body((across, along, across))


def ball():
    return body(np.full(3, 0.4 * MASS * RADIUS ** 2))


def at(position, turn=(0.0, 0.0, 0.0, 1.0)):
    return np.array([*position, *turn])


@pytest.mark.parametrize(('robot', 'kind', 'share'), [
    (ball(), 'rolling_ball', 5 / 7), (disc(), 'rolling_wheel', 2 / 3)], ids=['ball', 'disc'])
def test_rolling_down_a_slope_has_the_acceleration_of_textbooks(robot, kind, share):
    """5/7 g sin for a ball, 2/3 g sin for a disc; the friction is the rest of the weight."""
    rolling = [Constraint('roll', kind, 'body', axis=UPHILL, radius=RADIUS)]
    q, still = at(RADIUS * UPHILL), np.zeros(6)
    found = robot.constrained_forward_dynamics(q, still, still, rolling)
    expected = share * G * np.sin(SLOPE)
    assert relative(found.a[:3], expected * DOWNHILL) < SOLVED
    assert found.a[4] == pytest.approx(expected / RADIUS, rel=SOLVED)
    row = robot.constraint_rows(q, still, rolling)
    assert np.abs(row.residual).max() < EXACT_MATHS
    push = (row.A.T @ found.multipliers)[:3]  # on the body, in world axes: it is not turned
    assert push @ UPHILL == pytest.approx(MASS * G * np.cos(SLOPE), rel=SOLVED)
    assert push @ DOWNHILL == pytest.approx(-(1 - share) * MASS * G * np.sin(SLOPE), rel=SOLVED)


def test_a_tilted_disc_rolls_on_a_circle():
    """A coin in steady motion: from the balance of moments about its centre.

    Axes that precess with the disc but do not spin: y along the axle, z from the contact to the
    centre, tilted by t from the vertical. At the precession rate p the angular velocity is
    (0, W, p cos t); the contact force m (acceleration + g) has the moment d/dt (I w) if
    I_d p^2 sin t cos t - I_a W p cos t = m r^2 W p cos t + m g r sin t.
    """
    robot, tilt, precession = disc(), 0.3, 1.7
    across, along = MASS * RADIUS ** 2 / 4, MASS * RADIUS ** 2 / 2
    W = ((across * precession ** 2 * np.cos(tilt) - MASS * G * RADIUS) * np.sin(tilt)
         / ((along + MASS * RADIUS ** 2) * precession * np.cos(tilt)))
    half = 0.5 * tilt
    q = at((0.0, 0.0, RADIUS * np.cos(tilt)), (np.sin(half), 0.0, 0.0, np.cos(half)))
    w = np.array([0.0, W, precession * np.cos(tilt)])
    v = np.array([*np.cross(w, [0.0, 0.0, RADIUS]), *w])  # the contact point is at rest
    rolling = [Constraint('roll', 'rolling_wheel', 'body', radius=RADIUS)]
    row = robot.constraint_rows(q, v, rolling)
    assert np.abs(row.residual).max() < EXACT_MATHS
    assert np.abs(row.A @ v).max() < EXACT_MATHS
    a = robot.constrained_forward_dynamics(q, v, np.zeros(6), rolling).a
    axes = np.array([0.0, precession * np.sin(tilt), precession * np.cos(tilt)])
    assert relative(a[3:], np.cross(axes, w)) < SOLVED  # w is constant in the axes that precess


def test_a_rolling_disc_keeps_its_energy():
    """Constraint forces do no work, also of rows that are no rate of a residual."""
    robot = disc()
    rolling = [Constraint('roll', 'rolling_wheel', 'body', radius=RADIUS)]
    q = robot.project_configuration(at((0, 0, RADIUS), (0.15, 0, 0, 0.988686)), rolling)
    v = robot.project_velocity(q, [0.4, 0, 0, 0.2, 3.0, 0.5], rolling)
    motion = robot.simulate(q, v, np.zeros(6), [0.0, 0.1], constraints=rolling, step=0.002)
    energy = robot.kinetic_energy(motion.q, motion.v) + robot.potential_energy(motion.q)
    assert np.ptp(energy) < 1e-8 * energy[0]  # 50 steps of fourth order
    assert np.abs(motion.v[-1] - motion.v[0]).max() > 0.1
    rows = robot.constraint_rows(motion.q, motion.v, rolling)
    assert np.abs((rows.A @ motion.v[..., None])[-1]).max() < 1e-8


def test_a_nut_on_a_vertical_screw_falls_as_its_inertia_permits():
    """The acceleration is -g m / (m + I / lead^2), with the turn that the thread demands."""
    inertia, pitch = 0.004, -0.05
    robot = body((0.01, 0.01, inertia))
    thread = [Constraint('thread', 'screw', 'body', pitch=pitch)]
    lead = pitch / (2 * np.pi)
    fallen = 3.3 * pitch  # three turns and a third
    half = np.pi * 3.3
    q, still = at((0, 0, fallen), (0, 0, np.sin(half), np.cos(half))), np.zeros(6)
    assert np.abs(robot.constraint_rows(q, still, thread).residual).max() < EXACT_MATHS
    found = robot.constrained_forward_dynamics(q, still, still, thread)
    expected = -G * MASS / (MASS + inertia / lead ** 2)
    assert relative(found.a, [0, 0, expected, 0, 0, expected / lead]) < SOLVED


def test_a_screw_between_links_equals_a_coupling_of_two_joints():
    """A slide and a turn about one axis, coupled by the lead."""
    links = [RobotLink('base'), RobotLink('slide', 'base', 'prismatic', mass=0.7),
             RobotLink('nut', 'slide', 'continuous', mass=MASS, inertia=0.01 * np.eye(3))]
    robot = Robot.from_links(links, compile=False)
    q, v, tau = np.array([0.02, 0.02 / 0.003]), np.array([0.003, 1.0]), np.array([0.4, -0.3])
    coupling = Constraint('c', 'coupling', joints=('slide_joint', 'nut_joint'), ratio=0.003)
    screw = Constraint('s', 'screw', 'nut', pitch=0.003 * 2 * np.pi)
    one, other = (robot.constrained_forward_dynamics(q, v, tau, [each]).a
                  for each in (coupling, screw))
    assert relative(one, other) < SOLVED
