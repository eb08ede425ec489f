"""Describe a robot link by link in Python, instead of by a URDF.

A RobotLink is a link with its inertia and the joint to its parent. The joint axis need not pass
through the origin of the link frame: `anchor` is a point on it. At the position q of its joint, a
link is at the pose

    placement  translation(anchor)  joint motion(axis, q)  translation(-anchor)

in its parent's frame. If the axis does not pass through the origin, a massless link is added at the
anchor: the joint moves it, and the link is fixed to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import (
    at_least_zero,
    check_floats,
    check_kind,
    check_sequence,
    choice,
    finite,
)
from dynamics_node.errors import ModelError, shown
from dynamics_node.model.joints import JOINT_TYPES, unit_axis
from dynamics_node.model.payload import check_tensor
from dynamics_node.model.records import JointRecord, LinkRecord, Mimic, RobotRecord
from dynamics_node.model.tree import refuse_duplicates
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3
from dynamics_node.spatial.checked_rotation import checked_rotation
from dynamics_node.spatial.inertia import Inertia

JOINT_FRAME = '_joint_frame'  # suffix of the massless link on an axis beside the origin
ONE_AXIS = ('revolute', 'continuous', 'prismatic')
LIMITED = ('revolute', 'prismatic')
ANCHORED = ('revolute', 'continuous', 'planar')
ON_AXIS = 1e-15               # relative distance below which an anchor is on the axis


@dataclass(frozen=True, eq=False)
class RobotLink:
    """A link, its inertia, and the joint that connects it to its parent.

    The root link has no parent and no joint. A fixed joint ignores axis, limits and friction.
    """

    name: str
    parent: str | None = None             # name of the parent link; None: this is the root link
    joint: str = 'fixed'                  # revolute, continuous, prismatic, planar, floating, fixed
    placement: ArrayLike | None = None    # (4, 4) of the link in its parent at q = 0; None: 1
    axis: ArrayLike = (0.0, 0.0, 1.0)     # direction in the link frame, of any length
    anchor: ArrayLike = (0.0, 0.0, 0.0)   # point on the axis, in the link frame [m]
    mass: float = 0.0                     # [kg]
    com: ArrayLike = (0.0, 0.0, 0.0)      # centre of mass in the link frame [m]
    inertia: ArrayLike | None = None      # (3, 3) about it, axes of the link [kg m^2]; None: zero
    lower: float = -np.inf                # [rad or m]
    upper: float = np.inf
    max_velocity: float = np.nan          # [rad/s or m/s]; nan: unknown
    max_effort: float = np.nan            # [N m or N]; nan: unknown
    damping: float = 0.0                  # [N m s/rad or N s/m]
    friction: float = 0.0                 # Coulomb [N m or N]
    armature: float = 0.0                 # rotor inertia x gear ratio^2 [kg m^2 or kg]
    mimic: tuple[str, float, float] | None = None   # q = multiplier q[joint] + offset
    joint_name: str | None = None         # None: name + '_joint'
    links: tuple[LinkRecord, ...] = field(init=False, repr=False)
    joints: tuple[JointRecord, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_name("the link's name", self.name)
        own = LinkRecord(self.name, _inertia(self))
        links, joints = ((own,), ()) if self.parent is None else _records(self, own)
        object.__setattr__(self, 'links', links)
        object.__setattr__(self, 'joints', joints)
        if self.parent is None and (self.joint != 'fixed' or self.placement is not None):
            raise ModelError(f"link '{self.name}' has a joint or a placement but no parent; give "
                             "parent, or leave both out: the root link has no joint")


def record_of_links(links: Sequence[RobotLink], name: str = 'robot',
                    notes: Sequence[str] = ()) -> RobotRecord:
    """Return the RobotRecord of some RobotLinks, children in the order given.

    :param notes: sentences that the model report shows.
    """
    links = check_sequence('links', links)
    for k, link in enumerate(links):
        check_kind(f'links[{k}]', link, RobotLink)
    if not links:
        raise ModelError('links is empty; a robot needs at least one RobotLink')
    _check_name('name', name)
    notes = check_sequence('notes', notes)
    for k, note in enumerate(notes):
        check_kind(f'notes[{k}]', note, str)
    record = RobotRecord(name, tuple(each for link in links for each in link.links),
                         tuple(each for link in links for each in link.joints), notes)
    refuse_duplicates('link', record.links)
    refuse_duplicates('joint', record.joints)
    return record


def with_joints(links: Sequence[RobotLink]) -> tuple[RobotLink, ...]:
    """Return the links, after a check that each has a parent and a joint of one axis or none.

    :raise ModelError: names the link and the joint types that are valid.
    """
    links = check_sequence('links', links)
    for k, link in enumerate(links):
        check_kind(f'links[{k}]', link, RobotLink)
        if link.parent is None or link.joint not in (*ONE_AXIS, 'fixed'):
            what = 'no parent' if link.parent is None else f'a {link.joint} joint'
            raise ModelError(f"links[{k}], '{link.name}', has {what}; expected a parent and a "
                             f'joint of: {", ".join((*ONE_AXIS, "fixed"))}')
    return links


def pose_of(name: str, matrix: ArrayLike) -> se3.Pose:
    """Return the Pose of a homogeneous matrix (4, 4); `name` is that of the argument.

    :raise ModelError: a number is not finite, the last row is not 0 0 0 1, or R is not a rotation.
    """
    T = finite(name, matrix, (4, 4))
    if T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ModelError(f'{name} has the last row {T[3].tolist()}; expected 0 0 0 1')
    R = checked_rotation(name, T[:3, :3], ModelError)
    return se3.Pose(se3.right_angles_exact(R), T[:3, 3])


# Records of one link --------------------------------------------------------------------------

def _check_name(what: str, name: object) -> str:
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ModelError(f'{what} is {shown(name)}; expected a text of printable characters')
    return name


def _inertia(link: RobotLink) -> Inertia:
    where = f"link '{link.name}': "
    mass, com = at_least_zero(where + 'mass', link.mass), finite(where + 'com', link.com, (3,))
    tensor = (np.zeros((3, 3)) if link.inertia is None
              else finite(where + 'inertia', link.inertia, (3, 3)))
    check_tensor(where, tensor)
    return inertias.from_com(mass, com, tensor)


def _records(link: RobotLink, own: LinkRecord
             ) -> tuple[tuple[LinkRecord, ...], tuple[JointRecord, ...]]:
    """Return (links, joints) of a link that has a parent."""
    where = f"link '{link.name}': "
    _check_name(where + 'parent', link.parent)
    kind = choice(where + 'joint', link.joint, JOINT_TYPES)
    placement = (se3.IDENTITY if link.placement is None
                 else pose_of(where + 'placement', link.placement))
    axis = unit_axis(where + 'joint', finite(where + 'axis', link.axis, (3,)))
    name = f'{link.name}_joint' if link.joint_name is None else link.joint_name
    _check_name(where + 'joint_name', name)
    values: dict[str, Any] = {
        **_limits(where, kind, link), 'mimic': _mimic(where, kind, link),
        **{key: at_least_zero(where + key, getattr(link, key))
           for key in ('damping', 'friction', 'armature')}}
    anchor = _beside_axis(where, kind, axis, link)
    if not anchor.any():
        return (own,), (JointRecord(name, kind, link.parent, link.name, placement, axis, **values),)
    frame = link.name + JOINT_FRAME
    moved = placement @ se3.Pose(np.eye(3), anchor)
    return (LinkRecord(frame, inertias.ZERO), own), (
        JointRecord(name, kind, link.parent, frame, moved, axis, **values),
        JointRecord(f'{frame}_fixed', 'fixed', frame, link.name, se3.Pose(np.eye(3), -anchor),
                    np.zeros(3)))


def _beside_axis(where: str, kind: str, axis: np.ndarray, link: RobotLink) -> np.ndarray:
    """Return the point of the joint axis that is nearest to the origin of the link frame, (3,)."""
    anchor = finite(where + 'anchor', link.anchor, (3,))
    if kind not in ANCHORED:
        return np.zeros(3)
    beside = anchor - axis * (axis @ anchor)
    on_axis = np.linalg.norm(beside) <= ON_AXIS * np.linalg.norm(anchor)
    return np.zeros(3) if on_axis else beside


def _limits(where: str, kind: str, link: RobotLink) -> dict[str, float]:
    """Return the limits as fields of a JointRecord."""
    lower, upper = check_floats(where + 'lower, upper', (link.lower, link.upper), 2).tolist()
    if not lower <= upper or lower == np.inf or upper == -np.inf:
        raise ModelError(f'{where}lower, upper is {lower}, {upper}; expected lower <= upper')
    if kind not in LIMITED and (lower, upper) != (-np.inf, np.inf):
        raise ModelError(f'{where}lower, upper is {lower}, {upper}, but the joint is {kind}; '
                         f'limits are for: {", ".join(LIMITED)}')
    limits = {'lower': lower, 'upper': upper}
    for key in ('max_velocity', 'max_effort'):
        limits[key], = check_floats(where + key, (getattr(link, key),), 1).tolist()
        if limits[key] <= 0.0 or limits[key] == np.inf:
            raise ModelError(f'{where}{key} is {limits[key]}; expected a positive number, or nan '
                             'where it is unknown')
    return limits


def _mimic(where: str, kind: str, link: RobotLink) -> Mimic | None:
    if link.mimic is None:
        return None
    if kind not in ONE_AXIS:
        raise ModelError(f'{where}the joint is {kind} and cannot mimic; these can: '
                         f'{", ".join(ONE_AXIS)}')
    given = check_sequence(where + 'mimic', link.mimic)
    if len(given) != 3:
        raise ModelError(f'{where}mimic is {shown(link.mimic)}; expected (joint, multiplier, '
                         'offset)')
    joint = _check_name(where + 'the joint that it mimics', given[0])
    multiplier, offset = finite(where + 'multiplier, offset of mimic', given[1:], (2,)).tolist()
    return Mimic(joint, multiplier, offset)
