"""Check the arguments of Robot methods against the model."""

from collections.abc import Mapping, Sequence, Set
from numbers import Real

import numpy as np

from dynamics_node.checks import check_array, check_single, entry, floats
from dynamics_node.constrained.constraint import size
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.constrained.proximal import Proximal
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.task_space.motion import FrameMotion, Tracking
from dynamics_node.task_space.target import Target
from dynamics_node.task_space.tasks import AXES

TOLERANCES = 1e-15, 1e9  # [m or rad] from the rounding of doubles to what has a finite square


def check_robot(robot, name='robot'):
    """Return a Robot, or an object with its model and methods."""
    if not hasattr(robot, 'model') or not hasattr(robot, 'inverse_dynamics'):
        raise DynamicsError(f'{name} is {shown(robot)}; expected a Robot')
    return robot


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


def check_single_configuration(model, q, name='q'):
    """Return q of one state, (nq,), its quaternions normalised."""
    q = check_configuration(model, q, name)
    if q.ndim != 1:
        raise DynamicsError(f'{name} must be one state, ({model.nq},), got {q.shape}')
    return q


def check_given(given, nv):
    """Return the mask of prescribed accelerations, (nv,) booleans."""
    try:
        mask = np.asarray(given)
    except Exception as error:  # rows of different length; an object may raise anything
        raise DynamicsError(f'given must be {nv} booleans, got {shown(given)}') from error
    if mask.shape != (nv,) or (nv and mask.dtype != bool):
        raise DynamicsError(f'given must be {nv} booleans, True where the acceleration is '
                            f'prescribed; got {mask.dtype} of shape {mask.shape}')
    return mask.astype(bool, copy=False)


def check_wrenches(model, wrenches, name='wrenches'):
    """Return {frame: (6,) or (N, 6) floats}, every frame known."""
    return _by_frame(model, name, wrenches, 6, '(fx, fy, fz, tx, ty, tz)')


def check_inertia_rates(model, rates):
    """Return {frame: (10,) or (N, 10) floats}, every frame known."""
    return _by_frame(model, 'dinertias', rates, 10,
                     '(m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)')


def _by_frame(model, name, values, size, numbers):
    if not isinstance(values, Mapping):
        raise DynamicsError(f'{name} must be a dict {{frame: {numbers}}}, '
                            f'got {type(values).__name__}')
    for frame in values:
        model.frame(frame)
    return {frame: check_array(entry(name, frame), value, size) for frame, value in values.items()}


def check_joint_rates(model, name, rates):
    """Return (nv,) or (N, nv) floats from {joint: value}, zero elsewhere, or from an array."""
    if not isinstance(rates, Mapping):
        return check_array(name, rates, model.nv)
    array = np.zeros(model.nv)
    for joint, value in rates.items():
        place = model.joint(joint).v
        array[place] = _number_or_row(entry(name, joint), value, 1)
    return array


def check_joint_names(model, name, joints):
    """Return the joints' names as a tuple, every one known."""
    if isinstance(joints, (str, bytes)) or not isinstance(joints, (Sequence, Set)):
        raise DynamicsError(f'{name} is {shown(joints)}; expected a list of joint names')
    known = [joint.name for joint in model.joints]
    for joint in joints:
        if not isinstance(joint, str) or joint not in known:
            raise DynamicsError(f'{name}: {UnknownName("joint", joint, known)}')
    return tuple(joints)


def check_targets(model, targets):
    """Return the Targets as a tuple, every frame known; one alone is a list of one."""
    targets = (targets,) if isinstance(targets, Target) else targets
    if not isinstance(targets, (tuple, list)) or not targets or not all(
            isinstance(target, Target) for target in targets):
        raise DynamicsError(f'targets is {shown(targets)}; expected a Target or a list of them')
    for target in targets:
        model.frame(target.frame)
    return tuple(targets)


def check_motions(model, tasks):
    """Return tasks as lists by priority, every frame known; one task or one list is one level."""
    tasks = [tasks] if isinstance(tasks, (FrameMotion, Tracking)) else tasks
    if not isinstance(tasks, (tuple, list)):
        raise DynamicsError(f'tasks is {shown(tasks)}; expected FrameMotion, Tracking, a list of '
                            'them, or a list of such lists by priority')
    ranked = tasks and all(isinstance(level, (tuple, list)) for level in tasks)
    levels = tasks if ranked else [tasks]
    for task in (task for level in levels for task in level):
        if not isinstance(task, (FrameMotion, Tracking)):
            raise DynamicsError(f'tasks holds {shown(task)}; expected FrameMotion or Tracking')
        model.frame(task.frame)
    return [list(level) for level in levels if level]


