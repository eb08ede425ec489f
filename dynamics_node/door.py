"""Check what comes in, by name; inside it is trusted."""

from collections.abc import Mapping

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import UNIT_QUATERNION


def check_array(name, value, size):
    """Return value as finite floats of shape (size,) or (N, size)."""
    array = _floats(name, value)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DynamicsError(f'{name} must have shape ({size},) or (N, {size}), got {array.shape}')
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise DynamicsError(f'{name}[{", ".join(map(str, where))}] is {array[where]}; '
                            'every entry must be finite')
    return array


def _floats(name, value):
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiubO':  # else strings and complex numbers would slip through
            raise TypeError(array.dtype)
        return array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise DynamicsError(f'{name} must hold real numbers, got {repr(value)[:80]}') from error


def check_configuration(model, q, name='q'):
    """Return q, its quaternions normalised."""
    q = check_array(name, q, model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            q = _normalised(name, q, slice(joint.q.start + 3, joint.q.stop), joint.name)
    return q


def _normalised(name, q, place, joint_name):
    with np.errstate(over='ignore'):  # an infinite norm is refused as any other
        norm = np.linalg.norm(q[..., place], axis=-1, keepdims=True)
    wrong = ~(np.abs(norm - 1.0) <= UNIT_QUATERNION)
    if wrong.any():
        raise DynamicsError(f"{name} holds for joint '{joint_name}' a quaternion of norm "
                            f'{norm[wrong][0]:.6g}; expected x y z w of norm 1')
    q = q.copy()
    q[..., place] /= norm
    return q


def check_given(given, nv):
    """Return the mask of prescribed accelerations, (nv,) booleans."""
    try:
        mask = np.asarray(given)
    except ValueError as error:  # rows of different length
        raise DynamicsError(f'given must be {nv} booleans, got {repr(given)[:80]}') from error
    if mask.shape != (nv,) or (nv and mask.dtype != bool):
        raise DynamicsError(f'given must be {nv} booleans, True where the acceleration is '
                            f'prescribed; got {mask.dtype} of shape {mask.shape}')
    return mask.astype(bool, copy=False)


def check_wrenches(model, wrenches):
    """Return {frame: (6,) or (N, 6) floats}, every frame known."""
    if not isinstance(wrenches, Mapping):
        raise DynamicsError('wrenches must be a dict {frame: (fx, fy, fz, tx, ty, tz)}, '
                            f'got {type(wrenches).__name__}')
    for name in wrenches:
        model.frame(name)
    return {name: check_array(_wrench(name), value, 6) for name, value in wrenches.items()}


def _wrench(frame):
    return f"wrenches['{frame}']"


def batch_size(arrays, wrenches=None):
    """Return N if any array or wrench is a batch, None if all are single states.

    They come apart since a frame may have the name of an argument.
    """
    named = [*arrays.items(), *((_wrench(frame), F) for frame, F in (wrenches or {}).items())]
    sizes = {name: len(array) for name, array in named if array.ndim == 2}
    if len(set(sizes.values())) > 1:
        shown = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'batches must be of one size; {shown} rows')
    return next(iter(sizes.values()), None)
