"""Compute the RobotRecord of a Model: the inverse of build.py.

Fixed and locked links are fixed to the body that they are part of, by joints with new names.
Payloads become links. Damping, friction and limits of mimic joints are in their master's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamics_node.errors import ModelError
from dynamics_node.model.build import BASE_PREFIX, FLOATING_BASE, FRICTION_SPEED
from dynamics_node.model.joints import Prismatic
from dynamics_node.model.model import WORLD, Body, JointInfo, Model
from dynamics_node.model.records import JointRecord, LinkRecord, Mimic, RobotRecord
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose

STANDARD_GRAVITY = [0.0, 0.0, -9.81]


def record_of_model(model: Model) -> RobotRecord:
    """Return a RobotRecord from which build_model makes the same Model, to rounding.

    A floating base is left out: build_model adds it.

    :raise ModelError: what no record has: a locked floating base, friction of a floating base,
        or a payload with the name of a link.
    """
    _refuse(model)
    own = _own_inertias(model)
    loads = model.payloads.items()
    links = (*(LinkRecord(name, own[name]) for name in model.frames),
             *(LinkRecord(name, inertias.from_com(load.mass, load.com, load.inertia))
               for name, load in loads))
    moving = {body.name for body in model.bodies}
    fixed = [name for name in (*model.frames, *model.payloads)
             if name not in moving and name != model.root]
    fixed_by = _fixed_joint_names(model, fixed)
    joints = [_moving(model, i) if name in moving else
              _fixed(fixed_by[name], _parent(model, i), name, pose)
              for name, (i, pose) in model.frames.items() if name != model.root]
    joints += [_fixed(fixed_by[name], load.frame, name, se3.IDENTITY) for name, load in loads]
    return RobotRecord(model.name, links, tuple(joints), model.warnings)


def not_in_record(model: Model) -> list[str]:
    """Return what the record of a model does not contain, as arguments of Robot.from_urdf."""
    arguments = []
    if _floats(model):
        arguments.append("base='floating'")
    if model.gravity.tolist() != STANDARD_GRAVITY:
        arguments.append(f'gravity={tuple(model.gravity.tolist())}')
    rotors = {joint.name: float(model.armature[joint.v.start]) for joint in model.joints}
    if any(rotors.values()):
        arguments.append(f'armature={ {name: each for name, each in rotors.items() if each} }')
    if model.friction_speed != FRICTION_SPEED:
        arguments.append(f'friction_speed={model.friction_speed!r}')
    if any(model.loops):
        arguments.append('loops=robot.loops')
    return arguments


def _floats(model: Model) -> bool:
    """Return whether the base is floating: the root link is a moving body."""
    return model.frames[model.root].body != WORLD


def _refuse(model: Model) -> None:
    for name in model.payloads:
        if name in model.frames:
            raise ModelError(f"the payload '{name}' has the name of a link; it becomes a link: "
                             'give it another name')
    if not _floats(model) and np.abs(model.frames[model.root].pose.matrix() - np.eye(4)).any():
        raise ModelError('the floating base is locked at a pose; a robot description begins at '
                         "its root link: use base='fixed', or do not lock it")
    for joint in model.joints:
        for key in ('damping', 'friction', 'armature'):
            values = getattr(model, key)[joint.v]
            base = _floats(model) and joint.v.start == 0
            if np.ptp(values) or (base and values[0] and key != 'armature'):
                raise ModelError(f"joint '{joint.name}' has the {key} {values.tolist()}; expected "
                                 'one value for all its degrees of freedom, and zero for a '
                                 'floating base')


def _own_inertias(model: Model) -> dict[str, Inertia]:
    """Return {link: inertia}: as described, with changes of a body's inertia on its own link.

    Identification changes bodies, not links.
    """
    own = {link.name: link.inertia for link in model.links}
    sums = [inertias.ZERO] * len(model.bare_inertias)
    for name, (i, pose) in model.frames.items():
        sums[i] = sums[i] + own[name].seen_from(pose)
    places = [*(body.name for body in model.bodies), model.root]
    for name, body, lumped in zip(places, model.bare_inertias, sums):
        change = Inertia(body.mass - lumped.mass, body.moment - lumped.moment,
                         body.tensor - lumped.tensor)
        own[name] = own[name] + change
    return own


def _parent(model: Model, i: int) -> str:
    return model.root if i == WORLD else model.bodies[i].name


def _fixed(name: str, parent: str, child: str, pose: Pose) -> JointRecord:
    return JointRecord(name, 'fixed', parent, child, pose, np.zeros(3))


def _fixed_joint_names(model: Model, links: Sequence[str]) -> dict[str, str]:
    """Return {link: name of its fixed joint}, other names than those of the moving joints.

    build.py adds a prefix to the name of a floating base where a joint has that name. If such a
    joint was fixed, the name goes to the first fixed joint, so that the base keeps its name.
    """
    taken = {body.joint_name for body in model.bodies}
    wanted, name = [], FLOATING_BASE
    while _floats(model) and name != model.joints[0].name:
        wanted += [name] * (name not in taken)
        name = f'{BASE_PREFIX}{name}'
    names = {}
    for link in links:
        name = wanted.pop(0) if wanted else f'{link}_fixed'
        while name in taken:
            name += '_'
        taken.add(name)
        names[link] = name
    return names


def _moving(model: Model, i: int) -> JointRecord:
    body = model.bodies[i]
    master = next(joint for joint in model.joints if joint.v == body.v)
    axis = getattr(body.joint, 'axis', np.zeros(3))
    ends = (_parent(model, body.parent), body.name, body.placement, axis)
    if master.name != body.joint_name:
        kind, limits = _followed(master, body)
        return JointRecord(body.joint_name, kind, *ends,
                           Mimic(master.name, body.ratio, body.offset), **limits)
    first = body.v.start
    return JointRecord(body.joint_name, master.kind, *ends, None, master.lower, master.upper,
                       master.max_velocity, master.max_effort, *(
                           float(getattr(model, key)[first])
                           for key in ('damping', 'friction', 'armature')))


def _followed(master: JointInfo, body: Body) -> tuple[str, dict[str, Any]]:
    """Return (joint type, limits) of a mimic joint: its range is that of its master."""
    ends = np.array([master.lower, master.upper])
    if not np.isfinite(ends).all():
        return ('prismatic' if isinstance(body.joint, Prismatic) else 'continuous'), {}
    lower, upper = np.sort(body.ratio * ends + body.offset).tolist()
    kind = 'prismatic' if isinstance(body.joint, Prismatic) else 'revolute'
    return kind, {'lower': lower, 'upper': upper}
