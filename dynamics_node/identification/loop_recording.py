"""How does a recording of some joints become one of a whole mechanism?

Positions, velocities and accelerations of the independent joints are measured; the loops say those
of all others, so that every state keeps the loops exactly. Where other joints were measured too,
they tell how the mechanism is assembled, and whether it is the mechanism of the list.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.independent_joints import MULTI_AXIS
from dynamics_node.identification.loop_equations import loop_motion_of, project
from dynamics_node.identification.loop_motion import strength
from dynamics_node.identification.recording import Recording, motor_names

OPEN = 0.05            # [rad], a tenth of it in metres: a joint that is measured farther from where
#                        the loops say is another mechanism's, or its sign or zero is wrong
DOUBTFUL = 0.005       # [rad], a tenth of it in metres: a warning
CLOSED = 1e-9          # [m or rad] loops that are open by less are taken as they are
NEAR_SINGULAR = 30.0   # times the usual entries of N: samples with greater ones are left out
MOST_SINGULAR = 0.5    # of the samples
SMALL_PART = 1e-9      # of the greatest motion: less is rounding


class CompletedRecording(NamedTuple):
    """A recording in which every state keeps the loops."""

    recording: Recording   # all joints of the robot; q (N, nq); tau as loop_equations.py says
    kept: np.ndarray       # (samples before,) False where a singular configuration was left out
    loops: object          # LoopMotion, its home on the same branch
    warnings: tuple        # texts


def complete_recording(robot, recording, measured=None, loops=None):
    """Return the CompletedRecording recording of a robot with loops or passive joints.

    :param recording: a Recording of one-axis joints in any order, with all motors; or of all
        joints with q of shape (N, nq).
    :param measured: {joint: positions (N,)} of more joints.
    :param loops: LoopMotion on the branch of the recording, where that is known already.
    :raise DynamicsError: joints that are missing, positions that do not close the loops, singular
        configurations.
    """
    q, v, a, tau = _columns(robot, recording)
    seen = {**(measured or {}), **q}
    whole = _whole(robot, seen)
    if is_whole(robot, recording):
        whole = np.asarray(recording.q, dtype=float)
        loops = loop_motion_of(robot, whole[0])
    elif loops is None:
        loops = loop_motion_on_branch(robot, seen)
    _refuse_missing(loops, q)
    configurations, known = _configurations(loops, seen, whole)
    motion = loops.motion(configurations, *(np.stack([x[name] for name in loops.names], axis=-1)
                                            for x in (v, a)))
    kept, warnings = _regular(motion, known)
    warnings += _compared(loops, seen, configurations, kept)
    forces, torque = np.zeros((2, *motion.v.shape))
    for name in motor_names(robot):
        forces[:, robot.model.joint(name).v.start] = tau[name]
    torque[:, loops.independent] = np.einsum('nik,ni->nk', motion.N, forces)
    return CompletedRecording(
        Recording(robot.joint_names, recording.time, *motion[:3], torque).rows(kept), kept, loops,
        tuple(warnings))


def with_gravity(robot, raw):
    """Return the torques of a RawRecording or StaticPoses with those of gravity added, (N, joints).

    Of motors that hold the mechanism against gravity by themselves and report what is left. The
    torques of gravity are added at the independent joints, in the sums that loop_equations.py uses.
    """
    finite = np.isfinite(raw.q).all(axis=1)
    seen = dict(zip(raw.joint_names, raw.q[finite].T))
    loops = loop_motion_on_branch(robot, seen)
    _refuse_missing(loops, seen)
    q, known = _configurations(loops, seen, _whole(robot, seen))
    gravity = np.where(known[:, None], project(loops, q, robot.gravity_torque(q)), np.nan)
    tau = np.array(raw.tau, dtype=float)
    columns = [raw.joint_names.index(name) for name in loops.names]
    tau[np.ix_(finite, columns)] += gravity
    return tau


def positions_needed(loops):
    """Return the joints whose positions must be measured: motors, and independent joints."""
    return tuple(name for name in loops.robot.joint_names
                 if name in motor_names(loops.robot) or name in loops.names)


def loop_motion_on_branch(robot, seen):
    """Return the LoopMotion assembled as a recording is.

    :param seen: {joint: positions (N,)} that were measured. Where these are motors alone, the
        mechanism is assembled as it is near its neutral configuration.
    """
    joints = [robot.model.joint(name) for name in seen]
    motors = motor_names(robot)
    if all(name in motors for name in seen) and len(seen) < len(robot.joint_names):
        return loop_motion_of(robot)
    rows = np.flatnonzero(np.isfinite(np.stack(list(seen.values()))).all(axis=0))
    if not len(rows):
        raise DynamicsError(f'no sample has the positions of all of {list(seen)}')
    near = robot.neutral()
    for joint in joints:
        near[joint.q] = seen[joint.name][rows[0]]
    try:
        return loop_motion_of(robot, near)
    except DynamicsError as error:
        raise DynamicsError(f'sample {rows[0]} of the recording does not close the loops: {error}. '
                            'Are signs, zeros and units of the positions right?') from error


def is_whole(robot, recording):
    """Return whether q has all coordinates, those of joints with several axes too."""
    return (tuple(recording.joint_names) == robot.joint_names
            and np.shape(recording.q)[1:] == (robot.nq,) and robot.nq != len(robot.joint_names))


def _whole(robot, seen):
    """Return all positions by the joints' order (N, nq), None if some were not measured."""
    if any(name not in seen for name in robot.joint_names):
        return None
    return np.stack([seen[name] for name in robot.joint_names], axis=-1)


