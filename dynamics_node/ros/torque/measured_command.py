"""Compute the command that a drive follows now from its measured effort, if that is declared.

The parameter observer.effort_meaning declares the meaning of effort in joint_states. The torque of
the drive is the sum of the command and the compensation by the driver, so the command is their
difference.
"""

from __future__ import annotations

import numpy as np

from dynamics_node.control.controller import Controller
from dynamics_node.ros.parameters.observer import UNKNOWN, ObserverParameters, declared_meaning
from dynamics_node.safety import Proposal


def with_measured_command(proposal: Proposal | None, controller: Controller, effort: np.ndarray,
                          p: ObserverParameters) -> Proposal | None:
    """Return the proposal with the command that would change nothing, if the meaning is declared.

    :param effort: measured, (nv,), nan where it is not.
    :raise DynamicsError: the declaration does not fit the robot.
    """
    if proposal is None or p.effort_meaning == UNKNOWN:
        return proposal
    meaning, measured = declared_meaning(controller.robot, p), proposal.measured
    if meaning.without_gravity:   # the torque is effort + g(q), and g(q) less the addition is known
        command = effort + proposal.gravity
    else:
        command = meaning.scale * effort - controller.added_by_driver(measured.q)
    return proposal._replace(measured=measured._replace(effort=command))
