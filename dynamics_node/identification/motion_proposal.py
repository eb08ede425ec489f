"""Propose motions that would determine what a recording does not.

The information of a recording about the base parameters x is H = R'R (see linear_fit.py). A motion
that is recorded as well adds J = sum Y'Y / noise^2, with the regressor Y at its states: the
deviations of x that both would give are known before anything moves. Of the motions of one joint
(joint_motion.py) those are chosen one after the other that reduce deviations most, until all base
parameters are determined; then those are left out that are not needed.

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
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.uncertainty import Spread
from dynamics_node.robot.robot import Robot

RECORDED_POSES, RANDOM_POSES = 6, 6
MOST = 8               # motions
WIDE = 10.0            # times the deviation of the prior: what is assumed of x without data
AIM = 0.7              # of the deviation that counts as determined
WORTH = 0.1            # least gain of a motion: sum of logarithms of the deviations
CONSIDERED = 500       # samples of the recording, of which poses are chosen


class MotionProposal(NamedTuple):
    """Motions to record, and what they would not determine either."""

    motions: tuple[JointMotion, ...]
    rest: tuple[str, ...]    # names of base parameters


class _Candidate(NamedTuple):
    """A motion and the information it adds, (b, b)."""

    motion: JointMotion
    information: np.ndarray


def propose_motions(robot: Robot, base: BaseParameters, fit: LinearFit, spread: Spread,
                    recording: Recording, factor: int, noise: float) -> MotionProposal:
    """Return the MotionProposal of motions that determine the base parameters that a fit does not.

    For a robot with loops no motion is proposed: its joints do not move one by one.

    :param spread: of the base parameters of the fit.
    :param factor: of decimation, as for the fit.
    :param noise: factor of the noise that the fit has, see `LinearFit.with_noise`.
    """
    names = np.array(base.names)
    if spread.determined.all() or base.loops is not None:
        return MotionProposal((), tuple(names[~spread.determined].tolist()))
    step = float(np.median(np.diff(recording.time))) * factor   # [s] between independent rows
    limits = excitation_limits(robot)
    sigma = noise * fit.noise.effective * np.sqrt(step)
    aim = AIM * MAX_SHARE * spread.prior
    start = fit.problem.R.T @ fit.problem.R + np.diag((WIDE * spread.prior) ** -2.0)
    chosen: list[_Candidate] = []
    for poses in (_recorded_poses(recording.q), _random_poses(limits)):
        motions = [motion for pose in poses for motion in joint_motions(robot, limits, pose)]
        H = _with(start, chosen)
        _choose(_best(robot, base, sigma, motions, H, aim), H, aim, chosen)
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
    rest = names[_lacking(_with(start, chosen), MAX_SHARE * spread.prior)]
    return MotionProposal(tuple(found), tuple(rest.tolist()))


def _with(H, chosen):
    """Return the information H with that of motions."""
    return H + sum((each.information for each in chosen), np.zeros_like(H))


def _counted(chosen):
    """Return [(candidate, how often it was chosen)]."""
    first = {id(each): each for each in chosen}
    return [(each, sum(other is each for other in chosen)) for each in first.values()]


def _deviations(H):
    """Return the standard deviations of x with the information H, (b,)."""
    scale = np.sqrt(np.diag(H))
    return np.sqrt(np.diag(np.linalg.inv(H / np.outer(scale, scale)))) / scale


def _lacking(H, aim):
    """Return which deviations are greater than `aim`, (b,)."""
    return _deviations(H) > aim


def _misses(H, aim):
    """Return how far the deviations are from `aim`: the sum of their logarithms."""
    return float(np.log(np.maximum(_deviations(H) / aim, 1.0)).sum())


def _best(robot: Robot, base: BaseParameters, sigma: np.ndarray,
          motions: Sequence[JointMotion], H: np.ndarray, aim: np.ndarray) -> list[_Candidate]:
    """Return for each parameter that lacks information the motion that tells most about it.

    The direction of its deviation is a column of the covariance; the motion counts by the torque
    that a step in this direction changes, in units of the noise.
    """
    lacking = _lacking(H, aim)
    if not lacking.any() or not motions:
        return []
    C = np.linalg.inv(H)
    directions = C[:, lacking] / np.sqrt(np.diag(C)[lacking])
    tells = np.array([((_rows(robot, base, sigma, motion) @ directions) ** 2).sum(axis=0)
                      for motion in motions])
    found = []
    for k in dict.fromkeys(tells.argmax(axis=0).tolist()):
        Y = _rows(robot, base, sigma, motions[k])
        found.append(_Candidate(motions[k], Y.T @ Y))
    return found


def _rows(robot, base, sigma, motion):
    """Return the regressor of a motion in units of its noise, (rows, b).

    :param sigma: (rows of torques,) noise of a second of data.
    """
    Y = parameter_regressor(robot, base.layout, *motion.judged_states(robot))
    Y = Y[:, base.rows][..., base.kept] * np.sqrt(motion.duration / SAMPLES)
    return (Y / sigma[:, None]).reshape(-1, base.size)


def _choose(candidates: Sequence[_Candidate], H: np.ndarray, aim: np.ndarray,
            chosen: list[_Candidate]) -> None:
    """Add the candidates that reduce deviations most to `chosen`, whose information H has."""
    misses = _misses(H, aim)
    while candidates and misses > 0.0 and len(chosen) < MOST:
        each = [_misses(H + candidate.information, aim) for candidate in candidates]
        best = int(np.argmin(each))
        if each[best] > misses - WORTH:
            break
        chosen.append(candidates[best])
        H, misses = H + candidates[best].information, each[best]


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
