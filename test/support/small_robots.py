"""Make robots that are quick to compile."""

import numpy as np

from dynamics_node import Robot
from support import random_trees

KINDS = ('revolute', 'planar', 'prismatic')


def arm(mass=1.0, length=0.3, damping=0.1, **options):
    """Return an arm of two joints; links base, upper and lower."""
    joint = ('<joint name="{0}_joint" type="continuous"><parent link="{1}"/><child link="{0}"/>'
             f'<origin xyz="0 0.1 {length}"/><axis xyz="0 1 0"/>'
             f'<dynamics damping="{damping}" friction="0.2"/></joint>')
    link = ('<link name="{}"><inertial><origin xyz="0.1 0 0.2"/>'
            f'<mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            '</inertial></link>')
    return Robot.from_urdf('\n'.join([
        '<robot name="arm">', *map(link.format, ('base', 'upper', 'lower')),
        joint.format('upper', 'base'), joint.format('lower', 'upper'), '</robot>']), **options)


def tree(seed, base, mimic, **options):
    """Return the Specimen of a branched tree with each of KINDS, and a follower if it mimics."""
    rng = np.random.default_rng(seed)
    parts = ['<robot name="tree">', random_trees._link(rng, 'base')]
    for k, kind in enumerate(KINDS):
        parent = 'base' if k == 0 else f'l{rng.integers(0, k)}'
        parts += [random_trees._link(rng, f'l{k}'),
                  random_trees._joint(rng, f'j{k}', f'l{k}', parent, kind)]
    if mimic:
        parts += [random_trees._link(rng, 'm0'),
                  random_trees._mimic(rng, 'm0', 'l1', 'revolute', 'j0')]
    robot = Robot.from_urdf('\n'.join([*parts, '</robot>']), base=base, gravity=rng.normal(size=3),
                            armature={'j0': 0.1, 'j2': 0.2}, **options)
    return specimen(robot, rng, ('l0', 'l2'))


def specimen(robot, rng, links_with_wrenches, n=None):
    """Return the robot with a random state, or n of them, and wrenches on some links."""
    def draw(size):
        return rng.normal(size=size if n is None else (n, size))
    q = robot.random_configuration(rng) if n is None else np.array(
        [robot.random_configuration(rng) for _ in range(n)])
    return random_trees.Specimen(robot, rng, q, *(draw(robot.nv) for _ in range(3)),
                                 {link: draw(6) for link in links_with_wrenches})
