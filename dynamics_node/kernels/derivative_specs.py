"""Declare the kernels of derivatives and regressors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamics_node.algorithms.center_of_mass_motion import (
    CenterOfMassMotion,
    center_of_mass_motion,
)
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.energy_regressor import EnergyRegressor, energy_regressor
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.forward_dynamics_directional_derivative import (
    forward_dynamics_directional_derivative,
)
from dynamics_node.algorithms.generalised_momentum import (
    GeneralisedMomentum,
    generalised_momentum,
)
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    articulated_bodies_derivative,
    blocks_derivative,
    hybrid_dynamics_directional_derivative,
)
from dynamics_node.algorithms.inverse_dynamics_derivatives import (
    InverseDerivatives,
    inverse_dynamics_derivatives,
)
from dynamics_node.algorithms.inverse_dynamics_directional_derivative import (
    inverse_dynamics_directional_derivative,
)
from dynamics_node.algorithms.kinematics_derivatives import (
    TwistDerivatives,
    frame_pose_derivatives,
    frame_twist_derivatives,
)
from dynamics_node.algorithms.mass_matrix_derivatives import mass_matrix_derivatives
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.algorithms.regressor import regressor
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels import autodiff
from dynamics_node.kernels.interpret import interpreted
from dynamics_node.kernels.result_types import (
    ForwardDynamicsDerivatives,
    HessianProduct,
    HybridDirectionalDerivatives,
    HybridDynamicsDerivatives,
)
from dynamics_node.kernels.singular_checks import regular, with_mass
from dynamics_node.kernels.spec import FRAME, MATRIX, VECTOR, WITH_WRENCHES, KernelSpec, Shape
from dynamics_node.model.model import Model

INVERSE, FORWARD = ('q', 'v', 'a'), ('q', 'v', 'tau')
HYBRID = ('q', 'v', 'a', 'tau', 'given')
HESSIAN = (*INVERSE, 'weights', 'dq', 'dv', 'da')
MODEL_RATES = ('dinertias', 'dgravity', 'ddamping', 'dfriction', 'darmature')
GEOMETRY_RATES = ('dorigins', 'daxes')
# A result of more numbers is computed in NumPy: straight-line code would be no faster, and would
# take minutes to compile.
MOST_NUMBERS = 10_000


def _is_small(model: Model, _: Sequence[Constraint]) -> bool:
    return model.nv ** 3 <= MOST_NUMBERS


# Along a direction of states and parameters -------------------------------------------------------

def rates_of(inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the fields of a ParameterDirection that these inputs need."""
    return ('dq', 'dv', *(f'd{name}' for name in ('a', 'tau') if name in inputs), *MODEL_RATES)


def _of_arrays(algorithm: Callable, inputs: Sequence[str], rates: Sequence[str]) -> Callable:
    """Return f(model, *inputs, direction, wrenches) as a function of arrays only.

    :return: f(model, *inputs, *rates) or f(model, *inputs, *rates, wrenches, dwrenches).
    """
    names = (*inputs, *rates, 'wrenches', 'dwrenches')

    def function(model: Model, *arrays: np.ndarray) -> Any:
        values = dict(zip(names, arrays))
        direction = ParameterDirection(**{name: values[name] for name in ParameterDirection._fields
                                          if name in values})
        return algorithm(model, *(values[name] for name in inputs), direction,
                         values.get('wrenches'))
    return function


def _directional(dynamics: str, results: str, inputs: tuple[str, ...], shapes: tuple[Shape, ...],
                 algorithms: tuple[Callable, ...], numpy: Callable | None = None, **flags: Any
                 ) -> tuple[KernelSpec, KernelSpec]:
    """Return two specs of derivatives along a direction: one without, one for the joint geometry.

    The derivative is linear in the direction, so the two results add up. One kernel for both would
    take five times as long for a batch without geometry, most of it for reading zeros.
    """
    def spec(name: str, doc: str, rates: tuple[str, ...], wrenches: tuple[str, ...], regroup: bool
             ) -> KernelSpec:
        return KernelSpec(f'{dynamics}_{name}', f'{results} {doc}', (*inputs, *rates), shapes,
                          tuple(_of_arrays(each, inputs, rates) for each in algorithms),
                          numpy and _of_arrays(numpy, inputs, rates), wrenches=wrenches,
                          friction=True, derivative=True, direct=False, regroup=regroup, **flags)
    return (spec('directional_derivative', 'along a direction.', rates_of(inputs),
                 (*WITH_WRENCHES, 'dwrenches'), True),
            # regrouped inertias give the same torques only while the axes stay where they are
            spec('geometry_derivative', 'along a displacement of joint origins and axes.',
                 GEOMETRY_RATES, WITH_WRENCHES, False))


def _forward_derivative(hybrid: Callable) -> Callable:
    """Return the derivative of forward dynamics as that of hybrid dynamics."""
    def forward(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                direction: ParameterDirection, wrenches: np.ndarray | None
                ) -> tuple[np.ndarray, np.ndarray]:
        zero = np.zeros(model.nv)
        result = hybrid(model, q, v, zero, tau, np.zeros(model.nv, dtype=bool),
                        direction._replace(da=zero), wrenches)
        return result.da, result.margin
    return forward


