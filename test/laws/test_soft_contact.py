"""Test soft ground: a mass that rests, oscillates and bounces, and bounds of the force."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.differences import STEP, relative
from support.rigid_robots import G, body, still
from support.soft_contact import Ground, Touch, ground_force, soft_contact
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.compiler.trace import evaluate, trace

MASS = 2.0
GROUND = Ground(stiffness=1e4, damping=40.0, friction=0.6)
# The skin changes the spring by (skin / depth)^2: of 2 mm of depth and 10 um of skin, 1e-4 or so.
SKIN = 1e-3


def fall(height, speed, ground, duration):
    """Return (t, height, speed) of a point mass above the ground, by a fine integration."""
    def rate(_, state):
        force = ground_force(ground, np.array([0.0, 0.0, state[0]]),
                             np.array([0.0, 0.0, state[1]]))[1][2]
        return state[1], force / MASS - G
    answer = solve_ivp(rate, (0.0, duration), (height, speed), rtol=1e-9, atol=1e-12,
                       max_step=duration / 2000)
    return answer.t, *answer.y


def test_a_mass_rests_where_the_spring_carries_it():
    """Depth m g / k."""
    thin = GROUND._replace(skin=1e-5)
    _, z, dz = fall(0.0, 0.0, thin, 3.0)
    assert -z[-1] == pytest.approx(MASS * G / thin.stiffness, rel=SKIN)
    assert abs(dz[-1]) < 1e-6


def test_a_pressed_mass_swings_as_a_damped_oscillator():
    """Its height is z_e + z_0 exp(-d w t) cos(...) while it stays deep in the ground."""
    thin = GROUND._replace(skin=1e-6, stiffness=2e3, damping=30.0)
    rest = -MASS * G / thin.stiffness                     # 1 cm deep
    t, z, _ = fall(rest + 0.004, 0.0, thin, 0.6)
    w, decay = np.sqrt(thin.stiffness / MASS), thin.damping / (2 * MASS)
    wd = np.sqrt(w * w - decay * decay)
    expected = rest + 0.004 * np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))
    assert np.abs(z - expected).max() < 0.004 * SKIN


def test_an_undamped_bounce_keeps_the_energy_and_a_damped_one_does_not():
    """Dropped from 0.1 m, back at the surface."""
    speeds = []
    for damping in (0.0, 40.0):
        t, z, dz = fall(0.1, 0.0, GROUND._replace(damping=damping), 0.25)
        out = np.flatnonzero((z[1:] > 0) & (z[:-1] <= 0))[0] + 1
        speeds.append(np.sqrt(dz[out] ** 2 + 2 * G * z[out]))
    assert speeds[0] == pytest.approx(np.sqrt(2 * G * 0.1), rel=1e-6)  # of the integration
    assert 0.3 * speeds[0] < speeds[1] < 0.95 * speeds[0]


def random_points(n=2000):
    rng = np.random.default_rng(0)
    return zip(rng.normal(size=(n, 3)) * [1, 1, 5e-3], rng.normal(size=(n, 3)) * 2.0)


def test_the_force_never_pulls_and_stays_in_the_friction_cone():
    """It is zero above the ground, at any velocity."""
    signs = set()
    for position, velocity in random_points():
        depth, force = ground_force(GROUND, position, velocity)
        assert depth == -position[2]
        assert force[2] >= 0.0
        assert np.hypot(*force[:2]) <= GROUND.friction * force[2]
        assert force[:2] @ velocity[:2] <= 0.0
        if depth <= 0.0:
            assert np.all(force == 0.0)
        signs.add((depth > 0.0, velocity[2] > 0.0, force[2] > 0.0))
    assert {(True, True, True), (True, False, True), (False, True, False)} <= signs


def test_sliding_friction_is_coulombs():
    """Fast against slip_speed it is mu f_n against the motion; at rest it is zero."""
    deep = np.array([0.3, -0.2, -0.01])
    _, force = ground_force(GROUND, deep, np.array([3.0, 4.0, 0.0]))
    assert force[:2] == pytest.approx(-0.6 * force[2] * np.array([0.6, 0.8]), rel=1e-5)
    assert np.all(ground_force(GROUND, deep, np.zeros(3))[1][:2] == 0.0)


@pytest.mark.parametrize('speed', [-1.0, 0.0, 1.0])
def test_force_and_slope_are_continuous(speed):
    """Across the surface and through it: differences of the force shrink with the step squared."""
    def force(z):
        return ground_force(GROUND, np.array([0.0, 0.0, z]), np.array([0.1, 0.0, speed]))[1]
    for z in (0.0, 1e-9, -1e-5, -2e-4, -speed * GROUND.damping / GROUND.stiffness):
        h = 1e-8  # against a skin of 1e-4
        jump = np.abs(force(z + h) - 2 * force(z) + force(z - h)).max()
        steepest = GROUND.stiffness + GROUND.damping * abs(speed) / GROUND.skin
        assert jump <= 10 * steepest / GROUND.skin * h * h


def test_forces_rotate_with_the_plane():
    """In rotated and moved axes."""
    rng = np.random.default_rng(1)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    p = rng.normal(size=3)
    ground = GROUND._replace(point=tuple(p), normal=tuple(R[:, 2]))
    for position, velocity in [*random_points(50)]:
        depth, force = ground_force(GROUND, position, velocity)
        other = ground_force(ground, p + R @ position, R @ velocity)
        assert other[0] == pytest.approx(depth, abs=1e-12)
        assert np.abs(other[1] - R @ force).max() < 1e-6 * GROUND.stiffness * GROUND.skin


def sunk(tree):
    """Return touches of a random tree and a ground that half of them are in."""
    touches = [Touch(f'l{k}', tuple(tree.rng.normal(size=3) * 0.2)) for k in (0, 4, 5, 9, 10)]
    touches.append(Touch('base'))
    ground = Ground(stiffness=30.0, damping=2.0, friction=0.5, skin=0.05, normal=(0.6, 0.0, 0.8))
    depth = soft_contact(tree.robot.model, tree.q, tree.v, touches, ground).depth
    return touches, ground._replace(point=tuple(-np.median(depth) * np.array(ground.normal)))


def test_wrenches_are_the_forces_at_the_points(tree):
    """Forward dynamics under them is that under sum of J_p' f, J_p by differences."""
    robot, model = tree.robot, tree.robot.model
    touches, ground = sunk(tree)
    found = soft_contact(model, tree.q, tree.v, touches, ground)
    assert np.sum(found.depth > 0) == 3
    push = np.zeros(robot.nv)
    for touch, force in zip(touches, found.force):
        def place(q, touch=touch):
            return (robot.frame_pose(q, touch.frame) @ [*touch.point, 1.0])[:3]
        J = np.array([(place(robot.integrate(tree.q, unit, STEP))
                       - place(robot.integrate(tree.q, unit, -STEP))) / (2 * STEP)
                      for unit in np.eye(robot.nv)])
        push += J @ force
        depth, expected = ground_force(ground, place(tree.q), J.T @ tree.v)
        assert relative(force, expected) < RATE_BY_DIFFERENCES
    a = forward_dynamics(model, tree.q, tree.v, tree.tau, found.wrenches).a
    assert relative(a, forward_dynamics(model, tree.q, tree.v, tree.tau + push).a) \
        < RATE_BY_DIFFERENCES


def test_a_block_sinks_evenly():
    """Four corners at rest at m g / 4 k: no acceleration is left."""
    robot = body(mass=MASS)
    touches = [Touch('body', (x, y, -0.1)) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    thin = GROUND._replace(skin=1e-6)
    depth = MASS * G / (4 * thin.stiffness)
    found = soft_contact(robot.model, still(0.1 - depth), np.zeros(6), touches, thin)
    assert found.depth == pytest.approx([depth] * 4)
    a = forward_dynamics(robot.model, still(0.1 - depth), np.zeros(6), np.zeros(6),
                         found.wrenches).a
    assert np.abs(a).max() < G * SKIN


def test_soft_contact_can_be_compiled(tree):
    """It compares no value: the traced program gives the same numbers."""
    touches, ground = sunk(tree)
    model = tree.robot.model

    def answer(q, v):
        return tuple(soft_contact(model, q, v, touches, ground))
    program = trace(answer, {'q': (model.nq,), 'v': (model.nv,)})
    got = evaluate(program, np.concatenate([tree.q, tree.v]))
    for ours, theirs in zip(got, answer(tree.q, tree.v)):
        assert relative(ours, theirs) < EXACT_MATHS
