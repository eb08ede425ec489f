"""Fit physically consistent parameters to the torques, with a prior around the URDF.

Every link is a body of positive mass (log-Cholesky); armature, viscous and Coulomb friction are not
negative. The prior decides on parameters that the torques do not determine. Both are linear in the
parameters pi, so they are one triangular problem

    min |R G pi - z|^2 + weight (sum_bodies |U0^-1 (P - P0) U0^-T|^2/4 + sum_joints (p - p0)^2/s^2)

whose first part has torques in units of their noise. A body that is (1 + e) times that of the
URDF costs weight e^2, in any frame and unit (the metric of Lee, Wensing and Park 2020, at P0);
s is the value that alone would explain the whole torque of a joint.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification import log_cholesky
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.interior_fit import interior_fit
from dynamics_node.identification.linear_fit import TriangularProblem
from dynamics_node.identification.loop_equations import joint_torques
from dynamics_node.identification.parameters import NOT_NEGATIVE, ParameterLayout
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording

ITERATIONS = 200
SETTLED = 1e-6    # change of the sum of squares, in units of noise, that ends the fit
INSIDE = 0.95     # of the distance from the prior to the first inconsistent body


class Prior(NamedTuple):
    """The prior |A (pi - values)|^2."""

    values: np.ndarray    # (size,) of the URDF, every body made consistent
    A: np.ndarray         # (size, size) rows in units of standard deviations


class ConsistentFit(NamedTuple):
    """Physically consistent parameters."""

    values: np.ndarray      # (size,)
    R: np.ndarray           # (size, size) factor of data and prior: R'R = inverse covariance
    converged: bool
    iterations: int


def parameter_prior(layout: ParameterLayout, values: np.ndarray, recording: Recording,
                    weight: float, loops: LoopMotion | None = None) -> Prior:
    """Return the Prior around the values of a robot.

    :param weight: 1 trusts the inertias of the URDF to within 100 %, 100 to within 10 %.
    :param loops: LoopMotion of a robot with loops.
    """
    values = values.copy()
    A = np.zeros((layout.size, layout.size))
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        values[at] = log_cholesky.nearest_consistent(values[at])
        A[at, at] = _metric(values[at])
    scales = joint_scales(layout, recording, loops)
    scales = np.maximum(scales, np.abs(values[layout.inertial:]))
    joints = np.arange(layout.inertial, layout.size)
    A[joints, joints] = 1.0 / scales
    return Prior(values, np.sqrt(weight) * A)


def joint_scales(layout: ParameterLayout, recording: Recording,
                 loops: LoopMotion | None = None) -> np.ndarray:
    """Return for each joint parameter the value that alone would explain the joint's torque."""
    def rms(x):
        return np.maximum(np.sqrt(np.mean(x ** 2, axis=0)), 1e-6)

    own = list(layout.dofs)
    torque = (rms(recording.tau) if loops is None else joint_torques(loops, recording))[own]
    scales = {'armature': torque / rms(recording.a[:, own]),
              'viscous': torque / rms(recording.v[:, own])}
    return np.stack([scales.get(kind, torque) for kind in layout.per_joint], axis=-1).ravel()


def _metric(ten):
    """Return A with |A dpi|^2 = |U0^-1 dP U0^-T|^2 / 4, (10, 10)."""
    inverse = np.linalg.inv(log_cholesky.upper_cholesky(log_cholesky.pseudo_inertia(ten)))
    upper = np.triu_indices(4)
    twice = np.where(upper[0] == upper[1], 0.5, np.sqrt(0.5))  # each entry off the diagonal twice
    return np.stack([twice * (inverse @ log_cholesky.pseudo_inertia(unit) @ inverse.T)[upper]
                     for unit in np.eye(10)], axis=-1)


def consistent_fit(base: BaseParameters, problem: TriangularProblem, prior: Prior,
                   tick: Callable[[], None] = lambda: None) -> ConsistentFit:
    """Return the ConsistentFit of a problem in base parameters.

    :param tick: called at each iteration; may raise to stop.
    """
    from scipy.optimize import least_squares

    layout = base.layout
    rows = np.vstack([np.column_stack([problem.R @ base.grouping, problem.z]),
                      np.column_stack([prior.A, prior.A @ prior.values])])
    factor = r_factor(rows)[:layout.size]
    R, z = factor[:, :-1], factor[:, -1]
    if base.loops is not None:
        return _by_interior_points(layout, R, z, prior, tick)

    def misfit(x):  # and a constant, so that ftol is relative to 1 where the data are exact
        tick()
        return np.append(R @ _parameters(layout, x) - z, 1.0)

    def jacobian(x):
        return np.vstack([R @ _rates(layout, x), np.zeros(layout.size)])

    start = _unconstrained(layout, _start(layout, prior.values, np.linalg.solve(R, z)))
    found = least_squares(misfit, start, jacobian, bounds=_bounds(layout), x_scale='jac',
                          ftol=SETTLED, xtol=1e-12, gtol=None, max_nfev=ITERATIONS)
    return ConsistentFit(_parameters(layout, found.x), R, found.status > 0, found.nfev)


def _by_interior_points(layout, R, z, prior, tick):
    """Return the ConsistentFit of a robot with loops, where least_squares often stalls."""
    spread = np.linalg.norm(np.linalg.inv(prior.A), axis=1)
    found = interior_fit(layout, R, z, prior.values, spread, tick)
    values = _parameters(layout, _unconstrained(layout, found.values))   # within the bounds
    return ConsistentFit(values, R, found.converged, found.steps)


def _start(layout, inside, best):
    """Return the best parameters if they are consistent, else a point on the way to them.

    The misfit falls on the straight line to them, and the set of consistent parameters is convex.
    """
    if _is_consistent(layout, best):
        return best
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        consistent = _is_consistent(layout, inside + middle * (best - inside))
        low, high = (middle, high) if consistent else (low, middle)
    return inside + INSIDE * low * (best - inside)


def _is_consistent(layout, values):
    return (all(log_cholesky.is_consistent(values[layout.of_body(i)])
                for i in range(len(layout.bodies)))
            and all((values[layout.each(kind)] >= 0.0).all() for kind in NOT_NEGATIVE))


# Unconstrained variables: bodies by log-Cholesky, joint parameters as they are ------------------

def _parameters(layout, x):
    values = x.copy()
    for i in range(len(layout.bodies)):
        values[layout.of_body(i)] = log_cholesky.body_of(x[layout.of_body(i)])
    return values


def _unconstrained(layout, values):
    x = values.copy()
    for i in range(len(layout.bodies)):
        x[layout.of_body(i)] = log_cholesky.log_cholesky(values[layout.of_body(i)])
    return np.clip(x, *_bounds(layout))


def _rates(layout, x):
    J = np.eye(layout.size)
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        J[at, at] = log_cholesky.body_rates(x[at])
    return J


def _bounds(layout):
    least, greatest = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    for i in range(len(layout.bodies)):
        least[layout.of_body(i)], greatest[layout.of_body(i)] = log_cholesky.bounds()
    for kind in NOT_NEGATIVE:
        least[layout.each(kind)] = 0.0
    return least, greatest
