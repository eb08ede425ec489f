"""Compute in the configuration space: neutral and random q, integration and difference.

v = dq/dt, except for a floating joint, whose q is position and quaternion.
"""

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.model.joints import Floating
from dynamics_node.model.model import Model
from dynamics_node.spatial import se3, so3

UNIT_QUATERNION = 1e-3  # greatest deviation from unit norm; quaternions within are normalised
AXES = {'planar': ('x', 'y', 'theta'), 'floating': ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')}


def dof_names(model: Model) -> tuple[str, ...]:
    """Return the names of the entries of v: the joint's, or 'joint.axis' where it has several."""
    return tuple(name for joint in model.joints for name in (
        [f'{joint.name}.{axis}' for axis in AXES[joint.kind]] if joint.kind in AXES
        else [joint.name]))


def coordinate_places(model: Model) -> dict[str, tuple[int, int]]:
    """Return {name as in dof_names: (entry of q, entry of v)}, without floating joints."""
    names = dof_names(model)
    return {names[k]: (joint.q.start + k - joint.v.start, k) for joint in model.joints
            if joint.kind != 'floating' for k in range(joint.v.start, joint.v.stop)}


def neutral(model: Model) -> np.ndarray:
    """Return q = 0 with unit quaternions, clipped to the position limits, (nq,)."""
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            q[joint.q.stop - 1] = 1.0
        else:
            q[joint.q] = np.clip(0.0, joint.lower, joint.upper)
    return q


def random_configuration(model: Model, rng: np.random.Generator, span: float = np.pi) -> np.ndarray:
    """Return a random configuration within the limits and within span of the neutral one, (nq,)."""
    q = np.empty(model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            quaternion = rng.normal(size=4)
            q[joint.q] = [*rng.uniform(-1.0, 1.0, 3), *quaternion / np.linalg.norm(quaternion)]
        else:
            middle = np.clip(0.0, joint.lower, joint.upper)
            low, high = max(joint.lower, middle - span), min(joint.upper, middle + span)
            q[joint.q] = rng.uniform(low, high, joint.q.stop - joint.q.start)
    return q


def integrate(model: Model, q: ArrayLike, v: ArrayLike, step: float = 1.0) -> np.ndarray:
    """Return the configuration reached from q by the constant velocity v after `step` [s].

    A floating joint moves along the screw of its body twist: T exp(v step).
    """
    v = step * np.asarray(v, dtype=float)
    result = np.array(q, dtype=float)
    for joint in model.joints:
        if joint.kind != 'floating':
            result[joint.q] += v[joint.v]
            continue
        T = Floating().pose(result[joint.q])
        linear, angular = v[joint.v][:3], v[joint.v][3:]
        moved = se3.exp(np.concatenate([angular, linear]))
        quaternion = so3.quaternion_product(result[joint.q][3:], so3.quaternion_exp(angular))
        result[joint.q] = [*(T.R @ moved.p + T.p), *quaternion / np.linalg.norm(quaternion)]
    return result


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """Return v with integrate(model, q0, v) = q1, (nv,)."""
    q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
    v = np.empty(model.nv)
    for joint in model.joints:
        if joint.kind != 'floating':
            v[joint.v] = q1[joint.q] - q0[joint.q]
            continue
        pose = Floating().pose
        V = se3.log(pose(q0[joint.q]).inverse() @ pose(q1[joint.q]))
        v[joint.v] = [*V[3:], *V[:3]]
    return v
