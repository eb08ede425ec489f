r"""Compute operational-space dynamics: effective inertia and forces of frames (float only).

With w' = J a + dJ/dt v the acceleration of the rows J, which are axes of one frame or of several,

    Lambda w' + mu + p = F,   tau = J' F + N' tau_0                    (eq. 3.85, 3.84)
    Lambda = (J M^-1 J')^-1,  J-bar = M^-1 J' Lambda,  N = 1 - J-bar J
    mu = J-bar' C v - Lambda dJ/dt v,   p = J-bar' g                   (eq. 3.86-3.88)

tau_0 is any torque: N' tau_0 accelerates none of the rows. Friction is not included; rotor inertia
is part of M. Hutter 2017, section 3.9.2; Lambda is the end-effector mass matrix of Modern Robotics,
chapter 8; Khatib 1987.

**Lost directions and singularities.** In units of `reference_inertia` (from the mass and the length
of the robot) the mobility J M^-1 J' has eigenvalues s^2: in that direction the effective mass of
the frame is 1/s^2 times that of the robot. s = 0 in a direction in which the frame cannot move: in
every configuration, if the robot has fewer axes than rows, or only in this one. In the inverse
1/s^2 is replaced by

    s^2 / (s^4 + lambda^4),   e = DAMPED_BELOW,   h = FADE,
    lambda^4 = (1 - s^2 / e^2)^2 (s^2 / 2 + h e^2) e^2  for s < e, else 0,

which is damped least squares for the mobility. It is a function of the matrix, continuous with its
first derivative, so the result is smooth where directions meet, cross or are lost. With s falling
below e the inertia along a direction grows to about 2/e^2 robot masses; below s = sqrt(2 h) e it
fades to zero.
Along directions with s >= e all equations above hold exactly, independently of the others. A lost
direction has no inertia and no force, as in the pseudo-inverse, and J J-bar goes from 1 to 0 along
a direction that becomes lost. The inertia is at most 1.95/e^2 robot masses, joint accelerations at
most 1.14/e times those of a direction with s = 1. Lost motion is in the null space N.
Redundant rows are a lost direction too; their common part is exact.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.model.model import Model
from dynamics_node.spatial.stacks import times, transposed

# Damping begins at an effective mass of 25 robot masses, 1 / 0.2^2: the bundled arm with its elbow
# bent by 5.5 degrees, 8 % of random configurations of Panda, 22 % of UR5's.
DAMPED_BELOW = 0.2
# Small, since an impedance law scales its damping with the inertia, which should stay large near a
# singularity. With 0.01 the bundled arm passes its stretched pose 10 % faster than with 0.001.
FADE = 0.001
# A direction is lost where s is below this share of the largest s, or of 1: rounding.
LOST_BELOW = 1e-6


class Consistent(NamedTuple):
    """The dynamically consistent inverse of J, for one state or N of them."""

    inertia: np.ndarray             # Lambda (m, m) [kg, kg m, kg m^2], symmetric
    consistent_inverse: np.ndarray  # J-bar (nv, m)
    null_space: np.ndarray          # N (nv, nv): J N = 0; N' tau_0 accelerates no row
    singular_values: np.ndarray     # s (m,) descending, without unit
    damping: np.ndarray             # lambda (m,) of each s, 0 away from singularities
    directions: np.ndarray          # (m, m), column k belongs to s[k]; length 1
    lost: np.ndarray                # (m,) bool: no joint moves the frames along that direction


class OperationalSpace(NamedTuple):
    """Operational-space dynamics in world axes; m rows, six for each frame unless selected.

    The lost directions are directions[:, lost]: d' J = 0 for each of them, so that the combination
    d' w of the rows cannot be moved, and a wrench d is carried by the structure alone.
    """

    inertia: np.ndarray             # Lambda (m, m) [kg, kg m, kg m^2], symmetric
    bias: np.ndarray                # mu (m,) [N, N m]: centrifugal and Coriolis forces
    gravity: np.ndarray             # p (m,) [N, N m]
    jacobian: np.ndarray            # J (m, nv)
    bias_acceleration: np.ndarray   # dJ/dt v (m,) [m/s^2, rad/s^2]
    consistent_inverse: np.ndarray  # J-bar (nv, m)
    null_space: np.ndarray          # N (nv, nv): J N = 0; N' tau_0 accelerates no row
    singular_values: np.ndarray     # s (m,) descending, without unit
    damping: np.ndarray             # lambda (m,) of each s, 0 away from singularities
    directions: np.ndarray          # (m, m), column k belongs to s[k]; length 1
    lost: np.ndarray                # (m,) bool: no joint moves the frames along that direction


def operational_space(J: np.ndarray, drift: np.ndarray, inverse: np.ndarray, coriolis: np.ndarray,
                      gravity: np.ndarray, reference: np.ndarray) -> OperationalSpace:
    """Return the OperationalSpace of a state, or of N at once.

    :param drift: dJ/dt v, (m,); inverse: M^-1, (nv, nv); coriolis: C v, (nv,); gravity: (nv,).
    :param reference: `reference_inertia` of the frames, (m,).
    """
    found = consistent(J, inverse, reference)
    Jt = transposed(found.consistent_inverse)
    bias = times(Jt, coriolis) - times(found.inertia, drift)
    return OperationalSpace(found.inertia, bias, times(Jt, gravity), J, drift, *found[1:])


def consistent(J: np.ndarray, inverse: np.ndarray, reference: np.ndarray,
               below: float = DAMPED_BELOW) -> Consistent:
    """Return the Consistent inverse of the rows J, (m, nv), with M^-1.

    :param reference: (m,) of those rows [kg, kg m^2].
    :param below: e, where damping begins.
    """
    moved = J @ inverse
    unit = np.sqrt(reference)
    mobility = moved @ transposed(J) * (unit[:, None] * unit)
    square, U = np.linalg.eigh(mobility)
    square = np.maximum(square, 0.0)[..., ::-1]
    fourth = fourth_power_damping(square, below)
    U = unit[:, None] * U[..., ::-1]
    inertia = U * (square / (square ** 2 + fourth))[..., None, :] @ transposed(U)
    back = transposed(inertia @ moved)
    largest = np.maximum(1.0, square[..., :1])
    return Consistent(inertia, back, np.eye(J.shape[-1]) - back @ J, np.sqrt(square),
                      np.sqrt(np.sqrt(fourth)), U / np.linalg.norm(U, axis=-2, keepdims=True),
                      square <= LOST_BELOW ** 2 * largest)


def fourth_power_damping(square: np.ndarray, below: float) -> np.ndarray:
    """Return lambda^4 of each s^2, see the module docstring."""
    e2 = below ** 2
    return np.maximum(1.0 - square / e2, 0.0) ** 2 * (square / 2.0 + FADE * e2) * e2


def reference_inertia(model: Model, frames: Sequence[str]) -> np.ndarray:
    """Return the reference inertia of each row of a stack of frames, (6 frames,).

    In linear rows the mass m of all moving bodies [kg], in angular ones m d^2 [kg m^2] with d the
    length of the chain from the first joint to the frame; rotors and the bodies' own inertia add
    to both. Independent of the configuration.
    """
    bodies = model.inertias[:-1]  # the last is fixed to the world
    mass = sum(inertia.mass for inertia in bodies)
    rotary = sum(np.trace(inertia.tensor) for inertia in bodies) + model.armature.sum()
    rows = []
    for frame in frames:
        where = model.frame(frame)
        steps = [model.bodies[i].placement.p for i in path_to(model, where.body)[1:]]
        d = sum(np.linalg.norm(step) for step in (*steps, where.pose.p)) or 1.0
        inertia = (mass * d * d + rotary) or 1.0
        rows += [inertia / (d * d)] * 3 + [inertia] * 3
    return np.array(rows)
