"""Make constraints of every kind between links of random trees, violated or satisfied."""

import numpy as np

from dynamics_node.algorithms.kinematics import frame_pose
from dynamics_node.constrained.constraint import (
    BETWEEN_COORDINATES,
    FIELDS,
    KINDS,
    ROLLING,
    Constraint,
)
from dynamics_node.spatial import so3

# l10 hangs on another branch than l5, base is fixed to the root, world is the world.
HELD, HELD_TO = 'l10', ('world', 'l5', 'base')
MIMIC = 'm1'           # hangs on j0 and on a joint that mimics j0, in trees that have mimic joints
JOINTS = ('j0', 'j1')  # each of one coordinate


EXPRESSION = 'q1 * sin(q2) - 0.3 * q2**3 + 0.1'            # of positions
VELOCITIES = 'v1 * cos(q2) - (q1 + 2) * v2 / (3 - sin(q1))'  # non-holonomic


def every_kind(rng, held=HELD, held_to=HELD_TO):
    """Return constraints of every kind, attached to each of some links, by random closures."""
    coupling = Constraint(f'coupling_{held}', 'coupling', joints=JOINTS, ratio=rng.normal(),
                          offset=rng.normal())
    return [coupling, *(
        Constraint(f'{name}_{held}', 'expression', joints=JOINTS, expression=text)
        for name, text in (('positions', EXPRESSION), ('velocities', VELOCITIES))), *(
        Constraint(f'{kind}_{held}_{to}', kind, held, to, random_pose(rng), random_pose(rng),
                   **own_fields(kind, rng))
        for kind in KINDS if kind not in BETWEEN_COORDINATES for to in held_to)]


def is_holonomic(constraint, row):
    """Return whether a row is the rate of a function of q, the residual."""
    return (row in ('n', 'expression') and constraint.expression != VELOCITIES
            if constraint.kind in (*ROLLING, 'expression') else True)


def own_fields(kind, rng):
    """Return {field: random value} of those that a kind has besides its frames."""
    x, y, z = rng.normal(size=3)
    random = {'axis': (x, y, 0.0 if kind == 'line_contact' else z),
              'distance': rng.uniform(0.2, 1.0), 'radius': rng.uniform(0.2, 1.0),
              'axle': tuple(rng.normal(size=3)), 'pitch': rng.uniform(0.2, 1.0)}
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
    if kind == 'expression':
        i, j = (q[model.joint(name).q.start] for name in JOINTS)
        f = i * np.sin(j) - 0.3 * j ** 3 + 0.1
        return Constraint('expression', kind, joints=JOINTS,
                          expression=f'{EXPRESSION} - ({float(f)!r})')
    own, pose = own_fields(kind, rng), random_pose(rng)
    distance = own.get('distance', 0.0)
    axis = np.array(own.get('axis', (0.0, 0.0, 1.0)))
    axis = axis / np.linalg.norm(axis)
    # frame 2 seen from frame 1: turned and moved in the ways that the kind leaves free
    angle = rng.normal() if kind in ('revolute', 'planar', 'line_contact', 'screw') else 0.0
    R, u = so3.about_axis(axis, angle), np.zeros(3)
    if kind == 'screw':
        u = own['pitch'] / (2 * np.pi) * (angle + 4 * np.pi) * axis  # two turns further
    if kind in ('spherical', 'point_on_plane', 'distance', 'point_contact', *ROLLING):
        R = so3.exp(rng.normal(size=3))
    if kind in ('point_on_plane', 'planar'):
        u = distance * axis + np.cross(axis, rng.normal(size=3))
    if kind == 'distance':
        u = distance * axis
    if kind in ROLLING:
        axle = R @ (np.array(own.get('axle', (0.0, 0.0, 0.0))))
        sine = 1.0 if kind == 'rolling_ball' else np.linalg.norm(
            np.cross(axis, axle)) / np.linalg.norm(axle)
        u = own['radius'] * sine * axis + np.cross(axis, rng.normal(size=3))
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
