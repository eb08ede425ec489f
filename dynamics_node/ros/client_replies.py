"""Convert replies to arrays in the shape of their matrices, for a client."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from rclpy.task import Future

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.spec import MATRIX, VECTOR, Shape
from dynamics_node.kernels.table import ALL_KERNELS

# Field of a reply -> shape for one state, from the kernel where there is one. Sizes: nq, nv of
# the reply, nx = 2 nv or 2 k, number of frames, m = rows, k = coordinates, parameters = columns;
# -1: what is left. Any other field: one axis.
SHAPES: dict[str, Shape] = {
    **{name: ALL_KERNELS[name].shapes[0] for name in (
        'mass_matrix', 'coriolis_matrix', 'kinetic_energy', 'potential_energy',
        'mass_matrix_derivatives', 'christoffel_symbols', 'gravity_stiffness', 'regressor')},
    **dict(zip(('by_position', 'by_velocity', 'by_input'),
               ALL_KERNELS['inverse_dynamics_derivatives'].shapes)),
    'jacobians': ('frames', *ALL_KERNELS['jacobian'].shapes[0]),
    'analytic_jacobians': ('frames', 'm', 'nv'),
    'jacobian_rates': ('frames', *ALL_KERNELS['jacobian_rate'].shapes[0]),
    'state_matrix': ('nx', 'nx'), 'input_matrix': ('nx', 'nv'), 'drift': ('nx',),
    'inertia': ('m', 'm'), 'directions': ('m', 'm'), 'jacobian': ('m', 'nv'),
    'consistent_inverse': ('nv', 'm'), 'null_space': MATRIX,
    **dict.fromkeys(('mobility', 'velocity_axes', 'dynamic_axes'), ('m', 'm')),
    'solutions': (-1, 'nq'), 'moment_arms': (-1, 'nv'), 'touch_points': (-1, 3),
    'transmission': ('nv', 'k'), 'transmission_rate': ('nv', 'k'),
}
# Of a closed mechanism, in independent coordinates.
CLOSED_SHAPES: dict[str, Shape] = {
    **SHAPES,
    **dict.fromkeys(('mass_matrix', 'coriolis_matrix', 'by_position', 'by_velocity', 'null_space'),
                    ('k', 'k')),
    **dict.fromkeys(('effort', 'acceleration'), ('k',)),
    'by_input': ('k', -1),  # k accelerations, or nv efforts
    **dict.fromkeys(('jacobians', 'jacobian_rates'), ('frames', 6, 'k')),
    'analytic_jacobians': ('frames', 'm', 'k'),
    'jacobian': ('m', 'k'), 'consistent_inverse': ('k', 'm'),
}


def result_of(response: Any, single: bool = False) -> SimpleNamespace:
    """Return a response with arrays in place of sequences of numbers.

    :param single: drop the axis of states if there is one state.
    :raise DynamicsError: the reason of a refusal.
    """
    if not response.success:
        raise DynamicsError(response.message)
    fields = {name: getattr(response, name) for name in response.get_fields_and_field_types()}
    n, nv = fields.get('states'), fields.get('nv', 0)
    states = () if n is None or (single and n == 1) else (n,)
    k = len(fields.get('coordinates', ()))
    sizes = {'nq': fields.get('nq', 0), 'nv': nv, 'nx': 2 * (k or nv),
             'frames': len(fields.get('frames', ())), 'k': k,
             'm': fields.get('rows', len(fields.get('row_names', ()))),
             'parameters': fields.get('columns', 0)}
    shapes = CLOSED_SHAPES if k else SHAPES
    for name, value in fields.items():
        if hasattr(value, 'typecode'):
            x = fields[name] = np.array(value)
            if x.size and (name in shapes or n is not None):
                shape = (*states, *shapes.get(name, VECTOR))
                fields[name] = x.reshape([sizes[k] if isinstance(k, str) else k for k in shape])
    if 'lost' in fields:
        fields['lost'] = np.array(fields['lost'], dtype=bool)
    if 'errors' in fields:
        fields['errors'] = {each.name: np.array(each.error) for each in fields['errors']}
    return SimpleNamespace(**fields)


def reader_of(*quantities: Any) -> Callable:
    """Return the function that reads a reply: as one state, unless a quantity has rows."""
    return functools.partial(result_of, single=all(np.ndim(x) < 2 for x in quantities))


def pass_on(raw: Future, reply: Future, read: Callable) -> None:
    """Set the result of `reply` to what is read from the response of `raw`, or its error."""
    try:
        reply.set_result(read(raw.result()))
    except Exception as error:
        reply.set_exception(error)
