"""Define and check the reference of mode whole_body: tasks, contacts and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.control.closed_loops import CONTACTS_NEEDED
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial import so3
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task, one_axis_joints

MOST_TASKS = 20   # a torque must not take longer than a period
# Weights of the tasks that only decide what the others leave open: joints stay near their posture,
# forces and torques are shared evenly. They disturb the other tasks by about their weight; that of
# forces and torques is per square of the mass [1/kg^2], else a heavy robot would sink.
POSTURE_WEIGHT, EVEN_WEIGHT = 1e-3, 1e-3


@dataclass(frozen=True, eq=False)
class WholeBodyReference:
    """What a robot with a floating base shall do, in root axes. It does not change with time.

    :ivar contacts: names of the contacts that carry the robot; see contacts_of.
    :ivar tasks, bounds: of Robot.whole_body.
    :ivar start: time from which it is followed [s].
    """

    contacts: tuple[str, ...]
    tasks: tuple[Task, ...]
    bounds: tuple[Bound, ...]
    start: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= len(self.tasks) <= MOST_TASKS:
            raise DynamicsError(f'tasks has {len(self.tasks)} entries; expected 1 to {MOST_TASKS}')

    def at(self, now: float) -> WholeBodyReference:
        """Return the reference at a time [s]: itself."""
        return self

    def age(self, now: float) -> float:
        """Return the time for which it has been followed [s]."""
        return max(now - self.start, 0.0)


def contacts_of(robot: Robot) -> dict[str, Constraint]:
    """Return the contacts among the constraints of a robot, by name.

    :raise DynamicsError: the base does not float, or there is no contact.
    """
    if not any(joint.kind == 'floating' for joint in robot.model.joints):
        raise DynamicsError('mode whole_body is for robots with a floating base; this one is fixed '
                            '(parameter base, or a floating joint in the URDF)')
    contacts = {each.name: each for each in robot.loops.constraints if each.is_contact}
    if not contacts:
        raise DynamicsError(f'mode whole_body needs contacts. {CONTACTS_NEEDED}')
    return contacts


def constraints_with(robot: Robot, contacts: Sequence[str]) -> tuple[Constraint, ...]:
    """Return the constraints of a robot, of the contacts only those that are named.

    :raise DynamicsError: which name is wrong, and what is valid.
    """
    known = contacts_of(robot)
    for name in contacts:
        if name not in known:
            raise UnknownName('contact', name, known)
    if not contacts or len(set(contacts)) < len(contacts):
        raise DynamicsError(f'contacts is [{", ".join(contacts)}]; expected at least one of '
                            f'{", ".join(known)}, each once')
    return tuple(each for each in robot.loops.constraints
                 if each.name in contacts or not each.is_contact)


def default_bounds(effort: ArrayLike) -> tuple[Bound, ...]:
    """Return the bounds of a reference that has none: effort limits, (nv,), and friction.

    :param effort: 0 where no motor acts, nan where the limit is not known.
    """
    limits = np.array(effort, dtype=float)
    return (Bound('torque', limit=np.where(limits > 0.0, limits, np.inf)), Bound('friction'))


def standing_reference(robot: Robot, q: np.ndarray, effort: ArrayLike, stiffness: float,
                       now: float = 0.0) -> WholeBodyReference:
    """Return the reference that stays at the configuration q, on all contacts.

    :param effort: limits, (nv,), as for default_bounds.
    :param stiffness: for the centre of mass, the orientation of the base and the joints [1/s^2].
    """
    base = next(joint for joint in robot.model.joints if joint.kind == 'floating')
    link = next(body.name for body in robot.model.bodies if body.q == base.q)
    pose, joints = robot.frame_pose(q, link), one_axis_joints(robot.model)
    evenly = EVEN_WEIGHT / robot.total_mass ** 2
    tasks = (
        Task('center_of_mass', 'center_of_mass', position=robot.center_of_mass(q),
             stiffness=stiffness),
        Task('base', 'frame', frame=link, axes=('rx', 'ry', 'rz'), stiffness=stiffness,
             position=(*pose[:3, 3], *so3.to_quaternion(pose[:3, :3]))),
        Task('posture', 'posture', weight=POSTURE_WEIGHT, position=q[joints.q],
             stiffness=stiffness),
        Task('forces', 'force', weight=evenly), Task('torques', 'torque', weight=evenly))
    return WholeBodyReference(tuple(contacts_of(robot)), tasks, default_bounds(effort), now)
