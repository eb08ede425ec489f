"""Define the records of a robot description: its content, checked but not interpreted.

Every source of a model (a URDF, links in Python, an MJCF) produces a RobotRecord; build.py makes
the Model of it.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose


class Mimic(NamedTuple):
    """q = multiplier * q[joint] + offset."""

    joint: str
    multiplier: float
    offset: float


class LinkRecord(NamedTuple):
    """A link and its inertia about the link frame; ZERO where the URDF has no <inertial>."""

    name: str
    inertia: Inertia


class JointRecord(NamedTuple):
    """A joint between two links, as written."""

    name: str
    kind: str            # revolute, continuous, prismatic, planar, floating or fixed
    parent: str | None   # None: the world, of a floating base
    child: str
    placement: Pose      # of the joint frame in the parent link's frame
    axis: np.ndarray     # (3,) unit vector in the joint frame
    mimic: Mimic | None = None
    lower: float = -np.inf
    upper: float = np.inf
    max_velocity: float = np.nan   # nan = not given, or given as 0
    max_effort: float = np.nan     # nan = not given, or given as 0
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0          # a URDF has none


class RobotRecord(NamedTuple):
    """A whole robot description."""

    name: str
    links: tuple         # of LinkRecord, in the order of the text
    joints: tuple        # of JointRecord, in the order of the text
    warnings: tuple      # sentences on harmless irregularities
