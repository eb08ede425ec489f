"""Convert rotations between the matrix and seven other parametrisations (Hutter 2017, section 2.4).

kind               chi                            where chi is not unique
'matrix'           (3, 3)                         nowhere
'quaternion'       x, y, z, w                     chi and -chi; w >= 0 is returned
'angle_axis'       angle [rad], nx, ny, nz        angle 0: any axis is valid, z is returned
'rotation_vector'  angle times axis [rad]         full turns; a length of at most pi is returned
'euler_zyx'        z, y, x [rad]                  |y| = pi/2; |y| <= pi/2 is returned
'euler_xyz'        x, y, z                        |y| = pi/2; |y| <= pi/2 is returned
'euler_zyz'        z, y, z                        y = 0 or pi; 0 <= y <= pi is returned
'euler_zxz'        z, x, z                        x = 0 or pi; 0 <= x <= pi is returned

R = C_AB: its columns are the axes of B in A. Euler angles rotate about the axes of the body, in the
order of the name: R = C_z(chi_0) C_y(chi_1) C_x(chi_2). Where a rotation has several chi, one of
them is returned, to full precision; rate_maps reports the singularity.

Any number of rotations at once: chi (.., n), R (.., 3, 3). Corrections to the equations as printed:
entry (1, 2) of eq. 2.37 ends in s_z1 c_z2, not c_z1 s_z2; the arc cosine of 2.49 is inaccurate for
small angles (half the digits); 2.50 and the signs of 2.55 fail at half a turn.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.spatial import so3

SIZES = {'matrix': (3, 3), 'quaternion': (4,), 'angle_axis': (4,), 'rotation_vector': (3,),
         'euler_zyx': (3,), 'euler_xyz': (3,), 'euler_zyz': (3,), 'euler_zxz': (3,)}
UNIT = 1e-3  # a measured quaternion, axis or matrix is this close to unit length
_SKEW = np.array([so3.skew(axis).ravel() for axis in np.eye(3)])


def to_matrix(kind: str, chi: ArrayLike) -> np.ndarray:
    """Return R, (.., 3, 3), of the parameters chi, (.., n).

    :raise DynamicsError: an unknown kind, a wrong size, a number that is not finite, or a
        quaternion or axis without unit length.
    """
    chi = checked(kind, chi)
    if kind == 'matrix':
        return chi
    if kind == 'quaternion':
        return _of_quaternion(chi)
    if kind == 'angle_axis':
        return _of_rotation_vector(chi[..., :1] * chi[..., 1:])
    if kind == 'rotation_vector':
        return _of_rotation_vector(chi)
    first, second, third = (about(axis, chi[..., k]) for k, axis in enumerate(euler_axes(kind)))
    return first @ second @ third


def from_matrix(kind: str, R: ArrayLike) -> np.ndarray:
    """Return the parameters chi, (.., n), of the rotations R, (.., 3, 3)."""
    _size(kind)
    R = checked('matrix', R)
    if kind == 'matrix':
        return R
    if kind == 'quaternion':
        return each(so3.to_quaternion, R, 2)
    if kind in ('rotation_vector', 'angle_axis'):
        w = each(so3.log, R, 2)
        return w if kind == 'rotation_vector' else _angle_axis(w)
    return _euler_angles(R, *euler_axes(kind))


def checked(kind: str, chi: ArrayLike) -> np.ndarray:
    """Return chi as an array whose quaternions and axes have unit length.

    :raise DynamicsError: an unknown kind, a wrong size, a number that is not finite, or a
        quaternion or axis without unit length.
    """
    shape, chi = _size(kind), numbers(kind, chi)
    if chi.dtype.kind not in 'fiuc' or chi.shape[chi.ndim - len(shape):] != shape:
        raise DynamicsError(f'{kind}: expected numbers of shape {shape} or (.., {shape[0]}'
                            f'{", 3" * (len(shape) - 1)}), got {chi.dtype} of shape {chi.shape}')
    if not np.isfinite(chi).all():
        raise DynamicsError(f'{kind}: every entry must be finite')
    if kind == 'matrix':
        off = np.abs(np.swapaxes(chi, -1, -2) @ chi - np.eye(3)).max(initial=0.0)
        if off > UNIT or (np.linalg.det(chi).real < 0.0).any():
            raise DynamicsError(f"matrix: not a rotation; R'R differs from 1 by {off:.3g}, "
                                f'expected at most {UNIT:g}, and a determinant of +1')
    if kind == 'quaternion':
        return _unit(kind, chi)
    if kind == 'angle_axis':
        return np.concatenate([chi[..., :1], _unit(kind, chi[..., 1:])], axis=-1)
    return chi


def numbers(kind: str, chi: ArrayLike) -> np.ndarray:
    """Return chi as an array.

    :raise DynamicsError: NumPy cannot read it.
    """
    try:
        return np.asarray(chi)
    except Exception:  # an object may raise anything when NumPy reads it
        raise DynamicsError(f'{kind}: expected numbers, got {shown(chi)}') from None


def euler_axes(kind: str) -> tuple[int, ...]:
    """Return the axes of a kind of Euler angles as numbers: (2, 1, 0) for 'euler_zyx'."""
    return tuple('xyz'.index(axis) for axis in kind[-3:])


def about(axis: int, angle: np.ndarray) -> np.ndarray:
    """Return the rotations about a coordinate axis, 0, 1 or 2, (.., 3, 3) (eq. 2.26-2.28)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*np.shape(angle), 3, 3), dtype=np.result_type(angle, float))
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = np.cos(angle)
    R[..., j, i] = np.sin(angle)
    R[..., i, j] = -R[..., j, i]
    return R


