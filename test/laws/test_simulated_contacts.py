"""Test laws of motions on the ground: bounces, impacts, rest, friction, energy."""

import numpy as np
import pytest
from support.rigid_robots import G, body, still, tilted

from dynamics_node import RigidContact, Robot, RobotLink, SoftContact

MASS, K, C = 2.0, 5000.0, 40.0
CORNERS = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
NONE = np.zeros(6)


def slide():
    """Return a mass that moves along z only."""
    return Robot.from_links([RobotLink('base'), RobotLink('body', 'base', 'prismatic', mass=MASS)])


def energy(robot, motion):
    return robot.kinetic_energy(motion.q, motion.v) + robot.potential_energy(motion.q)


# Rigid ---------------------------------------------------------------------------------------

def bounced(t, height, e):
    """Return (height, number of bounces) of a dropped ball at a time, by its parabolas."""
    speed, bounces = np.sqrt(2 * G * height), 0
    since = t - speed / G
    if since < 0.0:
        return height - G * t * t / 2, 0
    while since > 2 * e * speed / G:
        since, speed, bounces = since - 2 * e * speed / G, e * speed, bounces + 1
    return e * speed * since - G * since ** 2 / 2, bounces + 1


def test_a_ball_bounces_as_the_closed_form():
    """Dropped from 0.2 m with e = 0.7; parabolas between the impacts, e^2 of the energy after."""
    time = np.linspace(0.0, 0.8, 21)
    motion = slide().simulate([0.2], [0.0], [0.0], time, step=0.02,
                              contacts=[RigidContact('ball', 'body', restitution=0.7)])
    height, bounces = zip(*(bounced(t, 0.2, 0.7) for t in time))
    assert bounces[-1] == 3
    assert np.abs(motion.q[:, 0] - height).max() < 1e-8   # DEEP, and its effect on the times
    left = energy(slide(), motion)[-1] / (MASS * G * 0.2)
    assert left == pytest.approx(0.7 ** (2 * bounces[-1]), rel=1e-6)


def test_a_falling_rod_loses_the_energy_of_the_closed_form():
    """One end hits rough ground: 1 - 3/4 cos^2 of m u^2 / 2, and it turns about that end."""
    u, length, angle = 1.0, 0.6, 0.4
    rod = body(mass=MASS, inertia=(1e-9, MASS * length ** 2 / 12, MASS * length ** 2 / 12))
    q = still(length / 2 * np.sin(angle) + 1e-5)
    q[3:] = 0.0, np.sin(-angle / 2), 0.0, np.cos(angle / 2)   # the end at -x is the lower one
    v = np.array([-u * np.sin(angle), 0.0, -u * np.cos(angle), 0.0, 0.0, 0.0])   # down
    motion = rod.simulate(q, v, NONE, [0.0, 2e-5], step=1e-5, contacts=[
        RigidContact('end', 'body', point=(-length / 2, 0.0, 0.0))])
    loss = -np.diff(energy(rod, motion))[0]
    assert loss == pytest.approx(MASS * u * u / 2 * (1 - 0.75 * np.cos(angle) ** 2), rel=1e-3)
    assert motion.v[-1, 4] == pytest.approx(3 * u * np.cos(angle) / (2 * length), rel=1e-3)
    assert np.isfinite(motion.touch[-1]).all() and np.isnan(motion.touch[0]).all()


@pytest.mark.parametrize(('friction', 'slid'), [(0.0, 0.05), (np.inf, 0.0)])
def test_a_point_on_the_ground_that_starts_sideways_slides_or_sticks(friction, slid):
    """Rough ground stops it at once; its force is m g from the first state on."""
    ball = body(mass=MASS)
    motion = ball.simulate(still(0.0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], NONE, [0.0, 0.05],
                           contacts=[RigidContact('ball', 'body', friction=friction)])
    assert motion.q[-1, 0] == pytest.approx(slid, abs=1e-9)
    assert motion.contact_force[0, 0] == pytest.approx([0.0, 0.0, MASS * G], abs=1e-6)


@pytest.mark.parametrize('friction', [0.0, np.inf])
def test_a_box_lands_rests_and_is_lifted(friction):
    """Four corners carry m g, dependent rows or not; a lift of 1.5 m g opens all of them."""
    box = body(mass=MASS)
    feet = [RigidContact(f'foot{k}', 'body', point=corner, friction=friction)
            for k, corner in enumerate(CORNERS)]

    def lift(t, q, v):
        return {'body': (0.0, 0.0, 1.5 * MASS * G * (t >= 0.06), 0.0, 0.0, 0.0)}
    motion = box.simulate(still(0.101), NONE, NONE, [0.0, 0.03, 0.06, 0.1], step=0.01,
                          contacts=feet, wrenches=lift)
    assert motion.contact_force[1].sum(axis=0) == pytest.approx([0.0, 0.0, MASS * G],
                                                                 abs=1e-6)  # beta^2 m DEEP
    assert motion.contact_force[1, :, 2] == pytest.approx(MASS * G / 4, rel=1e-6)
    assert motion.q[1, 2] == pytest.approx(0.1, abs=1e-8)
    assert (motion.contact_force[-1] == 0.0).all() and np.isnan(motion.touch[-1]).all()
    assert motion.q[-1, 2] - 0.1 == pytest.approx(0.5 * G * 0.04 ** 2 / 2, rel=1e-6)


