"""Make robots with loops or feet for the tests of services, and states that keep their loops."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.example_robots import MECHANISMS
from support.node_states import node_state_of
from support.tolerances import SOLVED

MASS, GRAVITY = 2.0, 9.81
HALF = (0.2, 0.1, 0.05)   # of the block, its feet are the lower corners [m]
CORNERS = [(x, y) for x in (-1, 1) for y in (-1, 1)]
FEET = [f'foot_{k}' for k in range(4)]
# a homogeneous block that floats, with a link at each lower corner
BLOCK = (
    '<robot name="block"><link name="block"><inertial><mass value="2"/>'
    '<inertia ixx="0.00833333333333" ixy="0" ixz="0" iyy="0.02833333333333" iyz="0" '
    'izz="0.03333333333333"/></inertial></link>'
    + ''.join(f'<link name="{foot}"/><joint name="{foot}_mount" type="fixed"><parent link="block"/>'
              f'<child link="{foot}"/><origin xyz="{x * HALF[0]} {y * HALF[1]} -{HALF[2]}"/>'
              '</joint>'
              for foot, (x, y) in zip(FEET, CORNERS)) + '</robot>')
STANDING = [0.0, 0.0, HALF[2], 0.0, 0.0, 0.0, 1.0]


def mechanism(name):
    """Return a bundled mechanism, its loops closed."""
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops)


def node_state_at(name, **parameters):
    """Return the NodeState of a mechanism, and the same robot."""
    bundled = MECHANISMS[name]
    node_state = node_state_of(bundled.urdf, constraints=str(bundled.loops), **parameters)
    return node_state, mechanism(name)


def close(got, want):
    """Compare arrays, relative to the largest entry, at least to 1."""
    want = np.asarray(want, dtype=float)
    assert np.shape(got) == want.shape
    assert np.abs(np.asarray(got) - want).max(initial=0.0) <= SOLVED * (
        1.0 + np.abs(want).max(initial=0.0))


def state_of(robot, seed=0):
    """Return a configuration and velocity that keep the loops."""
    rng = np.random.default_rng(seed)
    q = robot.project_configuration(
        robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv)))
    return q, robot.project_velocity(q, 0.5 * rng.normal(size=robot.nv))


def acceleration_of(robot, q, v, seed=1):
    """Return an acceleration that keeps the loops."""
    rng = np.random.default_rng(seed)
    return robot.constrained_forward_dynamics(q, v, rng.normal(size=robot.nv)).a
