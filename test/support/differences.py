"""Compute derivatives by central differences, along the configuration manifold."""

import numpy as np

STEP = np.finfo(float).eps ** (1 / 3)


def along(robot, f, q, v):
    """Return d/dt f(q(t)) at t = 0 for q moving with velocity v."""
    return (np.asarray(f(robot.integrate(q, v, STEP)))
            - np.asarray(f(robot.integrate(q, v, -STEP)))) / (2 * STEP)


def gradient(robot, f, q, directions=None):
    """Return df/dq along each column of directions (nv, k), unit ones if None, on a last axis."""
    directions = np.eye(robot.nv) if directions is None else directions
    return np.stack([along(robot, f, q, direction) for direction in directions.T], axis=-1)


def some_directions(n, count=4):
    """Return random unit vectors as columns, (n, count).

    Each has a part of every coordinate: a wrong entry of a matrix of derivatives is wrong along
    all of them, and each costs no more than one column.
    """
    found = np.random.default_rng(n).normal(size=(n, count))
    return found / np.linalg.norm(found, axis=0)


def relative(x, y):
    """Return the largest difference of two arrays relative to the largest entry, at least 1."""
    return float(np.abs(np.subtract(x, y)).max(initial=0.0) / max(1.0, np.abs(y).max(initial=0.0)))
