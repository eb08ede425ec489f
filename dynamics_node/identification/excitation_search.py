"""Search the excitation trajectory with the least condition number within all limits.

Fourier series are drawn at random, and the best one is improved by a quasi-Newton method on a
smooth approximation of the logarithm of the condition number, with limits as penalties. The result
is scaled into its limits and checked densely, so that no limit is exceeded. For a robot with loops
the series move the motors, and the motion of all joints that follows from the loops is evaluated,
see excited_robot.py.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.checks import at_least_zero, positive, whole
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.excitation_limits import (
    Box,
    dense_times,
    excitation_limits,
    scaled_within_limits,
)
from dynamics_node.identification.excited_robot import excited_robot
from dynamics_node.identification.fourier import Fourier, at_rest
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.scaled_regressor import ScaledRegressor, smooth_condition
from dynamics_node.robot.robot import Robot

RANDOM_MOTIONS = 100
TRIES = 20           # sets of random configurations that are tried as centres of motion
PER_HARMONIC = 20    # samples per period of the highest harmonic, during the search
PENALTY = 1e3        # of a limit exceeded at all samples by its own size, of a box by 1 m
STEP = 1e-6          # of the variables, for finite differences
MAX_HARMONICS, MAX_ITERATIONS = 1000, 1_000_000
MIN_PERIOD, MAX_PERIOD = 1e-3, 1e6   # [s]
POOR_CONDITION = 100.0   # condition number above which a warning is given
SMALL_MOTION = 0.1   # a joint that uses less than this share of range and speed hardly moves
CANNOT_FOLLOW = 10.0  # where the loops cannot follow: cost above that of the last motion they could

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class ExcitationSettings:
    """Shape and limits of an excitation trajectory, and how long to search."""

    period: float = 10.0              # [s]; the lowest frequency is one over it
    harmonics: int = 5                # the highest frequency is harmonics / period
    margin: float = 0.1               # share of each limit of the URDF that is left unused
    positions: Mapping[str, Sequence[float]] | None = None   # {joint: (lower, upper)} instead of
    #                                   the limits of the URDF [rad or m]
    acceleration: float | Mapping[str, float] | None = None  # limit of all joints or {joint: limit}
    #                                   [rad/s^2 or m/s^2]; None: no limit
    boxes: Sequence[Box] = ()         # where the origins of frames must stay
    seed: int = 0                     # the same seed and iterations give the same motion
    iterations: int = 60              # of the improvement
    seconds: float = np.inf           # end the search after them, with the best motion so far


class Excitation(NamedTuple):
    """An excitation trajectory and its condition number."""

    trajectory: Fourier
    condition: float            # of the scaled regressor, see scaled_regressor.py
    random_condition: float     # of the best random motion, of 100 at most; at least condition
    base_parameters: int        # their number
    warnings: tuple[str, ...]


def _silent(share: float, text: str) -> None:
    """Report no progress."""


def _duration(seconds: float) -> float:
    endless = isinstance(seconds, float) and seconds == np.inf
    return seconds if endless else at_least_zero('seconds', seconds)


def excitation(robot: Robot, settings: ExcitationSettings | None = None,
               progress: Progress | None = None) -> Excitation:
    """Return the Excitation of a robot: one period of a motion, which may be repeated.

    :param progress: f(share, text), called with the share of the work done; may raise to stop.
    :raise DynamicsError: a setting is wrong, or no motion stays within the limits.
    """
    checks.check_callable('progress', progress)
    search = _Search(robot, ExcitationSettings() if settings is None else settings,
                     progress or _silent)
    condition, variables = search.draw()
    if search.settings.iterations:
        search.improve(variables)
    return search.result(condition)


class _Search:
    """The problem of the search, and the best motion so far."""

    def __init__(self, robot: Robot, settings: ExcitationSettings, progress: Progress) -> None:
        check_one_axis(robot)
        checks.check_kind('settings', settings, ExcitationSettings)
        if not (isinstance(settings.harmonics, int) and 2 <= settings.harmonics <= MAX_HARMONICS):
            raise DynamicsError(f'harmonics is {shown(settings.harmonics)}; expected 2 or more, up '
                                f'to {MAX_HARMONICS}: one harmonic cannot start at rest')
        whole('iterations', settings.iterations, 0, MAX_ITERATIONS)
        self.robot, self.settings, self.progress = robot, settings, progress
        self.period = positive('period', settings.period)
        if not MIN_PERIOD <= self.period <= MAX_PERIOD:
            raise DynamicsError(f'period is {self.period:g}; expected {MIN_PERIOD:g} to '
                                f'{MAX_PERIOD:g} s')
        self.excited = excited_robot(robot)
        self.limits = excitation_limits(robot, settings.margin, settings.positions,
                                        settings.acceleration, settings.boxes, self.excited)
        self.rng = np.random.default_rng(checks.whole('seed', settings.seed))
        self.until = monotonic() + _duration(settings.seconds)
        progress(0.0, 'base parameters')
        omega = 2.0 * np.pi / self.period
        self.information = ScaledRegressor(robot, self.limits, settings.harmonics * omega, self.rng,
                                           self.excited)
        self.sine, self.cosine = at_rest(settings.harmonics)
        self.times = np.linspace(0.0, self.period, PER_HARMONIC * settings.harmonics,
                                 endpoint=False)
        # Variables of order 1: centres from the middle of the range in halves of it, amplitudes in
        # units of the speed limit / omega
        self.names = tuple(joint.name for joint in self.excited.joints)
        self.middle, self.half = self.limits.middle, self.limits.half
        self.amplitude = self.limits.velocity / omega
        self.best: Fourier | None = None
        self.condition: float = np.inf
        # variables and cost of the last motion that the loops can follow
        self.followed: tuple[np.ndarray, float] | None = None

    # Motions -----------------------------------------------------------------------------------

    def trajectory(self, x: np.ndarray) -> Fourier:
        """Return the motion of the variables x, (1 + 2 (harmonics - 1), joints)."""
        free = self.sine.shape[1]
        x = x.reshape(1 + 2 * free, -1)
        return Fourier(self.names, self.period, self.middle + self.half * x[0],
                       self.amplitude * (self.sine @ x[1:1 + free]),
                       self.amplitude * (self.cosine @ x[1 + free:]))

    def variables(self, trajectory: Fourier) -> np.ndarray:
        """Return the variables of a motion; the inverse of `trajectory`."""
        return np.vstack([(trajectory.center - self.middle) / self.half,
                          np.linalg.pinv(self.sine) @ (trajectory.sine / self.amplitude),
                          np.linalg.pinv(self.cosine) @ (trajectory.cosine / self.amplitude)])

    def draw(self) -> tuple[float, np.ndarray]:
        """Return (condition number, variables) of the best of the random motions within limits."""
        found = []
        shape = 1 + 2 * self.sine.shape[1], len(self.names)
        centers = self.centers()
        for k in range(RANDOM_MOTIONS):
            self.progress(0.05 + 0.15 * k / RANDOM_MOTIONS, 'random motions')
            x = self.rng.normal(size=shape)
            x[0] = centers[k % len(centers)]
            trajectory = self.within(self.trajectory(x), self.times)
            if trajectory is not None:
                condition = self.judge(trajectory)
                self.keep(trajectory, condition)
                found.append((condition, self.variables(trajectory)))
            if monotonic() > self.until and found:
                break
        if not found:
            raise DynamicsError(
                f'none of {RANDOM_MOTIONS} random motions, however small, stays within the '
                'limits; widen the boxes, or restrict the joints by `positions`')
        return min(found, key=lambda pair: pair[0])

    def centers(self) -> np.ndarray:
        """Return configurations in which the robot can rest within limits, as variables."""
        tried = 0
        for share in (0.5, *TRIES * [1.0]):   # first near the middle, where there is most room
            q, x = self.excited.configurations(self.rng, self.limits, share)
            tried += len(q)
            still = np.zeros((len(q), self.robot.nv))
            within = x[(self.excited.excess(self.limits, q, still, still) < 0.0).all(axis=1)]
            if len(within):
                return within
        raise DynamicsError(
            f'the robot can hold itself within the boxes and the effort limits in none of {tried} '
            'random configurations; widen the boxes, or restrict the joints by `positions`')

    def keep(self, trajectory: Fourier, condition: float) -> None:
        """Keep a motion if it is the best so far and passes a dense check."""
        if condition >= self.condition:
            return
        dense = self.within(trajectory, dense_times(trajectory))
        if dense is not None:
            condition = self.judge(dense)
            if condition < self.condition:
                self.best, self.condition = dense, condition

    def within(self, trajectory: Fourier, times: np.ndarray) -> Fourier | None:
        """Return the motion scaled into the limits, or None."""
        return scaled_within_limits(self.robot, self.limits, trajectory, times, self.excited)

    def judge(self, trajectory: Fourier) -> float:
        """Return the condition number of a motion."""
        states = self.excited.states(trajectory, self.times)
        return np.inf if states is None else self.information.condition(*states)

    # Improvement -------------------------------------------------------------------------------

    def improve(self, x: np.ndarray) -> None:
        """Minimise the cost from x; every iterate, scaled into limits, is a candidate."""
        from scipy.optimize import minimize

        done = 0

        def step(x: np.ndarray) -> None:
            nonlocal done
            done += 1
            self.progress(0.2 + 0.8 * done / self.settings.iterations,
                          f'condition number {self.condition:.3g}')
            trajectory = self.within(self.trajectory(x), self.times)
            if trajectory is not None:
                self.keep(trajectory, self.judge(trajectory))
            if monotonic() > self.until:
                raise StopIteration

        x = np.ravel(x)
        self.followed = x + 1.0, 0.0   # replaced by the first call, at x
        minimize(self.cost, x, jac=True, method='L-BFGS-B', callback=step,
                 options={'maxiter': self.settings.iterations})

    def cost(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return (smooth log of the condition number + penalties, its gradient by differences).

        The batch has the motion itself, then one motion for each variable changed by STEP.
        """
        several = [self.trajectory(x), *(self.trajectory(x + step)
                                         for step in STEP * np.eye(x.size))]
        first = self.excited.states(several[0], self.times)
        near = () if first is None else [
            self.excited.states_near(first, trajectory, self.times) for trajectory in several[1:]]
        if first is None or any(states is None for states in near):
            assert self.followed is not None   # `improve` starts at a motion that they can follow
            back, cost = self.followed   # a gradient that leads back to it
            return cost + CANNOT_FOLLOW, 2.0 * CANNOT_FOLLOW * (x - back) / np.sum((x - back) ** 2)
        states = [np.concatenate(parts) for parts in zip(first, *near)]
        W = self.information.scaled(*states)
        f, B = smooth_condition(W[:len(W) // len(several)])
        # Sums to trace(B W'W), whose differences are those of f to first order.
        change = np.einsum('nj,nj->n', W @ B, W)
        change = change.reshape(len(several), -1).sum(axis=1)
        penalty = self.penalty(*states).reshape(len(several), -1).sum(axis=1)
        total = change + penalty
        self.followed = x.copy(), f + penalty[0]
        return f + penalty[0], (total[1:] - total[0]) / STEP

    def penalty(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the penalty of each state, (N,)."""
        limits = self.limits
        own_q, own_v, own_a = self.excited.moved(q, v, a)
        over = np.concatenate([np.abs(own_q - self.middle) / self.half - 1.0,
                               np.abs(own_v) / limits.velocity - 1.0,
                               np.abs(own_a) / limits.acceleration - 1.0,
                               self.excited.excess(limits, q, v, a)], axis=1)
        return PENALTY * np.sum(np.maximum(over, 0.0) ** 2, axis=1) / len(self.times)

    # Result ---------------------------------------------------------------------------------

    def result(self, random_condition: float) -> Excitation:
        if self.best is None:
            raise DynamicsError('no motion stays within the limits at all times; widen boxes, '
                                'positions or acceleration, or reduce margin')
        self.progress(1.0, f'condition number {self.condition:.3g}')
        return Excitation(self.best, self.condition, max(random_condition, self.condition),
                          self.information.base.size,
                          (*self.limits.warnings, *self.quality_warnings()))

    def quality_warnings(self) -> Iterator[str]:
        """Yield warnings where the limits make identification poor."""
        assert self.best is not None
        q, v, a = self.best.sample(self.times)
        if self.condition > POOR_CONDITION:
            states = self.excited.states(self.best, self.times)
            assert states is not None   # the loops follow the best motion
            names = ', '.join(self.information.weakest(*states))
            yield (f'the condition number is {self.condition:.3g}, above {POOR_CONDITION:g}: the '
                   f'limits make identification poor, most of all of {names}. Widen boxes or '
                   'positions, or take a longer period with more harmonics')
        reach = (q.max(axis=0) - q.min(axis=0)) / (2.0 * self.half)
        speed = np.abs(v).max(axis=0) / self.limits.velocity
        small = (speed < SMALL_MOTION) & (reach < SMALL_MOTION)
        if small.any():
            still = [name for name, is_small in zip(self.names, small) if is_small]
            yield (f'{still} hardly move, less than {SMALL_MOTION:.0%} of their range and of their '
                   'speed: the limits leave no more')
