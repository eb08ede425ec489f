"""Ten numbers say what a body weighs: the parameters in which dynamics is linear.

pi = (m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), tensor about the frame's origin, axes of
the frame: the order of Pinocchio. Their rates d(pi)/dp are made, moved and added like they are.
"""

import numpy as np

from dynamics_node.model.model import WORLD
from dynamics_node.spatial.inertia import Inertia

TEN = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')


def inertial_parameters(model):
    """Return pi of all moving bodies, payloads included, (10 bodies,)."""
    tens = [ten_numbers(inertia) for inertia in model.inertias[:len(model.bodies)]]
    return np.array(tens).reshape(10 * len(model.bodies))


def ten_numbers(inertia):
    """Return the ten numbers of an Inertia, (10,)."""
    I = inertia.tensor
    return np.array([inertia.mass, *inertia.moment,
                     I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def inertia_of(ten):
    """Return the Inertia of ten numbers; or, of their rates, its rate."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    return Inertia(m, np.array([x, y, z]),
                   np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def body_inertia_rates(model, rates):
    """Return d(pi)/dp of each body at its own origin, (bodies, 10): a Direction's `dinertias`.

    :param rates: {frame: ten numbers in that frame} of links or payloads fixed to that frame.
        On a frame fixed to the world they move nothing.
    """
    total = [np.zeros(10) for _ in model.bodies]
    for name, ten in rates.items():
        frame = model.frame(name)
        if frame.body != WORLD:
            moved = inertia_of(ten).seen_from(frame.pose)  # linear in the inertia, as eq. 21 is
            total[frame.body] = total[frame.body] + ten_numbers(moved)
    return np.array(total).reshape(len(model.bodies), 10)
