"""Return torques and energies of a robot as sums over its parameters, by regressors."""

import numpy as np

from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.inertial_parameters import inertial_parameters
from dynamics_node.algorithms.regressor import armature_regressor, friction_regressor, regressor


def torques(model, q, v, a):
    """Return inverse dynamics as the sum over parameters."""
    return (regressor(model, q, v, a) @ inertial_parameters(model)
            + friction_regressor(model, v) @ np.concatenate([model.damping, model.friction])
            + armature_regressor(model, a) @ model.armature)


def energies(robot, q, v):
    """Return the kinetic and potential energy as sums over parameters, rotors and ground added."""
    model, rows = robot.model, energy_regressor(robot.model, q, v)
    pi, ground = inertial_parameters(model), model.inertias[-1]
    return (rows.kinetic @ pi + model.armature @ (v * v) / 2,
            rows.potential @ pi - model.gravity @ ground.moment)
