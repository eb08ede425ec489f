"""Make random robots of every joint type for the tests of physical laws.

Half of all axes, offsets and angles are arbitrary. The others are special ones, axes of the frame,
zeros and right angles, either exactly or a hair off: what is simplified for special values must not
be so for values next to them.
"""

import copy
import os
from functools import cache
from typing import NamedTuple

import numpy as np

from dynamics_node import Robot

# How far special values are off [m, rad]: 1e-16 is rounding, the square of 1e-8 is.
HAIRS = (0.0, 1e-16, 1e-12, 1e-8)
KINDS = ('revolute', 'prismatic', 'planar', 'floating', 'continuous', 'fixed')


class Tree(NamedTuple):
    """Which random tree: its seed, its base, and whether joints mimic."""

    seed: int
    base: str
    mimic: bool

    def __str__(self):
        return f'{self.seed}-{self.base}{"-mimic" if self.mimic else ""}'


TREES = [Tree(seed, base, mimic) for seed, (base, mimic) in enumerate(
    [(base, mimic) for base in ('fixed', 'floating') for mimic in (False, True)] * 2)]


def one_of_each_sort(turn=0):
    """Return a Tree of each base, with and without mimic joints; the turn chooses the seeds."""
    half = len(TREES) // 2   # the second half has the sorts of the first
    return [TREES[sort + half * ((turn + sort) % 2)] for sort in range(half)]


class Specimen(NamedTuple):
    """A robot with a state to try, all from one seed."""

    robot: Robot
    rng: np.random.Generator
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    wrenches: dict


def make(tree, kinds=KINDS, **options):
    """Return the Specimen of a Tree: branched, every joint type, armature, damping, friction."""
    if options or os.environ.get('DYNAMICS_NODE_COMPILE') != '0':
        return _made(tree, kinds, options)
    # Thousands of tests use few trees. Robots do not change; arrays and the generator may.
    made = _known(tree, kinds, HAIRS)
    return Specimen(made.robot, *copy.deepcopy(made[1:]))


@cache
def _known(tree, kinds, hairs):   # a test may set HAIRS
    return _made(tree, kinds, {})


def _made(tree, kinds, options):
    rng = np.random.default_rng(tree.seed)
    text = urdf(rng, tree.mimic, kinds=kinds)
    robot = Robot.from_urdf(text, base=tree.base, **{
        'gravity': rng.normal(size=3) * 6.0,
        'armature': {name: rng.uniform(0.01, 0.3) for name in ('j0', 'j1', 'j4')}, **options})
    n = robot.nv
    wrenches = {f'l{k}': rng.normal(size=6) for k in (0, 4, 6, 9)}
    return Specimen(robot, rng, robot.random_configuration(rng), rng.normal(size=n),
                    rng.normal(size=n), rng.normal(size=n), wrenches)


def urdf(rng, mimic=False, links=11, kinds=KINDS):
    """Return a URDF text of a branched tree with each kind of joint in turn."""
    parts = ['<robot name="tree">', _link(rng, 'base')]
    for k in range(links):
        parent = 'base' if k == 0 else f'l{rng.integers(max(0, k - 4), k)}'
        parts += [_link(rng, f'l{k}'), _joint(rng, f'j{k}', f'l{k}', parent, kinds[k % len(kinds)])]
    if mimic:  # two followers of j0: one a child of its own branch, one folded through a chain
        parts += [_link(rng, 'm0'), _mimic(rng, 'm0', 'l0', 'revolute', 'j0'),
                  _link(rng, 'm1'), _mimic(rng, 'm1', 'l6', 'prismatic', 'm0_joint'),
                  _link(rng, 'm2'), _mimic(rng, 'm2', 'base', 'continuous', 'j1')]
    return '\n'.join([*parts, '</robot>'])


def _link(rng, name):
    """Return a link whose inertia is that of some random points, so a body can have it."""
    points = rng.normal(size=(6, 3)) * 0.2
    masses = rng.uniform(0.1, 0.5, 6)
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points))
    ixx, ixy, ixz, iyy, iyz, izz = tensor[np.triu_indices(3)]
    # the points need not be centred: any pseudo-inertia plus an offset is a body's
    return (f'<link name="{name}"><inertial>{_origin(rng)}<mass value="{masses.sum()}"/>'
            f'<inertia ixx="{ixx}" ixy="{ixy}" ixz="{ixz}" iyy="{iyy}" iyz="{iyz}" izz="{izz}"/>'
            '</inertial></link>')


def _joint(rng, name, child, parent, kind, extra=''):
    x, y, z = _axis(rng)
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'{_origin(rng)}<axis xyz="{x} {y} {z}"/>'
            '<limit lower="-2" upper="2" effort="10" velocity="3"/>'
            f'<dynamics damping="{rng.uniform(0, 1)}" friction="{rng.uniform(0, 1)}"/>'
            f'{extra}</joint>')


def _mimic(rng, child, parent, kind, master):
    extra = (f'<mimic joint="{master}" multiplier="{rng.uniform(-2, 2)}" '
             f'offset="{rng.uniform(-1, 1)}"/>')
    return _joint(rng, f'{child}_joint', child, parent, kind, extra)


def _axis(rng):
    """Return a vector of any direction and length, or nearly a unit vector of the frame."""
    if rng.random() < 0.5:
        return rng.normal(size=3)
    return rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)] + _hairs(rng)


def _origin(rng):
    """Return an origin of any kind, or with two numbers nearly zero and nearly right angles."""
    xyz, rpy = rng.normal(size=3) * 0.3, rng.uniform(-3, 3, 3)
    if rng.random() < 0.5:
        xyz = xyz * np.eye(3)[rng.integers(3)] + _hairs(rng)
        rpy = 0.5 * np.pi * rng.integers(-2, 3, 3) + _hairs(rng)
    return '<origin xyz="{} {} {}" rpy="{} {} {}"/>'.format(*xyz, *rpy)


def _hairs(rng):
    return rng.choice(HAIRS) * rng.normal(size=3)
