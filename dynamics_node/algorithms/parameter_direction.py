"""Define the direction of a directional derivative: rates of state and model parameters."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dynamics_node.model.model import Model

Rate: TypeAlias = Any  # np.ndarray, or None where it is omitted: `complete` replaces that by zeros


class ParameterDirection(NamedTuple):
    """Derivatives d/dp of state, wrenches, inertias, gravity, friction and geometry by a scalar p.

    p may be a coordinate, the time, a link's mass or length, the gain of a controller, ... Omitted
    entries are constant. Kim 2012, section 4.2 and eq. 92, extended by gravity, friction and
    armature.
    """

    dq: Rate = None         # (nv,) as a velocity: q(p) = integrate(q, dq, p)
    dv: Rate = None         # (nv,)
    da: Rate = None         # (nv,) read where the acceleration is given
    dtau: Rate = None       # (nv,) read where the torque is given
    dwrenches: Rate = None  # (bodies, 6) angular first, in each body's frame
    dinertias: Rate = None  # (bodies, 10) see `inertial_parameters.TEN`
    dgravity: Rate = None   # (3,)
    ddamping: Rate = None   # (nv,)
    dfriction: Rate = None  # (nv,)
    darmature: Rate = None  # (nv,)
    dorigins: Rate = None   # (bodies, 6) twist of each joint frame in its parent, in its own axes
    daxes: Rate = None      # (bodies, 6) twist of each axis in its joint frame; T_i(0) is constant


def complete(model: Model, direction: ParameterDirection) -> ParameterDirection:
    """Return the direction with zeros for its omitted entries."""
    n, bodies = model.nv, len(model.bodies)
    shapes = (n, n, n, n, (bodies, 6), (bodies, 10), 3, n, n, n, (bodies, 6),
              (bodies, 6))
    return ParameterDirection(*(np.zeros(shape) if rate is None else rate
                                for rate, shape in zip(direction, shapes)))