def _numpy_forward_derivative(model: Model, *state: Any) -> np.ndarray:
    return regular(model, forward_dynamics_directional_derivative(model, *state)).da


def _numpy_hybrid_derivative(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                             tau: np.ndarray, given: np.ndarray, *rest: Any
                             ) -> tuple[np.ndarray, np.ndarray]:
    return regular(model, hybrid_dynamics_directional_derivative(
        model, q, v, a, tau, given > 0.5, *rest))[:-1]


# All derivatives of a state ----------------------------------------------------------------------

def _numpy_forward_derivatives(model: Model, *state: Any) -> tuple[np.ndarray, ...]:
    return regular(model, forward_dynamics_derivatives(model, *state))[:-1]


def _numpy_hybrid_derivatives(model: Model, *state: Any) -> tuple[np.ndarray, ...]:
    return regular(model, hybrid_dynamics_derivatives(model, *state))[:-1]


DERIVATIVES = (
    KernelSpec('inverse_dynamics_derivatives', 'Derivatives of the torques by q, v and a.',
               INVERSE, (MATRIX,) * 3,
               (inverse_dynamics_derivatives, autodiff.inverse_dynamics_derivatives),
               wrenches=WITH_WRENCHES, friction=True, derivative=True, result=InverseDerivatives),
    KernelSpec('forward_dynamics_derivatives', 'Derivatives of the accelerations by q, v and tau.',
               FORWARD, (MATRIX,) * 3,
               (forward_dynamics_derivatives,), _numpy_forward_derivatives, margins=True,
               wrenches=WITH_WRENCHES, friction=True, derivative=True,
               result=ForwardDynamicsDerivatives, solves=True),
    KernelSpec('hybrid_dynamics_derivatives',
               'Derivatives of the unknown accelerations and torques.',
               HYBRID, (MATRIX,) * 3,
               (hybrid_dynamics_derivatives,), _numpy_hybrid_derivatives, margins=True,
               wrenches=WITH_WRENCHES, friction=True, derivative=True, direct=False,
               result=HybridDynamicsDerivatives, solves=True),
    *_directional('inverse_dynamics', 'Derivative of the torques', INVERSE, (VECTOR,),
                  (inverse_dynamics_directional_derivative,)),
    *_directional('forward_dynamics', 'Derivative of the accelerations', FORWARD, (VECTOR,),
                  (_forward_derivative(blocks_derivative),
                   _forward_derivative(articulated_bodies_derivative)),
                  _numpy_forward_derivative, margins=True),
    *_directional('hybrid_dynamics', 'Derivatives of accelerations and torques', HYBRID,
                  (VECTOR, VECTOR), (blocks_derivative,), _numpy_hybrid_derivative, margins=True,
                  result=HybridDirectionalDerivatives),
    KernelSpec('inverse_dynamics_hessian_product', 'Hessian of weights . tau times a direction.',
               HESSIAN, (VECTOR,) * 3,
               (autodiff.inverse_dynamics_hessian_product,),
               interpreted(autodiff.inverse_dynamics_hessian_product, HESSIAN),
               friction=True, derivative=True, result=HessianProduct),
    KernelSpec('regressor', 'Matrix of the torques by the inertial parameters.',
               INVERSE, (('nv', 'parameters'),), (regressor,), payload=False, derivative=True),
    KernelSpec('energy_regressor', 'Rows of both energies by the inertial parameters.',
               ('q', 'v'), (('parameters',),) * 2,
               (energy_regressor,), payload=False, derivative=True, result=EnergyRegressor),
    KernelSpec('generalised_momentum', 'Momentum M v and its rate without torques.',
               ('q', 'v'), (VECTOR,) * 2,
               (generalised_momentum,), derivative=True, result=GeneralisedMomentum),
    KernelSpec('center_of_mass_motion',
               'Position, Jacobian and bias acceleration of the centre of mass.',
               ('q', 'v'), ((3,), (3, 'nv'), (3,)),
               (center_of_mass_motion,), with_mass(center_of_mass_motion), derivative=True,
               result=CenterOfMassMotion),
    KernelSpec('gravity_stiffness', 'Derivative of the gravity torque by q.',
               ('q',), (MATRIX,), (gravity_stiffness,), derivative=True),
    KernelSpec('mass_matrix_derivatives', 'Derivatives of the mass matrix.',
               ('q',), (('nv', 'nv', 'nv'),),
               (mass_matrix_derivatives,), derivative=True, fits=_is_small),
    KernelSpec('christoffel_symbols', 'Christoffel symbols of the mass matrix.',
               ('q',), (('nv', 'nv', 'nv'),),
               (christoffel_symbols,), derivative=True, fits=_is_small),
)
FRAME_DERIVATIVES = (
    KernelSpec('frame_pose_derivatives', "Derivatives of a frame's homogeneous matrix.",
               ('q',), (('nv', 4, 4),),
               (frame_pose_derivatives,), subject=FRAME, payload=False, derivative=True),
    KernelSpec('frame_twist_derivatives', "Derivatives of a frame's velocity by q and v.",
               ('q', 'v'), ((6, 'nv'),) * 2,
               (frame_twist_derivatives,), subject=FRAME, payload=False, local=True,
               derivative=True, result=TwistDerivatives),
)
