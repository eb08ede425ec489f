"""Convert messages to arrays and back.

Joint states are read from their bytes in state/joint_state_bytes.py.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import (
    Accel,
    Inertia,
    Point,
    Pose,
    Quaternion,
    Twist,
    Vector3,
    Wrench,
    WrenchStamped,
)

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Payload
from dynamics_node.spatial import so3

BILLION = 1_000_000_000


def floats(x: np.ndarray) -> array:
    """Return an array row-major in the type that a float64[] field stores without conversion."""
    return array('d', x.tobytes())


def nanoseconds(time: Time | Duration) -> int:
    """Return the nanoseconds of a Time or Duration message."""
    return time.sec * BILLION + time.nanosec


def time(ns: int) -> Time:
    """Return the Time message of nanoseconds."""
    return Time(sec=ns // BILLION, nanosec=ns % BILLION)


def xyz(vector: Vector3 | Point) -> np.ndarray:
    """Return a Vector3 or Point as an array, (3,)."""
    return np.array([vector.x, vector.y, vector.z])


def xyzw(quaternion: Quaternion) -> np.ndarray:
    """Return a Quaternion as an array, (4,)."""
    return np.array([quaternion.x, quaternion.y, quaternion.z, quaternion.w])


def vector3(x: Any) -> Vector3:
    """Return the Vector3 message of three numbers."""
    return Vector3(x=float(x[0]), y=float(x[1]), z=float(x[2]))


def point(x: Any) -> Point:
    """Return the Point message of three numbers."""
    return Point(x=float(x[0]), y=float(x[1]), z=float(x[2]))


def pose(T: np.ndarray) -> Pose:
    """Return the Pose message of a homogeneous matrix (4, 4)."""
    x, y, z, w = map(float, so3.to_quaternion(T[:3, :3]))
    return Pose(position=point(T[:3, 3]), orientation=Quaternion(x=x, y=y, z=z, w=w))


def twist(V: np.ndarray) -> Twist:
    """Return the Twist message of (linear, angular), (6,)."""
    return Twist(linear=vector3(V[:3]), angular=vector3(V[3:]))


def accel(x: np.ndarray) -> Accel:
    """Return the Accel message of (linear, angular), (6,)."""
    return Accel(linear=vector3(x[:3]), angular=vector3(x[3:]))


def wrench(F: np.ndarray) -> Wrench:
    """Return the Wrench message of (force, torque), (6,)."""
    return Wrench(force=vector3(F[:3]), torque=vector3(F[3:]))


def wrenches(stamped: Iterable[WrenchStamped]) -> dict[str, np.ndarray]:
    """Return {frame: (force, torque), (6,)}; several at one frame are added."""
    total: dict[str, np.ndarray] = {}
    for i, message in enumerate(stamped):
        force = np.concatenate([xyz(message.wrench.force), xyz(message.wrench.torque)])
        if not np.isfinite(force).all():
            raise DynamicsError(f'external_wrenches[{i}] is {force.tolist()}; '
                                'every entry must be finite')
        frame = message.header.frame_id
        total[frame] = total.get(frame, 0.0) + force
    return total


def inertia(message: Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (mass, centre of mass, 3 x 3 inertia about it) of an Inertia message."""
    m = message
    return m.m, xyz(m.com), np.array([[m.ixx, m.ixy, m.ixz], [m.ixy, m.iyy, m.iyz],
                                      [m.ixz, m.iyz, m.izz]])


def inertia_message(payload: Payload) -> Inertia:
    """Return the Inertia message of a Payload."""
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = payload.inertia
    return Inertia(m=payload.mass, com=vector3(payload.com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy,
                   iyz=iyz, izz=izz)
