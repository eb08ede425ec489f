"""Convert inertias to and from their ten inertial parameters, in which the dynamics is linear.

pi = (m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), tensor about the frame's origin, in the
frame's axes. This order, that of Pinocchio, is the only one in the package. All functions work on
symbols too, and on rates d(pi)/dp, which transform and add like pi.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from dynamics_node.model.model import WORLD, Model
from dynamics_node.spatial.inertia import Inertia

TEN = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')


def inertial_parameters(model: Model) -> np.ndarray:
    """Return pi of all moving bodies, payloads included, (10 bodies,)."""
    tens = [ten_numbers(inertia) for inertia in model.inertias[:len(model.bodies)]]
    return np.array(tens).reshape(10 * len(model.bodies))


def ten_numbers(inertia: Inertia) -> np.ndarray:
    """Return the ten inertial parameters of an Inertia, (10,)."""
    I = inertia.tensor
    return np.array([inertia.mass, *inertia.moment,
                     I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def inertia_of(ten: Sequence | np.ndarray) -> Inertia:
    """Return the Inertia of ten inertial parameters; of their rates, its rate."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    return Inertia(m, np.array([x, y, z]),
                   np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def body_inertia_rates(model: Model, rates: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return d(pi)/dp of each body at its own origin, (bodies, 10), for a ParameterDirection.

    :param rates: {frame: ten numbers in that frame} of links or payloads fixed to that frame.
        Those on a frame fixed to the world have no effect.
    """
    total = [np.zeros(10) for _ in model.bodies]
    for name, ten in rates.items():
        frame = model.frame(name)
        if frame.body != WORLD:
            moved = inertia_of(ten).seen_from(frame.pose)  # linear in the inertia, as eq. 21 is
            total[frame.body] = total[frame.body] + ten_numbers(moved)
    return np.array(total).reshape(len(model.bodies), 10)
