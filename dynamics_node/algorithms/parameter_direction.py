"""Define the direction of a directional derivative: rates of state and model parameters."""

from typing import NamedTuple

import numpy as np

from dynamics_node.model.model import Model


class ParameterDirection(NamedTuple):
    """Derivatives d/dp of state, wrenches, inertias, gravity and friction by a scalar p.

    p may be a coordinate, the time, a link's mass, the gain of a controller, ... Omitted entries
    are constant, and so is the geometry: origins and axes of joints.
    Kim 2012, section 4.2 and eq. 92, extended by gravity, friction and armature.
    """

    dq: np.ndarray | None = None         # (nv,) as a velocity: q(p) = integrate(q, dq, p)
    dv: np.ndarray | None = None         # (nv,)
    da: np.ndarray | None = None         # (nv,) read where the acceleration is given
    dtau: np.ndarray | None = None       # (nv,) read where the torque is given
    dwrenches: np.ndarray | None = None  # (bodies, 6) angular first, in each body's frame
    dinertias: np.ndarray | None = None  # (bodies, 10) see `inertial_parameters.TEN`
    dgravity: np.ndarray | None = None   # (3,)
    ddamping: np.ndarray | None = None   # (nv,)
    dfriction: np.ndarray | None = None  # (nv,)
    darmature: np.ndarray | None = None  # (nv,)


def complete(model: Model, direction: ParameterDirection) -> ParameterDirection:
    """Return the direction with zeros for its omitted entries."""
    n, bodies = model.nv, len(model.bodies)
    shapes = (n, n, n, n, (bodies, 6), (bodies, 10), 3, n, n, n)
    return ParameterDirection(*(np.zeros(shape) if rate is None else rate
                                for rate, shape in zip(direction, shapes)))
