"""Make constraints of every kind between links of random trees, violated or satisfied."""

import numpy as np

from dynamics_node.algorithms.kinematics import frame_pose
from dynamics_node.constrained.constraint import FIELDS, KINDS, Constraint
from dynamics_node.spatial import so3

# l10 hangs on another branch than l5, base is fixed to the root, world is the world.
HELD, HELD_TO = 'l10', ('world', 'l5', 'base')
MIMIC = 'm1'           # hangs on j0 and on a joint that mimics j0, in trees that have mimic joints
JOINTS = ('j0', 'j1')  # each of one coordinate


def every_kind(rng, held=HELD, held_to=HELD_TO):
    """Return constraints of every kind, attached to each of some links, by random closures."""
    coupling = Constraint(f'coupling_{held}', 'coupling', joints=JOINTS, ratio=rng.normal(),
                          offset=rng.normal())
    return [coupling, *(
        Constraint(f'{kind}_{held}_{to}', kind, held, to, random_pose(rng), random_pose(rng),
                   **own_fields(kind, rng))
        for kind in KINDS if kind != 'coupling' for to in held_to)]


def own_fields(kind, rng):
    """Return {field: random value} of those that a kind has besides its frames."""
    x, y, z = rng.normal(size=3)
    random = {'axis': (x, y, 0.0 if kind == 'line_contact' else z),
              'distance': rng.uniform(0.2, 1.0)}
    return {field: value for field, value in random.items() if field in FIELDS[kind]}


def random_pose(rng):
    """Return x y z and a unit quaternion."""
    quaternion = rng.normal(size=4)
    return (*rng.normal(size=3), *quaternion / np.linalg.norm(quaternion))


def kept(model, q, kind, held, to, rng):
    """Return a constraint of that kind that configuration q satisfies: frame 1 is placed so."""
    if kind == 'coupling':
        i, j = (q[model.joint(name).q.start] for name in JOINTS)
        return Constraint('coupling', kind, joints=JOINTS, ratio=0.7, offset=i - 0.7 * j)
    own, pose = own_fields(kind, rng), random_pose(rng)
    distance = own.get('distance', 0.0)
    axis = np.array(own.get('axis', (0.0, 0.0, 1.0)))
    axis = axis / np.linalg.norm(axis)
    # frame 2 seen from frame 1: turned and moved in the ways that the kind leaves free
    angle = rng.normal() if kind in ('revolute', 'planar', 'line_contact') else 0.0
    R, u = so3.about_axis(axis, angle), np.zeros(3)
    if kind in ('spherical', 'point_on_plane', 'distance', 'point_contact'):
        R = so3.exp(rng.normal(size=3))
    if kind in ('point_on_plane', 'planar'):
        u = distance * axis + np.cross(axis, rng.normal(size=3))
    if kind == 'distance':
        u = distance * axis
    relative = homogeneous(R, u)
    world_to = np.eye(4) if to == 'world' else frame_pose(model, q, to)
    two = frame_pose(model, q, held) @ homogeneous(so3.from_quaternion(pose[3:]), pose[:3])
    one = np.linalg.solve(world_to, two @ np.linalg.inv(relative))
    to_pose = (*one[:3, 3], *so3.to_quaternion(one[:3, :3]))
    return Constraint(f'{kind}_{held}_{to}', kind, held, to, pose, to_pose, **own)


def homogeneous(R, p):
    """Return the (4, 4) matrix of a pose."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T
