"""Test the contact flag on a simulated arm: a push of 5 N is flagged within 50 ms, nothing else is.

OBSERVER_MINUTES=10 pytest test/oracles/test_push_in_mujoco.py   looks at ten minutes of motion.
"""

import os

import numpy as np
import pytest
from support.simulated_pushes import DT, simulated

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.observer.contact import ContactFlag
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.observer.momentum import external_torques

MINUTES = float(os.environ.get('OBSERVER_MINUTES', 1))
BANDWIDTH = 40.0
# Dry friction that sticks is anywhere between -f and f, f = 0.9 0.9 0.7 0.7 0.4 0.3 0.2 N m here:
# no model tells that from a push. On top comes the noise, K M times that of the velocity.
THRESHOLDS = np.array([1.2, 1.3, 1.0, 1.0, 0.6, 0.5, 0.3])
FORCE, LASTS, EVERY = 5.0, 0.3, 1.0   # [N], [s], [s]
IN_TIME = 0.05                        # [s]


@pytest.fixture(scope='module')
def robot(kernels):
    """The arm, compiled: its URDF is what MuJoCo was given too."""
    return Robot.from_urdf(ARM7)


def flags_of(robot, measured):
    """Return the external torques and the flags of a recording."""
    r = external_torques(robot, meaning_of(robot, 'motor_torque'), *measured[:4], BANDWIDTH)
    flag = ContactFlag(robot.nv, THRESHOLDS, hysteresis=0.8)
    return r, np.array([flag.step(torque, DT) for torque in r])


@pytest.mark.parametrize('minute', range(int(np.ceil(MINUTES))))
def test_no_false_alarm_in_free_motion(robot, minute):
    r, flags = flags_of(robot, simulated(60.0 * min(1.0, MINUTES), seed=100 + minute))
    print('largest share of a threshold', np.abs(r / THRESHOLDS).max())
    assert not flags.any()


@pytest.mark.parametrize('kind', ['x', 'y', 'z', 'any'])
def test_a_push_is_flagged_in_time(robot, kind):
    """Twenty of them along an axis of the world, or anywhere; the flag is clear before each."""
    rng = np.random.default_rng(7)
    starts = EVERY * np.arange(1, 21)
    forces = rng.normal(size=(len(starts), 3))
    if kind != 'any':
        forces = np.outer((-1.0) ** np.arange(len(starts)), np.eye(3)['xyz'.index(kind)])
    forces *= FORCE / np.linalg.norm(forces, axis=1, keepdims=True)
    pushes = [(start, LASTS, force) for start, force in zip(starts, forces)]
    measured = simulated(starts[-1] + EVERY, pushes, seed=1)
    r, flags = flags_of(robot, measured)
    begins = np.rint(starts / DT).astype(int)
    late = np.array([np.argmax(flags[k:k + round(LASTS / DT)]) for k in begins]) * DT
    print('flagged after', late.max())
    assert not flags[begins].any()
    assert all(flags[k:k + round(LASTS / DT)].any() for k in begins)
    assert late.max() < IN_TIME
