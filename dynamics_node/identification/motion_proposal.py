"""Propose motions that would determine what a recording does not.

The information of a recording about the base parameters x is H = R'R (see linear_fit.py). A motion
that is recorded as well adds J = sum Y'Y / noise^2, with the regressor Y at its states: the
deviations of x that both would give are known before anything moves. Neither H nor J is formed,
but triangular factors of them, with x in units of its prior deviation: H is singular to rounding
where joints move in proportion. The candidates are motions of one joint (joint_motion.py). The one
that reduces the deviations most is chosen, then the next, until all base parameters are determined;
motions that turn out not to be needed are removed at the end.

The other joints hold poses of the recording, which are known to be free, and, for what is still
not determined, random poses within the limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.consistent_fit import MAX_SHARE
from dynamics_node.identification.excitation_limits import ExcitationLimits, excitation_limits
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.joint_motion import SAMPLES, JointMotion, joint_motions
from dynamics_node.identification.linear_fit import LinearFit
from dynamics_node.identification.parameters import parameter_regressor
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.uncertainty import Spread, standard_deviations
from dynamics_node.robot.robot import Robot

RECORDED_POSES, RANDOM_POSES = 6, 6
MOST = 8               # motions
WIDE = 10.0            # times the deviation of the prior: what is assumed of x without data
UNKNOWN = 1e-5         # deviations of the prior: the inverse of what data alone leave open
AIM = 0.7              # of the deviation that counts as determined
WORTH = 0.1            # least gain of a motion: sum of logarithms of the deviations
FINEST = 1e-9          # of the deviation of the prior: the data are not taken for more accurate
CONSIDERED = 500       # samples of the recording, of which poses are chosen


class MotionProposal(NamedTuple):
    """Motions to record, and what they would not determine either."""

    motions: tuple[JointMotion, ...]
    rest: tuple[str, ...]    # names of base parameters


class _Candidate(NamedTuple):
    """A motion and the information R'R it adds."""

    motion: JointMotion
    R: np.ndarray    # (at most b, b)


def propose_motions(robot: Robot, base: BaseParameters, fit: LinearFit, spread: Spread,
                    recording: Recording, factor: int, noise: float) -> MotionProposal:
    """Return the MotionProposal of motions that determine the base parameters that a fit does not.

    For a robot with loops no motion is proposed: its joints do not move one by one.

    :param spread: spread of the base parameters of the fit.
    :param factor: factor of decimation, as for the fit.
    :param noise: factor of the noise that the fit has, see `LinearFit.with_noise`.
    """
    names = np.array(base.names)
    if spread.determined.all() or base.loops is not None:
        return MotionProposal((), tuple(names[~spread.determined].tolist()))
    step = float(np.median(np.diff(recording.time))) * factor   # [s] between independent rows
    limits = excitation_limits(robot)
    data = fit.problem.R * spread.prior
    louder = max(1.0, FINEST * np.linalg.norm(data, axis=0).max())
    # in units of the prior, as the deviations of x are
    sigma = louder * noise * fit.noise.effective[:, None] * np.sqrt(step) / spread.prior
    aim = AIM * MAX_SHARE
    alone = np.vstack([data / louder, UNKNOWN * np.eye(base.size)])
    start = r_factor(np.vstack([alone, np.eye(base.size) / WIDE]))
    chosen: list[_Candidate] = []
    for poses in (_recorded_poses(recording.q), _random_poses(limits)):
        motions = [motion for pose in poses for motion in joint_motions(robot, limits, pose)]
        R = _with(start, chosen)
        _choose(_best(robot, base, sigma, motions, R, aim), R, aim, chosen)
        if not _lacking(_with(start, chosen), aim).any():
            break
    lacking = _lacking(_with(start, chosen), aim)
    for k in reversed(range(len(chosen))):   # those that the others make unnecessary
        others = chosen[:k] + chosen[k + 1:]
        if (_lacking(_with(start, others), aim) == lacking).all():
            chosen = others
    found = []
    for each, times in _counted(chosen):
        others = [other for other in chosen if other is not each]
        needed = names[_lacking(_with(start, others), aim) & ~lacking]
        found.append(each.motion._replace(duration=times * each.motion.duration,
                                          parameters=tuple(needed.tolist())))
    # The spread does not count what is lost in rounding, or weighs rows by other noise.
    unseen = ~spread.determined & ~_lacking(_with(alone, []), aim)
    rest = names[_lacking(_with(alone, chosen), MAX_SHARE) | unseen]
    return MotionProposal(tuple(found), tuple(rest.tolist()))