def _columns(robot, recording):
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


def _refuse_missing(loops, q):
    missing = [name for name in positions_needed(loops) if name not in q]
    loose = [name for name in missing if name in loops.robot.loops.passive]
    if loose:
        raise DynamicsError(
            f'the loops do not say where {loose} are when the motors are known: the mechanism has '
            'more freedoms than motors. Record the positions of these joints too')
    if missing:
        raise DynamicsError(f'the recording lacks the motors {missing}; it has {list(q)}')


def _configurations(loops, seen, whole):
    """Return (q (N, nq), whether each is known (N,)): all joints, where the loops say."""
    where = np.stack([seen[name] for name in loops.names], axis=-1)
    if whole is not None and np.isfinite(whole).all():
        guess = np.array(whole, dtype=float)
        guess[:, loops.places] = where
        if (loops.gap(guess) <= CLOSED).all():
            return guess, np.ones(len(guess), dtype=bool)
        q, converged, _ = loops.corrected(guess)
        share = np.mean(~converged)
        if share > MOST_SINGULAR:
            raise DynamicsError(
                f'the loops cannot be closed near the measured positions in {share:.0%} of the '
                'samples. Are signs, zeros and units right, and is it the mechanism of the list?')
        return q, converged
    try:
        return loops.followed(where, loops.home), np.ones(len(where), dtype=bool)
    except DynamicsError as error:
        unknown = [joint.name for joint in loops.model.joints
                   if joint.name not in seen and joint.kind not in MULTI_AXIS]
        hint = f' Record the positions of {unknown} too' if unknown else ''
        raise DynamicsError(f'{error}.{hint}') from error


def _regular(motion, known):
    """Return (mask of the samples that are kept, warnings)."""
    size = strength(motion.N)
    kept = motion.clear & known
    usual = np.median(size[kept]) if kept.any() else 0.0
    kept &= size <= NEAR_SINGULAR * usual
    left_out = len(kept) - int(kept.sum())
    said = (f'{left_out} of {len(kept)} samples are in or near singular configurations of the '
            'loops, where the motors have no hold on the mechanism')
    if left_out > MOST_SINGULAR * len(kept):
        raise DynamicsError(f'{said}; record a motion that keeps away from them')
    return kept, [f'{said}: they are left out'] if left_out else []


def _compared(loops, seen, q, kept):
    """Return warnings about joints that were measured and follow from others; or refuse."""
    warnings = []
    for joint in loops.model.joints:
        if joint.name not in seen or joint.name in loops.names:
            continue
        slide = joint.kind == 'prismatic'
        off = (seen[joint.name] - q[:, joint.q.start])[kept]
        off = off[np.isfinite(off)]
        if not slide:
            off = (off + np.pi) % (2.0 * np.pi) - np.pi
        off = float(np.sqrt(np.mean(off ** 2))) if len(off) else 0.0
        share, unit = (0.1, 'm') if slide else (1.0, 'rad')
        said = (f"joint '{joint.name}' was measured {off:.3g} {unit} (RMS) from where the loops "
                f'put it by the positions of {", ".join(loops.names)}')
        if off > share * OPEN:
            raise DynamicsError(
                f'{said}: the positions do not close the loops. Are signs, zeros and units right, '
                'and is it the mechanism of the list? Leave the positions of the joint out if its '
                'sensor is not to be trusted')
        if off > share * DOUBTFUL:
            warnings.append(f'{said}: lengths or zeros are a little off')
    return warnings


def velocity_signs(loops, q, signs):
    """Return the sign of each degree of freedom's velocity, (N, nv); 0 where it cannot be told.

    :param signs: {joint: signs (N,)} of some joints, all independent ones among them.
    """
    own = np.stack([signs[name] for name in loops.names], axis=-1)[:, None]
    N = loops.transmission(q).N                                     # (N, nv, k)
    N = np.where(np.abs(N) > SMALL_PART * strength(N)[:, None, None], N, 0.0)
    forwards, backwards = (N * own > 0.0).any(axis=2), (N * own < 0.0).any(axis=2)
    unknown = ((N != 0.0) & (own == 0.0)).any(axis=2)
    found = np.where(unknown | (forwards & backwards), 0.0, 1.0 * forwards - backwards)
    for joint in loops.model.joints:
        if joint.name in signs:
            found[:, joint.v.start] = signs[joint.name]
    return found
