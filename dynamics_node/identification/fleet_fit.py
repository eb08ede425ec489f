"""Identify a fleet: common parameters of robots of one type, and the deviations of each robot.

A hierarchical least-squares problem over the summaries of recordings. In coordinates in which the
prior around the URDF is |m|^2 (see consistent_fit.py), robot r has the base parameters

    x_r = G pi_0 + L (m + u_r),    u_r ~ N(0, D),    R_r x_r = z_r + noise of variance 1

with L = G A^-1. D is diagonal: one variance for all inertias and one for each joint parameter, the
spread of the fleet. With B_r = R_r L and K_r = 1 + B_r D B_r' the common part is

    m = H^-1 sum_r B_r' K_r^-1 (z_r - R_r G pi_0),    H = weight + sum_r B_r' K_r^-1 B_r

and the deviation u_r = D B_r' K_r^-1 (z_r - R_r G pi_0 - B_r m). The variances are those of
greatest evidence, by the fixed point of MacKay (1992): sum of u^2 over the number of deviations
that the data determine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import check_kind, check_sequence, mapping, positive
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.consistent_fit import (
    Prior,
    consistent_fit,
    prior_of_scales,
)
from dynamics_node.identification.fleet_drift import ParameterDrift, drifts, gain, torque_change
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.linear_fit import TriangularProblem
from dynamics_node.identification.parameters import (
    ParameterLayout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording_summary import (
    RecordingSummary,
    model_hash,
    own_problem,
    summary_base,
)
from dynamics_node.identification.robot_fit import MASSES
from dynamics_node.identification.sequential_qr import TriangularFactors
from dynamics_node.identification.uncertainty import Spread, full_spread
from dynamics_node.robot.robot import Robot

LEAST_ROBOTS = 3
FIRST_SPREAD = 0.3      # of the iteration, in units of the prior: 1 is 100 % of a body
LEAST_SPREAD = 1e-3     # smaller spreads count as this one
LEAST_DETERMINED = 0.5        # number of determined deviations below which a spread is not changed
MAX_STEPS, SETTLED = 500, 1e-3
EXAMPLE = "{'arm_1': [summary, ...], 'arm_2': [summary]}"


class FleetMember(NamedTuple):
    """One robot of a fleet."""

    name: str
    robot: Robot               # physically consistent, as identified with the fleet as prior
    values: np.ndarray         # (size,) its parameters
    deviation: np.ndarray      # (b,) of its base parameters from the common ones
    sigma: np.ndarray          # (b,) standard deviation of `deviation`
    distance: float            # greatest deviation, in standard deviations of the other robots:
    #                            up to 3 is usual, 4 and more is not
    unusual: str               # the base parameter of that deviation
    torque: np.ndarray         # (nv,) RMS of its recordings [N m or N]
    torque_change: np.ndarray  # (nv,) RMS difference to the common model on its motion [N m or N]
    recordings: int
    drifts: tuple[ParameterDrift, ...]  # of later recordings, against the first one

    @property
    def share(self) -> float:
        """RMS difference of torques to the common model, as a share of the torque."""
        return float(np.linalg.norm(self.torque_change) / np.linalg.norm(self.torque))


class FleetIdentification(NamedTuple):
    """Common parameters of a fleet, and its robots."""

    common: Robot                   # physically consistent
    layout: ParameterLayout         # of the vectors `values`
    values: np.ndarray              # (size,) common parameters
    before: np.ndarray              # (size,) of the URDF
    spread: Spread                  # of the common parameters
    base: BaseParameters
    base_values: np.ndarray         # (b,) common base parameters, of the linear problem
    base_sigma: np.ndarray          # (b,) their standard deviations
    variation: dict[str, float]     # {'inertia' or joint parameter: standard deviation between
    #                                 robots}; of inertias a share, 0.05 is 5 % of a body
    robots: tuple[FleetMember, ...]   # the most unusual one first


class _Robot(NamedTuple):
    """The problem of one robot, in whitened coordinates."""

    B: np.ndarray    # (b, size)
    z: np.ndarray    # (b,) misfit of the URDF


def identify_fleet(robot: Robot, recordings: Mapping[str, Sequence[RecordingSummary]],
                   prior_weight: float = 1.0) -> FleetIdentification:
    """Return the common parameters of robots of one type and the deviations of each.

    :param robot: the URDF that all robots have in common, as it was given to `summarize`.
    :param recordings: {name of a robot: summaries of its recordings}; the order has no effect.
    :param prior_weight: 1 trusts the inertias of the URDF to within 100 %, 100 to 10 %.
    :raise DynamicsError: too few robots, or recordings that belong to another model.
    """
    base = summary_base(robot)
    own = _checked(robot, base, recordings)
    layout, known = base.layout, parameter_values(robot, base.layout)
    everything = [each for summaries in own.values() for each in summaries]
    scales = np.mean([each.scales for each in everything], axis=0)
    unit = prior_of_scales(layout, known, scales, 1.0)
    L = np.linalg.solve(unit.A.T, base.grouping.T).T      # G A^-1
    start = base.values(unit.values)
    problems = {name: _joint_problem(base, summaries) for name, summaries in own.items()}
    reduced = [_Robot(M[:, :-1] @ L, M[:, -1] - M[:, :-1] @ start) for M in problems.values()]
    kinds = np.array(_kinds(layout))
    D = _variances(reduced, kinds, positive('prior_weight', prior_weight))
    m, H = _common(reduced, D, prior_weight)
    deviations = [_deviation(each, D, m, H) for each in reduced]

    prior = prior_of_scales(layout, known, scales, prior_weight, MASSES)
    common = consistent_fit(base, _marginal(problems.values(), L, D), prior)
    common.values[layout.known] = known[layout.known]
    of_robot = Prior(common.values, unit.A / np.sqrt(D)[:, None])
    members = [_member(name, robot, base, own[name], problems[name], deviation,
                       _of_others(deviations, k, kinds, D), of_robot, L, D)
               for k, (name, deviation) in enumerate(zip(own, deviations))]
    return FleetIdentification(
        robot_with_parameters(robot, layout, common.values), layout, common.values, known,
        full_spread(common, prior, np.ones(layout.size)), base, start + L @ m,
        np.linalg.norm(np.linalg.solve(np.linalg.cholesky(H), L.T), axis=0),
        _variation(kinds, D, unit),
        tuple(sorted(members, key=lambda each: -each.distance)))


def _checked(robot: Robot, base: BaseParameters,
             recordings: Mapping[str, Sequence[RecordingSummary]]
             ) -> dict[str, list[RecordingSummary]]:
    """Return {name: [summary, ...]} in the order of time; refuse those of other models."""
    recordings = mapping('recordings', recordings, EXAMPLE)
    if len(recordings) < LEAST_ROBOTS:
        raise DynamicsError(f'recordings has {len(recordings)} robots; the spread of a fleet needs '
                            f'{LEAST_ROBOTS} or more. Use `identify_recording` for one robot')
    expected = model_hash(robot, base)
    for name, summaries in recordings.items():
        if not check_sequence(f'recordings of {name}', summaries):
            raise DynamicsError(f'recordings has no recording of {name}')
        for each in summaries:
            if check_kind(f'recordings of {name}', each, RecordingSummary).model != expected:
                raise DynamicsError(f'a recording of {name} was summarised with another URDF, '
                                    'payload or friction: summarise it again with this robot')
    return {name: sorted(recordings[name], key=lambda each: (each.begin, each.duration))
            for name in sorted(recordings)}


def _kinds(layout: ParameterLayout) -> list[str]:
    """Return the group of each parameter: those of a group have the same spread.

    Inertias are one group, in units of their own size. A joint parameter is a group of its own:
    friction is not proportional to the torque of a joint.
    """
    return ['inertia'] * layout.inertial + list(layout.names[layout.inertial:])


def _common(robots: list[_Robot], D: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, H): whitened common parameters and their inverse covariance."""
    H, g = weight * np.eye(len(D)), np.zeros(len(D))
    for each in robots:
        W = gain(each.B, D).T / D      # K^-1 B
        H += each.B.T @ W
        g += W.T @ each.z
    return np.linalg.solve(H, g), H


