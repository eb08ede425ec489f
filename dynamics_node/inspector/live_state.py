"""Describe what is known of a running node, and say its state in words."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.robot.robot import Robot

SILENT = 2.0   # [s] without joint states after which the page says so


class NamedValues(NamedTuple):
    """Numbers of joints, and when they arrived."""

    values: Mapping[str, float]   # by joint
    arrived: float                # [s], of a clock that never goes back


class LiveState(NamedTuple):
    """The newest messages of a node; None for what has never arrived."""

    node_exists: bool
    description: str | None = None             # the URDF
    position: NamedValues | None = None
    velocity: NamedValues | None = None
    effort: NamedValues | None = None          # measured
    wanted: NamedValues | None = None          # torque of the control law
    released: NamedValues | None = None        # torque that was published
    reference: NamedValues | None = None       # positions
    acceleration: NamedValues | None = None    # of the reference
    error: NamedValues | None = None           # of positions
    external: NamedValues | None = None        # torque by the environment
    payloads: Mapping[str, tuple] = {}         # name -> (frame, mass, com, inertia)
    gate: str = ''
    mode: str = ''
    fault: str = ''
    contact: str = ''                          # of the diagnostics
    health: str = ''                           # of the diagnostics, if not in order
    rate: str = ''                             # of joint states at the node [Hz]


class StatusText(NamedTuple):
    """The state of a node in words."""

    kind: str   # 'disconnected', 'loading', 'silent', 'fault' or 'live'
    text: str


def status_text(name: str, state: LiveState, robot: Robot | None, now: float) -> StatusText:
    """Return the StatusText of a node.

    :param name: of the node.
    :param robot: None while there is none.
    :param now: [s], of the clock of NamedValues.
    """
    if not state.node_exists:
        return StatusText('disconnected', f'Disconnected: no node {name} is running. What is shown '
                          'is old; this page connects again by itself.')
    if robot is None:
        return StatusText('loading', f'Loading: {name} runs, but no robot description has arrived '
                          'on the topic robot_description.')
    missing = [joint for joint in robot.joint_names
               if state.position is None or joint not in state.position.values]
    if missing:
        return StatusText('loading', 'Loading: no joint states yet of '
                          f'{", ".join(missing[:5])}{" and more" if len(missing) > 5 else ""}.')
    age = now - state.position.arrived if state.position is not None else 0.0
    if age > SILENT:
        return StatusText('silent', f'No joint states for {age:.0f} s. What is shown is old.')
    if state.fault or state.gate == 'fault':
        return StatusText('fault', f'FAULT: {state.fault or "the gate is in the state fault"}. '
                          'Torques are off or at the safe torque.')
    gate = f'Torques: {state.gate}, mode {state.mode}' if state.gate else 'Torques: no state yet'
    return StatusText('live', '. '.join(filter(None, [gate, state.contact, state.health])) + '.')


def configuration_of(robot: Robot, named: NamedValues | None) -> np.ndarray:
    """Return q of named positions; joints without one, or with several coordinates, are neutral."""
    q = robot.neutral()
    for joint in robot.model.joints:
        if named is not None and joint.q.stop - joint.q.start == 1 and joint.name in named.values:
            q[joint.q.start] = named.values[joint.name]
    return q


def vector_of(robot: Robot, named: NamedValues | None, unknown: float = 0.0) -> np.ndarray:
    """Return named numbers in the order of v, (nv,).

    :param unknown: of degrees of freedom without a number; nan is taken as unknown too.
    """
    values = {} if named is None else named.values
    found = np.array([values.get(name, unknown) for name in robot.dof_names], dtype=float)
    return np.where(np.isnan(found), unknown, found)