def _with(R: np.ndarray, chosen: list[_Candidate]) -> np.ndarray:
    """Return the factor (b, b) of the information R'R with that of motions."""
    return r_factor(np.vstack([R, *(each.R for each in chosen)]))


def _counted(chosen: list[_Candidate]) -> list[tuple[_Candidate, int]]:
    """Return [(candidate, how often it was chosen)]."""
    first = {id(each): each for each in chosen}
    return [(each, sum(other is each for other in chosen)) for each in first.values()]


def _lacking(R: np.ndarray, aim: float) -> np.ndarray:
    """Return which deviations are greater than `aim`, (b,)."""
    return standard_deviations(R) > aim


def _misses(R: np.ndarray, aim: float) -> float:
    """Return how far the deviations are from `aim`: the sum of their logarithms."""
    return float(np.log(np.maximum(standard_deviations(R) / aim, 1.0)).sum())


def _best(robot: Robot, base: BaseParameters, sigma: np.ndarray,
          motions: Sequence[JointMotion], R: np.ndarray, aim: float) -> list[_Candidate]:
    """Return for each parameter that lacks information the motion that determines it best.

    The direction of its deviation is a column of the covariance; the motion counts by the torque
    that a step in this direction changes, in units of the noise.
    """
    lacking = _lacking(R, aim)
    if not lacking.any() or not motions:
        return []
    root = np.linalg.inv(R)   # of the covariance
    directions = root @ (root[lacking] / standard_deviations(R)[lacking, None]).T
    tells = np.array([((_rows(robot, base, sigma, motion) @ directions) ** 2).sum(axis=0)
                      for motion in motions])
    return [_Candidate(motions[k], r_factor(_rows(robot, base, sigma, motions[k])))
            for k in dict.fromkeys(tells.argmax(axis=0).tolist())]


def _rows(robot: Robot, base: BaseParameters, sigma: np.ndarray, motion: JointMotion) -> np.ndarray:
    """Return the regressor of a motion in units of its noise, (rows, b).

    :param sigma: (rows of torques, b) noise of a second of data, by the units of x.
    """
    Y = parameter_regressor(robot, base.layout, *motion.judged_states(robot))
    Y = Y[:, base.rows][..., base.kept] * np.sqrt(motion.duration / SAMPLES)
    return (Y / sigma).reshape(-1, base.size)


def _choose(candidates: Sequence[_Candidate], R: np.ndarray, aim: float,
            chosen: list[_Candidate]) -> None:
    """Add the candidates that reduce deviations most to `chosen`, whose information R has."""
    misses = _misses(R, aim)
    while candidates and misses > 0.0 and len(chosen) < MOST:
        each = [_misses(_with(R, [candidate]), aim) for candidate in candidates]
        best = int(np.argmin(each))
        if each[best] > misses - WORTH:
            break
        chosen.append(candidates[best])
        R, misses = _with(R, [candidates[best]]), each[best]


def _recorded_poses(q: np.ndarray) -> np.ndarray:
    """Return poses of a recording that are far from each other, (RECORDED_POSES, nq)."""
    q = q[::1 + len(q) // CONSIDERED]
    poses = [q[0]]
    while len(poses) < RECORDED_POSES:
        distance = np.min([np.linalg.norm(q - pose, axis=1) for pose in poses], axis=0)
        poses.append(q[distance.argmax()])
    return np.array(poses)


def _random_poses(limits: ExcitationLimits) -> np.ndarray:
    """Return random poses within the limits, always the same, (RANDOM_POSES, nq)."""
    rng = np.random.default_rng(0)
    return rng.uniform(limits.lower, limits.upper, (RANDOM_POSES, len(limits.lower)))
