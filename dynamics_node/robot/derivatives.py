"""What a Robot says about change: derivatives of its answers, regressors, linear models."""

import numpy as np

from dynamics_node.algorithms import regressor as regressors
from dynamics_node.algorithms.center_of_mass_motion import center_of_mass_motion
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.forward_dynamics_directional_derivative import (
    forward_dynamics_directional_derivative,
)
from dynamics_node.algorithms.generalised_momentum import generalised_momentum
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    hybrid_dynamics_directional_derivative,
)
from dynamics_node.algorithms.inertial_parameters import body_inertia_rates, inertial_parameters
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.algorithms.inverse_dynamics_directional_derivative import (
    inverse_dynamics_directional_derivative,
)
from dynamics_node.algorithms.mass_matrix_derivatives import mass_matrix_derivatives
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.derivative_specs import FORWARD, HYBRID, INVERSE, flattened
from dynamics_node.kernels.interpret import interpreted
from dynamics_node.model.checks import flag, positive
from dynamics_node.robot import arguments


class Derivatives:
    """The methods of a Robot that answer with derivatives.

    Column k of a derivative by q is the change along a unit velocity of k: d/d eps at eps = 0 of
    f(integrate(q, eps e_k)). External wrenches are constant in their frames.
    """

    # Of dynamics -----------------------------------------------------------------------------

    def inverse_dynamics_derivatives(self, q, v, a, wrenches=None):
        """Return (dq, dv, da), the derivatives of inverse_dynamics, (nv, nv) each; da is M."""
        return self._answerer.ask('inverse_dynamics_derivatives', inverse_dynamics_derivatives,
                                  wrenches, q=q, v=v, a=a)

    def forward_dynamics_derivatives(self, q, v, tau, wrenches=None):
        """Return (dq, dv, dtau), the derivatives of forward_dynamics, (nv, nv) each.

        dtau is the inverse of M.
        """
        return self._answerer.ask('forward_dynamics_derivatives', self._forward_derivatives,
                                  wrenches, q=q, v=v, tau=tau)

    def hybrid_dynamics_derivatives(self, q, v, a, tau, given, wrenches=None):
        """Return (dq, dv, dknown), the derivatives of what hybrid_dynamics finds, (nv, nv) each.

        Row k: of the torque of k where its acceleration is given, else of its acceleration.
        dknown is by what is known: the accelerations that are given, the torques that are not.
        """
        return self._ask_masked('hybrid_dynamics_derivatives', self._hybrid_derivatives,
                                q, v, a, tau, given, wrenches)

    # Along a direction -----------------------------------------------------------------------

    def inverse_dynamics_directional_derivative(self, q, v, a, dq=None, dv=None, da=None,
                                                dwrenches=None,
                               dinertias=None, dgravity=None, ddamping=None, dfriction=None,
                               darmature=None, wrenches=None):
        """Return d tau/dp along a scalar p, (nv,).

        p may change the motion, wrenches, inertial parameters, gravity, damping, dry friction and
        armature; not the geometry: origins and axes of joints are constant. All rates are d/dp;
        what is None does not change.

        :param dq, dv, da: of the motion, (nv,); dq as a velocity.
        :param dwrenches: {frame: (fx, fy, fz, tx, ty, tz)}.
        :param dinertias: {frame: (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)} of what is fixed
            to that frame, a link or a load; tensor about the frame's origin.
        :param dgravity: (3,).
        :param ddamping, dfriction, darmature: {joint: rate}, or arrays (nv,).
        """
        return self._ask_along(
            'inverse_dynamics_directional_derivative',
            flattened(inverse_dynamics_directional_derivative, INVERSE), wrenches,
            dwrenches, dinertias, dgravity, (ddamping, dfriction, darmature),
            q=q, v=v, a=a, dq=dq, dv=dv, da=da)

    def forward_dynamics_directional_derivative(self, q, v, tau, dq=None, dv=None, dtau=None,
                                                dwrenches=None,
                               dinertias=None, dgravity=None, ddamping=None, dfriction=None,
                               darmature=None, wrenches=None):
        """Return da/dp of forward_dynamics, (nv,); the rates as for inverse dynamics."""
        return self._ask_along(
            'forward_dynamics_directional_derivative', flattened(self._forward_along, FORWARD),
            wrenches,
            dwrenches, dinertias, dgravity, (ddamping, dfriction, darmature),
            q=q, v=v, tau=tau, dq=dq, dv=dv, dtau=dtau)

    def hybrid_dynamics_directional_derivative(self, q, v, a, tau, given, dq=None, dv=None, da=None,
                                               dtau=None,
                              dwrenches=None, dinertias=None, dgravity=None, ddamping=None,
                              dfriction=None, darmature=None, wrenches=None):
        """Return (da, dtau): d/dp of hybrid_dynamics, complete, from da where given and dtau."""
        given = arguments.check_given(given, self.nv).astype(float)
        return self._ask_along(
            'hybrid_dynamics_directional_derivative', flattened(self._hybrid_along, HYBRID),
            wrenches,
            dwrenches, dinertias, dgravity, (ddamping, dfriction, darmature),
            q=q, v=v, a=a, tau=tau, given=given, dq=dq, dv=dv, da=da, dtau=dtau)

    def inverse_dynamics_hessian_product(self, q, v, a, weights, dq, dv, da):
        """Return (dq, dv, da): how the gradients of s = weights . tau change along (dq, dv, da).

        The Hessian of s times that direction, (nv,) each, without the Hessian. ds/dq is along unit
        velocities: where a floating joint turns, they turn too, and the Hessian is not symmetric.
        Where there is no kernel its program is interpreted line by line, in milliseconds.
        """
        return self._answerer.ask(
            'inverse_dynamics_hessian_product', interpreted('inverse_dynamics_hessian_product'),
            q=q, v=v, a=a, weights=weights, dq=dq, dv=dv, da=da)

    # Linear in the parameters ----------------------------------------------------------------

    @property
    def inertial_parameters(self):
        """(m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each moving body, (10 bodies,)."""
        return inertial_parameters(self.model)

    def regressor(self, q, v, a, friction=False, armature=False):
        """Return Y with inverse_dynamics(q, v, a) = Y parameters, (nv, 10 bodies + ...).

        Without friction and rotors the parameters are `inertial_parameters`.

        :param friction: add nv columns for damping and nv for dry friction.
        :param armature: then add nv columns for the rotors' inertias.
        """
        Y = self._answerer.ask('regressor', regressors.regressor, q=q, v=v, a=a)
        parts = [Y]
        if flag('friction', friction):
            parts.append(self._diagonal(Y, 'v', v, regressors.friction_regressor))
        if flag('armature', armature):
            parts.append(self._diagonal(Y, 'a', a, regressors.armature_regressor))
        return np.concatenate(parts, axis=-1) if len(parts) > 1 else Y

    def energy_regressor(self, q, v):
        """Return (kinetic, potential), rows with energy = row . inertial_parameters, (10 bodies,).

        The links' alone: the rotors' kinetic energy and what is fixed to the world come besides.
        """
        return self._answerer.ask('energy_regressor', energy_regressor, q=q, v=v)

    # Of matrices and frames ------------------------------------------------------------------

    def mass_matrix_derivatives(self, q):
        """Return dM/dq_k, first index k, (nv, nv, nv). From 22 degrees of freedom on in NumPy."""
        return self._answerer.ask('mass_matrix_derivatives', mass_matrix_derivatives, q=q)

    def christoffel_symbols(self, q):
        """Return Gamma with coriolis_matrix(q, v) = Gamma v, (nv, nv, nv); as above."""
        return self._answerer.ask('christoffel_symbols', christoffel_symbols, q=q)

    def generalised_momentum(self, q, v):
        """Return (value, drift): p = M v, and dp/dt while no torque acts, C' v - g, (nv,) each.

        dp/dt = drift + tau - friction + sum J' F_ext.
        """
        return self._answerer.ask('generalised_momentum', generalised_momentum, q=q, v=v)

    def center_of_mass_motion(self, q, v):
        """Return (position, jacobian, bias_acceleration) of the centre of mass, world axes.

        Its velocity is J v, its acceleration J a + bias; (3,), (3, nv), (3,).
        """
        def of(model, q, v):
            self._has_mass()
            return center_of_mass_motion(model, q, v)
        return self._answerer.ask('center_of_mass_motion', of, q=q, v=v)

    def gravity_stiffness(self, q):
        """Return d gravity_torque/dq, (nv, nv) [N m/rad and alike]."""
        return self._answerer.ask('gravity_stiffness', gravity_stiffness, q=q)

    def frame_pose_derivatives(self, q, frame):
        """Return the derivatives of the frame's homogeneous matrix, first index k, (nv, 4, 4)."""
        return self._ask_frame('frame_pose_derivatives', (frame,), q)

    def frame_twist_derivatives(self, q, v, frame, local=False):
        """Return (dq, dv), the derivatives of the frame's velocity J v, (6, nv) each; dv is J.

        :param local: velocity in the frame's axes instead of the world's.
        """
        return self._ask_frame('frame_twist_derivatives', (frame, flag('local', local)), q, v)

    # A linear model --------------------------------------------------------------------------

    def linearize(self, q, v, tau, step=None, wrenches=None):
        """Return the Linear (A, B, drift) of small deviations from a motion, ready for LQR.

        d/dt dx = A dx + B dtau for dx = (difference(q_nominal, q), v - v_nominal), (2 nv,).

        :param step: [s]; else continuous. With one dx' = A dx + B dtau after that time, torques
            being constant over it.
        """
        # SciPy takes 0.1 s to import: not before somebody asks
        from dynamics_node.algorithms.linearization import discretized, linearized

        step = None if step is None else positive('step', step)
        a = self.forward_dynamics(q, v, tau, wrenches)
        derivatives = self.forward_dynamics_derivatives(q, v, tau, wrenches)
        v = np.broadcast_to(arguments.check_array('v', v, self.nv), a.shape)
        linear = linearized(self.model, v, a, derivatives)
        if step is None:
            return linear
        with np.errstate(all='ignore'):  # what is not finite is refused below
            linear = discretized(linear, step)
        if not all(np.isfinite(part).all() for part in linear):
            raise DynamicsError(f'step is {step:g} s: deviations grow beyond all bounds within it; '
                                'expected a shorter one')
        return linear

    # How they are answered -------------------------------------------------------------------

    def _forward_derivatives(self, *arguments):
        return self._regular(forward_dynamics_derivatives(*arguments))[:-1]

    def _hybrid_derivatives(self, q, v, a, tau, given, wrenches=None):
        return self._answerer.ask('hybrid_dynamics_derivatives', self._complete_derivatives,
                                  wrenches, q=q, v=v, a=a, tau=tau, given=given)

    def _complete_derivatives(self, *arguments):
        return self._regular(hybrid_dynamics_derivatives(*arguments))[:-1]

    def _forward_along(self, *arguments):
        return self._regular(forward_dynamics_directional_derivative(*arguments)).da

    def _hybrid_along(self, model, q, v, a, tau, given, *rest):
        return self._regular(hybrid_dynamics_directional_derivative(model, q, v, a, tau,
                                                                    given > 0.5, *rest))[:-1]

    def _ask_along(self, question, algorithm, wrenches, dwrenches, dinertias, dgravity, losses,
                   **motion):
        still = np.zeros(self.nv)
        motion = {name: still if value is None else value for name, value in motion.items()}
        robot = {'dinertias': self._body_inertia_rates(dinertias),
                 'dgravity': np.zeros(3) if dgravity is None else dgravity}
        for name, rate in zip(('ddamping', 'dfriction', 'darmature'), losses):
            robot[name] = still if rate is None else arguments.check_joint_rates(self.model, name,
                                                                                 rate)
        return self._answerer.ask(question, algorithm, wrenches, dwrenches=dwrenches,
                                  **motion, **robot)

    def _body_inertia_rates(self, rates):
        """Return the rates of all bodies' inertias, (10 bodies,) or (N, 10 bodies)."""
        rates = arguments.check_inertia_rates(self.model, {} if rates is None else rates)
        arguments.batch_size({}, dinertias=rates)
        total = np.zeros(10 * len(self.model.bodies))
        for frame, tens in rates.items():  # linear in them: one matrix for all states
            total = total + tens @ np.array([body_inertia_rates(self.model, {frame: unit}).ravel()
                                             for unit in np.eye(10)])
        return total

    def _diagonal(self, Y, name, states, columns):
        """Return the diagonal columns of a regressor for each state of the answer Y."""
        rows = np.broadcast_to(arguments.check_array(name, states, self.nv), Y.shape[:-1])
        return self._answerer.rows(columns, **{name: rows})
