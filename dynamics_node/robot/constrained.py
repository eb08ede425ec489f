"""Compute the dynamics of a robot with loops and contacts, and impacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained import regular_or_fallback
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.assembly import project_configuration, project_velocity
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.constraint_report import ConstraintReport, report
from dynamics_node.constrained.contact_forces import ContactForces, contact_forces
from dynamics_node.constrained.derivatives import (
    ConstrainedInverseDerivatives,
    constrained_inverse_dynamics_derivatives,
)
from dynamics_node.constrained.force_distribution import Distribution, floating_base_torques
from dynamics_node.constrained.inverse import torques_of_motion
from dynamics_node.constrained.proximal import Proximal
from dynamics_node.constrained.regular_or_fallback import (
    AfterImpact,
    ConstrainedDerivatives,
    ConstrainedMotion,
)
from dynamics_node.constrained.rows import ConstraintRows
from dynamics_node.constrained.support_consistent import SupportConsistent
from dynamics_node.constrained.universal_form import UniversalForm, universal_form
from dynamics_node.model.model import Model
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher

CHOICES = ('least_force', 'least_torque', 'weighted', 'unique')
ConstraintTuple = tuple[Constraint, ...]
Result = TypeVar('Result')
Weights = tuple[ArrayLike | None, ArrayLike | None] | None


class ConstrainedDynamics:
    """The methods of a Robot for constraints other than its joints.

    `constraints` is a sequence of Constraint, or of dicts with their fields; None is the robot's
    own loops. `contacts` are the same, in addition to the loops. Multipliers are the forces and
    moments on a constraint's frame from the frame it is fixed to, in the axes of the latter, row by
    row as `constrained.constraint.row_names` calls them, (m,). Rows may be dependent: the motion is
    unique all the same, and the smallest multipliers are returned.
    """

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets) -> None:
        self._dispatcher, self._sets = dispatcher, sets
        self._model = dispatcher.model

    # Dynamics --------------------------------------------------------------------------------

    def constrained_forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                     constraints: Constraints = None, wrenches: Wrenches = None,
                                     stabilisation: ArrayLike | None = None,
                                     proximal: Proximal | bool | None = None) -> ConstrainedMotion:
        """Return the ConstrainedMotion (a, tau, multipliers) under the torques tau.

        M a + b = tau + A' multipliers with A a + dA/dt v = 0. Constraints that contradict each
        other are all violated a little: see constraint_report.

        :param stabilisation: (alpha, beta) [1/s] of Baumgarte, against drift of the constraints:
            A a + dA/dt v = -2 alpha A v - beta^2 residual. No overshoot if both are equal.
        :param proximal: True, or Proximal: multipliers that stay bounded in and near a singular
            configuration, see constrained/proximal.py; in NumPy.
        """
        valid = self._sets.of(constraints)
        if proximal is not None and proximal is not False:
            return self._proximal(valid, arguments.check_proximal(proximal), wrenches,
                                  stabilisation,
                                  q=q, v=v, tau=tau)
        if wrenches is None and stabilisation is None:
            return self._dispatcher.positional('constrained_forward_dynamics', (), valid)(q, v, tau)
        return self._motion('forward', valid, wrenches, stabilisation, q=q, v=v, tau=tau)

    def constrained_inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                     constraints: Constraints = None,
                                     passive: Sequence[str] | None = None,
                                     passive_torques: ArrayLike | None = None,
                                     choice: str = 'least_force', weights: Weights = None,
                                     wrenches: Wrenches = None) -> ConstrainedMotion:
        """Return the ConstrainedMotion (a, tau, multipliers) of a motion that keeps constraints.

        :param passive: names of the joints without a motor, None for the loops' own; floating
            joints never have one.
        :param passive_torques: (nv,), of which the passive entries are read; None for zero.
        :param choice: which torques, if there are many: 'least_force' of the multipliers,
            'least_torque' of the motors, 'weighted' for both, or 'unique' to raise an error.
        :param weights: (of torques (nv,), of multipliers (m,)), each None for ones.
        :raise DynamicsError: the motion violates a constraint, or no torques can make it.
        """
        valid, actuated = self._sets.of(constraints), self._actuated(passive)
        settings = self._inverse_settings(valid, actuated, choice, weights)
        m, nv = sum(map(size, valid)), self._model.nv

        def torques(model: Model, residual: np.ndarray, A: np.ndarray, gamma: np.ndarray,
                    needed: np.ndarray, M: np.ndarray, v: np.ndarray, a: np.ndarray,
                    passive_torques: np.ndarray) -> ConstrainedMotion:
            found = torques_of_motion(
                model, ConstraintRows(residual, A.reshape(m, nv), gamma), needed,
                M.reshape(nv, nv), v, a, valid, actuated, passive_torques, **settings)
            return ConstrainedMotion(a.copy(), found.tau, found.multipliers)
        given = self._or_zero(passive_torques)
        call = self._dispatcher.call
        terms = call('constraint_rows', constraints=valid, q=q, v=v)
        needed = call('inverse_dynamics', wrenches, q=q, v=v, a=a)
        checks.batch_size({'the motion': needed, 'passive_torques': given})
        return self._on_terms(
            torques, valid, ConstrainedMotion, residual=terms.residual, A=_flat(terms.A),
            gamma=terms.gamma, needed=needed, M=_flat(call('mass_matrix', q=q)),
            v=checks.check_array('v', v, nv), a=checks.check_array('a', a, nv),
            passive_torques=given)

    def constrained_hybrid_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike,
                                    given: ArrayLike, constraints: Constraints = None,
                                    wrenches: Wrenches = None,
                                    stabilisation: ArrayLike | None = None,
                                    choice: str = 'least_force', weights: Weights = None
                                    ) -> ConstrainedMotion:
        """Return the ConstrainedMotion from a where `given` is True and tau where it is not.

        :param choice, weights: which torques of the given joints, if there are many, as for
            constrained_inverse_dynamics; all but 'least_force' are computed in NumPy.
        :raise DynamicsError: the given accelerations contradict the constraints.
        """
        valid = self._sets.of(constraints)
        mask = arguments.check_given(given, self._model.nv)
        settings = self._inverse_settings(valid, mask, choice, weights)
        if choice == 'least_force' and weights is None:
            return self._motion('hybrid', valid, wrenches, stabilisation, q=q, v=v, a=a, tau=tau,
                                given=mask.astype(float))
        rates = arguments.check_stabilisation(stabilisation)

        def hybrid(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
                   wrenches: np.ndarray | None = None) -> ConstrainedMotion:
            return regular_or_fallback.hybrid(model, valid, q, v, a, tau, mask, wrenches, rates,
                                              **settings)
        return self._in_numpy(hybrid, valid, ConstrainedMotion, wrenches, q=q, v=v, a=a, tau=tau)

    def universal_form(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike,
                       given: ArrayLike, constraints: Constraints = None,
                       wrenches: Wrenches = None) -> UniversalForm:
        """Return the UniversalForm: motion of all bodies, forces of all joints, loops and motors.

        From a where `given` is True and tau where it is not, as constrained_hybrid_dynamics; in
        NumPy.
        """
        valid, mask = self._sets.of(constraints), arguments.check_given(given, self._model.nv)

        def solve(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
                  *wrenches: np.ndarray) -> tuple[np.ndarray, ...]:
            return tuple(universal_form(model, valid, q, v, a, tau, mask, *wrenches))
        return UniversalForm(*self._dispatcher.call_numpy(
            regular_or_fallback.with_state_number(solve, q, v, a, tau), wrenches,
            q=q, v=v, a=a, tau=tau))

    def constraint_rows(self, q: ArrayLike, v: ArrayLike, constraints: Constraints = None
                        ) -> ConstraintRows:
        """Return the ConstraintRows (residual, A, gamma): A v = 0 and A a + gamma = 0 hold.

        residual (m,) [m or rad], A (m, nv), gamma = dA/dt v (m,).
        """
        return self._dispatcher.positional('constraint_rows', (), self._sets.of(constraints))(q, v)

    def constraint_report(self, q: ArrayLike, v: ArrayLike, constraints: Constraints = None,
                          passive: Sequence[str] | None = None) -> ConstraintReport:
        """Return the ConstraintReport of one state; str() prints it.

        Rank, repeated rows, freedom, actuation, distance to a singular configuration, and which
        constraints contradict each other.
        """
        valid, actuated = self._sets.of(constraints), self._actuated(passive)
        q = arguments.check_single_configuration(self._model, q)
        v = checks.check_single('v', v, self._model.nv)
        with regular_or_fallback.linear_algebra_errors():
            return report(self._model, q, v, valid, actuated)

    # Derivatives -----------------------------------------------------------------------------

    def constrained_forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                                 constraints: Constraints = None,
                                                 wrenches: Wrenches = None
                                                 ) -> ConstrainedDerivatives:
        """Return (dq, dv, dtau, multipliers_dq, multipliers_dv, multipliers_dtau).

        Derivatives of the acceleration, (nv, nv), and the multipliers, (m, nv), along unit
        velocities.

        :raise DynamicsError: rows depend on each other, so that the multipliers are not unique.
        """
        return self._dispatcher.call(
            'constrained_forward_dynamics_derivatives', wrenches,
            constraints=self._sets.of(constraints), q=q, v=v, tau=tau)

    def constrained_inverse_dynamics_derivatives(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, constraints: Constraints = None,
            passive: Sequence[str] | None = None, passive_torques: ArrayLike | None = None,
            choice: str = 'least_force', weights: Weights = None, wrenches: Wrenches = None
            ) -> ConstrainedInverseDerivatives:
        """Return (dq, dv, da, multipliers_dq, multipliers_dv, multipliers_da).

        Derivatives of the torques, (nv, nv), and the multipliers, (m, nv); arguments as for
        constrained_inverse_dynamics.
        """
        valid, actuated = self._sets.of(constraints), self._actuated(passive)
        settings = self._inverse_settings(valid, actuated, choice, weights)

        def inverse(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                    passive_torques: np.ndarray, wrenches: np.ndarray | None = None
                    ) -> ConstrainedInverseDerivatives:
            return constrained_inverse_dynamics_derivatives(
                model, q, v, a, valid, actuated, passive_torques, **settings,
                wrenches=wrenches)
        return self._in_numpy(inverse, valid, ConstrainedInverseDerivatives, wrenches,
                              q=q, v=v, a=a, passive_torques=self._or_zero(passive_torques))

    # States that keep constraints ------------------------------------------------------------

    def project_configuration(self, q: ArrayLike, constraints: Constraints = None,
                              fixed: Sequence[str] = ()) -> np.ndarray:
        """Return a configuration near q that keeps the constraints and the joints' limits, (nq,).

        :param fixed: names of joints that must not move.
        :raise DynamicsError: none was found; the message names the violated constraint.
        """
        valid = self._sets.of(constraints)
        fixed = arguments.check_joint_names(self._model, 'fixed', fixed)
        return self._dispatcher.rows(
            regular_or_fallback.with_state_number(
                lambda model, q: project_configuration(model, q, valid, fixed=fixed), q),
            q=arguments.check_configuration(self._model, q))

    def project_velocity(self, q: ArrayLike, v: ArrayLike, constraints: Constraints = None
                         ) -> np.ndarray:
        """Return the velocity nearest to v, by kinetic energy, that keeps constraints, (nv,)."""
        valid = self._sets.of(constraints)
        return self._dispatcher.rows(
            regular_or_fallback.with_state_number(
                lambda model, q, v: project_velocity(model, q, v, valid), q, v),
            q=arguments.check_configuration(self._model, q),
            v=checks.check_array('v', v, self._model.nv))

    # Contact ---------------------------------------------------------------------------------

    def contact_forces(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, contacts: Constraints,
                       wrenches: Wrenches = None) -> ContactForces:
        """Return the ContactForces (force, a, violation, rank) under tau: no sensor is needed.

        `force` has the rows of the loops first, then those of the contacts.
        """
        valid = self._sets.of(None, contacts)

        def forces(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                   *wrenches: np.ndarray) -> ContactForces:
            return contact_forces(model, q, v, tau, valid, *wrenches)
        found = self._in_numpy(forces, valid, ContactForces, wrenches, q=q, v=v, tau=tau)
        return found._replace(rank=_converted(found.rank, int))

    def support_consistent_dynamics(self, q: ArrayLike, v: ArrayLike, contacts: Constraints
                                    ) -> SupportConsistent:
        """Return the SupportConsistent (inertia, null_space, bias, jacobian, drift).

        M a + bias = null_space' (tau - friction): the motion that loops and contacts leave free.
        """
        return self._dispatcher.positional('support_consistent_dynamics', (),
                                           self._sets.of(None, contacts))(q, v)

    def floating_base_torques(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                              contacts: Constraints, choice: str = 'least_torque',
                              passive: Sequence[str] | None = None,
                              preferred: ArrayLike | None = None, weights: Weights = None,
                              wrenches: Wrenches = None) -> Distribution:
        """Return the Distribution of the forces of a motion between motors and contacts.

        (tau, force, unsupported, supported, slip, rank, choices), see
        constrained/force_distribution.py.

        :param preferred: torques (nv,) to stay near to; zero by default.
        :param choice, passive, weights: as in constrained_inverse_dynamics.
        """
        valid, actuated = self._sets.of(None, contacts), self._actuated(passive)
        settings = self._inverse_settings(valid, actuated, choice, weights)

        def torques(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                    preferred: np.ndarray, wrenches: np.ndarray | None = None) -> Distribution:
            return floating_base_torques(model, q, v, a, valid, actuated, preferred=preferred,
                                         **settings, wrenches=wrenches)
        found = self._in_numpy(torques, valid, Distribution, wrenches, q=q, v=v, a=a,
                               preferred=self._or_zero(preferred, 'preferred'))
        return found._replace(supported=_converted(found.supported, bool),
                              rank=_converted(found.rank, int),
                              choices=_converted(found.choices, int))

    def impact(self, q: ArrayLike, v: ArrayLike, contacts: Constraints,
               restitution: float | Mapping[str, ArrayLike] | ArrayLike = 0.0) -> AfterImpact:
        """Return (v, impulse, energy_loss) after an impact at all contacts at once.

        The loops stay closed; their impulses come first.

        :param restitution: from 0, plastic, to 1, elastic: a number for all contacts, {contact:
            number or one per row}, or (m,) numbers.
        """
        valid = self._sets.of(None, contacts)
        rows = arguments.check_restitution(restitution, valid)
        return self._dispatcher.positional('impact', (), valid)(q, v, rows)

    # Helpers ---------------------------------------------------------------------------------

    def _motion(self, which: str, constraints: ConstraintTuple, wrenches: Wrenches,
                stabilisation: ArrayLike | None, **inputs: Any
                ) -> ConstrainedMotion:
        """Call the kernel of forward or hybrid dynamics; stabilised, it has one more input."""
        rates = arguments.check_stabilisation(stabilisation)
        kind = 'constrained' if rates is None else 'stabilised'
        if rates is not None:
            inputs['stabilisation'] = rates
        return self._dispatcher.call(f'{kind}_{which}_dynamics', wrenches, constraints=constraints,
                                     **inputs)

    def _proximal(self, constraints: ConstraintTuple, settings: Proximal, wrenches: Wrenches,
                  stabilisation: ArrayLike | None, **inputs: ArrayLike
                  ) -> ConstrainedMotion:
        rates = arguments.check_stabilisation(stabilisation)

        def proximal(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                     wrenches: np.ndarray | None = None) -> ConstrainedMotion:
            return regular_or_fallback.proximal_forward(model, constraints, settings, q, v, tau,
                                                        wrenches, rates)
        return self._in_numpy(proximal, constraints, ConstrainedMotion, wrenches, **inputs)

    def _in_numpy(self, algorithm: Callable, constraints: ConstraintTuple, result: type[Result],
                  wrenches: Wrenches, **inputs: ArrayLike) -> Result:
        """Compute a quantity without kernel, state by state."""
        algorithm = self._of_one_state(algorithm, constraints, result, inputs)
        return result(*self._dispatcher.call_numpy(algorithm, wrenches, **inputs))

    def _on_terms(self, algorithm: Callable, constraints: ConstraintTuple, result: type[Result],
                  **terms: np.ndarray) -> Result:
        """Compute a quantity from terms that kernels gave for the whole batch."""
        algorithm = self._of_one_state(algorithm, constraints, result, terms)
        return result(*self._dispatcher.rows(algorithm, **terms))

    def _of_one_state(self, algorithm: Callable, constraints: ConstraintTuple, result: type,
                      inputs: Mapping[str, Any]) -> Callable:
        """Return the algorithm; for an empty batch zeros: no state keeps the constraints."""
        if any(regular_or_fallback.is_batch(array) and len(array) == 0
               for array in inputs.values()):
            algorithm = regular_or_fallback.zero_result(result, self._model.nv,
                                                        sum(map(size, constraints)))
        return regular_or_fallback.with_state_number(algorithm, *inputs.values())

    def _actuated(self, passive: Sequence[str] | None) -> np.ndarray:
        """Return the degrees of freedom with a motor, (nv,) booleans."""
        passive = self._model.loops[1] if passive is None else arguments.check_joint_names(
            self._model, 'passive', passive)
        return actuated_dofs(self._model, passive)

    def _inverse_settings(self, constraints: ConstraintTuple, actuated: np.ndarray, choice: str,
                          weights: Weights) -> dict[str, Any]:
        pair: tuple[Any, Any] = checks.check_pair(
            'weights', weights, '(of torques (nv,), of multipliers (m,))')
        of_torque, of_force = pair
        torque = checks.check_weights('weights[0]', of_torque, self._model.nv)
        return {'choice': checks.choice('choice', choice, CHOICES),
                'torque_weights': None if torque is None else torque[actuated],
                'force_weights': checks.check_weights('weights[1]', of_force,
                                                      sum(map(size, constraints)))}

    def _or_zero(self, torques: ArrayLike | None, name: str = 'passive_torques') -> np.ndarray:
        nv = self._model.nv
        return np.zeros(nv) if torques is None else checks.check_array(name, torques, nv)


def _flat(matrices: np.ndarray) -> np.ndarray:
    """Return the rows of a matrix, or of each of a batch, one after the other."""
    return matrices.reshape(*matrices.shape[:-2], matrices.shape[-2] * matrices.shape[-1])


def _converted(values: Any, kind: type) -> Any:
    """Return a number, or the numbers of a batch, in another type."""
    return np.asarray(values).astype(kind)[()]
