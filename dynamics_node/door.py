"""Check what comes in, by name; inside it is trusted."""

import numpy as np

from dynamics_node.errors import DynamicsError

UNIT_QUATERNION = 1e-3  # a measured quaternion is this close to unit norm; it is then normalised


def check_array(name, value, size):
    """Return value as finite floats of shape (size,) or (N, size)."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise DynamicsError(f'{name} must hold numbers, got {value!r:.80}') from error
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DynamicsError(f'{name} must have shape ({size},) or (N, {size}), got {array.shape}')
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise DynamicsError(f'{name}[{", ".join(map(str, where))}] is {array[where]}; '
                            'every entry must be finite')
    return array


def check_configuration(model, q):
    """Return q, its quaternions normalised."""
    q = check_array('q', q, model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            q = q.copy()
            quaternion = q[..., joint.q][..., 3:]
            norm = np.linalg.norm(quaternion, axis=-1, keepdims=True)
            if norm.size and np.abs(norm - 1.0).max() > UNIT_QUATERNION:
                worst = norm.flat[np.abs(norm - 1.0).argmax()]
                raise DynamicsError(f"q holds for joint '{joint.name}' a quaternion of norm "
                                    f'{worst:.6g}; expected x y z w of norm 1')
            q[..., joint.q.start + 3:joint.q.stop] = quaternion / norm
    return q


def check_given(given, nv):
    """Return the mask of prescribed accelerations, (nv,) booleans."""
    mask = np.asarray(given)
    if mask.shape != (nv,) or mask.dtype != bool:
        raise DynamicsError(f'given must be {nv} booleans, True where the acceleration is '
                            f'prescribed; got {mask.dtype} of shape {mask.shape}')
    return mask


def check_wrenches(model, wrenches):
    """Return {frame: (6,) or (N, 6) floats}, every frame known."""
    if not hasattr(wrenches, 'items'):
        raise DynamicsError('wrenches must be a dict {frame: (fx, fy, fz, tx, ty, tz)}, '
                            f'got {type(wrenches).__name__}')
    for name in wrenches:
        model.frame(name)
    return {name: check_array(f"wrenches['{name}']", value, 6) for name, value in wrenches.items()}


def batch_size(arrays):
    """Return N if any array is a batch, None if all are single states."""
    sizes = {name: len(array) for name, array in arrays.items() if array.ndim == 2}
    if len(set(sizes.values())) > 1:
        shown = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'batches must be of one size; {shown} rows')
    return next(iter(sizes.values()), None)
