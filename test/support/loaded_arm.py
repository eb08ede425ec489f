"""Simulate an arm with an unknown payload in MuJoCo, moved or at rest, with noise."""

import mujoco
import numpy as np
from arm import SimulatedArm

from dynamics_node.example_robots import ARM7
from dynamics_node.identification.recording import raw_recording
from dynamics_node.identification.static_poses import StaticPoses
from support.observed_motions import swing

DT = 0.002
NOISE = {'q': 1e-5, 'v': 1e-3, 'effort': 0.1}   # standard deviations [rad, rad/s, N m]
LOAD = {'mass': 1.6, 'com': (0.03, -0.02, 0.09),
        'inertia': np.array([[0.012, 0.001, 0.0], [0.001, 0.010, -0.002], [0.0, -0.002, 0.008]])}
SWING = np.array([0.9, 0.7, 0.9, 0.7, 1.4, 1.2, 1.4])
MIDDLE = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.5, 0.0])


def loaded(arm, load):
    if load:
        arm.attach('load', 'tool0', **load)
    return arm


def moved(load, seconds=10.0, seed=0, urdf=ARM7, amplitude=SWING, **options):
    """Return the RawRecording of a motion; the wrist moves like the rest."""
    arm = loaded(SimulatedArm(urdf, integrator='implicitfast', timestep=DT, **options), load)
    rng, motion = np.random.default_rng(seed), swing(np.arange(0.0, seconds, DT), 7, seed,
                                                     amplitude, MIDDLE)
    arm.set(motion.q[0], motion.v[0])
    data, inertial, rows = arm.data, np.zeros(7), np.zeros((3, len(motion.time), 7))
    for k in range(len(motion.time)):
        wanted = (motion.a[k] + 400.0 * (motion.q[k] - data.qpos)
                  + 40.0 * (motion.v[k] - data.qvel))
        mujoco.mj_mulM(arm.model, data, inertial, wanted)
        tau = inertial + data.qfrc_bias - data.qfrc_passive
        rows[:, k] = data.qpos, data.qvel, tau
        arm.step(tau)
    q, v, tau = (row + sigma * rng.standard_normal(row.shape)
                 for row, sigma in zip(rows, NOISE.values()))
    return raw_recording(arm.joint_names, motion.time, q, tau, v)


def static(load, poses, seed=0, urdf=ARM7, both_sides=True, friction=None, offset=0.0):
    """Return the StaticPoses of an arm; dry friction depends on the approach.

    :param friction: (7,) that the joints have; come to from both sides, or from anywhere.
    """
    arm, rng = loaded(SimulatedArm(urdf), load), np.random.default_rng(seed)
    arm.brake()
    friction = np.zeros(7) if friction is None else friction
    q, tau, approach = [], [], []
    for pose in poses:
        arm.set(pose)
        for side in ([1.0, -1.0] if both_sides else [rng.uniform(-1.0, 1.0, 7)]):
            sign = np.broadcast_to(side, 7)
            q.append(pose)
            approach.append(sign)
            tau.append(arm.effort + friction * sign + offset
                       + 0.1 * NOISE['effort'] * rng.standard_normal(7))   # of a second's mean
    return StaticPoses(arm.joint_names, np.array(q), np.array(tau),
                       np.array(approach) if both_sides else None)