def check_frames(frame):
    """Return the names of frames as a tuple; one name alone is a list of one."""
    frames = (frame,) if isinstance(frame, str) else frame
    if not isinstance(frames, (tuple, list)) or not all(isinstance(name, str) for name in frames):
        raise DynamicsError(f'frame is {shown(frame)}; expected the name of a frame, or a list of '
                            'them')
    if not frames:
        raise DynamicsError('frame is an empty list; expected at least one name')
    return tuple(map(str.__str__, frames))  # of a subclass, the plain text


def check_axes(axes, frames):
    """Return the chosen axes of each frame, a tuple of tuples of names.

    :param axes: names of AXES, the same for each frame, or one list of names per frame.
    :param frames: the number of frames.
    """
    if not isinstance(axes, (tuple, list)) or not axes:
        raise DynamicsError(f'axes is {shown(axes)}; expected a list of some of: {", ".join(AXES)}')
    if all(isinstance(chosen, (tuple, list)) for chosen in axes):
        if len(axes) != frames:
            raise DynamicsError(f'axes has {len(axes)} lists; expected one per frame, {frames}, or '
                                'one list of names for all frames')
        return tuple(_axes_of_one(chosen) for chosen in axes)
    return (_axes_of_one(axes),) * frames


def _axes_of_one(axes):
    places = []
    for axis in axes:
        if not isinstance(axis, str) or axis not in AXES:
            raise DynamicsError(f'axes has {shown(axis)}; expected some of: {", ".join(AXES)}')
        places.append(AXES.index(axis))
    if not places or len(set(places)) < len(places):
        raise DynamicsError(f'axes is {shown(axes)}; expected at least one axis, each once')
    return tuple(AXES[k] for k in places)


def check_tolerance(tolerance):
    """Return the tolerances of positions [m] and rotations [rad]; one number is both."""
    pair = tolerance if isinstance(tolerance, (tuple, list)) else (tolerance, tolerance)
    least, greatest = TOLERANCES
    if len(pair) != 2 or not all(isinstance(part, (float, Real)) and least <= part <= greatest
                                 for part in pair):
        raise DynamicsError(f'tolerance is {shown(tolerance)}; expected a positive number, '
                            f'{least:g} to {greatest:g}, or two: of positions [m] and of rotations '
                            '[rad]')
    return tuple(map(float, pair))


def check_proximal(proximal):
    """Return the Proximal settings; True stands for the usual ones."""
    if proximal is True:
        return Proximal()
    if (not isinstance(proximal, Proximal) or not 0.0 < proximal.mu < np.inf
            or proximal.max_iterations < 1 or not 0.0 <= proximal.tolerance < 1.0):
        raise DynamicsError(f'proximal is {shown(proximal)}; expected True, or Proximal with mu '
                            '> 0, max_iterations >= 1 and a tolerance from 0 to 1')
    return proximal


def check_stabilisation(stabilisation):
    """Return (alpha, beta), two numbers that are not negative, as an array, or None."""
    if stabilisation is None:
        return None
    rates = check_single('stabilisation', stabilisation, 2)
    if (rates < 0.0).any():
        raise DynamicsError(f'stabilisation is {tuple(map(float, rates))}; expected (alpha, beta), '
                            'none below zero [1/s]')
    return rates


def check_restitution(restitution, constraints):
    """Return the restitution of every row, (m,) numbers from 0 to 1."""
    if isinstance(restitution, Mapping):
        sizes = {constraint.name: size(constraint) for constraint in constraints}
        for name in restitution:
            if name not in sizes:
                raise DynamicsError(f'restitution: no constraint {shown(name)}; the set has: '
                                    f'{", ".join(sizes) or "none"}')
        restitution = {name: _number_or_row(entry('restitution', name), value, sizes[name])
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
    array = floats(name, value)
    if array.shape not in ((), (size,)):
        raise DynamicsError(f'{name} must be a number or have shape ({size},), got {array.shape}')
    if not np.isfinite(array).all():
        raise DynamicsError(f'{name} is {shown(value)}; every entry must be finite')
    return array
