"""Solve inverse kinematics: in closed form, else by damped Newton steps with random restarts.

Float only. If the arm has closed-form solutions within the limits, the nearest to the start is
returned. Otherwise Newton's method runs from the start; if it fails, from random configurations in
batches. If all fail, the best is refined to a stationary point, and the reason of the failure is
determined.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynamics_node.model import configuration
from dynamics_node.model.model import Model
from dynamics_node.spatial.select import Number
from dynamics_node.task_space.closed_form import SixAxisArm, closed_form
from dynamics_node.task_space.newton_step import NewtonStep
from dynamics_node.task_space.target import Target

# Damping factor of newton_step. With 0.01 to 0.1 a random start solves 50 % (Panda) to 95 %
# (Kinova) of random poses, in 8 to 10 steps (median); with 1 in 16 to 19 steps.
CAUTION = 0.03
MOST_STEPS = 40    # from one configuration
LOOK_EVERY = 8     # steps between progress checks
FALLEN = 0.5       # stop if the cost has not fallen to this share between two checks
BATCH = 8          # random configurations in one call, one per SIMD lane
SETTLING = 1000    # greatest number of steps to a stationary point
FLAT = 1e-12       # slope^2 as a share of the cost: stationary
REST_EVERY = 32    # steps between checks for a flat valley, where the slope vanishes too slowly
CREEPING = 1e-6    # stationary if the cost has not fallen by this share between two checks
NUDGE = 0.05       # perturbation that tests whether a stationary point is a minimum [rad, m]
LOWER = 0.99       # not a minimum if a perturbed cost falls below this share
ROUNDS = 3         # greatest number of stationary points tried
BOUNDLESS = 1e10   # value of an absent limit
NEAR = 1e-2        # error of a closed form that Newton's method may refine [m or rad]
REFINEMENTS = 4    # greatest number of steps from a closed form
SAME = 1e-4        # solutions that differ by less are one [rad]
SPAN = np.pi       # range about the start of random configurations of unlimited joints [rad]
REASONS = ('solved', 'limits', 'singular', 'out of reach', 'iterations')


class InverseKinematics(NamedTuple):
    """The best configuration found, its errors, and the reason if it is not a solution.

    `reason` is 'solved', or:
    'limits'        without the joint limits there is a solution;
    'singular'      stopped at a singular configuration that is not a minimum: allow restarts;
    'out of reach'  no better configuration nearby, with or without limits: too far away, too few
                    joints, or targets that contradict each other;
    'iterations'    the error was still decreasing.
    """

    q: np.ndarray      # (nq,) always within the limits
    success: bool      # whether every error is within the tolerance
    error: np.ndarray  # (targets, 2): position [m] and rotation [rad]; 0 where not prescribed
    reason: str        # one of REASONS
    iterations: int    # steps from the start, and of batches of restarts
    restarts: int      # configurations tried besides the start
    solutions: np.ndarray  # (k, nq) within the limits, q first; all of them if `complete`
    complete: bool     # whether a closed form has found all solutions, nearest to the start first


class SearchProblem(NamedTuple):
    """Data of a search, shared by all its stages."""

    model: Model
    step: Callable       # newton_step of this model and its parts, of single states and batches
    goal: np.ndarray     # numbers of all parts, see newton_step.py
    limits: np.ndarray   # (2 nq,) finite
    start: np.ndarray    # (nq,)


class Candidate(NamedTuple):
    """A configuration and the result of newton_step there."""

    q: np.ndarray
    step: NewtonStep
    iterations: int

    @property
    def solved(self) -> bool:
        return self.step.miss.item() <= 1.0


def goal_of(targets: Sequence[Target], tolerance: tuple[float, float]) -> np.ndarray:
    """Return the argument `goal` of newton_step for some targets.

    Weights are relative to the largest: only their ratios matter.
    """
    parts = [part for target in targets for part in target.parts]
    unit = 1.0 / max(part.weight for part in parts)
    position, rotation = (1.0 / tol ** 2 for tol in tolerance)
    return np.array([number for part in parts for number in (
        *part.numbers, part.weight * unit, position if part.kind == 'position' else rotation)])


@lru_cache(maxsize=32)
def limits_of(model: Model) -> np.ndarray:
    """Return the lower and upper limits of q, finite, (2 nq,)."""
    lower, upper = np.full(model.nq, -BOUNDLESS), np.full(model.nq, BOUNDLESS)
    for joint in model.joints:
        if joint.kind != 'floating':
            lower[joint.q], upper[joint.q] = (np.clip(limit, -BOUNDLESS, BOUNDLESS)
                                              for limit in (joint.lower, joint.upper))
    return np.concatenate([lower, upper])


def inverse_kinematics(model: Model, step: Callable, targets: Sequence[Target], start: np.ndarray,
                       tolerance: tuple[float, float], restarts: int, seed: int,
                       arm: SixAxisArm | None = None,
                       solve: Callable | None = None) -> InverseKinematics:
    """Return the InverseKinematics of some targets.

    :param step: newton_step(q, goal, limits, caution) of this model and the targets' parts.
    :param targets: sequence of Target.
    :param start: (nq,); clipped to the limits.
    :param tolerance: (position [m], rotation [rad]).
    :param restarts: greatest number of random configurations besides the start.
    :param arm: the arm whose closed form is tried first, None for none.
    :param solve: arm_solution(q, goal, branch) of this model and the targets' parts.
    """
    limits = limits_of(model)
    start = np.minimum(np.maximum(start, limits[:model.nq]), limits[model.nq:])
    problem = SearchProblem(model, step, goal_of(targets, tolerance), limits, start)
    if arm is not None and solve is not None:
        nearest, solutions = _refined(problem, closed_form(arm, solve, problem.goal, start))
        if nearest is not None:
            return _result(targets, nearest, 'solved', 0)._replace(solutions=solutions,
                                                                   complete=True)
    found, tried = _descend(problem), 0
    while tried < restarts and not found.solved:
        again = random_starts(problem, seed, tried, min(BATCH, restarts - tried))
        found = _better(found, _descend_batch(problem, again))
        tried += len(again)
    if found.solved:
        return _result(targets, found, 'solved', tried)
    found, reason = _closest(problem, found, seed, restarts > 0)
    return _result(targets, found, reason, tried)


def _refined(problem: SearchProblem, starts: np.ndarray) -> tuple[Candidate | None, np.ndarray]:
    """Return (the nearest Candidate, all solutions), from starts near solutions.

    Each solution comes once, the nearest to the start of the problem first; None without any.
    """
    if len(starts) == 0:
        return None, starts
    same = _for_rows(problem, len(starts))
    q, found, k = starts, problem.step(starts, *same), 1
    solved = found.miss <= 1.0
    if not solved.all():
        near = np.maximum.reduce(found.errors, axis=1) <= NEAR ** 2
        while k <= REFINEMENTS and not solved[near].all():
            q, k = found.q, k + 1
            found = problem.step(q, *same)
            solved = near & (found.miss <= 1.0)
        if not solved.any():
            return None, starts[:0]
    order = np.argsort(np.where(solved, np.abs(q - problem.start).sum(axis=1), np.inf))
    nearest = Candidate(q[order[0]], type(found)(*(part[order[0]] for part in found)), k)
    return nearest, _different(q[order[:np.count_nonzero(solved)]])


def _different(q: np.ndarray) -> np.ndarray:
    """Return the rows of angles, each once: rows that differ by whole turns only are the same."""
    z = np.exp(1j * q)
    # sum of the cosines of the differences of two rows
    same = (z @ z.conj().T).real > q.shape[1] - 0.5 * SAME ** 2
    return q[same.argmax(axis=1) == np.arange(len(q))]


def _for_rows(problem: SearchProblem, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arguments of `step` that are the same for each of n configurations."""
    return (problem.goal[None].repeat(n, axis=0), problem.limits[None].repeat(n, axis=0),
            np.full((n, 1), CAUTION))


