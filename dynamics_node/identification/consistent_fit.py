"""Fit physically consistent parameters to the torques, with a prior around the URDF.

Every link is a body of positive mass; armature, viscous and Coulomb friction are not negative.
The prior decides on parameters that the torques do not determine. Both are linear in the
parameters pi, so they are one least-squares problem

    min |R G pi - z|^2 + weight (sum_bodies |U0^-1 (P - P0) U0^-T|^2/4 + sum_joints (p - p0)^2/s^2)

whose first part has torques in units of their noise. A body that is (1 + e) times that of the
URDF costs weight e^2, in any frame and unit (the metric of Lee, Wensing and Park 2020, at P0);
s is the value that alone would explain the whole torque of a joint.

In coordinates y in which the prior is |y|^2, a singular value decomposition R G A^-1 = U S V'
separates directions. Where a singular value is so small that the data do not halve the standard
deviation of the prior, the data are not used: the URDF stays as it is. Scaled by
(S^2 + 1)^1/2, the problem is to find the nearest consistent point: interior_fit.py.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.coupled_motors import motor_columns
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.interior_fit import (
    TWICE,
    UPPER,
    ConsistentSet,
    nearest_point,
)
from dynamics_node.identification.linear_fit import TriangularProblem
from dynamics_node.identification.loop_equations import joint_torques, row_rms
from dynamics_node.identification.parameters import ParameterLayout
from dynamics_node.identification.pseudo_inertia import UNITS, nearest_consistent, pseudo_inertia
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording

MAX_SHARE = 0.5        # of the standard deviation of the prior: below, the data determine a value
LEAST_BODY = 1e-4      # share of the body of the prior that every link has at least
DETERMINED = np.sqrt(MAX_SHARE ** -2 - 1.0)   # least singular value of the data, prior 1
SMALL = 1e-3           # of the standard deviation of the prior: start value of a p_j of zero


class Prior(NamedTuple):
    """The prior |A (pi - values)|^2."""

    values: np.ndarray    # (size,) of the URDF, every body made consistent
    A: np.ndarray         # (size, size) rows in units of standard deviations


class Optimality(NamedTuple):
    """The certificate of a fit: no consistent parameters have a sum below squares - gap."""

    squares: float    # sum that was minimised, of data and prior, in units of noise
    gap: float        # duality gap of the sum
    steps: int        # of Newton's method


class ConsistentFit(NamedTuple):
    """Physically consistent parameters."""

    values: np.ndarray      # (size,)
    A: np.ndarray           # (size, size) of data and prior: A'A = inverse covariance
    optimality: Optimality


def parameter_prior(layout: ParameterLayout, values: np.ndarray, recording: Recording,
                    weight: float, loops: LoopMotion | None = None,
                    masses: float = np.inf) -> Prior:
    """Return the Prior around the values of a robot.

    :param weight: 1 trusts the inertias of the URDF to within 100 %, 100 to within 10 %.
    :param masses: relative standard deviation of masses for weight 1, in addition.
    :param loops: LoopMotion of a robot with loops.
    """
    return prior_of_scales(layout, values, joint_scales(layout, recording, loops), weight, masses)


def prior_of_scales(layout: ParameterLayout, values: np.ndarray, scales: np.ndarray,
                    weight: float, masses: float = np.inf) -> Prior:
    """Return the Prior around values, with joint scales as in `joint_scales`."""
    values = values.copy()
    A = np.zeros((layout.size, layout.size))
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        values[at] = nearest_consistent(values[at])
        A[at, at] = _metric(values[at], masses)
    scales = np.maximum(scales, np.abs(values[layout.inertial:]))
    joints = np.arange(layout.inertial, layout.size)
    A[joints, joints] = 1.0 / scales
    return Prior(values, np.sqrt(weight) * A)


def joint_scales(layout: ParameterLayout, recording: Recording,
                 loops: LoopMotion | None = None) -> np.ndarray:
    """Return for each joint parameter the value that alone would explain the joint's torque."""
    def rms(x: np.ndarray) -> np.ndarray:
        return np.maximum(np.sqrt(np.mean(x ** 2, axis=0)), 1e-6)

    own = list(layout.dofs)
    torque = (row_rms(recording.tau) if loops is None else joint_torques(loops, recording))[own]
    scales = {'armature': torque / rms(recording.a[:, own]),
              'viscous': torque / rms(recording.v[:, own])}
    scales['viscous_asymmetry'] = scales['viscous']
    if layout.load is not None:
        scales['load'] = torque / np.maximum(layout.load.mean[own], 1e-6)
    joints = np.stack([scales.get(kind, torque) for kind in layout.per_joint], axis=-1).ravel()
    columns = motor_columns(layout.motors, layout.friction_speed, recording.v, recording.a)
    sizes = rms(columns)                      # (nv, motors), zero at joints that do not move it
    motors = (row_rms(recording.tau)[:, None] / sizes).min(axis=0, initial=np.inf)
    return np.concatenate([joints, motors])