def skew(a: np.ndarray) -> np.ndarray:
    """Return [a] of many vectors at once, (.., 3, 3)."""
    return (a @ _SKEW).reshape(*np.shape(a), 3)


def each(function: Callable[[np.ndarray], np.ndarray], arrays: np.ndarray, ndim: int) -> np.ndarray:
    """Return function(array) of each array of `ndim` dimensions in a stack of them."""
    single = arrays.shape[arrays.ndim - ndim:]
    results = [function(array) for array in arrays.reshape(-1, *single)]
    shape = np.shape(results[0]) if results else np.shape(function(np.eye(3)[(0,) * (2 - ndim)]))
    return np.reshape(results, (*arrays.shape[:arrays.ndim - ndim], *shape))


def _size(kind: object) -> tuple[int, ...]:
    if not isinstance(kind, str) or kind not in list(SIZES):
        raise DynamicsError(f'rotation is {shown(kind)}; expected one of {", ".join(SIZES)}')
    return SIZES[kind]


def _unit(kind: str, a: np.ndarray) -> np.ndarray:
    norm = np.sqrt((a * a).sum(axis=-1, keepdims=True))
    wrong = ~(np.abs(norm - 1.0) <= UNIT)
    if wrong.any():
        raise DynamicsError(f'{kind}: a length of {norm[wrong][0].real:.6g}, expected 1')
    return a / norm


def _of_quaternion(chi: np.ndarray) -> np.ndarray:
    """Return R by eq. 2.54."""
    R = so3.from_quaternion(np.moveaxis(chi, -1, 0))
    return np.moveaxis(R, (0, 1), (-2, -1))


def _of_rotation_vector(w: np.ndarray) -> np.ndarray:
    """Return R by the quaternion (sin(t/2) w/t, cos(t/2)), t = |w| (eq. 2.52)."""
    half = 0.5 * np.sqrt((w * w).sum(axis=-1, keepdims=True))
    return _of_quaternion(np.concatenate([0.5 * np.sinc(half / np.pi) * w, np.cos(half)], axis=-1))


def _angle_axis(w: np.ndarray) -> np.ndarray:
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    still = angle == 0.0
    axis = np.where(still, [0.0, 0.0, 1.0], w / np.where(still, 1.0, angle))
    return np.concatenate([angle, axis], axis=-1)


def _euler_angles(R: np.ndarray, i: int, j: int, k: int) -> np.ndarray:
    """Return the angles about the axes i, j, k of the body (eq. 2.35, 2.39, 2.42, 2.45).

    R e_k = C_i(a) C_j(b) e_k gives a and b. Hutter's third angle is not defined where b makes two
    axes parallel; here c follows from  e_j' C_i(-a) R = e_j' C_k(c),  which is always defined.
    """
    last = 3 - i - j  # the axis k, or where k = i the one that is not used
    s = 1.0 if (j - i) % 3 == 1 else -1.0  # whether i, j, last are right-handed
    if k == i:
        across, along = R[..., j, i], -s * R[..., last, i]
        b = np.arctan2(np.hypot(across, along), R[..., i, i])
    else:
        across, along = -s * R[..., j, k], R[..., k, k]
        b = np.arctan2(s * R[..., i, k], np.hypot(across, along))
    a = np.arctan2(across, along)
    row = np.cos(a)[..., None] * R[..., j, :] + s * np.sin(a)[..., None] * R[..., last, :]
    c = np.arctan2(-s * row[..., last] if k == i else s * row[..., i], row[..., j])
    return np.stack([a, b, c], axis=-1)
