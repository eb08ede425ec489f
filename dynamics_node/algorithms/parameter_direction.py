"""Along which line through states and models is a derivative taken?"""

from typing import NamedTuple

import numpy as np


class ParameterDirection(NamedTuple):
    """What changes with a scalar p, and how fast: d/dp of state, inertias, gravity and losses.

    p may be a coordinate, the time, a link's mass, the gain of a controller, ... What is left out
    does not change, and the geometry never does: origins and axes of joints are constant.
    Kim 2012 (seed 000), section 4.2 and eq. 92, joined by gravity and losses.
    """

    dq: np.ndarray = None         # (nv,) as a velocity: q moves along integrate(q, dq, p)
    dv: np.ndarray = None         # (nv,)
    da: np.ndarray = None         # (nv,) read where the acceleration is given
    dtau: np.ndarray = None       # (nv,) read where the torque is given
    dwrenches: np.ndarray = None  # (bodies, 6) angular first, in each body's frame
    dinertias: np.ndarray = None  # (bodies, 10) see `inertial_parameters.TEN`
    dgravity: np.ndarray = None   # (3,)
    ddamping: np.ndarray = None   # (nv,)
    dfriction: np.ndarray = None  # (nv,)
    darmature: np.ndarray = None  # (nv,)


def complete(model, direction):
    """Return the Direction with zeros where something does not change."""
    n, bodies = model.nv, len(model.bodies)
    shapes = ParameterDirection(n, n, n, n, (bodies, 6), (bodies, 10), 3, n, n, n)
    return ParameterDirection(*(np.zeros(shape) if rate is None else rate
                       for rate, shape in zip(direction, shapes)))
