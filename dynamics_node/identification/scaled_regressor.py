"""Compute the condition number of a planned motion: how well it would determine parameters.

It is that of the regressor of base parameters. Rows and columns are scaled independently of the
motion, so that motions can be compared:

* a row is divided by the effort limit of its joint: small motors measure small torques;
* a column is divided by its RMS over random states within the limits. A motion whose columns have
  that RMS and are orthogonal has the condition number 1.
"""

import numpy as np

from dynamics_node.identification.excitation_limits import ExcitationLimits
from dynamics_node.identification.excited_robot import ExcitedTree, excited_robot
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.loop_equations import project, row_regressor
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.robot.robot import Robot

STATES = 300    # random states for the scales
SMOOTHNESS = 4  # p of smooth_condition


class ScaledRegressor:
    """The scaled regressor of base parameters of a robot within its limits."""

    def __init__(self, robot: Robot, limits: ExcitationLimits, bandwidth: float,
                 rng: np.random.Generator, excited: ExcitedTree | None = None) -> None:
        """Compute the scales; bandwidth [rad/s]: usual ratio of accelerations to velocities."""
        self.robot, self.layout = robot, parameter_layout(robot)
        excited = excited_robot(robot) if excited is None else excited
        self.base = base_parameters(robot, self.layout, loops=excited.loops)
        most = np.minimum(limits.acceleration, bandwidth * limits.velocity)
        q, v, a = excited.random_states(rng, limits, most, STATES)
        torque = project(excited.loops, q, robot.inverse_dynamics(q, v, a))
        usual = np.sqrt(np.mean(torque ** 2, axis=0))
        known = np.isfinite(limits.torque)
        self.rows = 1.0 / np.where(known, limits.torque, np.where(usual > 0.0, usual, 1.0))
        self.columns = np.ones(self.base.size)
        self.columns = 1.0 / np.sqrt(np.mean(self.scaled(q, v, a) ** 2, axis=0))

    def scaled(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the scaled regressor of some states, (N rows, base parameters)."""
        Y = row_regressor(self.robot, self.layout, self.base.loops, q, v, a)[..., self.base.kept]
        return (Y * self.rows[:, None] * self.columns).reshape(-1, self.base.size)

    def condition(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
        """Return the condition number of a motion, inf if the regressor is rank deficient."""
        W = self.scaled(q, v, a)
        values = np.linalg.eigvalsh(W.T @ W)   # its squares: exact enough below 1e6
        return float(np.sqrt(values[-1] / values[0])) if values[0] > 0.0 else np.inf

    def weakest(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, count: int = 3) -> list[str]:
        """Return the names of the parameters that the motion determines least."""
        direction = np.linalg.svd(self.scaled(q, v, a), full_matrices=False)[2][-1]
        return [self.base.names[k] for k in np.argsort(-np.abs(direction))[:count]]


def smooth_condition(W: np.ndarray) -> tuple[float, np.ndarray]:
    r"""Return (f, B): a smooth approximation of log cond W, with df = trace(B d(W'W)).

    f = (log sum_i l_i^p + log sum_i l_i^-p) / 2p  with the eigenvalues l of W'W: it is above
    log cond W by log(n) / p at most, and has a gradient where eigenvalues meet.
    """
    p = SMOOTHNESS
    values, vectors = np.linalg.eigh(W.T @ W)
    values = np.maximum(values, 1e-14 * values[-1])
    high, low = (values / values[-1]) ** p, (values / values[0]) ** -p
    f = (np.log(high.sum()) + np.log(low.sum())) / (2 * p) + 0.5 * np.log(values[-1] / values[0])
    slope = (high / high.sum() - low / low.sum()) / (2.0 * values)
    return float(f), (vectors * slope) @ vectors.T
