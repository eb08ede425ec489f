"""Complete a recording of some joints of a mechanism with loops to all joints.

Positions, velocities and accelerations of the independent joints are measured; those of the others
follow, so that every state satisfies the loop constraints exactly. Other measured positions select
the assembly branch and are compared with the loops: they show a wrong list of loops.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.independent_joints import MULTI_AXIS
from dynamics_node.constrained.loop_motion import LoopMotion, LoopMotionSamples, transmission_gain
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.recording import RawRecording, Recording, motor_names
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.robot.robot import Robot

MAX_DEVIATION = 0.05   # [rad], a tenth of it in metres, of a measured position from the loops: with
#                        more, the list of loops, a sign or a zero is wrong
WARN_DEVIATION = 0.005   # [rad], a tenth of it in metres: above, a warning
CLOSED = 1e-9          # [m or rad] loops with a smaller residual are not corrected
NEAR_SINGULAR = 30.0   # times the usual entries of N: samples with greater ones are left out
MAX_SINGULAR = 0.5     # of the samples
ROUNDING = 1e-9        # of the greatest motion: less is rounding


class CompletedRecording(NamedTuple):
    """A recording in which every state satisfies the loop constraints."""

    recording: Recording   # all joints of the robot; q (N, nq); tau: see loop_equations.py
    kept: np.ndarray       # (samples before,) False where a singular configuration was left out
    loops: LoopMotion      # its home configuration is on the same branch
    warnings: tuple[str, ...]


def complete_recording(robot: Robot, recording: Recording,
                       measured: Mapping[str, np.ndarray] | None = None,
                       loops: LoopMotion | None = None) -> CompletedRecording:
    """Return the CompletedRecording of a robot with loops or passive joints.

    :param recording: a Recording of one-axis joints in any order, with all motors; or of all
        joints with q of shape (N, nq).
    :param measured: {joint: positions (N,)} of more joints.
    :param loops: LoopMotion on the branch of the recording, if known already.
    :raise DynamicsError: joints are missing, positions do not close the loops, or configurations
        are singular.
    """
    q, v, a, tau = _columns(robot, recording)
    positions = {**(measured or {}), **q}
    whole = _whole(robot, positions)
    if is_whole(robot, recording):
        whole = np.asarray(recording.q, dtype=float)
        loops = LoopMotion(robot, whole[0])
    elif loops is None:
        loops = loop_motion_on_branch(robot, positions)
    _refuse_missing(loops, q)
    configurations, known = _configurations(loops, positions, whole)
    motion = loops.motion(configurations, *(np.stack([x[name] for name in loops.names], axis=-1)
                                            for x in (v, a)))
    kept, warnings = _regular(motion, known)
    warnings += _compared(loops, positions, configurations, kept)
    forces, torque = np.zeros((2, *motion.v.shape))
    for name in motor_names(robot):
        forces[:, robot.model.joint(name).v.start] = tau[name]
    torque[:, loops.independent] = np.einsum('nik,ni->nk', motion.N, forces)
    return CompletedRecording(
        Recording(robot.joint_names, recording.time, motion.q, motion.v, motion.a,
                  torque).rows(kept), kept, loops, tuple(warnings))


def with_gravity(robot: Robot, raw: RawRecording | StaticPoses) -> np.ndarray:
    """Return the torques of a RawRecording or StaticPoses with gravity torques added, (N, joints).

    For drivers that compensate gravity and report the remaining torque. Gravity torques are added
    at the independent joints, projected as in loop_equations.py.
    """
    finite = np.isfinite(raw.q).all(axis=1)
    measured = dict(zip(raw.joint_names, raw.q[finite].T))
    loops = loop_motion_on_branch(robot, measured)
    _refuse_missing(loops, measured)
    q, known = _configurations(loops, measured, _whole(robot, measured))
    gravity = np.where(known[:, None], project(loops, q, robot.gravity_torque(q)), np.nan)
    tau = np.array(raw.tau, dtype=float)
    columns = [raw.joint_names.index(name) for name in loops.names]
    tau[np.ix_(finite, columns)] += gravity
    return tau


def positions_needed(loops: LoopMotion) -> tuple[str, ...]:
    """Return the joints whose positions must be measured: motors, and independent joints."""
    return tuple(joint.name for joint in loops.model.joints
                 if loops.active[joint.v].any() or joint.name in loops.names)


def loop_motion_on_branch(robot: Robot, measured: Mapping[str, np.ndarray]) -> LoopMotion:
    """Return the LoopMotion on the assembly branch of a recording.

    :param measured: {joint: positions (N,)}. If these are motors only, the branch is that of the
        neutral configuration.
    """
    joints = [robot.model.joint(name) for name in measured]
    motors = motor_names(robot)
    if all(name in motors for name in measured) and len(measured) < len(robot.joint_names):
        return LoopMotion(robot)
    rows = np.flatnonzero(np.isfinite(np.stack(list(measured.values()))).all(axis=0))
    if not len(rows):
        raise DynamicsError(f'no sample has the positions of all of {list(measured)}')
    near = robot.neutral()
    for joint in joints:
        near[joint.q] = measured[joint.name][rows[0]]
    try:
        return LoopMotion(robot, near)
    except DynamicsError as error:
        raise DynamicsError(f'sample {rows[0]} of the recording does not close the loops: {error}. '
                            'Are signs, zeros and units of the positions right?') from error


def is_whole(robot: Robot, recording: Recording) -> bool:
    """Return whether q has all coordinates, also those of joints with several axes."""
    return (tuple(recording.joint_names) == robot.joint_names
            and np.shape(recording.q)[1:] == (robot.nq,) and robot.nq != len(robot.joint_names))


def _whole(robot: Robot, measured: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return all positions in the order of the joints (N, nq), None if some are missing."""
    if any(name not in measured for name in robot.joint_names):
        return None
    return np.stack([measured[name] for name in robot.joint_names], axis=-1)


