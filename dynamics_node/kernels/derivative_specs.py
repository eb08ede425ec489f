"""Which kernels there are for derivatives: as in `questions`, but each only when it is wanted."""

import numpy as np

from dynamics_node.algorithms.center_of_mass_motion import (
    CenterOfMassMotion,
    center_of_mass_motion,
)
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.energy_regressor import EnergyRegressor, energy_regressor
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.generalised_momentum import (
    GeneralisedMomentum,
    generalised_momentum,
)
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    articulated_bodies_derivative,
    blocks_derivative,
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
from dynamics_node.kernels import autodiff
from dynamics_node.kernels.result_types import (
    ForwardDynamicsDerivatives,
    HessianProduct,
    HybridChange,
    HybridDynamicsDerivatives,
)
from dynamics_node.kernels.spec import PUSHED, KernelSpec

INVERSE, FORWARD = ('q', 'v', 'a'), ('q', 'v', 'tau')
HYBRID = ('q', 'v', 'a', 'tau', 'given')
MODEL_RATES = ('dinertias', 'dgravity', 'ddamping', 'dfriction', 'darmature')


def rates_of(states):
    """Return the names of the parts of a Direction that matter for a question of these states."""
    return ('dq', 'dv', *(f'd{name}' for name in ('a', 'tau') if name in states), *MODEL_RATES)


def flattened(algorithm, states):
    """Return f(model, *states, direction, wrenches) as a function of arrays alone.

    :return: of the states, their rates, and where there are wrenches those and their rates.
    """
    names = (*states, *rates_of(states), 'wrenches', 'dwrenches')

    def function(model, *arrays):
        values = dict(zip(names, arrays))
        direction = ParameterDirection(**{name: values[name] for name in ParameterDirection._fields
                                 if name in values})
        return algorithm(model, *(values[name] for name in states), direction,
                         values.get('wrenches'))
    return function


def _along(states, *algorithms, kind=tuple):
    return KernelSpec((*states, *rates_of(states)),
                    tuple(flattened(algorithm, states) for algorithm in algorithms),
                    margins=states is not INVERSE, wrenches=(*PUSHED, 'dwrenches'), kind=kind)


def _forward_along(by):
    def forward(model, q, v, tau, direction, wrenches):
        rest = np.zeros(model.nv)
        result = by(model, q, v, rest, tau, np.zeros(model.nv, dtype=bool),
                    direction._replace(da=rest), wrenches)
        return result.da, result.margin
    return forward


def _plain(function):
    return lambda *arguments: tuple(function(*arguments))


DERIVATIVES = {
    'inverse_dynamics_derivatives': KernelSpec(
        INVERSE, (_plain(inverse_dynamics_derivatives), autodiff.inverse_dynamics_derivatives),
        wrenches=PUSHED, kind=InverseDerivatives),
    'forward_dynamics_derivatives': KernelSpec(
        FORWARD, (_plain(forward_dynamics_derivatives),), True, PUSHED,
        kind=ForwardDynamicsDerivatives),
    'hybrid_dynamics_derivatives': KernelSpec(
        HYBRID, (_plain(hybrid_dynamics_derivatives),), True, PUSHED,
        kind=HybridDynamicsDerivatives),
    'inverse_dynamics_directional_derivative': _along(INVERSE,
                                                      inverse_dynamics_directional_derivative),
    'forward_dynamics_directional_derivative': _along(FORWARD, _forward_along(blocks_derivative),
                                     _forward_along(articulated_bodies_derivative)),
    'hybrid_dynamics_directional_derivative': _along(HYBRID, _plain(blocks_derivative),
                                                     kind=HybridChange),
    'inverse_dynamics_hessian_product': KernelSpec(
        (*INVERSE, 'weights', 'dq', 'dv', 'da'), (autodiff.inverse_dynamics_hessian_product,),
        kind=HessianProduct),
    'regressor': KernelSpec(INVERSE, (regressor,)),
    'energy_regressor': KernelSpec(('q', 'v'), (_plain(energy_regressor),), kind=EnergyRegressor),
    'generalised_momentum': KernelSpec(('q', 'v'), (_plain(generalised_momentum),),
                                     kind=GeneralisedMomentum),
    'center_of_mass_motion': KernelSpec(('q', 'v'), (_plain(center_of_mass_motion),),
                                      kind=CenterOfMassMotion),
    'gravity_stiffness': KernelSpec(('q',), (gravity_stiffness,)),
    'mass_matrix_derivatives': KernelSpec(('q',), (mass_matrix_derivatives,), cubic=True),
    'christoffel_symbols': KernelSpec(('q',), (christoffel_symbols,), cubic=True),
}
FRAME_DERIVATIVES = {
    'frame_pose_derivatives': KernelSpec(('q',), (frame_pose_derivatives,)),
    'frame_twist_derivatives': KernelSpec(('q', 'v'), (_plain(frame_twist_derivatives),),
                                          local=True,
                                        kind=TwistDerivatives),
}
