"""Compute derivatives of the dynamics of a robot, regressors and linear models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms import regressor as regressors
from dynamics_node.algorithms.center_of_mass_motion import CenterOfMassMotion
from dynamics_node.algorithms.energy_regressor import EnergyRegressor
from dynamics_node.algorithms.generalised_momentum import GeneralisedMomentum
from dynamics_node.algorithms.geometry_rates import axis_twists, origin_twists
from dynamics_node.algorithms.inertial_parameters import body_inertia_rates
from dynamics_node.algorithms.inverse_dynamics_derivatives import InverseDerivatives
from dynamics_node.algorithms.kinematics_derivatives import TwistDerivatives
from dynamics_node.algorithms.linearization import Linear, discretized, linearized
from dynamics_node.checks import flag, positive
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.result_types import (
    ForwardDynamicsDerivatives,
    HessianProduct,
    HybridDirectionalDerivatives,
    HybridDynamicsDerivatives,
)
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import JointValues, Wrenches
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.robot.dynamics import Dynamics

LinkRates = Mapping[str, ArrayLike] | None
JointRates = Mapping[str, ArrayLike] | None


class Derivatives:
    """The methods of a Robot for derivatives.

    Column k of a derivative by q is the change along a unit velocity of k: d/d eps at eps = 0 of
    f(integrate(q, eps e_k)). External wrenches are constant in their frames.
    """

    def __init__(self, dispatcher: Dispatcher, dynamics: Dynamics) -> None:
        self._dispatcher, self._dynamics = dispatcher, dynamics
        self._model = dispatcher.model

    # Of dynamics -----------------------------------------------------------------------------

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                     wrenches: Wrenches = None) -> InverseDerivatives:
        """Return (dq, dv, da), the derivatives of inverse_dynamics, (nv, nv) each; da is M."""
        return self._dispatcher.call('inverse_dynamics_derivatives', wrenches, q=q, v=v, a=a)

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                     wrenches: Wrenches = None) -> ForwardDynamicsDerivatives:
        """Return (dq, dv, dtau), the derivatives of forward_dynamics, (nv, nv) each.

        dtau is the inverse of M.
        """
        return self._dispatcher.call('forward_dynamics_derivatives', wrenches, q=q, v=v, tau=tau)

    def hybrid_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike,
                                    given: ArrayLike, wrenches: Wrenches = None
                                    ) -> HybridDynamicsDerivatives:
        """Return (dq, dv, dknown), the derivatives of the unknowns of hybrid_dynamics.

        (nv, nv) each. Row k: of the torque where the acceleration is given, else of the
        acceleration. dknown is by the known quantities: given accelerations, torques elsewhere.
        """
        mask = self._mask(given)
        if wrenches is None:
            return self._dispatcher.positional('hybrid_dynamics_derivatives')(q, v, a, tau, mask)
        return self._dispatcher.call('hybrid_dynamics_derivatives', wrenches, q=q, v=v, a=a,
                                     tau=tau, given=mask)

    # Along a direction -----------------------------------------------------------------------

    def inverse_dynamics_directional_derivative(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike | None = None,
            dv: ArrayLike | None = None, da: ArrayLike | None = None, dwrenches: Wrenches = None,
            dinertias: LinkRates = None, dgravity: ArrayLike | None = None,
            ddamping: JointValues = None, dfriction: JointValues = None,
            darmature: JointValues = None, wrenches: Wrenches = None,
            dorigins: JointRates = None, daxes: JointRates = None) -> np.ndarray:
        """Return d tau/dp along a scalar p, (nv,).

        p may change the motion, wrenches, inertial parameters, gravity, damping, dry friction,
        armature, and origins and axes of joints. All rates are d/dp; None is zero.

        :param dq, dv, da: direction of the motion, (nv,); dq as a velocity.
        :param dwrenches: {frame: (fx, fy, fz, tx, ty, tz)}.
        :param dinertias: {frame: (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)} of what is fixed
            to that frame, a link or a load; tensor about the frame's origin.
        :param dgravity: (3,).
        :param ddamping, dfriction, darmature: {joint: rate}, or arrays (nv,).
        :param dorigins: {joint: (x, y, z, rx, ry, rz)}, translation and rotation of a joint's
            origin, with all links beyond it, in the axes of the parent link; mimic joints too.
        :param daxes: {joint: (x, y, z, rx, ry, rz)}, translation and rotation of a joint's axis in
            the axes of the joint frame; the link's pose at position zero is constant.
        """
        return self._directional(
            'inverse_dynamics', {'q': q, 'v': v, 'a': a}, wrenches, dwrenches, dinertias, dgravity,
            (ddamping, dfriction, darmature), (dorigins, daxes), dq=dq, dv=dv, da=da)

    def forward_dynamics_directional_derivative(
            self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike | None = None,
            dv: ArrayLike | None = None, dtau: ArrayLike | None = None, dwrenches: Wrenches = None,
            dinertias: LinkRates = None, dgravity: ArrayLike | None = None,
            ddamping: JointValues = None, dfriction: JointValues = None,
            darmature: JointValues = None, wrenches: Wrenches = None,
            dorigins: JointRates = None, daxes: JointRates = None) -> np.ndarray:
        """Return da/dp of forward_dynamics, (nv,); the rates as for inverse dynamics."""
        return self._directional(
            'forward_dynamics', {'q': q, 'v': v, 'tau': tau}, wrenches, dwrenches, dinertias,
            dgravity, (ddamping, dfriction, darmature), (dorigins, daxes), dq=dq, dv=dv, dtau=dtau)

    def hybrid_dynamics_directional_derivative(
            self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike, given: ArrayLike,
            dq: ArrayLike | None = None, dv: ArrayLike | None = None, da: ArrayLike | None = None,
            dtau: ArrayLike | None = None, dwrenches: Wrenches = None,
            dinertias: LinkRates = None, dgravity: ArrayLike | None = None,
            ddamping: JointValues = None, dfriction: JointValues = None,
            darmature: JointValues = None, wrenches: Wrenches = None,
            dorigins: JointRates = None, daxes: JointRates = None
            ) -> HybridDirectionalDerivatives:
        """Return (da, dtau), d/dp of hybrid_dynamics: da is read where given, dtau elsewhere."""
        state = {'q': q, 'v': v, 'a': a, 'tau': tau, 'given': self._mask(given)}
        return self._directional(
            'hybrid_dynamics', state, wrenches, dwrenches, dinertias, dgravity,
            (ddamping, dfriction, darmature), (dorigins, daxes), dq=dq, dv=dv, da=da, dtau=dtau)

    def inverse_dynamics_hessian_product(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                         weights: ArrayLike, dq: ArrayLike, dv: ArrayLike,
                                         da: ArrayLike) -> HessianProduct:
        """Return (dq, dv, da): how the gradients of s = weights . tau change along (dq, dv, da).

        The Hessian of s times that direction, (nv,) each, without the Hessian. ds/dq is along unit
        velocities, which turn with a floating joint: the Hessian is then not symmetric. Without a
        kernel the program is interpreted, which takes milliseconds.
        """
        return self._dispatcher.call('inverse_dynamics_hessian_product', q=q, v=v, a=a,
                                     weights=weights, dq=dq, dv=dv, da=da)

    # Linear in the parameters ----------------------------------------------------------------

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, friction: bool = False,
                  armature: bool = False) -> np.ndarray:
        """Return Y with inverse_dynamics(q, v, a) = Y parameters, (nv, 10 bodies + ...).

        Without friction and rotors the parameters are `inertial_parameters`.

        :param friction: add nv columns for damping and nv for dry friction.
        :param armature: then add nv columns for the rotors' inertias.
        """
        Y = self._dispatcher.call('regressor', q=q, v=v, a=a)
        parts = [Y]
        if flag('friction', friction):
            parts.append(self._diagonal(Y, 'v', v, regressors.friction_regressor))
        if flag('armature', armature):
            parts.append(self._diagonal(Y, 'a', a, regressors.armature_regressor))
        return np.concatenate(parts, axis=-1) if len(parts) > 1 else Y

    def energy_regressor(self, q: ArrayLike, v: ArrayLike) -> EnergyRegressor:
        """Return (kinetic, potential), rows with energy = row . inertial_parameters, (10 bodies,).

        The energies are those of moving links alone, without rotors and links fixed to the world.
        """
        return self._dispatcher.call('energy_regressor', q=q, v=v)

    # Of matrices and frames ------------------------------------------------------------------

    def mass_matrix_derivatives(self, q: ArrayLike) -> np.ndarray:
        """Return dM/dq_k, first index k, (nv, nv, nv). From 22 degrees of freedom on in NumPy."""
        return self._dispatcher.call('mass_matrix_derivatives', q=q)

    def christoffel_symbols(self, q: ArrayLike) -> np.ndarray:
        """Return Gamma with coriolis_matrix(q, v) = Gamma v, (nv, nv, nv).

        From 22 degrees of freedom on in NumPy.
        """
        return self._dispatcher.call('christoffel_symbols', q=q)

    def generalised_momentum(self, q: ArrayLike, v: ArrayLike) -> GeneralisedMomentum:
        """Return (value, drift): p = M v, and dp/dt without torques, C' v - g, (nv,) each.

        dp/dt = drift + tau - friction + sum J' F_ext.
        """
        return self._dispatcher.call('generalised_momentum', q=q, v=v)

    def center_of_mass_motion(self, q: ArrayLike, v: ArrayLike) -> CenterOfMassMotion:
        """Return (position, jacobian, bias_acceleration) of the centre of mass, world axes.

        Its velocity is J v, its acceleration J a + bias; (3,), (3, nv), (3,).
        """
        return self._dispatcher.call('center_of_mass_motion', q=q, v=v)

    def gravity_stiffness(self, q: ArrayLike) -> np.ndarray:
        """Return d gravity_torque/dq, (nv, nv) [N m/rad, N/rad, N m/m or N/m]."""
        return self._dispatcher.call('gravity_stiffness', q=q)

    def frame_pose_derivatives(self, q: ArrayLike, frame: str) -> np.ndarray:
        """Return the derivatives of the frame's homogeneous matrix, first index k, (nv, 4, 4)."""
        return self._dispatcher.positional('frame_pose_derivatives', (frame,))(q)

    def frame_twist_derivatives(self, q: ArrayLike, v: ArrayLike, frame: str, local: bool = False
                                ) -> TwistDerivatives:
        """Return (dq, dv), the derivatives of the frame's velocity J v, (6, nv) each; dv is J.

        :param local: velocity in the frame's axes instead of the world's.
        """
        return self._dispatcher.positional('frame_twist_derivatives',
                                           (frame, flag('local', local)))(q, v)

    # A linear model --------------------------------------------------------------------------

    def linearize(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, step: float | None = None,
                  wrenches: Wrenches = None) -> Linear:
        """Return the Linear (A, B, drift) of small deviations from a motion, ready for LQR.

        d/dt dx = A dx + B dtau for dx = (difference(q_nominal, q), v - v_nominal), (2 nv,).

        :param step: [s] of discrete time, dx' = A dx + B dtau after that time with constant
            torques; None is continuous time.
        """
        step = None if step is None else positive('step', step)
        a = self._dynamics.forward_dynamics(q, v, tau, wrenches)
        derivatives = self.forward_dynamics_derivatives(q, v, tau, wrenches)
        v = np.broadcast_to(checks.check_array('v', v, self._model.nv), a.shape)
        linear = linearized(self._model, v, a, derivatives)
        if step is None:
            return linear
        with np.errstate(all='ignore'):  # results that are not finite are refused below
            linear = discretized(linear, step)
        if not all(np.isfinite(part).all() for part in linear):
            raise DynamicsError(f'step is {step:g} s: deviations are not finite after it; expected '
                                'a shorter step')
        return linear

    # Helpers ---------------------------------------------------------------------------------

    def _mask(self, given: ArrayLike) -> np.ndarray:
        return arguments.check_given(given, self._model.nv).astype(float)

    def _directional(self, dynamics: str, state: Mapping[str, Any], wrenches: Wrenches,
                     dwrenches: Wrenches, dinertias: LinkRates, dgravity: ArrayLike | None,
                     joint_rates: Sequence[JointValues], geometry: tuple[JointRates, JointRates],
                     **motion: ArrayLike | None) -> Any:
        zero = np.zeros(self._model.nv)
        given: dict[str, Any] = {name: zero if value is None else value
                                 for name, value in motion.items()}
        rates: dict[str, Any] = {
            'dinertias': self._body_inertia_rates(dinertias),
            'dgravity': np.zeros(3) if dgravity is None else dgravity}
        for each, rate in zip(('ddamping', 'dfriction', 'darmature'), joint_rates):
            rates[each] = zero if rate is None else arguments.check_joint_rates(self._model, each,
                                                                                rate)
        found = self._dispatcher.call(f'{dynamics}_directional_derivative', wrenches,
                                      dwrenches=dwrenches, **state, **given, **rates)
        dorigins, daxes = geometry
        if dorigins is None and daxes is None:
            return found
        more = self._dispatcher.call(
            f'{dynamics}_geometry_derivative', wrenches, **state,
            dorigins=self._joint_twists('dorigins', dorigins, origin_twists),
            daxes=self._joint_twists('daxes', daxes, axis_twists))
        return _sum(found, more)  # linear in the direction

    def _joint_twists(self, name: str, rates: JointRates, twists: Callable[..., np.ndarray]
                      ) -> np.ndarray:
        """Return the twists of all bodies' joints, (6 bodies,) or (N, 6 bodies)."""
        rates = arguments.check_geometry_rates(self._model, name, {} if rates is None else rates)
        checks.batch_size({}, **{name: rates})
        found = twists(self._model, rates)
        return found.reshape(*found.shape[:-2], 6 * len(self._model.bodies))

    def _body_inertia_rates(self, rates: LinkRates) -> np.ndarray:
        """Return the rates of all bodies' inertias, (10 bodies,) or (N, 10 bodies)."""
        rates = arguments.check_inertia_rates(self._model, {} if rates is None else rates)
        checks.batch_size({}, dinertias=rates)
        total = np.zeros(10 * len(self._model.bodies))
        for frame, tens in rates.items():  # linear in them: one matrix for all states
            total = total + tens @ np.array([body_inertia_rates(self._model, {frame: unit}).ravel()
                                             for unit in np.eye(10)])
        return total

    def _diagonal(self, Y: np.ndarray, name: str, states: ArrayLike,
                  columns: Callable[..., np.ndarray]) -> np.ndarray:
        """Return the diagonal columns of a regressor, for each state of the regressor Y."""
        rows = np.broadcast_to(checks.check_array(name, states, self._model.nv), Y.shape[:-1])
        return self._dispatcher.rows(columns, **{name: rows})


def _sum(along: Any, geometry: Any) -> Any:
    """Return the sum of two results, arrays or tuples of arrays."""
    if isinstance(along, tuple):
        return type(along)(*map(_sum, along, geometry))
    checks.batch_size({'dq, dv, ...': along, 'dorigins, daxes': geometry})
    return along + geometry