def _descend(problem: SearchProblem) -> Candidate:
    """Return the Candidate reached from the start; stop where the cost falls too slowly."""
    _, step, goal, limits, q = problem
    caution = np.array([CAUTION])
    found, before = step(q, goal, limits, caution), np.inf
    for k in range(1, MOST_STEPS + 1):
        if found.miss.item() <= 1.0:  # ten times as fast as a comparison of arrays
            break
        if k % LOOK_EVERY == 0:
            if found.cost > FALLEN * before:
                break
            before = found.cost
        q = found.q
        found = step(q, goal, limits, caution)
    return Candidate(q, found, k)


def _descend_batch(problem: SearchProblem, starts: np.ndarray) -> Candidate:
    """Return the first solved Candidate, of several the nearest to the start; else the best."""
    same = _for_rows(problem, len(starts))
    q, found, k = starts, problem.step(starts, *same), 1
    while k <= MOST_STEPS and np.minimum.reduce(found.miss) > 1.0:
        q, k = found.q, k + 1
        found = problem.step(q, *same)
    solved = found.miss <= 1.0
    distance = np.abs(q - problem.start).sum(axis=1)
    row = int(np.argmin(np.where(solved, distance, np.inf) if solved.any() else found.cost))
    return Candidate(q[row], type(found)(*(part[row] for part in found)), k)


