"""Compute the dynamics of a closed mechanism in its independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.linearization import Linear
from dynamics_node.constrained import regular_or_fallback
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.closed_derivatives import (
    ClosedForwardDerivatives,
    ClosedInverseDerivatives,
)
from dynamics_node.constrained.closed_dynamics import ClosedDynamics
from dynamics_node.constrained.closed_hybrid import ClosedHybrid
from dynamics_node.constrained.closed_jacobian import ClosedJacobian, closed_jacobian
from dynamics_node.constrained.closed_linearization import closed_linearization
from dynamics_node.constrained.constraint import holonomic_rows, row_names
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import dof_names
from dynamics_node.model.model import Model
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.spatial.stacks import times


class ClosedMechanism:
    """The methods of a Robot whose loops are eliminated: k independent coordinates are left.

    `constraints` is as in ConstrainedDynamics. `coordinates` are names of joints that have as many
    degrees of freedom as the mechanism; None for the joints with a motor.
    """

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets) -> None:
        self._dispatcher, self._sets = dispatcher, sets
        self._model = dispatcher.model
        self._motors = actuated_dofs(self._model, self._model.loops[1])

    def closed_dynamics(self, q: ArrayLike, v: ArrayLike, constraints: Constraints = None,
                        coordinates: Sequence[str] | None = None) -> ClosedDynamics:
        """Return the ClosedDynamics of the mechanism in independent coordinates u.

        mass_matrix du/dt + coriolis + gravity + friction = transmission' tau, (k,) each, with
        v = transmission u and a = transmission du/dt + transmission_rate u. mass_matrix (k, k)
        includes armature, friction includes springs; energies [J].

        :param v: (nv,) of which the entries of the coordinates are read; the others follow.
        :param coordinates: names of joints that have as many degrees of freedom as the mechanism;
            None for the joints with a motor. Then transmission' tau are their torques.
        :raise DynamicsError: the loops are open at q, or the coordinates are too many, or do not
            determine the motion of the mechanism there.
        """
        return self._dispatcher.positional('closed_dynamics', (self._entries(coordinates),),
                                           self._sets.of(constraints))(q, v)

    def closed_hybrid_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike,
                               given: ArrayLike, constraints: Constraints = None,
                               coordinates: Sequence[str] | None = None,
                               wrenches: Wrenches = None) -> ClosedHybrid:
        """Return (a, tau) of all joints (nv,), some accelerations of the coordinates given.

        No multipliers are computed, so redundant constraint rows need no choice among them.

        :param v, coordinates: as in closed_dynamics.
        :param a: (nv,) of which the given entries are read.
        :param tau: (nv,) of which all other entries are read, those of other joints too.
        :param given: (nv,) booleans, True where the acceleration of a coordinate is given.
        :raise DynamicsError: as closed_dynamics; or `given` names a joint that is not a coordinate.
        """
        entries = self._entries(coordinates)
        mask = arguments.check_given(given, self._model.nv)
        others = [k for k in np.flatnonzero(mask).tolist() if k not in entries]
        if others:
            names = dof_names(self._model)
            raise DynamicsError(f"given: '{names[others[0]]}' is not a coordinate, it follows from "
                                f'them; the coordinates are: '
                                f'{", ".join(names[k] for k in entries)}')
        return self._call('closed_hybrid_dynamics', wrenches, constraints, coordinates,
                          q=q, v=v, a=a, tau=tau, given=mask.astype(float))

    def closed_linearization(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                             step: float | None = None, constraints: Constraints = None,
                             coordinates: Sequence[str] | None = None,
                             wrenches: Wrenches = None) -> Linear:
        """Return the Linear (A, B, drift) of small deviations of a closed mechanism, for LQR.

        d/dt dx = A dx + B dtau for dx = (deviation of the coordinates, of their velocities u),
        (2 k,), and dtau of all joints, (nv,): A (2 k, 2 k), B (2 k, nv); in NumPy.

        :param v, coordinates: as in closed_dynamics.
        :param step: as in linearize.
        :param wrenches: as for inverse_dynamics, constant in their frames.
        :raise DynamicsError: as closed_dynamics; or a row restricts velocities alone, as rolling.
        """
        step = None if step is None else checks.positive('step', step)
        independent = self._entries(coordinates)
        valid = self._sets.of(constraints)
        free = [name for name, each in zip(row_names(valid), holonomic_rows(valid)) if not each]
        if free:
            raise DynamicsError(f"the constraint row '{free[0]}' restricts velocities, not "
                                'positions: a linear model of the coordinates alone lacks the '
                                'positions that it leaves free; linearize the open tree')

        def linearization(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                          *wrenches: np.ndarray) -> tuple[np.ndarray, ...]:
            return tuple(closed_linearization(model, valid, q, v, tau, independent, step,
                                              *wrenches))
        return Linear(*self._dispatcher.call_numpy(
            regular_or_fallback.with_state_number(linearization, q, v, tau), wrenches,
            q=q, v=v, tau=tau))

    def closed_inverse_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                   constraints: Constraints = None,
                                   coordinates: Sequence[str] | None = None,
                                   wrenches: Wrenches = None) -> ClosedInverseDerivatives:
        """Return (tau, dq, dv, da): torques of the coordinates (k,) and their derivatives (k, k).

        All joints follow a deviation of a coordinate, so that the loops stay closed; tau =
        transmission' inverse_dynamics, da is the mass matrix of closed_dynamics.

        :param v, a: (nv,) of which the entries of the coordinates are read.
        :param wrenches: as for inverse_dynamics, constant in their frames.
        :raise DynamicsError: as closed_dynamics.
        """
        return self._call('closed_inverse_derivatives', wrenches, constraints, coordinates,
                          q=q, v=v, a=a)

    def closed_forward_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                   constraints: Constraints = None,
                                   coordinates: Sequence[str] | None = None,
                                   wrenches: Wrenches = None) -> ClosedForwardDerivatives:
        """Return (a, dq, dv, dtau): accelerations of the coordinates and their derivatives.

        a (k,), dq and dv (k, k), dtau (k, nv) by the torques of all joints; arguments as for
        closed_inverse_derivatives.
        """
        return self._call('closed_forward_derivatives', wrenches, constraints, coordinates,
                          q=q, v=v, tau=tau)

    def closed_jacobian(self, q: ArrayLike, v: ArrayLike, frame: str, local: bool = False,
                        constraints: Constraints = None,
                        coordinates: Sequence[str] | None = None) -> ClosedJacobian:
        """Return (jacobian, rate, drift) of a frame by the coordinates u, linear rows first.

        The velocity of the frame (linear of its origin, then angular) is jacobian u, its rate is
        jacobian du/dt + drift; jacobian and rate (6, k), drift = rate u (6,).

        :param v, coordinates: as in closed_dynamics.
        :param local: in the frame's axes instead of the world's. These axes turn: rate and drift
            are then the rates of the components, as in jacobian_rate.
        """
        axes = frame, checks.flag('local', local)
        J = self._dispatcher.positional('jacobian', axes)(q)
        closed = self.closed_dynamics(q, v, constraints, coordinates)
        u = np.asarray(v, dtype=float)[..., list(self._entries(coordinates))]
        all_velocities = times(closed.transmission, u)
        rate = self._dispatcher.positional('jacobian_rate', axes)(q, all_velocities)
        return closed_jacobian(J, rate, closed, u)

    def _call(self, name: str, wrenches: Wrenches, constraints: Constraints,
              coordinates: Sequence[str] | None, **inputs: Any) -> Any:
        """Call a kernel; without wrenches directly, which is ten times faster."""
        entries, valid = (self._entries(coordinates),), self._sets.of(constraints)
        if wrenches is None:
            return self._dispatcher.positional(name, entries, valid)(*inputs.values())
        return self._dispatcher.call(name, wrenches, entries, constraints=valid, **inputs)

    def _entries(self, coordinates: Sequence[str] | None) -> tuple[int, ...]:
        """Return the entries of v of the coordinates."""
        return arguments.check_coordinates(self._model, coordinates, self._motors)
