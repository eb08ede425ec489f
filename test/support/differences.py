"""Compute derivatives by central differences, along the configuration manifold."""

import numpy as np

STEP = np.finfo(float).eps ** (1 / 3)


def along(robot, f, q, v):
    """Return d/dt f(q(t)) at t = 0 for q moving with velocity v."""
    return (np.asarray(f(robot.integrate(q, v, STEP)))
            - np.asarray(f(robot.integrate(q, v, -STEP)))) / (2 * STEP)


def gradient(robot, f, q):
    """Return df/dq along each unit velocity, the last axis being the velocity's."""
    return np.stack([along(robot, f, q, unit) for unit in np.eye(robot.nv)], axis=-1)


def relative(x, y):
    """Return the largest difference of two arrays relative to the largest entry, at least 1."""
    return float(np.abs(np.subtract(x, y)).max(initial=0.0) / max(1.0, np.abs(y).max(initial=0.0)))
