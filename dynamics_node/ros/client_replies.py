"""Convert replies to arrays in the shape of their matrices, for a client."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError

MATRICES = ('mass_matrix', 'coriolis_matrix', 'by_position', 'by_velocity', 'by_input',
            'state_matrix', 'inertia', 'null_space', 'directions')
FRAME_MATRICES = ('jacobians', 'jacobian_rates')
ENERGIES = ('kinetic_energy', 'potential_energy')


def result_of(response: Any, single: bool = False) -> SimpleNamespace:
    """Return a response with arrays in place of sequences of numbers.

    :param single: drop the axis of states if there is one state.
    :raise DynamicsError: the reason of a refusal.
    """
    if not response.success:
        raise DynamicsError(response.message)
    fields = {name: getattr(response, name) for name in response.get_fields_and_field_types()}
    n = fields.get('states')
    rows = () if n is None or (single and n == 1) else (n,)
    frames, axes = len(fields.get('frames', ())), len(fields.get('axes', ()))
    for name, value in fields.items():
        if hasattr(value, 'typecode'):
            fields[name] = _in_shape(name, np.array(value), rows, frames, axes)
    if 'lost' in fields:
        fields['lost'] = np.array(fields['lost'], dtype=bool)
    if 'errors' in fields:
        fields['errors'] = {each.name: np.array(each.error) for each in fields['errors']}
    return SimpleNamespace(**fields)


def _in_shape(name: str, x: np.ndarray, rows: tuple[int, ...], frames: int,
              axes: int) -> np.ndarray:
    """Return the entries of a field in the shape of their matrix.

    :param rows: (N,) for N states, () for one.
    :param frames: number of links in the reply.
    :param axes: number of chosen axes of each link.
    """
    if not x.size:
        return x
    if name in MATRICES:
        n = math.isqrt(x.size // math.prod(rows))
        return x.reshape(*rows, n, n)
    if name == 'input_matrix':  # twice as many rows as columns
        return x.reshape(*rows, -1, math.isqrt(x.size // math.prod(rows) // 2))
    if name in FRAME_MATRICES:
        return x.reshape(frames, 6, -1)
    if name == 'jacobian':
        return x.reshape(axes * frames, -1)
    if name == 'consistent_inverse':
        return x.reshape(-1, axes * frames)
    return x.reshape(*rows, -1) if rows and name not in ENERGIES else x
