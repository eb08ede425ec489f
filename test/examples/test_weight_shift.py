"""Test examples/weight_shift.py, shortened: a quadruped stands and shifts its weight by the QP."""


import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the robot is simulated by mujoco (requirements/test.txt)')
import weight_shift  # noqa: E402
from quadruped import SimulatedQuadruped  # noqa: E402

from dynamics_node import Robot  # noqa: E402

EIGHT = 4.0   # [s]; the demo takes 6


@pytest.fixture(scope='module')
def run(kernels):
    """The scene of the demo, faster."""
    return weight_shift.shift_weight(EIGHT)


def failed(run):
    return [bar.name for bar in weight_shift.stand_bars(run) if not bar.met]


def test_the_acceptance_limits_are_met(run):
    assert failed(run) == []


def test_the_quadruped_moves_and_uses_its_motors(run):
    """The limits are not met by standing still: it moves by 0.1 m, tilts, and uses its motors."""
    assert np.ptp(run.com, axis=0).min() > 0.02
    assert np.ptp(run.q[:, 3:6], axis=0).min() > 0.1
    assert 0.5 < np.abs(run.torque).max() < weight_shift.TORQUE
    assert run.force[0, weight_shift.FREED, 2] > 4.0


def test_the_acceptance_limits_detect_errors(run):
    """Errors a little beyond the limits do not meet them."""
    off = np.array([2e-4, 0.0, 0.0])
    assert failed(run._replace(com=run.com + off)) == ['centre of mass, RMS']
    assert 'outside of the friction cones, worst' in failed(
        run._replace(command=run.command * [40.0, 40.0, 1.0]))
    drift = np.linspace(0.0, 3e-3, len(run.t))[:, None, None] * [1.0, 0.0, 0.0]
    assert failed(run._replace(feet=run.feet + drift)) == ['slip of a foot, worst']


def test_the_simulated_state_is_that_of_robot():
    """Position and velocity of a foot are the same for both, with the trunk askew and turning."""
    urdf = weight_shift.solo12()
    robot = Robot.from_urdf(urdf, base='floating', compile=False)
    simulated = SimulatedQuadruped(urdf, weight_shift.FEET)
    rng = np.random.default_rng(1)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.4, 0.4, robot.nv))
    q[2] += 1.0   # in the air
    simulated.set(q)
    simulated.data.qvel[:] = rng.normal(size=robot.nv)
    np.testing.assert_allclose(simulated.q, q, atol=1e-12)
    before, v, h = simulated.foot_positions(), simulated.v, 1e-6
    moved = robot.integrate(q, v, h)
    simulated.set(moved)
    for k, foot in enumerate(weight_shift.FEET):
        np.testing.assert_allclose(robot.frame_pose(q, foot)[:3, 3], before[k], atol=1e-9)
        np.testing.assert_allclose((robot.jacobian(q, foot) @ v)[:3],
                                   (simulated.foot_positions()[k] - before[k]) / h, atol=1e-4)
    assert not simulated.foot_forces().any()
