"""Test simulated motions against MuJoCo's own integration of its own equations."""

import mujoco
import numpy as np
import pytest
from support.mujoco_oracle import MujocoOracle
from support.real_robots import ROBOTS

from dynamics_node import Robot

NAMES = ('double_pendulum', 'ur5', 'xarm7', 'z1', 'solo12', 'go2')
STEP, STEPS = 2e-4, 500
# MuJoCo integrates the orientation of a free body to second order only.
TOLERANCE = {'fixed': 1e-12, 'floating': 1e-8}


@pytest.mark.parametrize('example', [robot for robot in ROBOTS if str(robot) in NAMES], ids=str)
def test_the_motion_is_that_of_mujoco(example, compiler_on):
    """By its Runge-Kutta method; joints under constant torques, a base in free fall."""
    robot = Robot.from_urdf(example.urdf, base=example.base, friction=False)
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), 0.3 * rng.normal(size=robot.nv)
    tau = 0.1 * rng.normal(size=robot.nv)
    tau[:6] *= example.base == 'fixed'
    found = robot.simulate(q, v, tau, [0.0, STEP * STEPS], step=STEP)

    oracle = MujocoOracle(example, robot.joint_names)
    oracle.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    oracle.model.opt.timestep = STEP
    G, _ = oracle._set(q, v)
    oracle.data.qfrc_applied[:] = np.linalg.solve(G.T, tau)
    for _ in range(STEPS):
        mujoco.mj_step(oracle.model, oracle.data)
    theirs = oracle.data.qpos.copy(), oracle.data.qvel.copy()
    oracle._set(found.q[-1], found.v[-1])
    ours = oracle.data.qpos, oracle.data.qvel
    if example.base == 'floating' and ours[0][3:7] @ theirs[0][3:7] < 0.0:
        theirs[0][3:7] *= -1.0   # the same orientation
    np.testing.assert_allclose(ours[0], theirs[0], atol=TOLERANCE[example.base])
    np.testing.assert_allclose(ours[1], theirs[1], atol=10 * TOLERANCE[example.base])
