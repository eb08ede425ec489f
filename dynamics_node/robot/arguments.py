"""Check the arguments of a call, by name; functions behind these checks trust them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.constrained.proximal import Proximal
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.model import Model

if TYPE_CHECKING:
    from dynamics_node.robot.robot import Robot

T = TypeVar('T')
F = TypeVar('F', bound=Callable)


def check_array(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as finite floats of shape (size,) or (N, size)."""
    array = _floats(name, value)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DynamicsError(f'{name} must have shape ({size},) or (N, {size}), got {array.shape}')
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise DynamicsError(f'{name}[{", ".join(map(str, where))}] is {array[where]}; '
                            'every entry must be finite')
    return array


def check_floats(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as (size,) floats, which need not be finite."""
    array = _floats(name, value)
    if array.shape != (size,):
        raise DynamicsError(f'{name} must have shape ({size},), got {array.shape}')
    return array


def _floats(name, value):
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiubO':  # else strings and complex numbers would slip through
            raise TypeError(array.dtype)
        return array.astype(float, copy=False)
    except Exception as error:  # an object may raise anything when NumPy reads it
        raise DynamicsError(f'{name} must hold real numbers, got {shown(value)}') from error


def check_robot(robot: Robot, name: str = 'robot') -> Robot:
    """Return the robot, if it has a model and the methods of one."""
    if not hasattr(robot, 'model') or not hasattr(robot, 'inverse_dynamics'):
        raise DynamicsError(f'{name} is {shown(robot)}; expected a Robot')
    return robot


def check_kind(name: str, value: object, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return the value, if it is of that class, or of one of several."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = ' or '.join(each.__name__ for each in kinds)
        raise DynamicsError(f'{name} is {shown(value)}; expected a {wanted}')
    return value


def check_facts(about: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the {name: value} that a report is to show, empty for None."""
    if about is None:
        return {}
    if not isinstance(about, Mapping):
        raise DynamicsError(f'about is {shown(about)}; expected a dict {{what: value}}, or None')
    return about


def check_callable(name: str, function: F | None) -> F | None:
    """Return a function, or None."""
    if function is not None and not callable(function):
        raise DynamicsError(f'{name} is {shown(function)}; expected a function, or None')
    return function


def check_configuration(model: Model, q: ArrayLike, name: str = 'q') -> np.ndarray:
    """Return q, its quaternions normalised."""
    array = check_array(name, q, model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            array = _normalised(name, array, slice(joint.q.start + 3, joint.q.stop), joint.name)
    return array


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


def check_single_configuration(model: Model, q: ArrayLike, name: str = 'q') -> np.ndarray:
    """Return q of one state, (nq,), its quaternions normalised."""
    array = check_configuration(model, q, name)
    if array.ndim != 1:
        raise DynamicsError(f'{name} must be one state, ({model.nq},), got {array.shape}')
    return array


def check_given(given: ArrayLike, nv: int) -> np.ndarray:
    """Return the mask of prescribed accelerations, (nv,) booleans."""
    try:
        mask = np.asarray(given)
    except Exception as error:  # rows of different length; an object may raise anything
        raise DynamicsError(f'given must be {nv} booleans, got {shown(given)}') from error
    if mask.shape != (nv,) or (nv and mask.dtype != bool):
        raise DynamicsError(f'given must be {nv} booleans, True where the acceleration is '
                            f'prescribed; got {mask.dtype} of shape {mask.shape}')
    return mask.astype(bool, copy=False)


def check_wrenches(model: Model, wrenches: Mapping[str, ArrayLike], name: str = 'wrenches'
                   ) -> dict[str, np.ndarray]:
    """Return {frame: (6,) or (N, 6) floats}, every frame known."""
    return _by_frame(model, name, wrenches, 6, '(fx, fy, fz, tx, ty, tz)')


def check_inertia_rates(model: Model, rates: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    """Return {frame: (10,) or (N, 10) floats}, every frame known."""
    return _by_frame(model, 'dinertias', rates, 10,
                     '(m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)')


def _by_frame(model, name, values, size, numbers):
    if not isinstance(values, Mapping):
        raise DynamicsError(f'{name} must be a dict {{frame: {numbers}}}, '
                            f'got {type(values).__name__}')
    for frame in values:
        model.frame(frame)
    return {frame: check_array(_at(name, frame), value, size) for frame, value in values.items()}


def check_joint_rates(model: Model, name: str, rates: Mapping[str, float] | ArrayLike
                      ) -> np.ndarray:
    """Return (nv,) or (N, nv) floats from {joint: value}, zero elsewhere, or from an array."""
    if not isinstance(rates, Mapping):
        return check_array(name, rates, model.nv)
    array = np.zeros(model.nv)
    for joint, value in rates.items():
        place = model.joint(joint).v
        array[place] = _number_or_row(_at(name, joint), value, 1)
    return array


def check_joint_names(model: Model, name: str, joints: Sequence[str] | Set[str]
                      ) -> tuple[str, ...]:
    """Return the joints' names as a tuple, every one known."""
    if isinstance(joints, (str, bytes)) or not isinstance(joints, (Sequence, Set)):
        raise DynamicsError(f'{name} is {shown(joints)}; expected a list of joint names')
    known = [joint.name for joint in model.joints]
    for joint in joints:
        if not isinstance(joint, str) or joint not in known:
            raise DynamicsError(f'{name}: {UnknownName("joint", joint, known)}')
    return tuple(joints)


def check_sequence(name: str, items: Sequence[T]) -> tuple[T, ...]:
    """Return the items of a list or tuple as a tuple."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence):
        raise DynamicsError(f'{name} is {shown(items)}; expected a list')
    return tuple(items)


def check_choice(choice: str, choices: Sequence[str]) -> str:
    """Return the choice, one of some texts."""
    if not isinstance(choice, str) or choice not in choices:
        raise DynamicsError(f'choice is {shown(choice)}; expected one of {", ".join(choices)}')
    return choice


def check_pair(name: str, value: Sequence[T | None] | None, what: str) -> tuple[T | None, T | None]:
    """Return a pair, either of which may be None; a mere None is (None, None)."""
    if value is None:
        return None, None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise DynamicsError(f'{name} is {shown(value)}; expected a pair: {what}')
    first, second = value
    return first, second


def check_weights(name: str, weights: ArrayLike | None, size: int) -> np.ndarray | None:
    """Return `size` numbers that are not negative, or None for ones."""
    if weights is None:
        return None
    array = check_single(name, weights, size)
    if (array < 0.0).any():
        raise DynamicsError(f'{name}[{int(np.argmin(array))}] is {array.min()}; '
                            'no weight may be below zero')
    return array


def check_single(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as finite floats of shape (size,)."""
    array = check_array(name, value, size)
    if array.ndim != 1:
        raise DynamicsError(f'{name} must have shape ({size},), got {array.shape}')
    return array


def check_count(name: str, count: int, most: int | None = None) -> int:
    """Return a whole number that is not negative, and not above `most`."""
    if (not isinstance(count, (int, Integral)) or isinstance(count, bool) or count < 0
            or (most is not None and count > most)):
        bounds = '0 or more' if most is None else f'from 0 to {most}'
        raise DynamicsError(f'{name} is {shown(count)}; expected a whole number, {bounds}')
    return int(count)


def check_names(name: str, names: str | Sequence[str] | Set[str]) -> tuple[str, ...]:
    """Return one name or some names as a tuple of texts."""
    if isinstance(names, str):
        return (names,)
    if (not isinstance(names, (Sequence, Set, Mapping))
            or not all(isinstance(each, str) for each in names)):
        raise DynamicsError(f'{name} is {shown(names)}; expected a name, or a list of names')
    return tuple(names)


def check_generator(rng: np.random.Generator | int | Sequence[int] | None) -> np.random.Generator:
    """Return the numpy Generator of a seed, of None, or the one that is given."""
    numbered = isinstance(rng, (Integral, list, tuple, np.ndarray))
    try:
        if numbered:  # NumPy itself recurses without end into a list that holds itself
            rng = _whole_numbers(rng)
        return np.random.default_rng(rng)
    except Exception as error:
        raise DynamicsError(f'rng is {shown(rng)}; expected a numpy Generator or a seed, an '
                            'integer that is not negative') from error


def _whole_numbers(seed):
    if isinstance(seed, Integral):
        return int(seed)
    seed = np.asarray(seed)
    if seed.dtype.kind not in 'iu' or seed.ndim > 1:
        raise TypeError(seed.dtype)
    return seed


def check_proximal(proximal: Proximal | bool) -> Proximal:
    """Return the Proximal settings; True stands for the usual ones."""
    if proximal is True:
        return Proximal()
    if (not isinstance(proximal, Proximal) or not 0.0 < proximal.mu < np.inf
            or proximal.max_iterations < 1 or not 0.0 <= proximal.tolerance < 1.0):
        raise DynamicsError(f'proximal is {shown(proximal)}; expected True, or Proximal with mu '
                            '> 0, max_iterations >= 1 and a tolerance from 0 to 1')
    return proximal


def check_stabilisation(stabilisation: ArrayLike | None) -> np.ndarray | None:
    """Return (alpha, beta), two numbers that are not negative, as an array, or None."""
    if stabilisation is None:
        return None
    rates = check_single('stabilisation', stabilisation, 2)
    if (rates < 0.0).any():
        raise DynamicsError(f'stabilisation is {tuple(map(float, rates))}; expected (alpha, beta), '
                            'none below zero [1/s]')
    return rates


def check_restitution(restitution: float | Mapping[str, ArrayLike] | ArrayLike,
                      constraints: Sequence[Constraint]) -> np.ndarray:
    """Return the restitution of every row, (m,) numbers from 0 to 1."""
    if isinstance(restitution, Mapping):
        sizes = {constraint.name: size(constraint) for constraint in constraints}
        for name in restitution:
            if name not in sizes:
                raise DynamicsError(f'restitution: no constraint {shown(name)}; the set has: '
                                    f'{", ".join(sizes) or "none"}')
        restitution = {name: _number_or_row(_at('restitution', name), value, sizes[name])
                       for name, value in restitution.items()}
    else:
        restitution = _number_or_row('restitution', restitution, sum(map(size, constraints)))
    rows = restitution_of_rows(constraints, restitution)
    wrong = ~((rows >= 0.0) & (rows <= 1.0))
    if wrong.any():
        raise DynamicsError(f'restitution is {rows[wrong][0]:.6g}; expected a number from 0, '
                            'plastic, to 1, elastic')
    return rows


def _number_or_row(name, value, size):
    array = _floats(name, value)
    if array.shape not in ((), (size,)):
        raise DynamicsError(f'{name} must be a number or have shape ({size},), got {array.shape}')
    if not np.isfinite(array).all():
        raise DynamicsError(f'{name} is {shown(value)}; every entry must be finite')
    return array


def _at(name, place):
    return f"{name}['{place}']"


def batch_size(arrays: Mapping[str, np.ndarray], **by_frame: Mapping[str, np.ndarray]
               ) -> int | None:
    """Return N if any array, or any value by frame, is a batch; None if all are single states.

    They come apart since a frame may have the name of an argument.
    """
    named = [*arrays.items(), *((_at(name, frame), value) for name, values in by_frame.items()
                                for frame, value in values.items())]
    sizes = {name: len(array) for name, array in named if array.ndim == 2}
    if len(set(sizes.values())) > 1:
        rows = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'batches must be of one size; {rows} rows')
    return next(iter(sizes.values()), None)