def _better(one: Candidate, other: Candidate) -> Candidate:
    """Return the solved Candidate, or that of lower cost, with the steps of both."""
    best = other if other.solved or other.step.cost < one.step.cost else one
    return best._replace(iterations=one.iterations + other.iterations)


def random_starts(problem: SearchProblem, seed: int, first: int, count: int) -> np.ndarray:
    """Return random configurations within the limits, (count, nq); floating joints near the start.

    :param first: number of configurations of this seed used before.
    """
    nq = problem.model.nq
    lower = np.where(problem.limits[:nq] > -BOUNDLESS, problem.limits[:nq], problem.start - SPAN)
    upper = np.where(problem.limits[nq:] < BOUNDLESS, problem.limits[nq:], problem.start + SPAN)
    uniform, normal = _draws(seed, first // BATCH, nq, problem.model.nv)
    q = lower + (upper - lower) * uniform[:count]
    for joint in problem.model.joints:
        if joint.kind == 'floating':
            q[:, joint.q] = _beside(problem, normal[:count])[:, joint.q]
    return q


def _beside(problem: SearchProblem, v: np.ndarray) -> np.ndarray:
    """Return the configurations reached from the start by velocities v in 1 s, (len(v), nq)."""
    return np.array([configuration.integrate(problem.model, problem.start, row) for row in v])


@lru_cache(maxsize=256)
def _draws(seed: int, which: int, nq: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random uniform (BATCH, nq) and normal (BATCH, nv) numbers, cached."""
    rng = np.random.default_rng([seed, which])
    return rng.random((BATCH, nq)), rng.normal(size=(BATCH, nv))


def _closest(problem: SearchProblem, found: Candidate, seed: int, may_leave: bool
             ) -> tuple[Candidate, str]:
    """Return (the Candidate nearest to the targets, the reason why it is not a solution)."""
    for _ in range(ROUNDS):
        found, at_rest = _settled(problem, found)
        if found.solved:
            return found, 'solved'
        if not at_rest:
            return found, 'iterations'
        beside = problem._replace(start=found.q)
        elsewhere = _descend_batch(beside, _nudged(beside, seed))
        if not (elsewhere.solved or elsewhere.step.cost < LOWER * found.step.cost):
            break
        if not may_leave:
            return found, 'singular'
        found = _better(found, elsewhere)
    if found.solved:
        return found, 'solved'
    free = problem._replace(limits=np.repeat([-BOUNDLESS, BOUNDLESS], problem.model.nq))
    if (problem.limits != free.limits).any() and _descend_batch(
            free, np.concatenate([_nudged(free._replace(start=found.q), seed),
                                  random_starts(problem, seed, 0, BATCH)])).solved:
        return found, 'limits'
    return found, 'out of reach'


def _nudged(problem: SearchProblem, seed: int) -> np.ndarray:
    """Return configurations near the start, within the limits, (BATCH, nq)."""
    nq = problem.model.nq
    _, normal = _draws(seed, 0, nq, problem.model.nv)
    return np.clip(_beside(problem, NUDGE * normal), problem.limits[:nq], problem.limits[nq:])


def _settled(problem: SearchProblem, found: Candidate) -> tuple[Candidate, bool]:
    """Return (Candidate at a stationary point of the cost, whether it was reached).

    Levenberg-Marquardt: a step that does not lower the cost is undone, and the damping raised.
    """
    q, current, caution = found.q, found.step, CAUTION
    before: Number = np.inf
    for k in range(1, SETTLING + 1):
        if current.slope <= FLAT * current.cost or current.miss <= 1.0:
            return Candidate(q, current, found.iterations + k), True
        if k % REST_EVERY == 0:
            if current.cost > (1.0 - CREEPING) * before:
                return Candidate(q, current, found.iterations + k), True
            before = current.cost
        trial = problem.step(current.q, problem.goal, problem.limits, np.array([caution]))
        if trial.cost < current.cost:
            q, current, caution = current.q, trial, caution / 2.0
        else:
            caution *= 4.0
            current = problem.step(q, problem.goal, problem.limits, np.array([caution]))
    return Candidate(q, current, found.iterations + k), False


def _result(targets: Sequence[Target], found: Candidate, reason: str, restarts: int
            ) -> InverseKinematics:
    """Return the InverseKinematics of a Candidate, with the error of every target."""
    error, k = np.zeros((len(targets), 2)), 0
    for row, target in zip(error, targets):
        for part in target.parts:
            row[0 if part.kind == 'position' else 1] = found.step.errors[k] ** 0.5
            k += 1
    solved = reason == 'solved'
    return InverseKinematics(found.q, solved, error, reason, found.iterations, restarts,
                             found.q[None][:solved], False)
