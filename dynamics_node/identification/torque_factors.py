"""Estimate the factor between the measured torque of each joint and that of the URDF.

    tau_k = s_k Y_k (pi_0 + L z) + friction, armature and offset of the joint + noise

pi_0 are the inertial parameters of the URDF; L z, with z of variance 1, are their errors: DEVIATION
of each body, in the metric of the prior. The joint parameters are free. So a factor tells only what
the bodies of the URDF, even if they are wrong, cannot explain: a wrist whose torque depends on one
centre of mass has a factor with a large standard deviation. The part that nothing explains is taken
as INDEPENDENT samples, since friction that the model does not have is correlated with the motion.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.consistent_fit import parameter_prior
from dynamics_node.identification.loop_equations import row_regressor
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    payload_parameters,
)
from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

DEVIATION = 0.5       # relative standard deviation of the bodies of a URDF
INDEPENDENT = 4       # samples of the torque that nothing explains
JUDGED = 0.85         # of a torque: if errors of the URDF change it by more, it is not judged
ROUNDING = 1e-6       # of a torque: smaller parts are zero
ROUNDS = 8            # of the search for a factor, since its deviation depends on it


class Factor(NamedTuple):
    """The factor of one joint."""

    value: float
    sigma: float      # standard deviation, inf if it is not determined


class TorqueRow(NamedTuple):
    """The torque of one joint, or with loops of an independent joint, without its own parameters.

    The parts that friction, armature and offset can explain are removed from each series.
    """

    name: str
    tau: np.ndarray       # (N,) measured
    rigid: np.ndarray     # (N,) of the bodies of the URDF and the payloads
    U: np.ndarray         # (N, r) orthonormal: directions in which errors of the URDF change it
    S: np.ndarray         # (r,) the changes by one standard deviation
    sigma: float          # of the part that nothing explains, of independent samples

    @property
    def judged(self) -> bool:
        """Whether the URDF determines this torque well enough: its errors change it little."""
        return bool(np.linalg.norm(self.S) < JUDGED * np.linalg.norm(self.rigid))

    def factor(self, expected: float) -> Factor:
        """Return the Factor; errors of the URDF are `expected` times those of its torque."""
        if not self.rigid.any():   # joint parameters explain it
            return Factor(1.0, np.inf)
        a, b = self.U.T @ self.rigid, self.U.T @ self.tau
        w = 1.0 / ((expected * self.S) ** 2 + self.sigma ** 2)
        beside = self.sigma ** -2
        information = a @ (w * a) + beside * (self.rigid @ self.rigid - a @ a)
        value = (a @ (w * b) + beside * (self.rigid @ self.tau - a @ b)) / information
        return Factor(float(value), float(information ** -0.5))

    def likely_factor(self) -> Factor:
        """Return the Factor with errors of the URDF in proportion to it."""
        found = self.factor(1.0)
        for _ in range(ROUNDS):
            found = self.factor(abs(found.value))
        return found


def torque_rows(robot: Robot, recording: Recording,
                loops: LoopMotion | None = None) -> tuple[TorqueRow, ...]:
    """Return the TorqueRow of each joint with a motor.

    :param recording: a few times more samples than parameters are enough.
    """
    layout = parameter_layout(robot)
    prior = parameter_prior(layout, parameter_values(robot, layout), recording,
                            DEVIATION ** -2, loops)
    own = layout.inertial
    Y = row_regressor(robot, layout, loops, recording.q, recording.v, recording.a)
    rigid = Y[..., :own] @ (prior.values + payload_parameters(robot, layout))[:own]
    errors = Y[..., :own] @ np.linalg.inv(prior.A)[:own, :own]
    rows = np.arange(robot.nv) if loops is None else loops.independent
    used = recording.with_effort if loops is None else np.flatnonzero(loops.active)
    return tuple(
        _row(robot.dof_names[at], recording.tau[:, at], rigid[:, k], errors[:, k], Y[:, k, own:])
        for k, at in enumerate(rows) if at in used)


def _row(name: str, tau: np.ndarray, rigid: np.ndarray, errors: np.ndarray, joint: np.ndarray
         ) -> TorqueRow:
    """Return the TorqueRow; all that the columns of `joint` explain is removed."""
    Q = _basis(joint)[0]
    size = np.linalg.norm(rigid)
    tau, rigid, errors = (x - Q @ (Q.T @ x) for x in (tau, rigid, errors))
    if np.linalg.norm(rigid) <= ROUNDING * size:
        rigid = np.zeros_like(rigid)
    U, S = _basis(errors)
    every = _basis(np.column_stack([U, rigid]))[0]
    left = np.linalg.norm(tau - every @ (every.T @ tau))
    free = max(len(tau) - Q.shape[1] - every.shape[1], 1)
    left = max(left, ROUNDING * np.linalg.norm(tau), np.finfo(float).tiny)
    return TorqueRow(name, tau, rigid, U, S, float(left * np.sqrt(len(tau) / free / INDEPENDENT)))


def _basis(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (orthonormal basis of the columns of A, singular values), without rounding errors."""
    U, S, _ = np.linalg.svd(A, full_matrices=False)
    kept = S / S.max(initial=np.finfo(float).tiny) > ROUNDING
    return U[:, kept], S[kept]