def _columns(robot: Robot, recording: Recording) -> tuple[dict[str, np.ndarray], ...]:
    """Return q, v, a, tau by joint, {name: (N,)} each, of joints with one axis."""
    names = tuple(recording.joint_names)
    if is_whole(robot, recording):
        joints = [joint for joint in robot.model.joints if joint.kind not in MULTI_AXIS]
        q = {joint.name: recording.q[:, joint.q.start] for joint in joints}
        return (q, *({joint.name: x[:, joint.v.start] for joint in joints}
                     for x in (recording.v, recording.a, recording.tau)))
    known = [name for name in names if name in robot.joint_names]
    return tuple({name: x[:, names.index(name)] for name in known}
                 for x in (recording.q, recording.v, recording.a, recording.tau))


def _refuse_missing(loops: LoopMotion, q: dict[str, np.ndarray]) -> None:
    missing = [name for name in positions_needed(loops) if name not in q]
    passive = [name for name in missing if name in loops.model.loops[1]]
    if passive:
        raise DynamicsError(
            f'the positions of the motors do not determine {passive}: the mechanism has more '
            'degrees of freedom than motors. Record the positions of these joints too')
    if missing:
        raise DynamicsError(f'the recording lacks the motors {missing}; it has {list(q)}')


def _configurations(loops: LoopMotion, measured: dict[str, np.ndarray], whole: np.ndarray | None
                    ) -> tuple[np.ndarray, np.ndarray]:
    """Return (q (N, nq), known (N,)): configurations that close the loops."""
    positions = np.stack([measured[name] for name in loops.names], axis=-1)
    if whole is not None and np.isfinite(whole).all():
        guess = np.array(whole, dtype=float)
        guess[:, loops.q_indices] = positions
        if (loops.gap(guess) <= CLOSED).all():
            return guess, np.ones(len(guess), dtype=bool)
        q, converged, _ = loops.close_loops(guess)
        share = np.mean(~converged)
        if share > MAX_SINGULAR:
            raise DynamicsError(
                f'the loops cannot be closed near the measured positions in {share:.0%} of the '
                'samples. Check signs, zeros, units and the list of loops')
        return q, converged
    try:
        return loops.follow(positions, loops.home), np.ones(len(positions), dtype=bool)
    except DynamicsError as error:
        unknown = [joint.name for joint in loops.model.joints
                   if joint.name not in measured and joint.kind not in MULTI_AXIS]
        hint = f' Record the positions of {unknown} too' if unknown else ''
        raise DynamicsError(f'{error}.{hint}') from error


def _regular(motion: LoopMotionSamples, known: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return (mask of the samples that are kept, warnings)."""
    size = transmission_gain(motion.N)
    kept = motion.regular & known
    usual = np.median(size[kept]) if kept.any() else 0.0
    kept &= size <= NEAR_SINGULAR * usual
    left_out = len(kept) - int(kept.sum())
    text = (f'{left_out} of {len(kept)} samples are in or near singular configurations of the '
            'loops, where the motors cannot move the mechanism')
    if left_out > MAX_SINGULAR * len(kept):
        raise DynamicsError(f'{text}; record a motion away from them')
    return kept, [f'{text}: they are left out'] if left_out else []


def _compared(loops: LoopMotion, measured: Mapping[str, np.ndarray], q: np.ndarray, kept: np.ndarray
              ) -> list[str]:
    """Return warnings about measured joints that deviate from the loops; refuse large ones."""
    warnings = []
    for joint in loops.model.joints:
        if joint.name not in measured or joint.name in loops.names:
            continue
        slide = joint.kind == 'prismatic'
        off = (measured[joint.name] - q[:, joint.q.start])[kept]
        off = off[np.isfinite(off)]
        if not slide:
            off = (off + np.pi) % (2.0 * np.pi) - np.pi
        off = float(np.sqrt(np.mean(off ** 2))) if len(off) else 0.0
        share, unit = (0.1, 'm') if slide else (1.0, 'rad')
        text = (f"the measured positions of joint '{joint.name}' differ by {off:.3g} {unit} (RMS) "
                f'from those that follow from {", ".join(loops.names)}')
        if off > share * MAX_DEVIATION:
            raise DynamicsError(
                f'{text}: the positions do not close the loops. Check signs, zeros, units and the '
                'list of loops; leave the joint out of the recording if its sensor is unreliable')
        if off > share * WARN_DEVIATION:
            warnings.append(f'{text}: lengths or zeros are a little off')
    return warnings


def velocity_signs(loops: LoopMotion, q: np.ndarray,
                   signs: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the sign of the velocity of each degree of freedom, (N, nv); 0 where undetermined.

    :param signs: {joint: signs (N,)} of some joints, all independent ones among them.
    """
    own = np.stack([signs[name] for name in loops.names], axis=-1)[:, None]
    N = loops.transmission(q).N                                     # (N, nv, k)
    N = np.where(np.abs(N) > ROUNDING * transmission_gain(N)[:, None, None], N, 0.0)
    forwards, backwards = (N * own > 0.0).any(axis=2), (N * own < 0.0).any(axis=2)
    unknown = ((N != 0.0) & (own == 0.0)).any(axis=2)
    found = np.where(unknown | (forwards & backwards), 0.0, 1.0 * forwards - backwards)
    for joint in loops.model.joints:
        if joint.name in signs:
            found[:, joint.v.start] = signs[joint.name]
    return found
