"""Estimate external torques from a balance of generalised momentum, without accelerations."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.checks import LARGEST, MOST_JOINTS, finite, positive, whole
from dynamics_node.errors import DynamicsError
from dynamics_node.observer.effort_meaning import Meaning
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

BANDWIDTH = 30.0     # [1/s]
LONGEST_STEP = 0.1   # [s]; after a longer step the balance begins anew


class Balance(NamedTuple):
    """The two sides of dp/dt = inflow + external torque, at samples of a motion."""

    momentum: np.ndarray  # p = M v, (nv,) or (N, nv) [N m s or N s]; without armature if efforts
    #                       are measured behind the gears
    inflow: np.ndarray    # tau - friction - springs + C' v - g, the same shape [N m or N]; tau is
    #                       the effort with the terms of its Meaning, see effort_meaning.py


def balance(robot: Robot, meaning: Meaning, q: ArrayLike, v: ArrayLike,
            effort: ArrayLike) -> Balance:
    """Return the Balance of a state, or of a batch of states.

    :param meaning: Meaning of the effort, see effort_meaning.py.
    """
    momentum, drift = robot.generalised_momentum(q, v)
    measured = checks.check_array('effort', effort, robot.nv)
    if measured.ndim == drift.ndim == 2:
        checks.batch_size({'q and v': drift, 'effort': measured})
    inflow = meaning.scale * measured + drift
    if robot.springs:
        inflow = inflow - robot.spring_torque(q, v)
    if meaning.without_gravity:
        inflow = inflow + meaning.driven * robot.gravity_torque(q)
    if meaning.motor_side:
        inflow = inflow - robot.friction_torque(v)
    else:
        momentum = momentum - robot.model.armature * v
    return Balance(momentum, inflow)


class MomentumObserver:
    r"""Estimate the external torque of a robot, fixed or floating: r, a first-order low-pass of it.

    r = K (p - p_0 - integral (tau - friction + C' v - g + r) dt),   so   dr/dt = K (tau_ext - r).

    Over a step dt the external torque is replaced by its mean, the unexplained momentum:
    d = (p_1 - p_0)/dt - (inflow_0 + inflow_1)/2. For a torque that is constant over the step the
    filter is then solved exactly, r_1 = r_0 + (1 - exp(-K dt)) (d - r_0): stable for any K
    and dt, and steps may differ. The error of a smooth inflow is that of the trapezoidal rule,
    dt^2/12 times its second derivative at most.

    With a floating base the first six entries of r are the force, then the moment, of all external
    wrenches at the origin of the base link, in its axes [N, N m].

    De Luca and Mattone 2005; De Luca, Albu-Schaeffer, Haddadin and Hirzinger 2006.

    :ivar torque: r, (nv,) [N m or N], zero before the first step.
    """

    def __init__(self, robot: Robot, meaning: Meaning, bandwidth: ArrayLike = BANDWIDTH,
                 longest_step: float = LONGEST_STEP) -> None:
        """Begin with r = 0.

        :param meaning: Meaning of the effort, see meaning_of.
        :param bandwidth: K, one number or (nv,) [1/s]: faster changes are filtered out. The noise
            of r is about K M times that of the velocities.
        :param longest_step: after a longer step the balance begins anew [s].
        :raise DynamicsError: the robot has loops: their forces would appear as external ones.
        """
        _check_tree(robot)
        self.meaning = checks.check_kind('meaning', meaning, Meaning)
        self.longest_step = positive('longest_step', longest_step)
        self.bandwidth = _check_bandwidth(bandwidth, robot.nv)
        self.torque: np.ndarray = np.zeros(robot.nv)
        self.use(robot)

    def use(self, robot: Robot) -> None:
        """Continue with a robot of another payload; r remains, the balance begins anew."""
        self.robot: Robot = arguments.check_robot(robot)
        self._last: Balance | None = None

    def reset(self) -> None:
        """Begin anew with r = 0."""
        self._last, self.torque = None, np.zeros(self.robot.nv)

    def step(self, q: ArrayLike, v: ArrayLike, effort: ArrayLike, dt: float) -> np.ndarray:
        """Return r after a measurement dt seconds after the last one, (nv,).

        :param effort: (nv,) of the declared meaning; the six of a floating base are zero.
        :raise DynamicsError: an invalid measurement; r remains, the balance begins anew.
        """
        before, self._last = self._last, None   # an error below begins anew
        now = balance(self.robot, self.meaning, q, v, effort)
        if now.inflow.ndim != 1:
            raise DynamicsError(f'q, v and effort must be one state, got {len(now.inflow)} states')
        _check_sizes(now)
        if type(dt) is not float:
            dt = float(finite('dt', dt, ()))
        self._last = now
        if before is not None and 0.0 < dt <= self.longest_step:
            share = -np.expm1(-self.bandwidth * dt)
            self.torque = _filtered(self.torque, _mean_external(before, now, dt), share)
        return self.torque


def external_torques(robot: Robot, meaning: Meaning, time: ArrayLike, q: ArrayLike, v: ArrayLike,
                     effort: ArrayLike, bandwidth: ArrayLike = BANDWIDTH,
                     longest_step: float = LONGEST_STEP) -> np.ndarray:
    """Return r of a whole recording, (N, nv): the same numbers as MomentumObserver.step.

    :param time: (N,) [s], increasing; q (N, nq), v and effort (N, nv).
    :param bandwidth, longest_step: as in MomentumObserver; r is constant over a longer step.
    """
    _check_tree(robot)
    checks.check_kind('meaning', meaning, Meaning)
    rate, longest = _check_bandwidth(bandwidth, robot.nv), positive('longest_step', longest_step)
    momentum, inflow = balance(robot, meaning, q, v, effort)
    _check_sizes(Balance(momentum, inflow))
    if inflow.ndim != 2 or momentum.shape != inflow.shape:
        raise DynamicsError(f'q, v and effort must be batches, (N, n); got one of {inflow.shape}')
    dt = np.diff(finite('time', time, inflow.shape[:1]))[:, None]
    if not (dt > 0.0).all():
        raise DynamicsError('time must increase from sample to sample')
    external = _mean_external(Balance(momentum[:-1], inflow[:-1]),
                              Balance(momentum[1:], inflow[1:]), dt)
    share = np.where(dt <= longest, -np.expm1(-rate * dt), 0.0)
    r = np.zeros_like(momentum)
    for k in range(len(external)):
        r[k + 1] = _filtered(r[k], external[k], share[k])
    return r


def _mean_external(before: Balance, now: Balance, dt: ArrayLike) -> np.ndarray:
    """Return the mean external torque over a step."""
    return (now.momentum - before.momentum) / dt - 0.5 * (now.inflow + before.inflow)


def _filtered(r: np.ndarray, external: np.ndarray, share: float | np.ndarray) -> np.ndarray:
    """Return r + share (external - r): r after a step with a constant external torque."""
    return r + share * (external - r)


def _check_tree(robot: Robot) -> None:
    if arguments.check_robot(robot).loops.constraints:
        raise DynamicsError('the robot has loops: the forces in them cannot be distinguished from '
                            'external ones')


def _check_bandwidth(bandwidth: ArrayLike, nv: int) -> np.ndarray:
    """Return it as (nv,)."""
    rates = per_dof('bandwidth', bandwidth, nv)
    if (rates <= 0.0).any():
        raise DynamicsError(f'bandwidth is {rates.min():g}; expected numbers above zero [1/s]')
    return rates


def _check_sizes(now: Balance) -> None:
    if not (np.abs(now) <= LARGEST).all():  # else r would stay nan
        raise DynamicsError(f'v or effort is too large: a momentum or torque is above {LARGEST:g}')


def per_dof(name: str, value: ArrayLike, nv: int) -> np.ndarray:
    """Return one number for all degrees of freedom, or one for each, as (nv,) floats."""
    nv = whole('nv', nv, 0, MOST_JOINTS)
    return np.broadcast_to(finite(name, value, (), (1,), (nv,)), (nv,)).copy()
