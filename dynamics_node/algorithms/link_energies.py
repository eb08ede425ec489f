"""Compute the kinetic and the potential energy of each body."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.model.model import Model


class LinkEnergies(NamedTuple):
    """One entry per moving body, in the order of `body_names`, payloads included."""

    kinetic: np.ndarray    # (bodies,) 1/2 V' I V [J]; their sum with the rotors' is 1/2 v' M v
    potential: np.ndarray  # (bodies,) -m g'c [J], zero at the height of the world's origin


def link_energies(model: Model, q: np.ndarray, v: np.ndarray) -> LinkEnergies:
    """Return the LinkEnergies of a state, O(n).

    :param q, v: configuration (nq,) and velocity (nv,).
    """
    T, _, V, _ = forward_recursion(model, q, v)
    bodies = list(zip(model.inertias[:-1], V, body_poses(model, T)))
    return LinkEnergies(
        np.array([0.5 * (V_i @ (inertia @ V_i)) for inertia, V_i, _ in bodies]),
        np.array([-(model.gravity @ (pose.R @ inertia.moment + inertia.mass * pose.p))
                  for inertia, _, pose in bodies]))
