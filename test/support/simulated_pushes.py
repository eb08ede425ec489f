"""Simulate an arm in MuJoCo that follows a motion under occasional pushes, with noise."""

from typing import NamedTuple

import mujoco
import numpy as np
from arm import SimulatedArm

from dynamics_node.example_robots import ARM7
from support.observed_motions import swing

DT = 0.001
REACHING = np.array([0.0, 0.7, 0.0, -1.3, 0.0, 0.8, 0.0])  # the hand is out in front of the arm
KP, KD = 400.0, 40.0                  # [1/s^2, 1/s] of the simulated arm's own controller
NOISE = {'q': 2e-5, 'v': 1e-3, 'effort': 0.05}   # standard deviations [rad, rad/s, N m]


class Measured(NamedTuple):
    """Sensor values, and the force at the hand over time."""

    time: np.ndarray     # (N,)
    q: np.ndarray        # (N, 7)
    v: np.ndarray
    effort: np.ndarray   # what the motors gave
    push: np.ndarray     # (N, 3) [N] in world axes


def simulated(seconds, pushes=(), seed=0):
    """Return what is Measured of a swinging arm.

    MuJoCo's dry friction sticks and slides; the arm's controller knows the rigid body and the
    damping, not the dry friction.

    :param pushes: (start [s], duration [s], force in world axes (3,)) each, at the tool's origin.
    """
    arm = SimulatedArm(ARM7, integrator='implicitfast', timestep=DT)
    rng = np.random.default_rng(seed)
    motion = swing(np.arange(0.0, seconds, DT), arm.n, seed, middle=REACHING)
    push = np.zeros((len(motion.time), 3))
    for start, duration, force in pushes:
        push[round(start / DT):round((start + duration) / DT)] = force
    arm.set(motion.q[0], motion.v[0])
    inertial, data, hand = np.zeros(arm.n), arm.data, arm.model.body('tool0').id
    rows = np.zeros((3, len(motion.time), arm.n))
    for k in range(len(motion.time)):
        wanted = (motion.a[k] + KP * (motion.q[k] - data.qpos) + KD * (motion.v[k] - data.qvel))
        mujoco.mj_mulM(arm.model, data, inertial, wanted)
        tau = inertial + data.qfrc_bias - data.qfrc_passive
        data.xfrc_applied[hand, :3] = push[k]
        rows[:, k] = data.qpos, data.qvel, tau
        arm.step(tau)
    q, v, effort = (row + sigma * rng.standard_normal(row.shape)
                    for row, sigma in zip(rows, NOISE.values()))
    return Measured(motion.time, q, v, effort, push)
