"""Which motion tells most about the parameters, and stays within all limits?

Fourier series are drawn at random, and the best one is improved by a quasi-Newton method on a
smooth condition number, limits being penalties. Whatever comes out is scaled into its limits and
checked densely: what is returned never breaks one. Of a robot with loops the motors move so, and
what is judged is the motion of all joints that the loops make of it, see excited_robot.py.
"""

from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.checks import at_least_zero, positive, whole
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.excitation_limits import (
    dense_times,
    excitation_limits,
    scaled_within_limits,
)
from dynamics_node.identification.excited_robot import excited_robot
from dynamics_node.identification.fourier import Fourier, at_rest
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.scaled_regressor import ScaledRegressor, smooth_condition

DRAWN = 100          # random motions
TRIES = 20           # how often random configurations to move about are tried again
PER_HARMONIC = 20    # samples per period of the highest harmonic, while searching
STIFF = 1e3          # penalty of a limit that is exceeded by its own size
STEP = 1e-6          # of the free numbers, for differences
MOST_HARMONICS, MOST_ITERATIONS = 1000, 1_000_000
SHORTEST, LONGEST = 1e-3, 1e6   # [s] period
POOR_PLAN = 100.0    # condition number from which on a warning is given
HARDLY = 0.1         # of its range and of its speed: a joint that uses less of both
CANNOT_FOLLOW = 10.0  # that a motion costs more than the last one, if the loops cannot follow it


@dataclass(frozen=True)
class ExcitationSettings:
    """What the motion shall be like, and how long to search."""

    period: float = 10.0              # [s]; the lowest frequency is one over it
    harmonics: int = 5                # the highest frequency is harmonics / period
    margin: float = 0.1               # share of each limit of the URDF that is left unused
    positions: dict | None = None     # {joint: (lower, upper)} instead of the URDF's [rad or m]
    acceleration: object = None       # limit, a number or {joint: number} [rad/s^2 or m/s^2]
    boxes: tuple = ()                 # of Box: where frames must stay
    seed: int = 0                     # the same seed and iterations give the same motion
    iterations: int = 60              # of the improvement
    seconds: float = np.inf           # stop searching after them, with the best so far


class Excitation(NamedTuple):
    """A motion to record, and how good it is."""

    trajectory: Fourier
    condition: float            # number of the scaled regressor, see scaled_regressor.py
    random_condition: float     # of the best of 100 random motions
    base_parameters: int
    warnings: tuple             # texts


def _silent(fraction, text):
    """Tell nothing."""


def _duration(seconds):
    endless = isinstance(seconds, float) and seconds == np.inf
    return seconds if endless else at_least_zero('seconds', seconds)


def excitation(robot, settings=None, progress=_silent):
    """Return the Excitation of a robot: one period, which may be repeated.

    :param progress: called with the share that is done and what is being done; may raise to stop.
    :raise DynamicsError: a setting that is wrong, or limits that no motion can keep.
    """
    checks.check_callable('progress', progress)
    search = _Search(robot, ExcitationSettings() if settings is None else settings,
                     progress or _silent)
    drawn = search.draw()
    if search.settings.iterations:
        search.improve(drawn[0][1])
    return search.result(random_condition=drawn[0][0])


