"""Find the parameters of one robot of a fleet that have changed since its first recording.

Each recording alone, with the fleet as prior, gives u_j = P_j (z_j - R_j x_common). If nothing has
changed, u_j - u_1 has zero mean and, with N(0, D) the spread of the fleet, the covariance

    (P_j B_j - P_1 B_1) D (P_j B_j - P_1 B_1)' + P_j P_j' + P_1 P_1'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.recording_summary import RecordingSummary
from dynamics_node.identification.sequential_qr import TriangularFactors

SIGNIFICANT = 4.0   # standard deviations: one of 60 parameters exceeds it by chance in 0.4 %


class ParameterDrift(NamedTuple):
    """The change of a robot between its first recording and a later one."""

    begin: float                # [s] time stamp of the later recording
    days: float                 # since the first recording
    torque_change: np.ndarray   # (nv,) RMS difference of both models on its motion [N m or N]
    share: float                # of the torque of the later recording
    changed: dict[str, float]   # {base parameter: its change in standard deviations}, significant
    #                             changes, the largest first


def drifts(base: BaseParameters, summaries: Sequence[RecordingSummary], problems: Sequence[Any],
           L: np.ndarray, D: np.ndarray) -> tuple[ParameterDrift, ...]:
    """Return the ParameterDrift of each recording after the first; none without dates.

    :param summaries: summaries of one robot, in the order of time.
    :param problems: one per recording: .B and .z in whitened coordinates, from the common values.
    :param L: (b, size) from whitened to base parameters.
    :param D: (size,) variances of deviations.
    """
    if not all(each.date for each in summaries):   # which one was first is not known
        return ()
    gains = [gain(each.B, D) for each in problems]
    found = []
    for later, problem, P in list(zip(summaries, problems, gains))[1:]:
        first, P1 = problems[0], gains[0]
        change = L @ (P @ problem.z - P1 @ first.z)
        shrinkage = L @ (P @ problem.B - P1 @ first.B)
        variance = ((shrinkage ** 2) @ D + np.sum((L @ P) ** 2, axis=1)
                    + np.sum((L @ P1) ** 2, axis=1))
        z = change / np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        torque = torque_change(base, later.factors, change)
        found.append(ParameterDrift(
            later.begin, (later.begin - summaries[0].begin) / 86400.0, torque,
            float(np.linalg.norm(torque) / np.linalg.norm(later.torque)),
            {base.names[k]: float(z[k]) for k in np.argsort(-np.abs(z))
             if abs(z[k]) > SIGNIFICANT}))
    return tuple(found)


def torque_change(base: BaseParameters, factors: TriangularFactors,
                  change: np.ndarray) -> np.ndarray:
    """Return the RMS torque of a change of the base parameters on recorded motion, (nv,)."""
    return np.array([np.linalg.norm(R[:, :-1] @ change[depends])
                     for R, depends in zip(factors.R, base.depends)]) / np.sqrt(factors.samples)


def gain(B: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return D B' K^-1, (size, b)."""
    return np.linalg.solve(np.eye(len(B)) + (B * D) @ B.T, B * D).T
