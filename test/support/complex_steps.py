"""Compute derivatives by complex steps: exact to rounding, for algorithms on any number."""

import numpy as np

from dynamics_node.spatial import so3

STEP = 1e-30  # its square is nothing beside 1: no rounding but the function's own


def by_q(model, f, q):
    """Return df/dq along each unit velocity, the last axis being the velocity's."""
    return np.stack([f(q + 1j * STEP * rate).imag / STEP for rate in rates(model, q).T], axis=-1)


def by(f, x):
    """Return df/dx, the last axis being that of x."""
    return np.stack([f(x + 1j * STEP * unit).imag / STEP for unit in np.eye(len(x))], axis=-1)


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
