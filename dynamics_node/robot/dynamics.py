"""Compute dynamics, energy and kinematics of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.denoc import denoc
from dynamics_node.algorithms.denoc_matrices import DenocMatrices, denoc_matrices
from dynamics_node.checks import flag
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Wrenches
from dynamics_node.robot.dispatch import Dispatcher


class Dynamics:
    """The methods of a Robot for dynamics, energy and kinematics."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    # Dynamics --------------------------------------------------------------------------------

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         wrenches: Wrenches = None) -> np.ndarray:
        """Return tau = M a + C v + g + friction - sum J' F_ext, (nv,).

        :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} on the robot at that frame's origin, in
            its axes [N, N m].
        """
        return self._dispatcher.call('inverse_dynamics', wrenches, q=q, v=v, a=a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         wrenches: Wrenches = None) -> np.ndarray:
        """Return the acceleration under the torques tau, (nv,): inverse of inverse_dynamics."""
        return self._dispatcher.call('forward_dynamics', wrenches, q=q, v=v, tau=tau)

    def hybrid_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike,
                        given: ArrayLike, wrenches: Wrenches = None
                        ) -> tuple[np.ndarray, np.ndarray]:
        """Return (a, tau), complete, from a where `given` is True and tau where it is not."""
        mask = arguments.check_given(given, self._dispatcher.model.nv).astype(float)
        if wrenches is None:
            return self._dispatcher.positional('hybrid_dynamics')(q, v, a, tau, mask)
        return self._dispatcher.call('hybrid_dynamics', wrenches, q=q, v=v, a=a, tau=tau,
                                     given=mask)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Return M(q), armature included, (nv, nv)."""
        return self._dispatcher.call('mass_matrix', q=q)

    def mass_matrix_inverse(self, q: ArrayLike) -> np.ndarray:
        """Return M(q)^-1, (nv, nv)."""
        return self._dispatcher.call('mass_matrix_inverse', q=q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the C(q, v) of the Christoffel symbols; dM/dt - 2C is skew, (nv, nv)."""
        return self._dispatcher.call('coriolis_matrix', q=q, v=v)

    def gravity_torque(self, q: ArrayLike) -> np.ndarray:
        """Return g(q), (nv,)."""
        return self._dispatcher.call('gravity_torque', q=q)

    def bias_torque(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return C v + g, (nv,); no friction."""
        return self._dispatcher.call('bias_torque', q=q, v=v)

    def friction_torque(self, v: ArrayLike) -> np.ndarray:
        """Return the torque of damping and dry friction, (nv,)."""
        return self._dispatcher.call('friction_torque', v=v)

    def denoc(self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches = None
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (I, C, tau) of Saha's formulation: I a + C v = tau + actuation - friction."""
        return self._dispatcher.call_numpy(lambda *args: tuple(denoc(*args)), wrenches, q=q, v=v)

    def denoc_matrices(self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches = None
                       ) -> DenocMatrices:
        """Return N_l, N_d, M, dM/dt, t, w and the composite masses of Saha's formulation."""
        return DenocMatrices(*self._dispatcher.call_numpy(
            lambda *args: tuple(denoc_matrices(*args)), wrenches, q=q, v=v))

    # Energy ----------------------------------------------------------------------------------

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return v' M v / 2 [J]."""
        return self._dispatcher.call('kinetic_energy', q=q, v=v)

    def potential_energy(self, q: ArrayLike) -> np.ndarray:
        """Return the potential energy [J], zero at the height of the root frame."""
        return self._dispatcher.call('potential_energy', q=q)

    def center_of_mass(self, q: ArrayLike) -> np.ndarray:
        """Return the centre of mass of all links in the world, (3,) [m]."""
        return self._dispatcher.call('center_of_mass', q=q)

    def momentum(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return (linear, angular about the centre of mass) momentum in world axes, (6,)."""
        return self._dispatcher.call('momentum', q=q, v=v)

    # Frames ----------------------------------------------------------------------------------

    def frame_pose(self, q: ArrayLike, frame: str) -> np.ndarray:
        """Return the homogeneous matrix of a frame in the world, (4, 4)."""
        return self._dispatcher.positional('frame_pose', (frame,))(q)

    def frame_twist(self, q: ArrayLike, v: ArrayLike, frame: str) -> np.ndarray:
        """Return the (linear, angular) velocity of a frame's origin in world axes, (6,)."""
        return self._dispatcher.positional('frame_twist', (frame,))(q, v)

    def jacobian(self, q: ArrayLike, frame: str, local: bool = False) -> np.ndarray:
        """Return J, (linear, angular) velocity of the frame's origin = J v, (6, nv).

        :param local: in the frame's axes instead of the world's.
        """
        local = local is True or (local is not False and flag('local', local))
        return self._dispatcher.positional('jacobian', (frame, local))(q)

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, local: bool = False
                      ) -> np.ndarray:
        """Return dJ/dt along v, (6, nv)."""
        local = local is True or (local is not False and flag('local', local))
        return self._dispatcher.positional('jacobian_rate', (frame, local))(q, v)