class _Search:
    """The best motion so far, and all that is needed to find a better one."""

    def __init__(self, robot, settings, progress):
        check_one_axis(robot)
        checks.check_kind('settings', settings, ExcitationSettings)
        if not (isinstance(settings.harmonics, int) and 2 <= settings.harmonics <= MOST_HARMONICS):
            raise DynamicsError(f'harmonics is {shown(settings.harmonics)}; expected 2 or more, up '
                                f'to {MOST_HARMONICS}: with one, nothing that starts at rest moves')
        whole('iterations', settings.iterations, 0, MOST_ITERATIONS)
        self.robot, self.settings, self.progress = robot, settings, progress
        self.period = positive('period', settings.period)
        if not SHORTEST <= self.period <= LONGEST:
            raise DynamicsError(f'period is {self.period:g}; expected {SHORTEST:g} to {LONGEST:g} '
                                's')
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
        # Free numbers of order 1: centres as shares of the range, amplitudes as those speeds reach
        self.names = tuple(joint.name for joint in self.excited.joints)
        self.middle, self.half = self.limits.middle, self.limits.half
        self.amplitude = self.limits.velocity / omega
        self.best, self.condition = None, np.inf
        self.followed = None   # the free numbers and the cost of the last motion that can be

    # Motions -----------------------------------------------------------------------------------

    def trajectory(self, x):
        """Return the motion of free numbers x, (1 + 2 (harmonics - 1), joints)."""
        free = self.sine.shape[1]
        x = x.reshape(1 + 2 * free, -1)
        return Fourier(self.names, self.period, self.middle + self.half * x[0],
                       self.amplitude * (self.sine @ x[1:1 + free]),
                       self.amplitude * (self.cosine @ x[1 + free:]))

    def numbers(self, trajectory):
        """Return the free numbers of a motion; the inverse of `trajectory`."""
        return np.vstack([(trajectory.center - self.middle) / self.half,
                          np.linalg.pinv(self.sine) @ (trajectory.sine / self.amplitude),
                          np.linalg.pinv(self.cosine) @ (trajectory.cosine / self.amplitude)])

    def draw(self):
        """Return [(condition number, free numbers)] of random motions within limits, best first."""
        found = []
        shape = 1 + 2 * self.sine.shape[1], len(self.names)
        centers = self.centers()
        for k in range(DRAWN):
            self.progress(0.05 + 0.15 * k / DRAWN, 'random motions')
            x = self.rng.normal(size=shape)
            x[0] = centers[k % len(centers)]
            trajectory = self.within(self.trajectory(x), self.times)
            if trajectory is not None:
                condition = self.judge(trajectory)
                self.keep(trajectory, condition)
                found.append((condition, self.numbers(trajectory)))
            if monotonic() > self.until and found:
                break
        if not found:
            raise DynamicsError(
                f'none of {DRAWN} random motions, however small, stays within the limits; widen '
                'the boxes, or say by `positions` where the joints shall move')
        return sorted(found, key=lambda pair: pair[0])

    def centers(self):
        """Return configurations that can be held within limits, as free numbers."""
        tried = 0
        for share in (0.5, *TRIES * [1.0]):   # rather in the middle, where there is most room
            q, x = self.excited.configurations(self.rng, self.limits, share)
            tried += len(q)
            still = np.zeros((len(q), self.robot.nv))
            held = x[(self.excited.excess(self.limits, q, still, still) < 0.0).all(axis=1)]
            if len(held):
                return held
        raise DynamicsError(
            f'in none of {tried} random configurations can the robot hold itself '
            'within the boxes and the effort limits; widen the boxes, or say by `positions` where '
            'the joints shall move')

    def keep(self, trajectory, condition):
        """Remember a motion if it is the best, and holds against a dense check."""
        if condition >= self.condition:
            return
        dense = self.within(trajectory, dense_times(trajectory))
        if dense is not None:
            condition = self.judge(dense)
            if condition < self.condition:
                self.best, self.condition = dense, condition

    def within(self, trajectory, times):
        """Return the motion within limits, or None."""
        return scaled_within_limits(self.robot, self.limits, trajectory, times, self.excited)

    def judge(self, trajectory):
        """Return the condition number of a motion."""
        states = self.excited.states(trajectory, self.times)
        return np.inf if states is None else self.information.condition(*states)

    # Improvement -------------------------------------------------------------------------------

    def improve(self, x):
        """Descend from the free numbers x; every step, scaled into limits, may be the best."""
        from scipy.optimize import minimize

        done = 0

        def step(x):
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
        self.followed = x + 1.0, 0.0   # the first one can be: it was drawn so
        minimize(self.cost, x, jac=True, method='L-BFGS-B', callback=step,
                 options={'maxiter': self.settings.iterations})

    def cost(self, x):
        """Return (smooth condition number + penalties, its gradient by differences in one batch).

        Rows of the batch are the motion itself, then one for each free number changed a little.
        """
        several = [self.trajectory(x), *(self.trajectory(x + step)
                                         for step in STEP * np.eye(x.size))]
        first = self.excited.states(several[0], self.times)
        near = () if first is None else [
            self.excited.states_near(first, trajectory, self.times) for trajectory in several[1:]]
        if first is None or any(states is None for states in near):
            back, cost = self.followed   # a slope that leads back there
            return cost + CANNOT_FOLLOW, 2.0 * CANNOT_FOLLOW * (x - back) / np.sum((x - back) ** 2)
        states = [np.concatenate(parts) for parts in zip(first, *near)]
        W = self.information.scaled(*states)
        f, B = smooth_condition(W[:len(W) // len(several)])
        change = np.einsum('nj,nj->n', W @ B, W)        # sums to trace(B W'W)
        change = change.reshape(len(several), -1).sum(axis=1)
        penalty = self.penalty(*states).reshape(len(several), -1).sum(axis=1)
        total = change + penalty
        self.followed = x.copy(), f + penalty[0]
        return f + penalty[0], (total[1:] - total[0]) / STEP

    def penalty(self, q, v, a):
        """Return the penalty of each state, (N,)."""
        limits = self.limits
        own_q, own_v, own_a = self.excited.moved(q, v, a)
        over = np.concatenate([np.abs(own_q - self.middle) / self.half - 1.0,
                               np.abs(own_v) / limits.velocity - 1.0,
                               np.abs(own_a) / limits.acceleration - 1.0,
                               self.excited.excess(limits, q, v, a)], axis=1)
        return STIFF * np.sum(np.maximum(over, 0.0) ** 2, axis=1) / len(self.times)

    # What came of it ---------------------------------------------------------------------------

    def result(self, random_condition):
        if self.best is None:
            raise DynamicsError('no motion stays within the limits at all times; widen the boxes')
        self.progress(1.0, f'condition number {self.condition:.3g}')
        return Excitation(self.best, self.condition, max(random_condition, self.condition),
                          self.information.base.size, (*self.limits.warnings, *self.doubts()))

    def doubts(self):
        """Yield what the limits make of identification, where that is poor."""
        q, v, a = self.best.sample(self.times)
        if self.condition > POOR_PLAN:
            names = ', '.join(self.information.weakest(
                *self.excited.states(self.best, self.times)))
            yield (f'the condition number is {self.condition:.3g}, above {POOR_PLAN:g}: the limits '
                   f'make identification poor, most of all of {names}. Widen boxes or positions, '
                   'or take a longer period with more harmonics')
        reach = (q.max(axis=0) - q.min(axis=0)) / (2.0 * self.half)
        hardly = (np.abs(v).max(axis=0) < HARDLY * self.limits.velocity) & (reach < HARDLY)
        if hardly.any():
            names = [name for name, little in zip(self.names, hardly) if little]
            yield (f'{names} hardly move, less than {HARDLY:.0%} of their range and of their '
                   'speed: the limits leave no more')
