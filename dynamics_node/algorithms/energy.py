"""Compute energies, momentum, total mass and centre of mass.

All links and payloads are included, those fixed to the world too.
"""

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.springs import spring_energy
from dynamics_node.algorithms.tree_recursions import forward_recursion, joints_at
from dynamics_node.model.model import Model
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial.se3 import Ad_inv_dual
from dynamics_node.spatial.select import Number
from dynamics_node.spatial.so3 import cross


def kinetic_energy(model: Model, q: np.ndarray, v: np.ndarray) -> Number:
    """Return 1/2 v' M v [J]: sum of 1/2 V' I V of the links (Kim 2012, eq. 15) and the rotors'."""
    V = forward_recursion(model, q, v).V
    links = sum((V_i @ (inertia @ V_i) for V_i, inertia in zip(V, model.inertias)), 0.0)
    return 0.5 * (links + (model.armature * v) @ v)


def potential_energy(model: Model, q: np.ndarray) -> Number:
    """Return -sum m g'c and the energy of springs [J].

    Zero for springs at rest and a centre of mass at the height of the world origin.
    """
    weight = -(model.gravity @ _first_moment(model, q))
    return weight + spring_energy(model, q) if model.springs else weight


def center_of_mass(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the centre of mass in the world, (3,) [m]."""
    return _first_moment(model, q) / total_mass(model)


def total_mass(model: Model) -> Number:
    """Return the mass of all links and payloads [kg]."""
    return sum(inertia.mass for inertia in model.inertias)


def momentum(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return (linear, angular) momentum, angular about the centre of mass, world axes, (6,).

    [kg m/s, kg m^2/s]. Its rate is the sum of all external forces and of their moments about the
    centre of mass. Rotor spin (armature) is internal and not included.
    """
    T, _, V, _ = forward_recursion(model, q, v)
    total = np.zeros(6)
    for inertia, V_i, pose in zip(model.inertias, V, body_poses(model, T)):
        total = total + Ad_inv_dual(pose, inertia @ V_i)
    angular, linear = total[:3], total[3:]
    return np.concatenate([linear, angular - cross(center_of_mass(model, q), linear)])


def _first_moment(model: Model, q: np.ndarray) -> np.ndarray:
    """Return sum m c in the world, (3,) [kg m]."""
    total = inertias.ZERO.moment
    for inertia, pose in zip(model.inertias, body_poses(model, joints_at(model, q)[0])):
        total = total + pose.R @ inertia.moment + inertia.mass * pose.p
    return total
