"""Simulate a robot: its motion under torques, wrenches, constraints and contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.prescribed import RowMotion
from dynamics_node.constrained.rigid_contact import RigidContact
from dynamics_node.constrained.soft_contact import SoftContact
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.model.model import Model
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher, most_threads
from dynamics_node.robot.prescribed import PrescribedMotion
from dynamics_node.robot.rigid_ground import RigidGround
from dynamics_node.robot.soft_ground import SoftGround
from dynamics_node.simulation.equations_of_motion import Acceleration, EquationsOfMotion
from dynamics_node.simulation.friction_stiffness import check_friction
from dynamics_node.simulation.held_torques import (
    Rollouts,
    held_torques,
    roll_out,
    same_in_each_period,
)
from dynamics_node.simulation.output_times import (
    ContactFunction,
    Integrator,
    Progress,
    SimulatedMotion,
    no_contacts,
    simulate,
)
from dynamics_node.simulation.rigid_steps import RigidSteps
from dynamics_node.simulation.runge_kutta import RungeKutta
from dynamics_node.simulation.soft_steps import SoftSteps
from dynamics_node.simulation.torque_source import Torque, TorqueFunction, torque_function

METHODS = ('rk4', 'dop853', 'radau')
MOST_STEPS = 100_000_000   # of fixed length; about an hour of computing for an arm
LEAST_TOLERANCE = 1e-13    # less is below the rounding of the solvers
STABILISATION = (20.0, 20.0)
WrenchSource = Wrenches | Callable[[float, np.ndarray, np.ndarray], Wrenches]


class _Forces(NamedTuple):
    """The torques, wrenches and constraints of a simulation."""

    torques: TorqueFunction
    wrenches: WrenchSource
    rates: np.ndarray | None                        # stabilisation of the constraints
    row_motion: Callable[[float], RowMotion] | None


class _Run(NamedTuple):
    """The integrator of a simulation, its output times and step."""

    forces: _Forces
    constraints: tuple[Constraint, ...]
    integrator_of: Callable[[Acceleration], Integrator]
    step: float                # [s]
    fixed_step: bool


class _Start(NamedTuple):
    """The initial state of a simulation, and the integrator prepared for it."""

    integrator: Integrator
    v: np.ndarray              # of the initial state, after impacts
    contacts: ContactFunction


class Simulation:
    """The methods of a Robot that integrate its motion."""

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets, prescribed: PrescribedMotion
                 ) -> None:
        self._dispatcher, self._sets, self._model = dispatcher, sets, dispatcher.model
        self._prescribed = prescribed

    def simulate(self, q: ArrayLike, v: ArrayLike, torque: Torque, time: ArrayLike,
                 wrenches: WrenchSource = None, constraints: Constraints = None,
                 method: str = 'rk4', step: float = 0.001, tolerance: float = 1e-8,
                 stabilisation: ArrayLike = STABILISATION, progress: Progress | None = None,
                 row_motion: Callable[[float], RowMotion] | None = None,
                 contacts: Sequence[SoftContact] | Sequence[RigidContact] = (),
                 touch: ArrayLike | None = None) -> SimulatedMotion:
        """Return the SimulatedMotion (time, q, v, tau, ...) from the state q, v at time[0].

        The friction of the model acts, the limits of its joints do not. A batch of states (N, n)
        needs one call of the batch kernel per evaluation, and gives q of shape (N, T, nq).

        :param torque: (nv,), constant; (T, nv) at the times, linear between; (T, N, nv), likewise
            for each state; or a function f(t, q, v), which gets a batch if q or v is one.
        :param time: output times (T,) [s], increasing.
        :param wrenches: {frame: wrench} as in forward_dynamics, constant, or f(t, q, v) that
            returns this.
        :param constraints: as in constrained_forward_dynamics; None for the robot's loops.
        :param method: 'rk4', fixed step; 'dop853' and 'radau', adaptive steps by SciPy, the latter
            for stiff friction, gains or contacts.
        :param step: greatest step of 'rk4' [s]; with contacts, also of the others.
        :param tolerance: for adaptive steps, absolute and relative, in the units of q and v; of a
            batch its root mean square.
        :param stabilisation: (alpha, beta) [1/s] of the constraints.
        :param progress: f(share, text), called after each output time.
        :param row_motion: f(t) -> (s, s', s'') that the constraint rows follow, as for
            prescribed_forward_dynamics; None: they stay at zero.
        :param contacts: points that may touch the ground, all SoftContact or all RigidContact; the
            latter for one state.
        :param touch: touch points of soft contacts before the initial state, as for
            soft_contact_forces; to continue a motion, those at its end.
        :raise DynamicsError: the motion diverges, or the step is too long for dry friction or for
            soft contacts.
        """
        times = checks.check_times(time, 'time')
        first_q, first_v, n = self._start(q, v)
        torques = torque_function(torque, times, self._model.nv, n)
        forces = _Forces(torques, wrenches, arguments.check_stabilisation(stabilisation),
                         checks.check_callable('row_motion', row_motion))
        points: tuple[Any, ...] = checks.check_sequence('contacts', contacts)
        kind = _kind(points, touch, n, forces)
        run = _Run(forces, self._sets.of(constraints),
                   _integrator_maker(self._model, method, step, tolerance, times, bool(points)),
                   step, method == 'rk4')
        if run.fixed_step:
            self._check_friction(first_q, step, "method 'radau'")
        with np.errstate(over='ignore', invalid='ignore'):  # EquationsOfMotion reports divergence
            if kind is SoftContact:
                start = self._on_soft_ground(run, points, touch, first_q, first_v)
            elif kind is RigidContact:
                start = self._on_rigid_ground(run, points, times[0], first_q, first_v)
            else:
                start = _Start(run.integrator_of(self._acceleration(forces, run.constraints)),
                               first_v, no_contacts)
            return simulate(start.integrator, torques, first_q, start.v, times,
                            checks.check_callable('progress', progress), start.contacts)

    def rollouts(self, q: ArrayLike, v: ArrayLike, torque: Torque, period: float,
                 periods: int | None = None, wrenches: WrenchSource = None,
                 constraints: Constraints = None, step: float | None = None,
                 stabilisation: ArrayLike = STABILISATION, only_end: bool = False) -> Rollouts:
        """Return the Rollouts (time, q, v, tau) of N motions whose torques are held over periods.

        The motion between is that of `simulate` with 'rk4'; all N advance together. One state with
        torques (N, T, nv) gives N motions from it, as sampling-based control needs them.

        :param torque: (T, nv), the same for all motions; (N, T, nv); or a policy f(t, q, v), called
            once per period with all states.
        :param period: for which a torque is held [s].
        :param periods: T, their number; needed if torque is a policy.
        :param wrenches, constraints, stabilisation: as in simulate.
        :param step: greatest step [s]; None: one per period.
        :param only_end: keep only the last state of each motion, to save memory.
        :raise DynamicsError: a motion diverges, the step is too long for dry friction, or the
            result is too large.
        """
        period = checks.positive('period', period)
        step = period if step is None else min(period, checks.positive('step', step))
        only_end = checks.flag('only_end', only_end)
        torques = held_torques(torque, periods, self._model.nv)
        if torques.periods * max(1.0, period / step) > MOST_STEPS:
            raise DynamicsError(f'step is {step} s, and {torques.periods} periods of {period} s '
                                f'need more than {MOST_STEPS} of it; expected a longer step')
        first_q, first_v, n = self._start(q, v)
        self._check_friction(first_q, step)
        if torques.motions is not None:
            if n not in (None, torques.motions):
                raise DynamicsError(f'torque has {torques.motions} motions, and q and v have {n} '
                                    'states; expected as many, or one state')
            first_q, first_v = (np.broadcast_to(each, (torques.motions, each.shape[-1]))
                                for each in (first_q, first_v))
        valid = self._sets.of(constraints)
        rates = arguments.check_stabilisation(stabilisation)

        def integrator_of(torques: TorqueFunction) -> Integrator:
            acceleration = self._acceleration(_Forces(torques, wrenches, rates, None), valid)
            return RungeKutta(EquationsOfMotion(self._model, acceleration),
                              same_in_each_period(period, step))
        # a policy, and wrenches of each motion, need all states at once
        threads = 1 if torques.policy or wrenches is not None else most_threads()
        with np.errstate(over='ignore', invalid='ignore'):  # EquationsOfMotion reports divergence
            return roll_out(integrator_of, torques, period, first_q, first_v, only_end, threads)

    def _on_soft_ground(self, run: _Run, contacts: Sequence[SoftContact], touch: ArrayLike | None,
                        q: np.ndarray, v: np.ndarray) -> _Start:
        ground = SoftGround(self._dispatcher, contacts, touch, q, v)
        if run.fixed_step:
            with suppress(SingularModel):  # a link without mass may move with a loop
                ground.check_step(q, run.step)
        forces = run.forces._replace(wrenches=ground.added_to(run.forces.wrenches))
        integrator = run.integrator_of(self._acceleration(forces, run.constraints))
        return _Start(SoftSteps(integrator, ground.follow, run.step), v, ground.contacts)

    def _on_rigid_ground(self, run: _Run, contacts: Sequence[RigidContact], t: float, q: np.ndarray,
                         v: np.ndarray) -> _Start:
        ground = RigidGround(self._dispatcher, self._sets, run.constraints, contacts,
                             cache(lambda valid: self._motion(run.forces, valid)))
        ground.check_start(q, v)

        @cache
        def integrator(closed: tuple[int, ...]) -> Integrator:
            return run.integrator_of(self._acceleration(run.forces, ground.constraints(closed)))
        steps = RigidSteps(ground, integrator, run.step)
        return _Start(steps, steps.start(float(t), q, v),
                      lambda t, q, v: ground.contacts(t, q, v, steps.closed))

    def _start(self, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray, int | None]:
        """Return (q, v, number of states or None), both single or both batches."""
        q = arguments.check_configuration(self._model, q)
        v = checks.check_array('v', v, self._model.nv)
        n = checks.batch_size({'q': q, 'v': v})
        rows = () if n is None else (n,)
        return (np.broadcast_to(q, (*rows, self._model.nq)).copy(),
                np.broadcast_to(v, (*rows, self._model.nv)).copy(), n)

    def _check_friction(self, q: np.ndarray, step: float, remedy: str = '') -> None:
        if self._model.has_friction.any():
            with suppress(SingularModel):  # a link without mass may move with a loop
                inverse = self._dispatcher.call('mass_matrix_inverse', q=q)
                check_friction(self._model, inverse, step, remedy)

    def _acceleration(self, forces: _Forces, constraints: tuple[Constraint, ...]
                      ) -> Acceleration:
        """Return a(t, q, v)."""
        motion = self._motion(forces, constraints)
        if not constraints and forces.row_motion is None:
            return motion
        return lambda t, q, v: motion(t, q, v).a

    def _motion(self, forces: _Forces, constraints: tuple[Constraint, ...]
                ) -> Callable[[float, np.ndarray, np.ndarray], Any]:
        """Return f(t, q, v) -> a without constraints, -> ConstrainedMotion with them.

        It waits for the kernel once, since many calls follow.
        """
        torques, wrenches, rates, row_motion = forces

        def wrenches_at(t: float, q: np.ndarray, v: np.ndarray) -> Wrenches:
            return wrenches(t, q, v) if callable(wrenches) else wrenches

        if row_motion is not None:
            def of_moving_rows(t: float, q: np.ndarray, v: np.ndarray) -> Any:
                return self._prescribed.prescribed_forward_dynamics(
                    q, v, torques(t, q, v), row_motion(t), constraints, wrenches_at(t, q, v), rates)
            return of_moving_rows
        name = 'stabilised_forward_dynamics' if constraints else 'forward_dynamics'
        more: dict[str, Any] = {'stabilisation': rates} if constraints else {}
        self._dispatcher.await_kernel(name, wrenches is not None, constraints)
        call = self._dispatcher.positional(name, (), constraints)

        def free(t: float, q: np.ndarray, v: np.ndarray) -> Any:
            return call(q, v, torques(t, q, v), *more.values())

        def under_wrenches(t: float, q: np.ndarray, v: np.ndarray) -> Any:
            return self._dispatcher.call(name, wrenches_at(t, q, v), constraints=constraints, q=q,
                                         v=v, tau=torques(t, q, v), **more)
        return free if wrenches is None else under_wrenches


def _kind(contacts: Sequence[Any], touch: ArrayLike | None, n: int | None,
          forces: _Forces) -> type | None:
    """Return the class of the contacts; None if there are none."""
    for contact in contacts:
        checks.check_kind('contacts', contact, (SoftContact, RigidContact))
    kinds = {type(contact) for contact in contacts}
    if len(kinds) > 1:
        raise DynamicsError('contacts: some are soft and some rigid; expected one kind')
    if touch is not None and kinds != {SoftContact}:
        raise DynamicsError('touch is given without soft contacts, and only they have touch points '
                            'as a state')
    if kinds == {RigidContact} and n is not None:
        raise DynamicsError('contacts: rigid contacts take one state, as each state has its own '
                            'impacts; q or v is a batch')
    if kinds == {RigidContact} and forces.row_motion is not None:
        raise DynamicsError('contacts: rigid contacts cannot be with row_motion; expected soft '
                            'contacts')
    return next(iter(kinds), None)


def _integrator_maker(model: Model, method: str, step: float, tolerance: float, times: np.ndarray,
                      on_ground: bool) -> Callable[[Acceleration], Integrator]:
    """Return f(acceleration) -> Integrator; the settings are checked."""
    method, step = checks.choice('method', method, METHODS), checks.positive('step', step)
    tolerance = checks.positive('tolerance', tolerance)
    if not LEAST_TOLERANCE <= tolerance < 1.0:
        raise DynamicsError(f'tolerance is {tolerance}; expected a number from {LEAST_TOLERANCE} '
                            'to 1')
    if (on_ground or method == 'rk4') and times[-1] - times[0] > MOST_STEPS * step:
        raise DynamicsError(f'step is {step} s, and time ends after {times[-1] - times[0]:.6g} s; '
                            f'expected at most {MOST_STEPS} steps')

    def integrator(acceleration: Acceleration) -> Integrator:
        equations = EquationsOfMotion(model, acceleration)
        if method == 'rk4':
            return RungeKutta(equations, step)
        from dynamics_node.simulation.adaptive import Adaptive  # SciPy takes 0.1 s to import
        return Adaptive(equations, method, tolerance)
    return integrator
