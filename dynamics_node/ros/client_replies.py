"""Convert replies to arrays in the shape of their matrices, for a client."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.spec import MATRIX, VECTOR, Shape
from dynamics_node.kernels.table import ALL_KERNELS

# Field of a reply -> shape for one state: that of the kernel where there is one. Sizes: nv degrees
# of freedom in the reply, nx = 2 nv, frames, m axes of all frames. Any other field: one axis.
SHAPES: dict[str, Shape] = {
    **{name: ALL_KERNELS[name].shapes[0] for name in (
        'mass_matrix', 'coriolis_matrix', 'kinetic_energy', 'potential_energy')},
    **dict(zip(('by_position', 'by_velocity', 'by_input'),
               ALL_KERNELS['inverse_dynamics_derivatives'].shapes)),
    'jacobians': ('frames', *ALL_KERNELS['jacobian'].shapes[0]),
    'jacobian_rates': ('frames', *ALL_KERNELS['jacobian_rate'].shapes[0]),
    'state_matrix': ('nx', 'nx'), 'input_matrix': ('nx', 'nv'),
    'inertia': ('m', 'm'), 'directions': ('m', 'm'), 'jacobian': ('m', 'nv'),
    'consistent_inverse': ('nv', 'm'), 'null_space': MATRIX,
}


def result_of(response: Any, single: bool = False) -> SimpleNamespace:
    """Return a response with arrays in place of sequences of numbers.

    :param single: drop the axis of states if there is one state.
    :raise DynamicsError: the reason of a refusal.
    """
    if not response.success:
        raise DynamicsError(response.message)
    fields = {name: getattr(response, name) for name in response.get_fields_and_field_types()}
    n = fields.get('states')
    states = () if n is None or (single and n == 1) else (n,)
    frames = len(fields.get('frames', ()))
    sizes = {'nv': 1, 'nx': 2, 'frames': frames, 'm': frames * len(fields.get('axes', ()))}
    for name, value in fields.items():
        if hasattr(value, 'typecode'):
            fields[name] = _in_shape(np.array(value), (*states, *SHAPES.get(name, VECTOR)), sizes)
    if 'lost' in fields:
        fields['lost'] = np.array(fields['lost'], dtype=bool)
    if 'errors' in fields:
        fields['errors'] = {each.name: np.array(each.error) for each in fields['errors']}
    return SimpleNamespace(**fields)


def _in_shape(x: np.ndarray, shape: Shape, sizes: dict[str, int]) -> np.ndarray:
    """Return the entries of a field in their shape; nv follows from their number.

    :param sizes: by name, for nv = 1.
    """
    if not x.size or len(shape) == 1:
        return x
    lengths = [sizes[n] if isinstance(n, str) else n for n in shape]
    axes = [k for k, n in enumerate(shape) if n in ('nv', 'nx')]
    nv = round((x.size / math.prod(lengths)) ** (1 / max(len(axes), 1)))
    for k in axes:
        lengths[k] *= nv
    return x.reshape(lengths)
