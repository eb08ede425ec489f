"""Compute local coordinates x of the configurations near a configuration q0, for integration.

x has one number per degree of freedom, (.., nv), and is zero at q0. It is q - q0, except for a
floating joint: there it is the displacement of the position, in the axes of q's position, and the
rotation vector phi of the orientation, in the axes of the body: R = R0 exp(phi).

All functions take one state (n,) or a batch (N, n).
"""

import numpy as np

from dynamics_node.model.model import JointInfo, Model
from dynamics_node.spatial import so3


def moved(model: Model, q0: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the configuration q whose local coordinates about q0 are x, (.., nq)."""
    if model.nq == model.nv:
        return q0 + x
    q = np.empty(np.broadcast_shapes(q0.shape[:-1], x.shape[:-1]) + (model.nq,))
    for joint in model.joints:
        if joint.kind != 'floating':
            q[..., joint.q] = q0[..., joint.q] + x[..., joint.v]
            continue
        position, quaternion, linear, angular = _places(joint)
        q[..., position] = q0[..., position] + x[..., linear]
        turned = so3.quaternion_product(q0[..., quaternion].T, _quaternion_exp(x[..., angular].T))
        q[..., quaternion] = (turned / np.sqrt((turned * turned).sum(axis=0))).T
    return q


def rate(model: Model, q: np.ndarray, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    r"""Return dx/dt at q = moved(q0, x) with the velocity v, (.., nv).

    For a floating joint with the body twist v = (linear, angular):

        dp/dt = R linear,   dphi/dt = angular + phi x angular / 2 + c phi x (phi x angular),

    c = (1 - t/2 cot(t/2)) / t^2, t = |phi|: the inverse of the derivative of exp, regular for
    t < 2 pi.
    """
    if model.nq == model.nv:
        return v
    result = v.copy()
    for joint in model.joints:
        if joint.kind == 'floating':
            _, quaternion, linear, angular = _places(joint)
            phi, w = x[..., angular].T, v[..., angular].T
            once = so3.cross(phi, w)
            result[..., linear] = _rotated(q[..., quaternion].T, v[..., linear].T).T
            result[..., angular] = (w + 0.5 * once + _second(phi) * so3.cross(phi, once)).T
    return result


def greatest_rotation(model: Model, x: np.ndarray) -> float:
    """Return the greatest angle |phi| of all floating joints and states; 0 without any [rad]."""
    return max((float(np.sqrt((x[..., _places(joint)[3]] ** 2).sum(axis=-1)).max(initial=0.0))
                for joint in model.joints if joint.kind == 'floating'), default=0.0)


def _places(joint: JointInfo) -> tuple[slice, ...]:
    """Return the slices of position and quaternion in q, of linear and angular velocity in v."""
    q, v = joint.q.start, joint.v.start
    return slice(q, q + 3), slice(q + 3, q + 7), slice(v, v + 3), slice(v + 3, v + 6)


def _quaternion_exp(phi: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (4, ..) of rotation vectors (3, ..)."""
    half = 0.5 * np.sqrt((phi * phi).sum(axis=0))
    return np.concatenate([0.5 * np.sinc(half / np.pi) * phi, [np.cos(half)]])


def _rotated(quaternion: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return R a, (3, ..), of quaternions (4, ..)."""
    u, w = quaternion[:3], quaternion[3]
    twice = 2.0 * so3.cross(u, a)
    return a + w * twice + so3.cross(u, twice)


def _second(phi: np.ndarray) -> np.ndarray:
    """Return c of `rate`; 1/12 + t^2/720 at small angles."""
    square = (phi * phi).sum(axis=0)
    small = square < 1e-4  # the first omitted term is t^4 / 30240: 3e-13 of 1/12
    t = np.sqrt(np.where(small, 1.0, square))
    return np.where(small, 1.0 / 12.0 + square / 720.0, (1.0 - 0.5 * t / np.tan(0.5 * t)) / t ** 2)
