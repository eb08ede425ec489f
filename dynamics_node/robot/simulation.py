"""Simulate a robot: its motion under torques, wrenches and constraints."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained.prescribed import RowMotion
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.robot.prescribed import PrescribedMotion
from dynamics_node.simulation.equations_of_motion import Acceleration, EquationsOfMotion
from dynamics_node.simulation.friction_stiffness import check_friction
from dynamics_node.simulation.output_times import Integrator, Progress, SimulatedMotion, simulate
from dynamics_node.simulation.runge_kutta import RungeKutta
from dynamics_node.simulation.torque_source import Torque, TorqueFunction, torque_function

METHODS = ('rk4', 'dop853', 'radau')
MOST_STEPS = 100_000_000   # of 'rk4'; about an hour of computing for an arm
LEAST_TOLERANCE = 1e-13    # less is below the rounding of the solvers
STABILISATION = (20.0, 20.0)
WrenchSource = Wrenches | Callable[[float, np.ndarray, np.ndarray], Wrenches]


class Simulation:
    """The method of a Robot that integrates its motion."""

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets, prescribed: PrescribedMotion):
        self._dispatcher, self._sets, self._model = dispatcher, sets, dispatcher.model
        self._prescribed = prescribed

    def simulate(self, q: ArrayLike, v: ArrayLike, torque: Torque, time: ArrayLike,
                 wrenches: WrenchSource = None, constraints: Constraints = None,
                 method: str = 'rk4', step: float = 0.001, tolerance: float = 1e-8,
                 stabilisation: ArrayLike = STABILISATION, progress: Progress | None = None,
                 row_motion: Callable[[float], RowMotion] | None = None) -> SimulatedMotion:
        """Return the SimulatedMotion (time, q, v, tau) that starts in the state q, v at time[0].

        Friction of the model acts, limits of joints and contacts do not. A batch of states (N, n)
        is one call of the batch kernel per evaluation, and gives q of shape (N, T, nq).

        :param torque: (nv,), constant; (T, nv) at the times, linear between; (T, N, nv), likewise
            for each state; or a function f(t, q, v), which gets a batch if q or v is one.
        :param time: output times (T,) [s], increasing.
        :param wrenches: {frame: wrench} as of forward_dynamics, constant, or f(t, q, v) that
            returns this.
        :param constraints: as of constrained_forward_dynamics; None for the robot's loops.
        :param method: 'rk4', fixed step; 'dop853' and 'radau', adaptive steps by SciPy, the latter
            for stiff friction or gains.
        :param step: greatest step of 'rk4' [s].
        :param tolerance: of adaptive steps, absolute and relative, in the units of q and v; of a
            batch its root mean square.
        :param stabilisation: (alpha, beta) [1/s] of the constraints.
        :param progress: f(share, text), called after each output time.
        :param row_motion: f(t) -> (s, s', s'') that the constraint rows follow, as of
            prescribed_forward_dynamics; None: they stay at zero.
        :raise DynamicsError: the motion diverges, or the step is too long for dry friction.
        """
        times = checks.check_times(time, 'time')
        first_q, first_v, n = self._start(q, v)
        torques = torque_function(torque, times, self._model.nv, n)
        setting = (torques, wrenches, self._sets.of(constraints),
                   arguments.check_stabilisation(stabilisation))
        moving = checks.check_callable('row_motion', row_motion)
        equations = EquationsOfMotion(self._model, self._acceleration(*setting) if moving is None
                                      else self._of_moving_rows(*setting, moving))
        integrator = _integrator(equations, method, step, tolerance, times)
        if method == 'rk4':
            self._check_friction(first_q, step)
        with np.errstate(over='ignore', invalid='ignore'):  # EquationsOfMotion reports divergence
            return simulate(integrator, torques, first_q, first_v, times,
                            checks.check_callable('progress', progress))

    def _start(self, q, v):
        """Return (q, v, number of states or None), both single or both batches."""
        q = arguments.check_configuration(self._model, q)
        v = checks.check_array('v', v, self._model.nv)
        n = checks.batch_size({'q': q, 'v': v})
        rows = () if n is None else (n,)
        return (np.broadcast_to(q, (*rows, self._model.nq)).copy(),
                np.broadcast_to(v, (*rows, self._model.nv)).copy(), n)

    def _check_friction(self, q, step):
        if self._model.damping.any() or self._model.friction.any():
            with suppress(SingularModel):  # a link without mass may move with a loop
                check_friction(self._model, self._dispatcher.call('mass_matrix_inverse', q=q), step)

    def _of_moving_rows(self, torques, wrenches, constraints, rates, motion) -> Acceleration:
        """Return a(t, q, v) of constraint rows that follow motion(t)."""
        def acceleration(t, q, v):
            found = wrenches(t, q, v) if callable(wrenches) else wrenches
            return self._prescribed.prescribed_forward_dynamics(
                q, v, torques(t, q, v), motion(t), constraints, found, rates).a
        return acceleration

    def _acceleration(self, torques: TorqueFunction, wrenches, constraints, rates) -> Acceleration:
        """Return a(t, q, v); it waits for the kernel once, which the many calls are worth."""
        name = 'stabilised_forward_dynamics' if constraints else 'forward_dynamics'
        more = {'stabilisation': rates} if constraints else {}
        self._dispatcher.await_kernel(name, wrenches is not None, constraints)

        call = self._dispatcher.positional(name, (), constraints)

        def free(t, q, v):
            return call(q, v, torques(t, q, v), *more.values())

        def under_wrenches(t, q, v):
            found = wrenches(t, q, v) if callable(wrenches) else wrenches
            return self._dispatcher.call(name, found, constraints=constraints, q=q, v=v,
                                         tau=torques(t, q, v), **more)
        of_state = free if wrenches is None else under_wrenches
        return (lambda t, q, v: of_state(t, q, v).a) if constraints else of_state


def _integrator(equations, method, step, tolerance, times) -> Integrator:
    method, step = checks.choice('method', method, METHODS), checks.positive('step', step)
    tolerance = checks.positive('tolerance', tolerance)
    if not LEAST_TOLERANCE <= tolerance < 1.0:
        raise DynamicsError(f'tolerance is {tolerance}; expected a number from {LEAST_TOLERANCE} '
                            'to 1')
    if method != 'rk4':
        from dynamics_node.simulation.adaptive import Adaptive  # SciPy takes 0.1 s to import
        return Adaptive(equations, method, tolerance)
    if times[-1] - times[0] > MOST_STEPS * step:
        raise DynamicsError(f'step is {step} s, and time ends after {times[-1] - times[0]:.6g} s; '
                            f'expected at most {MOST_STEPS} steps')
    return RungeKutta(equations, step)
