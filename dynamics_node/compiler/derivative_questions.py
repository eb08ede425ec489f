"""Which kernels there are for derivatives: as in `questions`, but each only when it is wanted."""

import numpy as np

from dynamics_node.algorithms.center_of_mass_motion import (
    CenterOfMassMotion,
    center_of_mass_motion,
)
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.direction import Direction
from dynamics_node.algorithms.energy_regressor import EnergyRegressor, energy_regressor
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.generalised_momentum import (
    GeneralisedMomentum,
    generalised_momentum,
)
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.hybrid_dynamics_along import (
    by_articulated_bodies_along,
    by_blocks_along,
)
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.inverse_dynamics_along import inverse_dynamics_along
from dynamics_node.algorithms.inverse_dynamics_derivatives import (
    InverseDerivatives,
    inverse_dynamics_derivatives,
)
from dynamics_node.algorithms.kinematics_derivatives import (
    TwistDerivatives,
    frame_pose_derivatives,
    frame_twist_derivatives,
)
from dynamics_node.algorithms.mass_matrix_derivatives import mass_matrix_derivatives
from dynamics_node.algorithms.regressor import regressor
from dynamics_node.compiler import by_graph
from dynamics_node.compiler.kinds import (
    ForwardDynamicsDerivatives,
    HessianProduct,
    HybridChange,
    HybridDynamicsDerivatives,
)
from dynamics_node.compiler.question import PUSHED, Question

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
        direction = Direction(**{name: values[name] for name in Direction._fields
                                 if name in values})
        return algorithm(model, *(values[name] for name in states), direction,
                         values.get('wrenches'))
    return function


def _along(states, *algorithms, kind=tuple):
    return Question((*states, *rates_of(states)),
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
    'inverse_dynamics_derivatives': Question(
        INVERSE, (_plain(inverse_dynamics_derivatives), by_graph.inverse_dynamics_derivatives),
        wrenches=PUSHED, kind=InverseDerivatives),
    'forward_dynamics_derivatives': Question(
        FORWARD, (_plain(forward_dynamics_derivatives),), True, PUSHED,
        kind=ForwardDynamicsDerivatives),
    'hybrid_dynamics_derivatives': Question(
        HYBRID, (_plain(hybrid_dynamics_derivatives),), True, PUSHED,
        kind=HybridDynamicsDerivatives),
    'inverse_dynamics_along': _along(INVERSE, inverse_dynamics_along),
    'forward_dynamics_along': _along(FORWARD, _forward_along(by_blocks_along),
                                     _forward_along(by_articulated_bodies_along)),
    'hybrid_dynamics_along': _along(HYBRID, _plain(by_blocks_along), kind=HybridChange),
    'inverse_dynamics_hessian_product': Question(
        (*INVERSE, 'weights', 'dq', 'dv', 'da'), (by_graph.inverse_dynamics_hessian_product,),
        kind=HessianProduct),
    'regressor': Question(INVERSE, (regressor,)),
    'energy_regressor': Question(('q', 'v'), (_plain(energy_regressor),), kind=EnergyRegressor),
    'generalised_momentum': Question(('q', 'v'), (_plain(generalised_momentum),),
                                     kind=GeneralisedMomentum),
    'center_of_mass_motion': Question(('q', 'v'), (_plain(center_of_mass_motion),),
                                      kind=CenterOfMassMotion),
    'gravity_stiffness': Question(('q',), (gravity_stiffness,)),
    'mass_matrix_derivatives': Question(('q',), (mass_matrix_derivatives,), cubic=True),
    'christoffel_symbols': Question(('q',), (christoffel_symbols,), cubic=True),
}
FRAME_DERIVATIVES = {
    'frame_pose_derivatives': Question(('q',), (frame_pose_derivatives,)),
    'frame_twist_derivatives': Question(('q', 'v'), (_plain(frame_twist_derivatives),), local=True,
                                        kind=TwistDerivatives),
}
