"""Compute rates of the ten inertial parameters of a body with varying mass, centre or tensor."""

import numpy as np

from dynamics_node.algorithms.inertial_parameters import ten_numbers
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.so3 import skew


def inertia_rate(mass, com, dmass=0.0, dcom=(0.0, 0.0, 0.0), dtensor=0.0):
    r"""Return d(pi)/dp of a body whose mass, centre of mass and tensor about it vary, (10,).

    The derivative of `spatial.inertia.from_com`:  d(m c) = dm c + m dc,
    dI = dI_c - dm [c][c] - m ([dc][c] + [c][dc]).  The tensor I_c itself does not matter.

    :param mass, com: [kg], (3,) [m] in the frame.
    :param dmass, dcom, dtensor: their rates and that of I_c, (3, 3) in the frame's axes.
    """
    com, dcom = np.asarray(com), np.asarray(dcom)
    C, dC = skew(com), skew(dcom)
    tensor = dtensor - dmass * (C @ C) - mass * (dC @ C + C @ dC)
    return ten_numbers(Inertia(dmass, dmass * com + mass * dcom, tensor))