def test_a_rocking_block_loses_the_energy_of_housner():
    """It turns about one edge, lands on the other and goes on about that, as the first one lifts.

    The angular momentum about the new edge is kept: w after = w (I + m (h^2 - b^2)) / (I + m (h^2 +
    b^2)), I about the centre, at the height h and b from the edges (Housner 1963).
    """
    inertia, h, b, angle, w = 0.01, 0.1, 0.1, 0.01, 1.0
    block = body(mass=MASS, inertia=(inertia, 0.02, 0.02))
    feet = [RigidContact(f'foot{k}', 'body', point=corner) for k, corner in enumerate(CORNERS)]
    c, s = np.cos(angle), np.sin(angle)
    q = np.array([0.0, b * c - h * s - b, b * s + h * c, np.sin(angle / 2), 0, 0,
                  np.cos(angle / 2)])
    v = w * np.array([0.0, h, -b, -1.0, 0.0, 0.0])
    motion = block.simulate(q, v, NONE, [0.0, 0.004, 0.012], step=0.004, contacts=feet)
    assert [list(np.isfinite(row)) for row in motion.touch[1:, :, 0]] == [
        [True, False, True, False], [False, True, False, True]]
    turning = inertia + MASS * (h * h + b * b)
    met = w * w + 2 * MASS * G * (q[2] - h) / turning
    left = met * ((inertia + MASS * (h * h - b * b)) / turning) ** 2
    assert energy(block, motion)[:2] == pytest.approx(MASS * G * q[2] + turning * w * w / 2)
    assert energy(block, motion)[2] == pytest.approx(MASS * G * h + turning * left / 2, rel=1e-6)


# Soft ----------------------------------------------------------------------------------------

def stored(motion, robot, contacts):
    """Return the energy of the springs of contacts, (T,)."""
    total = np.zeros(len(motion.time))
    for k, contact in enumerate(contacts):
        T = robot.frame_pose(motion.q, contact.frame)
        place = T[:, :3, :3] @ np.array(contact.point) + T[:, :3, 3]
        stretch = np.where(np.isnan(motion.touch[:, k]), 0.0, place - motion.touch[:, k])
        total += 0.5 * contact.stiffness * np.sum(stretch ** 2, axis=-1)
    return total


@pytest.mark.parametrize('damping', [0.0, C])
def test_a_soft_bounce_keeps_the_energy_or_loses_it(damping):
    """The sum of kinetic, potential and spring energy; without damping it is constant."""
    robot, ground = slide(), [SoftContact('ball', 'body', K, damping)]
    motion = robot.simulate([0.01], [0.0], [0.0], np.linspace(0.0, 0.2, 41), contacts=ground)
    total = energy(robot, motion) + stored(motion, robot, ground)
    assert motion.q.min() < -0.005
    if damping:
        assert np.diff(total).max() < 1e-9
        assert total[-1] < 0.5 * total[0]
    else:
        assert np.abs(total - total[0]).max() < 1e-4 * total[0]   # steps across the surface


def test_a_box_thrown_on_soft_ground_gains_no_energy(compiler_on):
    """It tumbles, slides and sticks: friction and damping take, springs give back."""
    box = body(mass=MASS, inertia=(0.02, 0.03, 0.03))
    ground = [SoftContact(f'foot{k}', 'body', K, C, 0.4, corner)
              for k, corner in enumerate(CORNERS)]
    q = still(0.15)
    q[3:] = np.sin(0.2), 0.0, 0.0, np.cos(0.2)
    motion = box.simulate(q, [1.0, 0.5, -0.5, 1.0, 0.0, 0.5], NONE, np.linspace(0.0, 0.4, 21),
                          step=0.002, contacts=ground)
    total = energy(box, motion) + stored(motion, box, ground)
    assert np.diff(total).max() < 1e-4 * total[0]
    assert total[-1] < 0.9 * total[0]
    force = motion.contact_force
    assert force[..., 2].min() >= 0.0 and force[..., 2].max() > 10.0
    assert (np.hypot(force[..., 0], force[..., 1]) <= 0.4 * force[..., 2] * (1 + 1e-9)).all()


@pytest.mark.parametrize(('slope', 'sticks'), [(0.2, True), (0.5, False)])
def test_a_block_on_a_slope_sticks_or_slides(compiler_on, slope, sticks):
    """With mu = 0.4: at rest below atan(mu); above it, a = g (sin - mu cos)."""
    mu, time = 0.4, [0.0, 0.2, 0.3]
    block = body(mass=MASS, gravity=tilted(slope))
    ground = [SoftContact(f'foot{k}', 'body', 4 * K, 2 * C, mu, corner)
              for k, corner in enumerate(CORNERS)]
    deep = MASS * G * np.cos(slope) / (16 * K)
    motion = block.simulate(still(0.1 - deep), NONE, NONE, time, step=0.002, contacts=ground)
    force = motion.contact_force[-1].sum(axis=0)
    assert force[2] == pytest.approx(MASS * G * np.cos(slope), rel=1e-3)
    if sticks:
        assert np.abs(motion.v[-1]).max() < 1e-3
        assert force[0] == pytest.approx(-MASS * G * np.sin(slope), rel=1e-2)
    else:
        a = G * (np.sin(slope) - mu * np.cos(slope))
        assert (motion.v[2, 0] - motion.v[1, 0]) / 0.1 == pytest.approx(a, rel=1e-2)
