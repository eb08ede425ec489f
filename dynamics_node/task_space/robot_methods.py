"""Define the methods of a Robot that this folder calls; robot/ imports this folder."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dynamics_node.constrained.rows import ConstraintRows
from dynamics_node.model.model import Model


class RobotWithFrames(Protocol):
    """What inverse kinematics of loops calls, with batches."""

    @property
    def model(self) -> Model:
        """The Model."""

    @property
    def constraint_rows(self) -> Callable[..., ConstraintRows]:
        """Robot.constraint_rows."""

    @property
    def frame_pose(self) -> Callable[..., np.ndarray]:
        """Robot.frame_pose."""

    @property
    def jacobian(self) -> Callable[..., np.ndarray]:
        """Robot.jacobian."""


class RobotWithDynamics(RobotWithFrames, Protocol):
    """What the whole-body problem calls."""

    @property
    def mass_matrix(self) -> Callable[..., np.ndarray]:
        """Robot.mass_matrix."""

    @property
    def inverse_dynamics(self) -> Callable[..., np.ndarray]:
        """Robot.inverse_dynamics."""

    @property
    def jacobian_rate(self) -> Callable[..., np.ndarray]:
        """Robot.jacobian_rate."""

    @property
    def center_of_mass_motion(self) -> Callable[..., Any]:
        """Robot.center_of_mass_motion."""
