"""Declare the kernels of dynamics, energy and kinematics."""

from collections.abc import Callable

import numpy as np

from dynamics_node.algorithms import energy, jacobian, kinematics
from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.hybrid_dynamics import (
    by_articulated_bodies,
    by_blocks,
    hybrid_dynamics,
)
from dynamics_node.algorithms.inverse_dynamics import bias_torque, gravity_torque, inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.kernels.singular_checks import regular, with_mass
from dynamics_node.kernels.spec import FRAME, MATRIX, NUMBER, VECTOR, WITH_WRENCHES, KernelSpec
from dynamics_node.model.model import Model


def _forward(hybrid: Callable) -> Callable:
    """Return forward dynamics as the hybrid dynamics in which every torque is given."""
    def forward(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, *wrenches: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        result = hybrid(model, q, v, np.zeros(model.nv), tau, np.zeros(model.nv, dtype=bool),
                        *wrenches)
        return result.a, result.margin
    return forward


def _factor_instructions(model: Model) -> int:
    """Return the number of multiply-adds that `factor` needs for the mass matrix of a tree.

    n (n + 1) / 2 for each degree of freedom with n others between it and the root (Featherstone
    2008, section 6.5).
    """
    total = 0
    until = [0] * (len(model.bodies) + 1)   # degrees of freedom from the root on; the world's last
    for k, body in enumerate(model.bodies):
        first, until[k] = until[body.parent], until[body.parent] + body.v.stop - body.v.start
        total += sum(n * (n + 1) // 2 for n in range(first, until[k]))
    return total


def _numpy_forward(model: Model, *state: np.ndarray) -> np.ndarray:
    return regular(model, forward_dynamics(model, *state)).a


def _numpy_hybrid(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
                  given: np.ndarray, *wrenches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    result = regular(model, hybrid_dynamics(model, q, v, a, tau, given > 0.5, *wrenches))
    return result.a, result.tau


def _numpy_mass_matrix_inverse(model: Model, q: np.ndarray) -> np.ndarray:
    return regular(model, mass_matrix_inverse(model, q)).matrix


DYNAMICS = (
    KernelSpec('inverse_dynamics', 'Joint torques of a motion.',
               ('q', 'v', 'a'), (VECTOR,), (inverse_dynamics,), wrenches=WITH_WRENCHES,
               friction=True),
    KernelSpec('forward_dynamics', 'Joint accelerations under torques.',
               ('q', 'v', 'tau'), (VECTOR,), (_forward(by_blocks), _forward(by_articulated_bodies)),
               _numpy_forward, margins=True, wrenches=WITH_WRENCHES, friction=True,
               least=_factor_instructions),
    KernelSpec('hybrid_dynamics',
               'All accelerations and torques, from one of the two for each joint.',
               ('q', 'v', 'a', 'tau', 'given'), (VECTOR, VECTOR), (by_blocks,), _numpy_hybrid,
               margins=True, wrenches=WITH_WRENCHES, friction=True, direct=False),
    KernelSpec('mass_matrix', 'Joint-space inertia matrix.', ('q',), (MATRIX,), (mass_matrix,)),
    KernelSpec('mass_matrix_inverse', 'Inverse of the mass matrix.',
               ('q',), (MATRIX,), (mass_matrix_inverse,), _numpy_mass_matrix_inverse, margins=True,
               solves=True),
    KernelSpec('coriolis_matrix', 'Coriolis matrix of the Christoffel symbols.',
               ('q', 'v'), (MATRIX,), (coriolis_matrix,)),
    KernelSpec('gravity_torque', 'Torques that balance gravity.', ('q',), (VECTOR,),
               (gravity_torque,)),
    KernelSpec('bias_torque', 'Coriolis, centrifugal and gravity torques.',
               ('q', 'v'), (VECTOR,), (bias_torque,)),
    KernelSpec('friction_torque', 'Torques of damping and dry friction.',
               ('v',), (VECTOR,), (friction_torque,), friction=True, payload=False),
    KernelSpec('kinetic_energy', 'Kinetic energy [J].', ('q', 'v'), (NUMBER,),
               (energy.kinetic_energy,)),
    KernelSpec('potential_energy', 'Potential energy [J].', ('q',), (NUMBER,),
               (energy.potential_energy,)),
    KernelSpec('center_of_mass', 'Centre of mass in the world [m].',
               ('q',), ((3,),), (energy.center_of_mass,), with_mass(energy.center_of_mass)),
    KernelSpec('momentum', 'Linear and angular momentum about the centre of mass.',
               ('q', 'v'), ((6,),), (energy.momentum,), with_mass(energy.momentum)),
)
FRAMES = (
    KernelSpec('frame_pose', 'Homogeneous matrix of a frame in the world.',
               ('q',), ((4, 4),), (kinematics.frame_pose,), subject=FRAME, payload=False),
    KernelSpec('frame_twist', "Linear and angular velocity of a frame's origin.",
               ('q', 'v'), ((6,),), (kinematics.frame_twist,), subject=FRAME, payload=False),
    KernelSpec('jacobian', "Jacobian of a frame's origin.",
               ('q',), ((6, 'nv'),), (jacobian.jacobian,), subject=FRAME, payload=False,
               local=True),
    KernelSpec('jacobian_rate', 'Time derivative of the Jacobian.',
               ('q', 'v'), ((6, 'nv'),), (jacobian.jacobian_rate,), subject=FRAME, payload=False,
               local=True),
)
