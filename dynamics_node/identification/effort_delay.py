r"""Estimate and correct the delay of efforts against positions.

Drives filter torques, and bridges collect both from different buses. The delay d is that with the
least squares residual of all torques,

    min_d min_x |tau(t + d) - Y(t) x|^2,

over delays of both signs, with the base parameters x free, so that a wrong URDF does not matter.
The delay is corrected only if the residual falls clearly.
"""

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.decimation import decimate, segments
from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import row_chunks
from dynamics_node.robot.robot import Robot

LONGEST = 0.2          # [s] delays are searched up to this
STEPS = ((LONGEST, 0.01), (0.01, 0.0005))   # [s] (range, step) of the two searches
LEAST = 0.001          # [s] a smaller delay is not corrected
CLEAR = 2.25           # ratio of the squared residuals: their RMS falls by a third. With free
#                        parameters a smaller fall may be due to friction that is not in the model
SAMPLES = 20_000       # at most, from the longest stretch
ROWS_PER_UNKNOWN = 3   # with fewer, the residual does not show a delay


def effort_delay(robot: Robot, recording: Recording, factor: int,
                 loops: LoopMotion | None = None) -> float:
    """Return the delay of efforts [s], positive where they are late; 0 if none is clear.

    :param factor: factor of decimation, as for the fit.
    :param loops: LoopMotion of a robot with loops.
    """
    stretch = max(segments(recording.time), key=lambda rows: rows.stop - rows.start)
    part = recording.rows(slice(stretch.start, min(stretch.stop, stretch.start + SAMPLES)))
    if robot.springs and loops is None:
        part = part._replace(tau=part.tau - robot.spring_torque(part.q, part.v))
    inner = (part.time >= part.time[0] + LONGEST) & (part.time <= part.time[-1] - LONGEST)
    base = base_parameters(robot, parameter_layout(robot), loops=loops,
                           measured=recording.with_effort)
    misfit = _Misfit(robot, base, part, inner, factor)
    if not misfit.determined:
        return 0.0
    delay = 0.0
    for reach, step in STEPS:
        delays = delay + np.arange(-round(reach / step), round(reach / step) + 1) * step
        delays = delays[np.abs(delays) <= LONGEST + 1e-9]
        delay = float(delays[np.argmin([misfit(d) for d in delays])])
    clear = misfit(0.0) > CLEAR * misfit(delay)
    return delay if clear and LEAST <= abs(delay) < LONGEST else 0.0


def advanced(recording: Recording, delay: float) -> Recording:
    """Return the recording with efforts of a later time, t + delay; its ends are shorter."""
    parts = []
    for rows in segments(recording.time):
        part = recording.rows(rows)
        at = part.time + delay
        tau = np.stack([np.interp(at, part.time, column) for column in part.tau.T], axis=-1)
        parts.append(part._replace(tau=tau).rows((at >= part.time[0]) & (at <= part.time[-1])))
    return recording._replace(**{name: np.concatenate([getattr(part, name) for part in parts])
                                 for name in ('time', 'q', 'v', 'a', 'tau')})


class _Misfit:
    """The sum of squared residuals of torques that are shifted in time, over all joints."""

    def __init__(self, robot: Robot, base: BaseParameters, part: Recording, inner: np.ndarray,
                 factor: int) -> None:
        self._part, self._inner, self._factor, self._rows = part, inner, factor, base.rows
        used = part.rows(inner)
        chunks = list(row_chunks(robot, base, used, factor))
        joints = [np.concatenate(parts) for parts in zip(*chunks)] if chunks else []
        count = len(joints[0]) if joints else 0
        self.determined = count * len(joints) > ROWS_PER_UNKNOWN * base.size
        if not self.determined:
            return
        tau = self._decimated(0.0)
        self._known = tau - np.stack([A[:, -1] for A in joints], axis=-1)   # payloads
        self._weights = 1.0 / np.maximum(tau.std(axis=0), 1e-12)
        Y = np.zeros((len(joints), count, base.size))
        for k, (A, depends) in enumerate(zip(joints, base.depends)):
            Y[k][:, depends] = self._weights[k] * A[:, :-1]
        U, s, _ = np.linalg.svd(Y.reshape(-1, base.size), full_matrices=False)
        self._basis = U[:, s > 1e-10 * s[0]]

    def __call__(self, delay: float) -> float:
        tau = (self._weights * (self._decimated(delay) - self._known)).T.ravel()
        return float(tau @ tau - np.sum((self._basis.T @ tau) ** 2))

    def _decimated(self, delay: float) -> np.ndarray:
        """Return the decimated torques at t + delay, (rows, joints)."""
        time, tau = self._part.time, self._part.tau[:, self._rows]
        at = time[self._inner] + delay
        return decimate(np.stack([np.interp(at, time, column) for column in tau.T], axis=-1),
                        self._factor)
