"""Compute the energy regressor: kinetic and potential energy are linear in inertial parameters."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import cross


class EnergyRegressor(NamedTuple):
    """Rows with energy = row . pi, ten entries per moving body (see `inertial_parameters`)."""

    kinetic: np.ndarray    # (10 bodies,)
    potential: np.ndarray  # (10 bodies,)


def energy_regressor(model: Model, q: np.ndarray, v: np.ndarray) -> EnergyRegressor:
    r"""Return the EnergyRegressor of the links and payloads that move.

    kinetic:    1/2 V' I V = m u.u/2 + m c . (u x w) + w' I w/2,   V = (w, u);
    potential:  -m g.p - m c . R'g,   zero at the height of the world's origin.

    `kinetic_energy` also contains the rotors' 1/2 v' diag(armature) v, and `potential_energy` the
    constant of the links fixed to the world.

    Gautier 1997: identification from energies needs no joint accelerations.
    """
    T, _, V, _ = forward_recursion(model, q, v)
    kinetic, potential = [], []
    for twist, pose in zip(V[:len(model.bodies)], body_poses(model, T)):
        w, u = twist[:3], twist[3:]
        x, y, z = w
        kinetic += [0.5 * (u @ u), *cross(u, w),
                    0.5 * x * x, x * y, 0.5 * y * y, x * z, y * z, 0.5 * z * z]
        potential += [-(model.gravity @ pose.p), *-(pose.R.T @ model.gravity), *np.zeros(6)]
    return EnergyRegressor(np.array(kinetic), np.array(potential))
