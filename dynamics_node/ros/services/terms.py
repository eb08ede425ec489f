"""The terms of the equation of motion, energy and momentum."""

import numpy as np

from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import one_state, request_state


def dynamics_terms(desk, request, response):
    """Fill a DynamicsTerms response."""
    case = one_state(request_state(desk, request))
    fill_terms(case, response)
    robot, q, v = case.robot, case.q, case.v
    response.kinetic_energy = float(robot.kinetic_energy(q, v))
    response.potential_energy = float(robot.potential_energy(q))
    response.total_mass = robot.total_mass
    if robot.total_mass > 0.0:  # else there is no centre
        response.momentum = robot.momentum(q, v)
        response.center_of_mass = convert.point(robot.center_of_mass(q))
    return case.head(response)


def fill_terms(case, response):
    """Fill matrices and torques, of one state or of N."""
    robot, q, v = case.robot, case.q, case.v
    C = robot.coriolis_matrix(q, v)
    response.mass_matrix = convert.floats(case.ordered_matrix(robot.mass_matrix(q)))
    response.coriolis_matrix = convert.floats(case.ordered_matrix(C))
    response.coriolis = convert.floats(case.ordered(np.einsum('...ij,...j->...i', C, v)))
    response.gravity = convert.floats(case.ordered(robot.gravity_torque(q)))
    response.friction = convert.floats(case.ordered(robot.friction_torque(v)))
