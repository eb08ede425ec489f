"""Predict the joint state from the last measured one and the torques that were sent since."""

from __future__ import annotations

import numpy as np

from dynamics_node.control.controller import Controller
from dynamics_node.errors import DynamicsError

STEP = 0.001     # [s] of the integration
MOST_STEPS = 200  # of one prediction
SLOWEST = 1e-6   # [rad/s or m/s] the damping of a joint at rest is that at this velocity


class StatePredictor:
    """Integrate the model's motion from the last measured state, until the next one arrives.

        M(q) v' = tau - tau_coast(q, v) - D v,   D = diag(friction(v) / v)

    tau_coast is the command at which the joints keep their velocity without friction: what the
    driver adds is included. Joints that are not driven keep their velocity. Contacts are unknown.

    :ivar q, v: predicted state, (nq,) and (nv,), nq = nv.
    :ivar time: [s] since the measured state.
    """

    def __init__(self, controller: Controller, driven: np.ndarray, q: np.ndarray,
                 v: np.ndarray, most_steps: int = MOST_STEPS) -> None:
        """Begin at a measured state.

        :param controller: one that can_predict.
        :param driven: whether the commands drive the joint, (nv,).
        :param most_steps: greatest number per call of `advance`; for a long time steps are longer.
        """
        self._most_steps = most_steps
        self._controller, self._driven = controller, np.flatnonzero(driven)
        self.q, self.v, self.time = np.array(q, float), np.array(v, float), 0.0

    def advance(self, time: float, torque: np.ndarray) -> None:
        """Continue to a time [s] since the measured state.

        :param torque: command of the meantime, (nv,) [N m or N].
        :raise DynamicsError: the mass matrix is singular, for instance by a link without inertia.
        """
        missing = time - self.time
        if missing > 0.0:
            steps = min(int(np.ceil(missing / STEP)), self._most_steps)
            for _ in range(steps):
                self._step(missing / steps, torque)
            self.time = time

    def _step(self, h: float, torque: np.ndarray) -> None:
        """Continue by h [s]: friction is implicit in v, so that it stops joints at any step."""
        controller, driven, before = self._controller, self._driven, self.v
        force = (torque - controller.coasting_torque(self.q, before))[driven]
        moving = np.where(np.abs(before) < SLOWEST, SLOWEST, before)
        damping = (controller.friction_torque(moving) / moving)[driven]
        inertia = controller.robot.mass_matrix(self.q)[np.ix_(driven, driven)]
        after = before.copy()
        try:
            after[driven] += np.linalg.solve(inertia + h * np.diag(damping),
                                             h * (force - damping * before[driven]))
        except np.linalg.LinAlgError as error:
            raise DynamicsError('the motion of this robot cannot be predicted: its mass matrix is '
                                'singular') from error
        self.q = self.q + 0.5 * h * (before + after)
        self.v = after