def _metric(ten: np.ndarray, masses: float) -> np.ndarray:
    """Return A with |A dpi|^2 = |U0^-1 dP U0^-T|^2 / 4 + (dm / (masses m0))^2, (10, 10)."""
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(ten)))
    body = 0.5 * (TWICE * (inverse @ UNITS @ inverse.T)[:, UPPER[0], UPPER[1]]).T
    mass = np.zeros((1, 10))
    mass[0, 0] = 1.0 / (masses * ten[0])
    return r_factor(np.vstack([body, mass]))


def consistent_fit(base: BaseParameters, problem: TriangularProblem, prior: Prior,
                   tick: Callable[[], None] = lambda: None) -> ConsistentFit:
    """Return the ConsistentFit of a problem in base parameters.

    :param tick: called at each iteration; may raise to stop.
    :raise DynamicsError: the fit did not converge.
    """
    data = problem.R @ base.grouping
    misfit = problem.z - data @ prior.values
    free = fitted_parameters(base.layout, data @ np.linalg.inv(prior.A))
    A = prior.A[np.ix_(free, free)]
    U, s, Vt = np.linalg.svd(data[:, free] @ np.linalg.inv(A))
    count = np.count_nonzero(s > DETERMINED)
    s, misfit = s[:count], U[:, :count].T @ misfit
    scale, target = np.ones(len(free)), np.zeros(len(free))
    scale[:count] = np.sqrt(s ** 2 + 1.0)
    target[:count] = s * misfit / scale[:count]
    A = scale[:, None] * (Vt @ A)           # w = A (pi - values)
    within, start = _problem(base.layout, prior, free, A)
    found = nearest_point(within, target, start, tick)
    values, joint = prior.values.copy(), prior.A.copy()
    values[free] += np.linalg.solve(A, found.w)
    joint[np.ix_(free, free)] = A
    rest = float(np.sum(misfit ** 2) - np.sum(target ** 2))   # that no parameters explain
    return ConsistentFit(values, joint, Optimality(found.squares + rest, found.gap, found.steps))


def fitted_parameters(layout: ParameterLayout, data: np.ndarray) -> np.ndarray:
    """Return the indices of the parameters that are fitted, (f,).

    A body is fitted if the data determine at least one direction of its parameters; a joint
    parameter if they determine it, all others given.

    :param data: (b, size) in units of the prior.
    """
    fitted = np.linalg.norm(data, axis=0) > DETERMINED
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        fitted[at] = np.linalg.norm(data[:, at], 2) > DETERMINED
    return np.flatnonzero(fitted & ~layout.known)


def _problem(layout: ParameterLayout, prior: Prior, free: np.ndarray, A: np.ndarray
             ) -> tuple[ConsistentSet, np.ndarray]:
    """Return (ConsistentSet, start) in coordinates w = A (pi - values) of the free parameters."""
    by = np.zeros((layout.size, len(free)))
    by[free] = np.linalg.inv(A)
    inertial = free[free < layout.inertial]    # of whole bodies
    positive = layout.not_negative[np.isin(layout.not_negative, free)]
    mean, half = layout.asymmetries[np.isin(layout.asymmetries, free).any(axis=1)].T
    start = prior.values.copy()
    start[positive] = np.maximum(start[positive], SMALL / np.diag(prior.A)[positive])
    start[half[np.isin(half, free)]] = 0.0
    # Of each body the least body is taken away, so that P >= LEAST_BODY P0.
    bodies = (1.0 - LEAST_BODY) * prior.values[inertial].reshape(-1, 10)
    within = ConsistentSet(bodies, by[inertial].reshape(len(bodies), 10, len(free)),
                           *(np.concatenate([x[positive], x[mean] + x[half], x[mean] - x[half]])
                             for x in (prior.values, by)))
    return within, A @ (start - prior.values)[free]
