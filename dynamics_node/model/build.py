"""Build the frozen Model from records: find the root, lump fixed links, number the joints."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, choice, finite, flag, mapping, positive
from dynamics_node.errors import ModelError, UnknownName
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.joints import KINDS, Floating, Planar, Prismatic, Revolute
from dynamics_node.model.mimic import Follows, LockedAt, chains, resolve_mimic, within_followers
from dynamics_node.model.model import WORLD, Body, Frame, JointInfo, Model
from dynamics_node.model.records import JointRecord, LinkRecord, RobotRecord
from dynamics_node.model.tree import depth_first
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose

FLOATING_BASE = 'floating_base'  # name of the joint that base='floating' adds
BASE_PREFIX = 'root_'             # before that name where another joint has it
_Made: TypeAlias = tuple[JointRecord, int, Pose, Inertia]   # joint, parent, placement, inertia

BASES = ('fixed', 'floating')
FRICTION_SPEED = 0.01            # [rad/s or m/s]


def build_model(record: RobotRecord, base: str = 'fixed', gravity: ArrayLike = (0.0, 0.0, -9.81),
                locked: Mapping[str, ArrayLike] | None = None,
                armature: Mapping[str, float] | None = None, friction: bool = True,
                friction_speed: float = FRICTION_SPEED) -> Model:
    """Return the Model of a RobotRecord.

    :param base: 'fixed' to the world, or 'floating'.
    :param gravity: acceleration of gravity in the root frame [m/s^2].
    :param locked: joint name -> position at which it is locked; the joint is then no coordinate.
    :param armature: joint name -> rotor inertia x gear ratio^2 [kg m^2 or kg]; instead of that of
        the record.
    :param friction: False ignores the damping and friction of the URDF.
    :param friction_speed: speed at which 71 % of dry friction acts, see algorithms/friction.py.
    """
    gravity = finite('gravity', gravity, (3,))
    root, order = depth_first(record.links, record.joints)
    order = _with_base(base, root, order)
    locked = {} if locked is None else mapping('locked', locked, "{'joint': 0.1}")
    armature = {} if armature is None else mapping('armature', armature, "{'joint': 0.1}")
    locked_at = _locked_positions(order, locked)
    follows = resolve_mimic(order, locked_at)
    made, frames, base_inertia = _lump(record.links, root, order, locked_at)
    masters, contradictions = within_followers(order, follows)
    joints = _joint_infos([masters.get(joint.name, joint) for joint in order], locked_at, follows)
    place = {info.name: info for info in joints}
    bodies = tuple(_body(each, place, follows) for each in made)
    constants = _joint_constants(order, joints, locked_at, follows, armature,
                                 flag('friction', friction))
    own = (*(body.inertia for body in bodies), base_inertia)
    parents = {joint.child: joint.parent for joint in order if joint.parent is not None}
    return Model(record.name, bodies, joints, frames, root, parents, base_inertia, gravity,
                 **constants, friction_speed=positive('friction_speed', friction_speed),
                 inertia_scale=_inertia_scale(bodies, joints), links=record.links,
                 warnings=(*record.warnings, *chains(order), *contradictions), inertias=own)


def _with_base(base: str, root: str, order: list[JointRecord]) -> list[JointRecord]:
    if choice('base', base, BASES) == 'fixed':
        return order
    name, taken = FLOATING_BASE, {joint.name for joint in order}
    while name in taken:  # hyq and a1 have a fixed joint of that name
        name = f'{BASE_PREFIX}{name}'
    free = JointRecord(name, 'floating', None, root, se3.IDENTITY, np.zeros(3))
    return [free, *order]


def _locked_positions(order: Sequence[JointRecord], locked: Mapping[str, ArrayLike]) -> LockedAt:
    """Return {joint name: q} of the locked joints, and {name: no entries} of the fixed ones."""
    moving = {joint.name: joint for joint in order if joint.kind != 'fixed'}
    locked_at: LockedAt = {joint.name: np.zeros(0) for joint in order if joint.kind == 'fixed'}
    for name, position in locked.items():
        if name not in moving:
            raise UnknownName('moving joint to lock', name, moving)
        size = KINDS[moving[name].kind](moving[name].axis).nq
        where = f"locked['{name}']"
        shapes = ((), (1,)) if size == 1 else ((size,),)
        locked_at[name] = np.atleast_1d(finite(where, position, *shapes))
        if moving[name].kind == 'floating':
            norm = np.linalg.norm(locked_at[name][3:])
            if abs(norm - 1.0) > UNIT_QUATERNION:
                raise ModelError(f"locked['{name}'] holds a quaternion of norm {norm:g}, not 1")
            locked_at[name][3:] /= norm
    return locked_at


def _lump(links: Sequence[LinkRecord], root: str, order: Sequence[JointRecord], locked_at: LockedAt
          ) -> tuple[list[_Made], dict[str, Frame], Inertia]:
    """Return bodies, frames and base inertia: fixed and locked links become part of their parent.

    Every link keeps a frame, on the body that it is now part of.
    """
    inertia_of = {link.name: link.inertia for link in links}
    frames = {}
    lumped = {WORLD: inertias.ZERO}
    bodies: list[tuple[JointRecord, int, Pose]] = []

    def attach(link: str, body: int, pose: Pose) -> None:
        frames[link] = Frame(body, pose)
        lumped[body] = lumped[body] + inertia_of[link].seen_from(pose)

    if order[:1] == [] or order[0].parent is not None:
        attach(root, WORLD, se3.IDENTITY)
    for joint in order:
        parent = frames[joint.parent] if joint.parent is not None else Frame(WORLD, se3.IDENTITY)
        placement = parent.pose @ joint.placement
        if joint.name in locked_at:
            moved = (se3.IDENTITY if joint.kind == 'fixed'
                     else KINDS[joint.kind](joint.axis).pose(locked_at[joint.name]))
            attach(joint.child, parent.body, placement @ moved)
            continue
        lumped[len(bodies)] = inertias.ZERO
        bodies.append((joint, parent.body, placement))
        attach(joint.child, len(bodies) - 1, se3.IDENTITY)
    made = [(joint, parent, placement, lumped[i])
            for i, (joint, parent, placement) in enumerate(bodies)]
    return made, frames, lumped[WORLD]


def _joint_infos(order: Sequence[JointRecord], locked_at: LockedAt, follows: Follows
                 ) -> tuple[JointInfo, ...]:
    """Return the JointInfo of each coordinate: depth-first, without mimic joints."""
    infos, q, v = [], 0, 0
    followers: dict[str, list[str]] = {}
    for name, (master, _, _) in follows.items():
        followers.setdefault(master, []).append(name)
    for joint in order:
        if joint.name in locked_at or joint.name in follows:
            continue
        kind = KINDS[joint.kind](joint.axis)
        mimics = tuple(followers.get(joint.name, ()))
        infos.append(JointInfo(joint.name, joint.kind, slice(q, q + kind.nq),
                               slice(v, v + kind.nv), mimics, joint.lower, joint.upper,
                               joint.max_velocity, joint.max_effort))
        q, v = q + kind.nq, v + kind.nv
    return tuple(infos)


def _body(made: _Made, place: Mapping[str, JointInfo], follows: Follows) -> Body:
    joint, parent, placement, inertia = made
    master, ratio, offset = follows.get(joint.name, (joint.name, 1.0, 0.0))
    return Body(joint.child, joint.name, KINDS[joint.kind](joint.axis), parent, placement, inertia,
                place[master].q, place[master].v, ratio, offset)


def _joint_constants(order: Sequence[JointRecord], joints: Sequence[JointInfo], locked_at: LockedAt,
                     follows: Follows, armature: Mapping[str, float], friction: bool
                     ) -> dict[str, Any]:
    """Return damping, friction and armature per degree of freedom.

    Those of a mimic joint are added to its master's at equal power:
    ratio^2 times damping and armature, |ratio| times Coulomb friction.
    """
    moving = {joint.name: joint for joint in order if joint.name not in locked_at}
    for name in armature:
        if name not in moving:
            raise UnknownName('moving joint for armature', name, moving)
    nv = joints[-1].v.stop if joints else 0
    constants = {key: np.zeros(nv) for key in ('damping', 'friction', 'armature')}
    place = {info.name: info.v for info in joints}
    for name, joint in moving.items():
        master, ratio, _ = follows.get(name, (name, 1.0, 0.0))
        rotor = at_least_zero(f"armature['{name}']", armature.get(name, joint.armature))
        constants['armature'][place[master]] += ratio ** 2 * rotor
        if friction:
            constants['damping'][place[master]] += ratio ** 2 * joint.damping
            constants['friction'][place[master]] += abs(ratio) * joint.friction
    return constants


def _inertia_scale(bodies: Sequence[Body], joints: Sequence[JointInfo]) -> np.ndarray:
    """Return the order of magnitude of the largest inertia of each degree of freedom, (nv,).

    A pivot far below it is rounding, not inertia. The scale is the subtree's mass for translations;
    for rotations, a sum over the bodies of the subtree: trace of the inertia plus m r^2, with the
    mass m of the body's own subtree and the distance r to the farthest joint in it.
    """
    mass, rotary = [0.0] * len(bodies), [0.0] * len(bodies)
    reach = [0.0] * len(bodies)  # greatest distance from a body's origin to joints of its subtree
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        mass[i] += body.inertia.mass
        rotary[i] += np.trace(body.inertia.tensor) + mass[i] * reach[i] ** 2
        if body.parent != WORLD:
            mass[body.parent] += mass[i]
            rotary[body.parent] += rotary[i]
            arm = float(np.linalg.norm(body.placement.p))
            reach[body.parent] = max(reach[body.parent], reach[i] + arm)
    scale = np.zeros(joints[-1].v.stop if joints else 0)
    for i, body in enumerate(bodies):
        m, I = mass[i], rotary[i]
        meets = {Revolute: [I], Prismatic: [m], Planar: [m, m, I], Floating: [m, m, m, I, I, I]}
        scale[body.v] += body.ratio ** 2 * np.array(meets[type(body.joint)])
    return scale
