"""Define the frozen tree model, which all algorithms read."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.joints import Joint
from dynamics_node.spatial import se3
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose

# The parent of a body whose joint is on the fixed root. Lists with one entry per body have the
# world's entry last, so that x[body.parent] is always the parent's.
WORLD = -1
WORLD_NAME = 'world'  # in place of a link the fixed world, even if a link has this name


@dataclass(frozen=True, eq=False)
class Body:
    """One moving rigid body, with everything fixed to it, and its joint.

    The body frame is the frame of the joint's child link. A mimic joint has the coordinate of its
    master: q_i = ratio * q[master] + offset; every other joint has ratio 1 and offset 0.
    """

    name: str            # of the joint's child link
    joint_name: str
    joint: Joint         # one of model/joints.py
    parent: int          # index of the parent body, or WORLD
    placement: Pose      # of the joint frame in the parent body's frame
    inertia: Inertia     # about the body frame's origin, fixed children included, no payload
    q: slice             # where its coordinates are in q
    v: slice             # where its velocities are in v
    ratio: float = 1.0
    offset: float = 0.0


class Frame(NamedTuple):
    """A link of the URDF: which body it is fixed to, and where."""

    body: int    # index, or WORLD
    pose: Pose   # of the frame in the body frame


class Payload(NamedTuple):
    """A rigid load fixed to a frame."""

    frame: str
    mass: float            # [kg]
    com: tuple             # centre of mass in the frame [m]
    inertia: tuple         # 3 x 3 about the load's centre of mass, in the frame's axes [kg m^2]


@dataclass(frozen=True, eq=False)
class JointInfo:
    """A moving joint: name, type, place in q and v, limits."""

    name: str
    kind: str
    q: slice
    v: slice
    mimics: tuple = ()                       # names of the joints that follow this one
    lower: float = -np.inf                   # [rad or m]
    upper: float = np.inf
    max_velocity: float = np.nan             # nan = unknown [rad/s or m/s]
    max_effort: float = np.nan               # nan = unknown [N m or N]


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: bodies (a parent before its children), joints, frames, constants.

    Gravity, damping, friction, armature and inertias are plain fields: `with_` returns the robot
    with other values.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[JointInfo, ...]    # in the order of q and v
    frames: dict[str, Frame]         # link name -> Frame
    root: str                        # name of the root link
    parents: dict[str, str]          # link name -> its parent link; the root has none
    base_inertia: Inertia            # of all links fixed to the world, no payload
    gravity: np.ndarray              # (3,) acceleration of gravity in the root frame [m/s^2]
    damping: np.ndarray              # (nv,) [N m s/rad or N s/m]
    friction: np.ndarray             # (nv,) Coulomb [N m or N]
    armature: np.ndarray             # (nv,) rotor inertia x gear ratio^2 [kg m^2 or kg]
    friction_speed: float            # speed at which friction is 71 % of its full value
    inertia_scale: np.ndarray        # (nv,) order of magnitude of the inertia, see build.py
    links: tuple = ()                # LinkRecords of the URDF, for the report
    warnings: tuple[str, ...] = ()   # of the reader of the description
    payloads: dict[str, Payload] = field(default_factory=dict)  # by name
    inertias: tuple[Inertia, ...] = ()  # with payloads: the bodies', then the world's
    loops: tuple = ((), ())          # (constraints, passive joints): see constrained/read_loops.py
    springs: tuple = ()              # of Spring, see force_elements.py
    actuators: tuple = ()            # of Actuator, see force_elements.py
    friction_terms: FrictionTerms | None = None   # beyond damping and friction; None: none

    @property
    def nq(self) -> int:
        return self.joints[-1].q.stop if self.joints else 0

    @property
    def nv(self) -> int:
        return self.joints[-1].v.stop if self.joints else 0

    @property
    def bare_inertias(self) -> tuple[Inertia, ...]:
        """The bodies' own inertias, then the world's: no payload."""
        return (*(body.inertia for body in self.bodies), self.base_inertia)

    @property
    def has_friction(self) -> np.ndarray:
        """(nv,) booleans: degrees of freedom with friction of any kind."""
        plain = (self.damping != 0.0) | (self.friction != 0.0)
        return plain if self.friction_terms is None else plain | self.friction_terms.active

    @property
    def friction_speeds(self) -> np.ndarray | float:
        """The friction_speed of all degrees of freedom, or of each, (nv,)."""
        terms = self.friction_terms
        return self.friction_speed if terms is None else terms.friction_speed

    @property
    def max_velocity(self) -> np.ndarray:
        """(nv,) velocity limits, that of a joint for all its degrees of freedom; nan = unknown."""
        return self._of_dofs('max_velocity')

    @property
    def max_effort(self) -> np.ndarray:
        """(nv,) effort limits, that of a joint for all its degrees of freedom; nan = unknown."""
        return self._of_dofs('max_effort')

    def _of_dofs(self, name: str) -> np.ndarray:
        values = np.empty(self.nv)
        for joint in self.joints:
            values[joint.v] = getattr(joint, name)
        return values

    def frame(self, name: str) -> Frame:
        """Return the frame of a link; an unknown name raises UnknownName, which lists the links."""
        try:
            return self.frames[name]
        except (KeyError, TypeError):
            raise UnknownName('frame', name, self.frames) from None

    def joint(self, name: str) -> JointInfo:
        """Return a moving joint; an unknown name raises UnknownName, which lists the joints."""
        if isinstance(name, str):  # an array would compare entry by entry
            for joint in self.joints:
                if joint.name == name:
                    return joint
        raise UnknownName('joint', name, [joint.name for joint in self.joints])

    def ancestors(self, i: int) -> Iterator[int]:
        """Yield the indices of the bodies from i's parent to the root."""
        i = self.bodies[i].parent
        while i != WORLD:
            yield i
            i = self.bodies[i].parent

    @property
    def has_mimic(self) -> bool:
        """Whether some coordinate moves more than one joint."""
        return any(joint.mimics for joint in self.joints)

    def with_(self, **changes: Any) -> 'Model':
        """Return a copy with other fields."""
        return replace(self, **changes)


def frame_of(model: Model, name: str) -> Frame:
    """Return the Frame of a link, or of the world for WORLD_NAME."""
    return Frame(WORLD, se3.IDENTITY) if name == WORLD_NAME else model.frame(name)


def base_joint(model: Model) -> JointInfo | None:
    """Return the floating joint between world and robot, or None."""
    for body in model.bodies:
        if body.parent == WORLD:
            joint = next(joint for joint in model.joints if joint.q == body.q)
            if joint.kind == 'floating':
                return joint
    return None