def _deviation(robot: _Robot, D: np.ndarray, m: np.ndarray, H: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:
    """Return (u, its covariance), with the uncertainty of the common parameters."""
    P = gain(robot.B, D)
    told = P @ robot.B
    u = P @ (robot.z - robot.B @ m)
    return u, np.diag(D) - told * D + told @ np.linalg.solve(H, told.T)


def _joint_problem(base: BaseParameters, summaries: list[RecordingSummary]) -> np.ndarray:
    """Return [R, z] of all recordings of a robot, (b, b + 1)."""
    return r_factor(np.vstack([own_problem(base, each) for each in summaries]))[:base.size]


def _variances(robots: list[_Robot], kinds: np.ndarray, weight: float) -> np.ndarray:
    """Return D: the variance of each deviation, equal within a kind."""
    D = np.full(len(kinds), FIRST_SPREAD ** 2)
    for _ in range(MAX_STEPS):
        m, H = _common(robots, D, weight)
        new = _updated(D, kinds, [_deviation(each, D, m, H) for each in robots])
        done = np.abs(np.log(new / D)).max() < SETTLED
        D = new
        if done:
            break
    return D


def _updated(D: np.ndarray, kinds: np.ndarray, deviations: list[tuple[np.ndarray, np.ndarray]]
             ) -> np.ndarray:
    """Return the variances of deviations (u, covariance): a step of the fixed point."""
    none = np.zeros(len(D))
    squares = sum((u ** 2 for u, _ in deviations), none)
    told = sum((1.0 - np.diag(covariance) / D for _, covariance in deviations), none)
    new = D.copy()
    for kind in set(kinds.tolist()):
        at = kinds == kind
        if told[at].sum() > LEAST_DETERMINED:
            new[at] = max(squares[at].sum() / told[at].sum(), LEAST_SPREAD ** 2)
    return new


def _of_others(deviations: list[tuple[np.ndarray, np.ndarray]], k: int, kinds: np.ndarray,
               D: np.ndarray) -> np.ndarray:
    """Return the variances without robot k: it must not hide in a spread that it has caused."""
    return _updated(D, kinds, deviations[:k] + deviations[k + 1:])


def _variation(kinds: np.ndarray, D: np.ndarray, unit: Prior) -> dict[str, float]:
    """Return {group: standard deviation}, of joint parameters in their units."""
    sizes = np.sqrt(D) / np.where(kinds == 'inertia', 1.0, np.diag(unit.A))
    return dict(zip(kinds.tolist(), sizes.tolist()))


def _marginal(problems: Iterable[np.ndarray], L: np.ndarray, D: np.ndarray) -> TriangularProblem:
    """Return the TriangularProblem of the common base parameters, deviations integrated out."""
    rows = []
    for M in problems:
        B = M[:, :-1] @ L
        K = np.linalg.cholesky(np.eye(len(B)) + (B * D) @ B.T)
        rows.append(np.linalg.solve(K, M))
    R = r_factor(np.vstack(rows))
    count = R.shape[1] - 1
    return TriangularProblem(R[:count, :count], R[:count, count])


def _member(name: str, robot: Robot, base: BaseParameters, summaries: list[RecordingSummary],
            problem: np.ndarray, deviation: tuple[np.ndarray, np.ndarray], of_others: np.ndarray,
            prior: Prior, L: np.ndarray, D: np.ndarray) -> FleetMember:
    """Return the FleetMember of one robot."""
    u, covariance = deviation
    found = consistent_fit(base, TriangularProblem(problem[:, :-1], problem[:, -1]), prior)
    found.values[base.layout.known] = prior.values[base.layout.known]
    factors = TriangularFactors(tuple(np.vstack([each.factors.R[k] for each in summaries])
                                      for k in range(len(base.depends))),
                                sum(each.factors.samples for each in summaries))
    weights = np.array([each.factors.samples for each in summaries])
    torque = np.sqrt(weights @ [each.torque ** 2 for each in summaries] / weights.sum())
    distances = np.abs(L @ u) / np.sqrt(L ** 2 @ of_others)
    start = base.values(prior.values)
    own = (own_problem(base, each) for each in summaries)
    return FleetMember(
        name, robot_with_parameters(robot, base.layout, found.values), found.values, L @ u,
        np.sqrt(np.maximum(np.einsum('ij,jk,ik->i', L, covariance, L), 0.0)),
        float(distances.max()), base.names[int(distances.argmax())], torque,
        torque_change(base, factors, L @ u), len(summaries),
        drifts(base, summaries, [_Robot(M[:, :-1] @ L, M[:, -1] - M[:, :-1] @ start)
                                 for M in own], L, D))
