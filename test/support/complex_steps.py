"""Compute derivatives by complex steps: exact to rounding, for algorithms on any number."""

import numpy as np

from dynamics_node.spatial import so3

STEP = 1e-30  # its square is nothing beside 1: no rounding but the function's own


def by_q(model, f, q, directions=None):
    """Return df/dq along each column of directions (nv, k), unit ones if None, on a last axis."""
    G = rates(model, q)
    return by(f, q, G if directions is None else G @ directions)


def by(f, x, directions=None):
    """Return df/dx along the columns of directions, all unit ones if None, on a last axis."""
    directions = np.eye(len(x)) if directions is None else directions
    return np.stack([f(x + 1j * STEP * direction).imag / STEP for direction in directions.T],
                    axis=-1)


def rates(model, q):
    """Return dq/dt of each unit velocity, (nq, nv): of a floating joint's turn half q * (w, 0)."""
    G = np.zeros((model.nq, model.nv))
    for joint in model.joints:
        if joint.kind != 'floating':
            G[joint.q, joint.v] = np.eye(joint.v.stop - joint.v.start)
            continue
        place, quaternion = joint.q.start, q[joint.q][3:]
        v = joint.v.start
        G[place:place + 3, v:v + 3] = so3.from_quaternion(quaternion)
        for k, axis in enumerate(np.eye(3)):
            G[place + 3:place + 7, v + 3 + k] = 0.5 * so3.quaternion_product(quaternion, [*axis, 0])
    return G
