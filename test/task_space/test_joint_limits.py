"""Test joint limits as acceleration bounds: feasible, and kept by an arm over time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.joint_limits import FAR, acceleration_limits, branchless_limits
from dynamics_node.task_space.tasks import Task

STEP, BRAKE = 0.002, 30.0
ROUNDING = 1e-9  # [rad], [rad/s]: sums of a thousand steps


def limits_of(q, v, speed=2.0, step=STEP, brake=BRAKE):
    one = np.ones_like(q)
    return acceleration_limits(q, v, -one, one, speed * one, brake * one, step)


@given(q=st.floats(-5.0, 5.0), v=st.floats(-50.0, 50.0), step=st.sampled_from([1e-4, 1e-3, 0.1]))
def test_the_bounds_are_never_empty(q, v, step):
    """Beyond the limits, too fast: least <= most, within the brake."""
    least, most = limits_of(np.array([q]), np.array([v]), step=step)
    assert -BRAKE <= least[0] <= most[0] <= BRAKE


@given(seed=st.integers(0, 10_000), step=st.sampled_from([1e-3, 1e-2, 0.05]))
@settings(max_examples=15, deadline=None)
def test_a_joint_at_rest_inside_stays_inside(seed, step):
    """For 400 steps of random accelerations, also within a step; speeds too."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1.0, 1.0, size=20), np.zeros(20)
    wanted = rng.choice([-1.0, 1.0], size=20)
    for _ in range(400):
        least, most = limits_of(q, v, step=step)
        wanted = np.where(rng.random(20) < 0.02, -wanted, wanted)
        a = np.clip(100.0 * wanted, least, most)
        turn = np.clip(np.where(a != 0.0, -v / np.where(a != 0.0, a, 1.0), 0.0), 0.0, step)
        extreme = q + v * turn + 0.5 * a * turn ** 2  # where it turns back, within the step
        q, v = q + v * step + 0.5 * a * step ** 2, v + a * step
        assert np.abs(q).max() <= 1.0 + ROUNDING and np.abs(extreme).max() <= 1.0 + ROUNDING
        assert np.abs(v).max() <= 2.0 + ROUNDING


def test_distant_limits_do_not_matter():
    """In the middle, slow: only the brake bounds; the same without any limit."""
    least, most = limits_of(np.zeros(1), np.zeros(1))
    assert (least, most) == (-BRAKE, BRAKE)
    none = np.array([np.inf])
    least, most = acceleration_limits(np.zeros(1), np.ones(1), -none, none, none,
                                      np.array([BRAKE]), STEP)
    assert (least, most) == (-BRAKE, BRAKE)


def test_a_joint_outside_its_limits_comes_back():
    """Beyond the upper limit and moving on: full brake."""
    least, most = limits_of(np.array([1.1, -1.1]), np.array([0.5, -0.5]))
    assert most[0] == -BRAKE and least[1] == BRAKE


def test_an_arm_stays_inside_its_limits(arm):
    """Torques of the QP, forward dynamics, 150 steps towards poses beyond the limits."""
    rng = np.random.default_rng(0)
    lower, upper = (np.array([getattr(joint, side) for joint in arm.model.joints])
                    for side in ('lower', 'upper'))
    speed = np.array([joint.max_velocity for joint in arm.model.joints])
    bounds = [Bound('joint_limits', step=0.01, limit=40.0)]
    q, v = arm.neutral(), np.zeros(7)
    beyond = np.where(rng.random(7) < 0.5, lower - 1.0, upper + 1.0)
    for _ in range(150):
        wanted = Task('go', 'posture', position=beyond, stiffness=400.0)
        found = arm.whole_body(q, v, [wanted], bounds=bounds)
        assert found.status == 'solved'
        a = arm.forward_dynamics(q, v, found.torque)
        q, v = q + 0.01 * v + 0.5 * 0.01 ** 2 * a, v + 0.01 * a
        assert (q >= lower - 1e-6).all() and (q <= upper + 1e-6).all()
        assert (np.abs(v) <= speed + 1e-6).all()
    reached = np.minimum(np.abs(q - lower), np.abs(q - upper)) < 0.02
    assert reached.sum() >= 5  # it did try


def test_without_branches_the_limits_are_the_same():
    """For joints inside and beyond their limits, fast and slow, with and without limits."""
    rng = np.random.default_rng(0)
    n = 2000
    lower, upper = -rng.uniform(0.0, 2.0, n), rng.uniform(0.0, 2.0, n)
    q, v = rng.uniform(-2.2, 2.2, n), rng.normal(size=n) * rng.choice([0.01, 1.0, 30.0], n)
    fastest, brake = rng.choice([1.0, 5.0, FAR], n), rng.choice([1.0, 50.0], n)
    lower[::7], upper[::5] = -FAR, FAR
    for step in (0.001, 0.02):
        expected = acceleration_limits(q, v, lower, upper, fastest, brake, step)
        found = np.array([branchless_limits(*numbers, step) for numbers in
                          zip(q, v, lower, upper, fastest, brake)]).T
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
