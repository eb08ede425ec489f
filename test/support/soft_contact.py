"""Compute the forces of soft ground on points: spring, damper, friction (Hutter 2017, eq. 3.57)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.model.model import WORLD
from dynamics_node.spatial.se3 import Ad_inv, Pose
from dynamics_node.spatial.so3 import cross


class Ground(NamedTuple):
    """A plane that yields: through `point`, solid on the side its unit `normal` points away from.

    `skin` and `slip_speed` are how sharply it sets in. They smooth the two corners, of touching
    and of sliding, which no integrator can step over.
    """

    stiffness: float                # k_p [N/m]
    damping: float                  # k_d [N s/m]
    friction: float = 0.0           # coefficient
    point: tuple = (0.0, 0.0, 0.0)  # in the world [m]
    normal: tuple = (0.0, 0.0, 1.0)
    skin: float = 1e-4              # depth at which half the force is there [m]
    slip_speed: float = 1e-2        # speed at which friction is 71 % of its full value [m/s]


class Touch(NamedTuple):
    """A point of the robot that may touch the ground."""

    frame: str
    point: tuple = (0.0, 0.0, 0.0)  # in the frame [m]


class SoftContact(NamedTuple):
    """What the ground does, touch by touch and body by body."""

    force: np.ndarray     # (touches, 3) on the robot, in world axes [N]
    depth: np.ndarray     # (touches,) below the surface; negative above it [m]
    wrenches: np.ndarray  # (bodies, 6) for `forward_dynamics(..., wrenches)`


def soft_contact(model, q, v, touches, ground):
    r"""Return the SoftContact: a function of where the touches are and how fast, nothing else.

    Hutter 2017, eq. 3.57, along the normal; along the plane, where a spring would have to remember
    the point first touched, sliding friction takes its place.
    """
    motion = forward_recursion(model, q, v)
    poses = body_poses(model, motion.T)
    wrenches = [np.zeros(6)] * len(model.bodies)
    forces, depths = [], []
    for touch in touches:
        where = model.frame(touch.frame)
        at = (where.pose @ Pose(np.eye(3), np.array(touch.point))).p
        R, p = poses[where.body] @ Pose(np.eye(3), at)
        velocity = R @ Ad_inv(Pose(np.eye(3), at), motion.V[where.body])[3:]
        depth, force = ground_force(ground, p, velocity)
        forces.append(force)
        depths.append(depth)
        if where.body != WORLD:
            local = R.T @ force
            wrenches[where.body] = wrenches[where.body] + np.concatenate([cross(at, local), local])
    return SoftContact(np.array(forces).reshape(-1, 3), np.array(depths),
                       np.array(wrenches).reshape(-1, 6))


def ground_force(ground, position, velocity):
    r"""Return (depth, force (3,) in world axes) at a point of the world moving with velocity.

    With the depth d and x = k_p d - k_d v_n, the spring and damper of eq. 3.57,

    f_n = d_+^2 / (d_+^2 + skin^2) (x + sqrt(x^2 + (k_p skin)^2)) / 2,
    f_t = -mu f_n v_t / sqrt(v_t^2 + slip_speed^2).

    f_n is continuous with its slope, exactly zero above the surface, x when many skins deep, and
    never pulls, however fast the point leaves. f_t is inside the friction cone.
    """
    normal = np.array(ground.normal)
    depth = normal @ (np.array(ground.point) - position)
    rising = normal @ velocity
    spring = ground.stiffness * depth - ground.damping * rising
    pressed = _positive(depth) ** 2
    force = (pressed / (pressed + ground.skin ** 2)
             * _smooth_positive(spring, ground.stiffness * ground.skin))
    slide = velocity - rising * normal
    speed = np.sqrt(slide @ slide + ground.slip_speed ** 2)
    return depth, force * (normal - ground.friction * slide / speed)


def _positive(x):
    """Return x where it is positive and 0 elsewhere: exactly, with no look at its value."""
    return (x + np.sqrt(x * x)) / 2.0


def _smooth_positive(x, width):
    return (x + np.sqrt(x * x + width ** 2)) / 2.0
