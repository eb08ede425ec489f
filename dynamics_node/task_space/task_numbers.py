"""Separate a task into the constants of its kernel (a Part) and the numbers given at run time."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.spatial import se3
from dynamics_node.task_space.bounds import Bound, joint_limit_rows
from dynamics_node.task_space.joint_limits import FAR
from dynamics_node.task_space.tasks import AXES, Task, one_axis_joints
from dynamics_node.task_space.torque_space import Part
from dynamics_node.task_space.whole_body_setting import Setting


def part_of(structure: tuple, setting: Setting) -> Part:
    """Return the Part of torque_space.py of a Task.structure.

    :raise UnknownName: no such link, joint or contact.
    """
    _, kind, _, frame, axes, joints, contact = structure
    if kind == 'frame':
        setting.model.frame(frame)
        return kind, frame, _places(axes, AXES)
    if kind == 'center_of_mass':
        return kind, _places(axes, AXES[:3])
    if kind == 'posture':
        known = one_axis_joints(setting.model)
        for name in joints:
            if name not in known.place:
                raise UnknownName('joint', name, known.place)
        which = [known.place[name] for name in joints] if joints else slice(None)
        return kind, tuple(known.q[which].tolist()), tuple(known.v[which].tolist())
    if kind == 'torque':
        return kind, len(setting.actuated)
    if contact and contact not in setting.force_slices:
        raise UnknownName('contact', contact, setting.force_slices)
    forces = setting.force_slices[contact] if contact else slice(setting.model.nv, None)
    return kind, tuple(range(setting.size)[forces])


def _places(some: Sequence[str], axes: Sequence[str]) -> tuple[int, ...]:
    return tuple(axes.index(axis) for axis in some) if some else tuple(range(len(axes)))


@lru_cache(maxsize=256)
def numbers_of(task: Task, part: Part, setting: Setting) -> np.ndarray:
    """Return the numbers that a part reads, see torque_space.number_count.

    Its stiffness is 0 for a task without a position.
    """
    if task.kind == 'force':
        return task._sized('value', len(part[1]))
    if task.kind == 'torque':
        return task._sized('value', setting.model.nv)[setting.actuated]
    n = {'frame': 6, 'center_of_mass': 3}.get(task.kind, len(part[-1]))
    wanted = task._sized('acceleration', n) + task.damping * task._sized('velocity', n)
    is_placed = len(task.position) > 0
    gains = (task.stiffness if is_placed else 0.0, task.damping)
    if task.kind != 'frame':
        return np.concatenate([wanted, gains, task._sized('position', n)])
    rotation = task.rotation if is_placed else se3.IDENTITY.R
    position = task.position[:3] if is_placed else np.zeros(3)
    return np.concatenate([wanted, gains, position, rotation.ravel()])


@lru_cache(maxsize=64)
def limit_numbers(bound: Bound, setting: Setting) -> np.ndarray:
    """Return the numbers of the limited joints of a bound of kind joint_limits."""
    joints = one_axis_joints(setting.model)
    least, most, fastest = (np.clip(each, -FAR, FAR)
                            for each in (joints.lower, joints.upper, joints.max_velocity))
    brake = joint_limit_rows(bound, setting)[2]
    return np.concatenate([least, most, fastest, brake, [float(bound.step)]])


def endless_places(part: Part, setting: Setting, first: int) -> tuple[list[int], list[int]]:
    """Return where positions of continuous joints are among the numbers, and their entries of q.

    :param first: index of the part's first number.
    """
    if part[0] != 'posture':
        return [], []
    joints = one_axis_joints(setting.model)
    endless = set(joints.v[joints.endless].tolist())
    n = len(part[1])
    own = [k for k in range(n) if part[2][k] in endless]
    return [first + n + 2 + k for k in own], [part[1][k] for k in own]
