"""Check the arguments of Robot methods; functions called after these do not check again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.geometry_rates import joint_body
from dynamics_node.checks import check_array, check_names, check_single, entry, floats
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.constrained.proximal import Proximal
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.joints import Floating
from dynamics_node.model.model import Model

if TYPE_CHECKING:
    from dynamics_node.robot.robot import Robot


def check_robot(robot: Robot, name: str = 'robot') -> Robot:
    """Return the robot; raise if it has not the attributes of a Robot."""
    if not hasattr(robot, 'model') or not hasattr(robot, 'inverse_dynamics'):
        raise DynamicsError(f'{name} is {shown(robot)}; expected a Robot')
    return robot


def check_configuration(model: Model, q: ArrayLike, name: str = 'q') -> np.ndarray:
    """Return q, its quaternions normalised."""
    array = check_array(name, q, model.nq)
    for joint in model.joints:
        if joint.kind == 'floating':
            array = _normalised(name, array, slice(joint.q.start + 3, joint.q.stop), joint.name)
    return array


def _normalised(name: str, q: np.ndarray, place: slice, joint_name: str) -> np.ndarray:
    with np.errstate(over='ignore'):  # an infinite norm is refused below
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


def check_geometry_rates(model: Model, name: str, rates: Mapping[str, ArrayLike]
                         ) -> dict[str, np.ndarray]:
    """Return {joint: (6,) or (N, 6) floats} of origins or axes, every joint known."""
    rates = _dict_of_rows(name, rates, 'joint', '(x, y, z, rx, ry, rz)')
    for joint in rates:
        body = model.bodies[joint_body(model, joint)]
        if name == 'daxes' and isinstance(body.joint, Floating):
            raise DynamicsError(f"daxes: joint '{joint}' is floating and has no axis")
    return {joint: check_array(entry(name, joint), rate, 6) for joint, rate in rates.items()}


def _by_frame(model: Model, name: str, values: Mapping[str, ArrayLike], size: int, numbers: str
              ) -> dict[str, np.ndarray]:
    for frame in _dict_of_rows(name, values, 'frame', numbers):
        model.frame(frame)
    return {frame: check_array(entry(name, frame), value, size) for frame, value in values.items()}


def _dict_of_rows(name: str, values: Mapping[str, ArrayLike], key: str, numbers: str
                  ) -> Mapping[str, ArrayLike]:
    if not isinstance(values, Mapping):
        raise DynamicsError(f'{name} must be a dict {{{key}: {numbers}}}, '
                            f'got {type(values).__name__}')
    return values


def check_joint_rates(model: Model, name: str, rates: Mapping[str, float] | ArrayLike
                      ) -> np.ndarray:
    """Return (nv,) or (N, nv) floats from {joint: value}, zero elsewhere, or from an array."""
    if not isinstance(rates, Mapping):
        return check_array(name, rates, model.nv)
    array = np.zeros(model.nv)
    for joint, value in rates.items():
        place = model.joint(joint).v
        array[place] = _number_or_row(entry(name, joint), value, 1)
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


def check_frame_names(model: Model, name: str, frames: Sequence[str]) -> tuple[str, ...]:
    """Return the names of links as a tuple, every one known."""
    frames = check_names(name, frames)
    for frame in frames:
        model.frame(frame)
    return frames


def check_coordinates(model: Model, joints: Sequence[str] | None, actuated: np.ndarray
                      ) -> tuple[int, ...]:
    """Return the entries of v of independent coordinates, each once, at least one.

    :param joints: names of joints; None for the actuated entries.
    :param actuated: (nv,) booleans.
    """
    if joints is None:
        places = np.flatnonzero(actuated).tolist()
    else:
        names = check_joint_names(model, 'coordinates', joints)
        places = [k for name in names for k in range(model.nv)[model.joint(name).v]]
    if not places:
        raise DynamicsError('coordinates are empty' + (
            ': no joint has a motor; name other joints' if joints is None else
            '; name at least one joint, or None for the joints with a motor'))
    if len(set(places)) < len(places):
        raise DynamicsError(f'coordinates: {", ".join(names)}; name each joint once')
    return tuple(places)


def check_proximal(proximal: Proximal | bool) -> Proximal:
    """Return the Proximal settings; True for the default ones."""
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
        restitution = {name: _number_or_row(entry('restitution', name), value, sizes[name])
                       if name in sizes else value for name, value in restitution.items()}
    else:
        restitution = _number_or_row('restitution', restitution, sum(map(size, constraints)))
    rows = restitution_of_rows(constraints, restitution)
    wrong = ~((rows >= 0.0) & (rows <= 1.0))
    if wrong.any():
        raise DynamicsError(f'restitution is {rows[wrong][0]:.6g}; expected a number from 0, '
                            'plastic, to 1, elastic')
    return rows


def _number_or_row(name: str, value: ArrayLike, size: int) -> np.ndarray:
    array = floats(name, value)
    if array.shape not in ((), (size,)):
        raise DynamicsError(f'{name} must be a number or have shape ({size},), got {array.shape}')
    if not np.isfinite(array).all():
        raise DynamicsError(f'{name} is {shown(value)}; every entry must be finite')
    return array
