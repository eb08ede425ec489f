"""Make recordings of the bundled mechanisms with known parameters.

States follow from sines of the motors by the loops; torques are those of the constrained inverse
dynamics, which solves for the forces in the loops and knows nothing of projected equations.
"""

import os
from functools import cache
from typing import NamedTuple

import numpy as np

from dynamics_node import Robot
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import Recording, raw_recording
from support.other_bodies import other_body

PERIOD = 0.01  # [s]
# amplitude of the motors' sines [rad or m], and what they move about
SIZES = {'four_bar': 0.9, 'slider_crank': 0.9, 'five_bar': 0.12, 'stewart': 0.02, 'delta': 0.15,
         'gripper': 0.05}
MIDDLES = {'gripper': 0.25}


class Moved(NamedTuple):
    """A motion that keeps the loops."""

    time: np.ndarray
    q: np.ndarray      # (N, nq)
    v: np.ndarray      # (N, nv)
    a: np.ndarray      # (N, nv)
    q_indices: np.ndarray   # of the motors in q
    motors: np.ndarray   # of the motors in v
    names: tuple         # of the motors


def mechanism(name, passive=None, **options):
    """Return the Robot of a bundled mechanism; other joints may be passive."""
    if options:
        return _made(name, passive, **options)
    return _known(name, passive, os.environ.get('DYNAMICS_NODE_COMPILE'))


@cache
def _known(name, passive, compiled):   # robots do not change
    return _made(name, passive)


def _made(name, passive, **options):
    bundled = MECHANISMS[name]
    robot = Robot.from_urdf(bundled.urdf, loops=bundled.loops, **options)
    if passive is None:
        return robot
    return robot.with_loops(Loops(robot.loops.constraints, tuple(passive)))


@cache
def loop_motion(robot):
    """Return the LoopMotion of a robot of `mechanism`."""
    return LoopMotion(robot)


@cache
def _bundled_motion(name, robot):
    return LoopMotion(robot.with_loops(MECHANISMS[name].loops))


def moved(name, robot, samples, seed, size=None):
    """Return the Moved of sines of the motors that the bundled mechanism has."""
    loops = _bundled_motion(name, robot)
    rng = np.random.default_rng(seed)
    time = PERIOD * np.arange(samples)
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    size = (SIZES[name] if size is None else size) / np.sqrt(np.arange(1, 6))[:, None]
    A, B = size * rng.normal(size=(2, 5, len(loops.names)))
    s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    q = loops.follow(s @ A + c @ B + MIDDLES.get(name, 0.0), loops.home)
    motion = loops.motion(q, (c * w) @ A - (s * w) @ B, -(s * w * w) @ A - (c * w * w) @ B)
    return Moved(time, *motion[:3], loops.q_indices, loops.independent, loops.names)


def other_mechanism(robot, seed=1):
    """Return (layout, parameters) of one like this: masses off by up to 30 %, rotors, friction."""
    layout, rng = parameter_layout(robot), np.random.default_rng(seed)
    values, motors = parameter_values(robot, layout), ~np.array(layout.passive)
    for i in range(len(layout.bodies)):
        values[layout.of_body(i)] = other_body(values[layout.of_body(i)], rng)
    n = len(layout.joints)
    values[layout.each('armature')] = np.where(motors, rng.uniform(0.002, 0.01, n), 0.0)
    values[layout.each('viscous')] *= rng.uniform(0.5, 2.0, n)
    values[layout.each('coulomb')] = rng.uniform(0.01, 0.05, n)
    values[layout.each('offset')] = np.where(motors, rng.uniform(-0.05, 0.05, n), 0.0)
    return layout, values


def torques(robot, layout, values, motion):
    """Return the motors' torques along a motion, zero at passive joints, (N, nv)."""
    true = robot_with_parameters(robot, layout, values)
    found = true.constrained_inverse_dynamics(motion.q, motion.v, motion.a, choice='least_torque')
    offsets = offset_torque(layout, values, motion.v)
    return found.tau + np.where(actuated_dofs(robot.model, robot.loops.passive), offsets, 0.0)


def recorded(robot, motion, tau, noise=0.0, seed=0):
    """Return the Recording of all joints."""
    noise = noise * np.random.default_rng(seed).normal(size=tau.shape)
    return Recording(robot.joint_names, motion.time, motion.q, motion.v, motion.a, tau + noise)


def raw(robot, motion, tau, names=None, noise=(0.0, 0.0), seed=0):
    """Return the RawRecording of some joints, one-axis ones by default; noise of q and of tau."""
    rng = np.random.default_rng(seed)
    joints = [joint for joint in robot.model.joints if joint.kind != 'floating'
              and (names is None or joint.name in names)]
    q = motion.q[:, [joint.q.start for joint in joints]]
    tau = tau[:, [joint.v.start for joint in joints]]
    return raw_recording([joint.name for joint in joints], motion.time,
                         q + noise[0] * rng.normal(size=q.shape),
                         tau + noise[1] * rng.normal(size=q.shape))
