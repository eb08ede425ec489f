"""Serve ~/dynamics_terms: terms of the equation of motion, energy and momentum."""

from typing import Any

import numpy as np

from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.closed_terms import fill_closed_terms
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.srv import DynamicsTerms


def dynamics_terms(node_state: NodeState, request: DynamicsTerms.Request,
                   response: DynamicsTerms.Response) -> DynamicsTerms.Response:
    """Fill a DynamicsTerms response."""
    if not request.closed:
        refuse_given(request, 'coordinates', 'it is read only with closed: true')
    state = request_state(node_state, request)
    if request.closed:
        state = fill_closed_terms(state, request, response)
    else:
        fill_terms(state, response)
    robot, q, v = state.robot, state.q, state.v
    response.kinetic_energy = float(robot.kinetic_energy(q, v))
    response.potential_energy = float(robot.potential_energy(q))
    response.total_mass = robot.total_mass
    if robot.total_mass > 0.0:  # else there is no centre of mass
        response.momentum = robot.momentum(q, v)
        response.center_of_mass = convert.point(robot.center_of_mass(q))
    energies = robot.link_energies(q, v)
    response.frames = list(robot.body_names)
    response.link_kinetic_energy = convert.floats(energies.kinetic)
    response.link_potential_energy = convert.floats(energies.potential)
    _fill_actuators(state, response)
    return state.fill_head(response)


def _fill_actuators(state: RequestState, response: DynamicsTerms.Response) -> None:
    """Fill lengths, rates and moment arms of linear actuators."""
    robot = state.robot
    if not robot.actuators:
        return
    found = robot.actuator_motion(state.q, state.v)
    response.actuator_names = [actuator.name for actuator in robot.actuators]
    response.actuator_lengths = convert.floats(found.length)
    response.actuator_rates = convert.floats(found.rate)
    response.moment_arms = convert.floats(state.ordered(found.moment_arms))


def fill_terms(state: RequestState, response: Any) -> None:
    """Fill matrices and torques, of one state or of N."""
    robot, q, v = state.robot, state.q, state.v
    C = robot.coriolis_matrix(q, v)
    response.mass_matrix = convert.floats(state.ordered_matrix(robot.mass_matrix(q)))
    response.coriolis_matrix = convert.floats(state.ordered_matrix(C))
    response.coriolis = convert.floats(state.ordered(np.einsum('...ij,...j->...i', C, v)))
    response.gravity = convert.floats(state.ordered(robot.gravity_torque(q)))
    response.friction = convert.floats(state.ordered(robot.friction_torque(v)))
    if robot.springs:
        response.springs = convert.floats(state.ordered(robot.spring_torque(q, v)))
