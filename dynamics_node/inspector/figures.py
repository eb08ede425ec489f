"""Compute the figures that the inspector shows, of one state of a robot."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.manipulability import Manipulability
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.inspector.torque_parts import TorqueParts, torque_parts
from dynamics_node.robot.robot import Robot

LOST_BELOW = 1e-12   # of the greatest mobility: a smaller one is a rounding error of zero


class MotionState(NamedTuple):
    """Configuration, velocity and acceleration of a robot."""

    q: np.ndarray   # (nq,)
    v: np.ndarray   # (nv,)
    a: np.ndarray   # (nv,)


class Figures(NamedTuple):
    """What the page shows of a state."""

    parts: TorqueParts
    torque: np.ndarray          # sum of the parts, (nv,) [N m or N]
    limit: np.ndarray           # of |torque|, nan = unknown, (nv,)
    margin: np.ndarray          # limit - |torque|, negative = exceeded, nan = unknown, (nv,)
    share: np.ndarray           # |torque| / limit, nan = unknown, (nv,)
    mass_matrix: np.ndarray     # (nv, nv); with loops that of the coordinates (k, k)
    matrix_names: Sequence[str]   # of its rows
    center_of_mass: np.ndarray  # in the world, (3,) [m]; nan for a robot without mass
    greatest_payload: float     # additional point mass at the origin of the frame [kg], inf = any


def figures(robot: Robot, state: MotionState, frame: str,
            external: np.ndarray | None = None,
            coordinates: Sequence[str] | None = None) -> Figures:
    """Return the Figures of a state.

    :param frame: where the greatest payload would be.
    :param external: torque that the environment exerts on the joints, (nv,); None for zero. The
        greatest payload does not consider it.
    :param coordinates: independent joints of a robot with loops; None for a tree.
    """
    closed = coordinates is not None
    parts = torque_parts(robot, *state, external)
    found = trajectory_torques(robot, [0.0], *state, payload_frame=frame, closed=closed)
    torque = parts.total
    matrix = robot.closed_dynamics(state.q, state.v, coordinates=coordinates).mass_matrix if (
        closed) else robot.mass_matrix(state.q)
    return Figures(parts, torque, found.effort_limit, found.effort_limit - np.abs(torque),
                   np.abs(torque) / found.effort_limit, matrix,
                   robot.dof_names if coordinates is None else coordinates,
                   robot.center_of_mass(state.q) if robot.total_mass > 0.0 else np.full(3, np.nan),
                   found.greatest_payload)


class FrameEllipsoids(NamedTuple):
    """Ellipsoids of the linear motion of a frame: axes as columns (3, 3), radii (3,) each."""

    velocity: tuple[np.ndarray, np.ndarray]   # [m/s] at joint velocities of norm 1
    force: tuple[np.ndarray, np.ndarray]      # [N] at joint torques of norm 1
    inertia: tuple[np.ndarray, np.ndarray]    # effective mass along the axes [kg]


def frame_ellipsoids(robot: Robot, q: np.ndarray, frame: str,
                     coordinates: Sequence[str] | None = None) -> FrameEllipsoids:
    """Return the FrameEllipsoids at a configuration; inf where no joint moves the frame.

    :param coordinates: as in figures; their velocities and torques have norm 1.
    """
    found = robot.manipulability(q, frame, closed=coordinates is not None, coordinates=coordinates)
    return FrameEllipsoids((found.velocity_axes, found.velocity_radii),
                           (found.velocity_axes, found.force_radii), _effective_masses(found))


def _effective_masses(found: Manipulability) -> tuple[np.ndarray, np.ndarray]:
    """Return axes and eigenvalues of Lambda = (J M^-1 J')^-1."""
    mobility, axes = np.linalg.eigh(found.mobility)
    lost = mobility < LOST_BELOW * max(mobility.max(), 0.0)
    with np.errstate(divide='ignore'):
        return axes, np.where(lost, np.inf, 1.0 / np.where(lost, 1.0, mobility))
