"""Check the arrays of the argument `out`, and write results to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError


def check_out(out: object, shapes: Sequence[tuple[int, ...]], n: int | None,
              inputs: Mapping[str, ArrayLike]) -> Any:
    """Return `out` as a kernel takes it: an array, or a tuple of arrays for several results.

    :param shapes: shapes of the results of one state.
    :param n: number of states; None for a single one.
    :param inputs: the arrays of the call, whose memory `out` must not share.
    """
    rows = () if n is None else (n,)
    if len(shapes) == 1:
        _check_array('out', out, (*rows, *shapes[0]))
        arrays: tuple = (out,)
    else:
        if not isinstance(out, tuple) or len(out) != len(shapes):
            raise DynamicsError(f'out is {_kind(out)}; expected a tuple of {len(shapes)} arrays')
        arrays = tuple(out)
        for k, (array, shape) in enumerate(zip(arrays, shapes)):
            _check_array(f'out[{k}]', array, (*rows, *shape))
    for k, array in enumerate(arrays):
        name = 'out' if len(shapes) == 1 else f'out[{k}]'
        others = {**{f'out[{j}]': arrays[j] for j in range(k)}, **inputs}
        for other, value in others.items():
            if isinstance(value, np.ndarray) and np.may_share_memory(array, value):
                raise DynamicsError(f'{name} shares memory with {other}; expected an array of its '
                                    'own')
    return arrays[0] if len(shapes) == 1 else arrays


def _check_array(name: str, array: object, shape: tuple[int, ...]) -> None:
    expected = f'expected a float64 array of shape {shape}, C-contiguous and writeable'
    if not isinstance(array, np.ndarray):
        raise DynamicsError(f'{name} is {_kind(array)}; {expected}')
    if array.dtype != np.float64 or array.shape != shape:
        raise DynamicsError(f'{name} has shape {array.shape} and type {array.dtype}; {expected}')
    if not array.flags.carray:
        fault = 'read-only' if not array.flags.writeable else (
            'not C-contiguous' if not array.flags.c_contiguous else 'not aligned')
        raise DynamicsError(f'{name} is {fault}; {expected}')


def _kind(value: object) -> str:
    length = f' of {len(value)}' if isinstance(value, tuple | list) else ''
    return f'of type {type(value).__name__}{length}'


def written(result: Any, out: Any) -> Any:
    """Return the result, written to `out` unless that is None."""
    if out is None:
        return result
    if not isinstance(result, tuple):
        np.copyto(out, result)
        return out
    for array, part in zip(out, result, strict=True):
        np.copyto(array, part)
    return tuple.__new__(type(result), out)
