"""Find joints whose friction has the wrong sign: it would drive them.

Where friction dominates, an inverted effort looks like friction that is negative. No drive has
that, whatever the masses of the links are:

    tau = s rigid + offset + armature a + f(v) + noise,     f(v) = viscous v + coulomb sign(v)

by least squares, and the mean power f(v) v must not be clearly negative.
"""

import numpy as np

from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

DRIVING = -0.4    # mean power of friction over RMS of torque x RMS of velocity: below, it drives


def driven_by_friction(robot: Robot, recording: Recording) -> tuple[str, ...]:
    """Return the names of joints whose effort has friction of the wrong sign; without loops."""
    rigid = robot.inverse_dynamics(recording.q, recording.v, recording.a)
    return tuple(robot.dof_names[k] for k in recording.with_effort if _power(
        recording.tau[:, k], rigid[:, k], recording.v[:, k], recording.a[:, k],
        robot.model.friction_speed) < DRIVING)


def _power(tau, rigid, v, a, speed):
    """Return the mean power of friction, in units of RMS of torque x RMS of velocity."""
    friction = np.column_stack([v, v / np.hypot(v, speed)])
    columns = np.column_stack([friction, rigid, a, np.ones_like(v)])
    sizes = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    found = np.linalg.lstsq(columns / sizes, tau, rcond=None)[0] / sizes
    size = np.sqrt(np.mean(tau ** 2) * np.mean(v ** 2))
    return np.mean(friction @ found[:2] * v) / size if size > 0.0 else 0.0
