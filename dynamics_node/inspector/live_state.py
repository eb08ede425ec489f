"""Describe what is known of a running node, and say its state in words."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.robot.robot import Robot

SILENT = 2.0   # [s] after which numbers are old
AGEING = ('velocity', 'effort', 'wanted', 'released', 'reference', 'acceleration', 'error',
          'external')   # fields of LiveState that are not shown when they are old


class NamedValues(NamedTuple):
    """Numbers of joints, and when each arrived."""

    values: Mapping[str, float]    # by joint
    arrived: Mapping[str, float]   # by joint [s], of a clock that never goes back


class NodeModel(NamedTuple):
    """The robot of a node, with what its parameters and services set."""

    key: Hashable     # of the shapes and joints: with another key the robot is drawn anew
    robot: Robot      # without payloads
    text: str         # the URDF, for the shapes
    note: str = ''    # what the page must say about it


class LiveWrench(NamedTuple):
    """A wrench on the robot at the origin of a link, in its axes."""

    frame: str
    force: np.ndarray    # (3,) [N]
    torque: np.ndarray   # (3,) [N m]
    arrived: float       # [s], of the clock of NamedValues


class LiveBase(NamedTuple):
    """The state of a floating base."""

    joint: str                    # its joint
    topic: str                    # of its pose
    q: np.ndarray | None = None   # (7,) position, quaternion x y z w; None: none was received
    v: np.ndarray | None = None   # (6,) linear, angular, in the axes of the base link
    arrived: float = 0.0          # [s], of the clock of NamedValues
    refusal: str = ''             # why the newest message is not used


class LiveState(NamedTuple):
    """The newest messages of a node; None for what has never arrived."""

    node_exists: bool
    model: NodeModel | None = None
    refusal: str = ''                          # why the newest description is not used
    position: NamedValues | None = None
    velocity: NamedValues | None = None
    effort: NamedValues | None = None          # measured
    wanted: NamedValues | None = None          # torque of the control law
    released: NamedValues | None = None        # torque that was published
    reference: NamedValues | None = None       # positions
    acceleration: NamedValues | None = None    # of the reference
    error: NamedValues | None = None           # of positions
    external: NamedValues | None = None        # torque by the environment
    base: LiveBase | None = None               # None: the base is fixed, or not known yet
    payloads: Mapping[str, tuple] = {}         # name -> (frame, mass, com, inertia), as effective
    wrenches: Mapping[str, LiveWrench] = {}    # by kind: 'estimated', 'given'
    contact_joints: tuple[str, ...] = ()       # beyond their thresholds, while there is a contact
    gains: Mapping[str, Mapping[str, float]] = {}   # name of the gain -> joint -> value
    last_refusal: str = ''                     # why the last refused reference was refused
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

    :param name: name of the node.
    :param robot: None while there is none.
    :param now: [s], of the clock of NamedValues.
    """
    if not state.node_exists:
        return StatusText('disconnected', f'Disconnected: no node {name} is running. What is shown '
                          'is old; this page connects again by itself.')
    if robot is None:
        return StatusText('loading', f'Loading: {name} runs, but its robot description has not '
                          'arrived: on the topic robot_description, or in that parameter.')
    needed = needed_joints(robot)
    missing = [joint for joint in needed
               if state.position is None or joint not in state.position.values]
    if state.position is None or missing:
        return StatusText('loading', f'Loading: no joint states yet of {_listed(missing)}.')
    fault = '' if not state.fault and state.gate != 'fault' else (
        f'FAULT: {state.fault or "the gate is in the state fault"}. '
        'Torques are off or at the safe torque.')
    silence = _silence(needed, state.position, now) or _base_silence(state.base, now)
    if silence:
        return StatusText('silent', ' '.join(filter(None, [silence, fault])))
    if fault:
        base = _base_text(state.base)
        return StatusText('fault', f'{fault} {base}.' if base else fault)
    gate = f'Torques: {state.gate}, mode {state.mode}' if state.gate else 'Torques: no state yet'
    note = '' if state.model is None else state.model.note
    refused = f'Last refused reference: {state.last_refusal}' if state.last_refusal else ''
    return StatusText('live', '. '.join(filter(None, [
        gate, _base_text(state.base), state.contact, state.health, note, refused])) + '.')


