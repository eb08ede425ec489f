"""Define and check a task reference: motion and wrench of a frame, its axes, its stiffness."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_reals, finite
from dynamics_node.control.gains import six_gains
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.model import Model
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial import so3

ROUNDING = 1e-6        # largest value along a wrong axis that counts as rounding [N, m/s, ...]
CONTRADICTION = 1e-3   # likewise, as a share of the norm: axes written with four digits
AXES = ('along x', 'along y', 'along z', 'about x', 'about y', 'about z')


class Selection(NamedTuple):
    """The axes of a contact frame: controlled by motion, controlled by force, or free."""

    rotation: np.ndarray     # X = diag(C, C), from the contact frame's axes to the world's, (6, 6)
    motion: np.ndarray       # S_M, (6, 6), in world axes
    all_motion: bool         # whether S_M = 1
    controlled: np.ndarray   # (6,) bool: which of the contact axes are not free
    rows: np.ndarray         # X' of the k controlled axes, (k, 6)
    force: np.ndarray        # (k,) bool: which of these are axes of force


def selection(axes: np.ndarray, force_axes: ArrayLike,
              free_axes: ArrayLike = (False,) * 6) -> Selection:
    r"""Return the Selection of a contact frame.

        S_M = [C Sigma_p C'      0     ]
              [    0       C Sigma_r C'].

    Hutter 2017, eq. 3.96 to 3.98, has C' Sigma C: valid if its C maps world to contact axes.
    Here C is the orientation of the contact frame in the world: its columns are the contact axes.

    :param axes: C, (3, 3).
    :param force_axes, free_axes: (6,) booleans; Sigma is 1 where both are False.
    """
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = axes
    force, controlled = np.array(force_axes, dtype=bool), ~np.array(free_axes, dtype=bool)
    moved = controlled & ~force
    return Selection(X, (X * moved) @ X.T, bool(moved.all()), controlled, X.T[controlled],
                     force[controlled])


class TaskReference(NamedTuple):
    """The wanted motion and wrench of a frame, in root axes, linear first. See task_reference."""

    frame: str
    pose: np.ndarray           # (4, 4)
    twist: np.ndarray          # (6,) [m/s, rad/s]
    acceleration: np.ndarray   # (6,) [m/s^2, rad/s^2]
    wrench: np.ndarray         # that the robot exerts at the frame's origin, (6,) [N, N m]
    selection: Selection
    stiffness: np.ndarray | None   # along the contact axes, (6,); None: that of the TaskGains
    damping: np.ndarray | None     # likewise


def task_reference(robot: Robot, q: ArrayLike, frame: str, position: ArrayLike,
                   orientation: ArrayLike, twist: ArrayLike = (0.0,) * 6,
                   acceleration: ArrayLike = (0.0,) * 6, wrench: ArrayLike = (0.0,) * 6,
                   force_axes: ArrayLike = (False,) * 6, axes: ArrayLike = (0.0, 0.0, 0.0, 1.0),
                   stiffness: ArrayLike = (), damping: ArrayLike = (),
                   seen_from: str | np.ndarray = '',
                   free_axes: ArrayLike = (False,) * 6) -> TaskReference:
    """Return the checked TaskReference of numbers given in the axes of any frame.

    :param q: measured, (nq,): a moving frame `seen_from` is evaluated here.
    :param position, orientation: wanted pose of the frame, (3,) [m], unit quaternion x y z w.
    :param twist, acceleration: wanted motion of its origin against the root, (6,).
    :param wrench: that the robot shall exert on its environment, (6,).
    :param force_axes: which of the contact frame's axes are controlled by force, six booleans.
    :param axes: orientation of the contact frame, a unit quaternion x y z w.
    :param stiffness, damping: along the contact axes: none, one, two or six numbers.
    :param seen_from: frame whose origin and axes the numbers are given in, or its pose in the
        root, (4, 4); '' is the root.
    :param free_axes: which of the contact frame's axes are not controlled, six booleans.
    :raise DynamicsError: which argument is wrong, and what is valid.
    """
    model = arguments.check_robot(robot).model
    _check_frame('frame', model, frame)
    seen = not (isinstance(seen_from, str) and seen_from == '')
    if seen and not isinstance(seen_from, np.ndarray):
        _check_frame('header.frame_id', model, seen_from)
    forces, free = _six_booleans(force_axes=force_axes, free_axes=free_axes)
    _check_controlled(forces, free)
    pose = np.eye(4)
    pose[:3, 3] = finite('pose.position', position, (3,))
    pose[:3, :3] = _rotation('pose.orientation', orientation)
    vectors = [finite(name, value, (6,)) for name, value in (
        ('twist', twist), ('acceleration', acceleration), ('wrench', wrench))]
    C = _rotation('axes', axes)
    _refuse_contradiction(C, forces, free, *vectors)
    if seen:
        base = (finite('seen_from', seen_from, (4, 4)) if isinstance(seen_from, np.ndarray)
                else robot.frame_pose(q, seen_from))
        R = base[:3, :3]
        pose, C = base @ pose, R @ C
        vectors = [np.concatenate([R @ each[:3], R @ each[3:]]) for each in vectors]
    return TaskReference(
        frame, pose, vectors[0], vectors[1], vectors[2], selection(C, forces, free),
        _six_or_none('stiffness', stiffness), _six_or_none('damping', damping))


def _six_or_none(name: str, values: ArrayLike) -> np.ndarray | None:
    """Return six numbers, None for an empty list."""
    array = check_reals(name, values, ('k',))
    return six_gains(name, array) if len(array) else None


def _check_frame(what: str, model: Model, frame: str) -> None:
    try:
        model.frame(frame)
    except UnknownName as error:
        raise DynamicsError(f'{what}: {error}') from error


def _rotation(name: str, quaternion: ArrayLike) -> np.ndarray:
    quaternion = finite(name, quaternion, (4,))
    norm = np.linalg.norm(quaternion)
    if not abs(norm - 1.0) <= UNIT_QUATERNION:
        raise DynamicsError(f'{name} has the norm {norm:.6g}; expected a unit quaternion x y z w')
    return so3.from_quaternion(quaternion / norm)


def _six_booleans(**named: ArrayLike) -> list[np.ndarray]:
    """Return each as an array of six booleans."""
    arrays = []
    for name, value in named.items():
        try:
            array = np.array(value)
        except Exception:  # an object may raise anything when NumPy reads it
            array = np.empty(0)
        if array.shape != (6,) or array.dtype != bool:
            raise DynamicsError(f'{name} is {shown(value)}; expected six booleans')
        arrays.append(array)
    return arrays


def _check_controlled(force_axes: np.ndarray, free_axes: np.ndarray) -> None:
    both = np.flatnonzero(force_axes & free_axes)
    if both.size:
        k = int(both[0])
        raise DynamicsError(f'force_axes[{k}] and free_axes[{k}] are both True; the axis {AXES[k]} '
                            'is either controlled by force or free')
    if free_axes.all():
        raise DynamicsError('free_axes: all six axes are free; expected at least one that is '
                            'controlled')


def _refuse_contradiction(C: np.ndarray, force_axes: np.ndarray, free_axes: np.ndarray,
                          twist: np.ndarray, acceleration: np.ndarray, wrench: np.ndarray) -> None:
    """Refuse a motion or a force along an axis that is not controlled that way."""
    still = force_axes | free_axes
    for name, vector, ignored in (('wrench', wrench, ~force_axes), ('twist', twist, still),
                                  ('acceleration', acceleration, still)):
        halves = C.T @ vector[:3], C.T @ vector[3:]
        along = np.concatenate(halves)
        least = np.repeat([max(ROUNDING, CONTRADICTION * np.linalg.norm(half)) for half in halves],
                          3)
        bad = np.flatnonzero(ignored & (np.abs(along) > least))
        if bad.size:
            k = int(bad[0])
            kind, change = ('a free axis', f'free_axes[{k}] to be False') if free_axes[k] else (
                ('an axis of force', f'force_axes[{k}] to be False') if force_axes[k] else
                ('an axis of motion', f'force_axes[{k}] to be True'))
            raise DynamicsError(f'{name} has {along[k]:.6g} {AXES[k]} of the contact axes, which '
                                f'is {kind}; expected zero there, or {change}')