def needed_joints(robot: Robot) -> list[str]:
    """Return the joints without whose positions a robot is not drawn.

    Passive joints of loops follow the others; a joint of several coordinates is neutral.
    """
    return [joint.name for joint in robot.model.joints
            if joint.q.stop - joint.q.start == 1 and joint.name not in robot.loops.passive]


def _silence(joints: Sequence[str], position: NamedValues, now: float) -> str:
    """Say which joints have no position, or one that is old or not finite; '' if none has."""
    wrong = [joint for joint in joints if not math.isfinite(position.values[joint])]
    if wrong:
        return f'The position of {_listed(wrong)} is not a finite number. What is shown is old.'
    age = {joint: now - position.arrived[joint] for joint in joints}
    old = [joint for joint in joints if age[joint] > SILENT]
    if not old:
        return ''
    which = '' if len(old) == len(joints) else f' of {_listed(old)}'
    return f'No joint states{which} for {max(age.values()):.0f} s. What is shown is old.'


def _base_silence(base: LiveBase | None, now: float) -> str:
    """Say that the base state is old; '' if it is not, or if there is none."""
    if base is None or base.q is None or now - base.arrived <= SILENT:
        return ''
    why = f' ({base.refusal})' if base.refusal else ''
    return (f'No base state on {base.topic} for {now - base.arrived:.0f} s{why}. What is shown is '
            'old.')


def _base_text(base: LiveBase | None) -> str:
    """Say that the base is drawn at its neutral pose, or that messages are refused."""
    if base is None or (base.q is not None and not base.refusal):
        return ''
    refused = f'The base state is refused: {base.refusal}' if base.refusal else ''
    neutral = '' if base.q is not None else (
        f'No base state on {base.topic} yet: the base is drawn at its neutral pose, and the '
        'torques are those of that pose')
    return '. '.join(filter(None, [neutral, refused]))


def _listed(names: Sequence[str]) -> str:
    """Return the first names, separated by commas."""
    return f'{", ".join(names[:5])}{" and more" if len(names) > 5 else ""}'


def without_old(state: LiveState, now: float) -> LiveState:
    """Return a state without old numbers; old positions are kept, since status_text reports them.

    A reference with a position that is not finite is left out, too.

    :param now: [s], of the clock of NamedValues.
    """
    kept: dict[str, Any] = {field: _new_ones(getattr(state, field), now) for field in AGEING}
    kept['wrenches'] = {kind: wrench for kind, wrench in state.wrenches.items()
                        if now - wrench.arrived <= SILENT
                        and np.isfinite([wrench.force, wrench.torque]).all()}
    reference = kept['reference']
    if reference is not None and not all(map(math.isfinite, reference.values.values())):
        kept['reference'] = None
    return state._replace(**kept)


def _new_ones(named: NamedValues | None, now: float) -> NamedValues | None:
    """Return the numbers that are not old; None if there are none."""
    if named is None:
        return None
    values = {joint: value for joint, value in named.values.items()
              if now - named.arrived[joint] <= SILENT}
    return NamedValues(values, named.arrived) if values else None


def configuration_of(robot: Robot, named: NamedValues | None, rest: np.ndarray | None = None,
                     base: LiveBase | None = None) -> np.ndarray:
    """Return q of named positions and of a floating base, (nq,).

    :param rest: (nq,) for joints without one, or with several coordinates; None: neutral.
    """
    q = robot.neutral() if rest is None else np.array(rest)
    if base is not None and base.q is not None:
        q[robot.model.joint(base.joint).q] = base.q
    for joint in robot.model.joints:
        if named is not None and joint.q.stop - joint.q.start == 1 and joint.name in named.values:
            q[joint.q.start] = named.values[joint.name]
    return q


def velocity_of(robot: Robot, named: NamedValues | None, base: LiveBase | None) -> np.ndarray:
    """Return v of named velocities and of a floating base, zero where there is none, (nv,)."""
    v = vector_of(robot, named)
    if base is not None and base.v is not None:
        v[robot.model.joint(base.joint).v] = base.v
    return v


def vector_of(robot: Robot, named: NamedValues | None, unknown: float = 0.0) -> np.ndarray:
    """Return named numbers in the order of v, (nv,).

    :param unknown: value where there is no finite number.
    """
    values = {} if named is None else named.values
    found = np.array([values.get(name, unknown) for name in robot.dof_names], dtype=float)
    return np.where(np.isfinite(found), found, unknown)
