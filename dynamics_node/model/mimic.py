"""Resolve mimic joints: master, ratio and offset of each follower, and the limits of masters."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from dynamics_node.checks import LARGEST
from dynamics_node.errors import ModelError
from dynamics_node.model.records import JointRecord
from dynamics_node.model.tree import some

LockedAt: TypeAlias = dict[str, np.ndarray]   # {joint: q}; of a fixed joint no entries
Follows: TypeAlias = dict[str, tuple[str, float, float]]   # {follower: (master, ratio, offset)}

FAR = 1e3   # [rad] limits beyond it on both sides count as none: some URDFs give wheels +-1e16


def resolve_mimic(order: Sequence[JointRecord], locked_at: LockedAt) -> Follows:
    """Return {follower: (master, ratio, offset)} with every master an independent joint.

    A chain a -> b -> c is folded: q_a = r_a (r_b q_c + o_b) + o_a. A joint that follows a locked
    one is locked too, and is added to `locked_at`.
    """
    by_name = {joint.name: joint for joint in order}
    follows: Follows = {}
    for joint in order:
        for follower in _unresolved(joint, by_name, locked_at, follows):
            _resolve(follower, locked_at, follows)
    return {joint.name: follows[joint.name] for joint in order if joint.name in follows}


def _unresolved(joint: JointRecord, by_name: Mapping[str, JointRecord], locked_at: LockedAt,
                follows: Follows) -> Iterator[JointRecord]:
    """Return the unresolved followers from `joint` up to a resolved one, the last first."""
    chain: dict[str, JointRecord] = {}
    while joint.mimic is not None and joint.name not in locked_at and joint.name not in follows:
        if joint.name in chain:
            raise ModelError('joints mimic each other in a loop: '
                             f'{some([*chain, joint.name], " -> ")}; let one of them move freely')
        chain[joint.name] = joint
        joint = _master(joint, by_name)
    return reversed(chain.values())


def _master(joint: JointRecord, by_name: Mapping[str, JointRecord]) -> JointRecord:
    assert joint.mimic is not None
    name = joint.mimic.joint
    if name not in by_name:
        raise ModelError(f"joint '{joint.name}' mimics '{name}', which is not a joint; "
                         f'the joints are: {some(by_name)}')
    if by_name[name].kind in ('planar', 'floating'):
        raise ModelError(f"joint '{joint.name}' mimics '{name}', which is {by_name[name].kind}; "
                         'only a joint of one degree of freedom can be mimicked')
    return by_name[name]


def _resolve(joint: JointRecord, locked_at: LockedAt, follows: Follows) -> None:
    """Resolve a joint whose master is locked, resolved or independent."""
    assert joint.mimic is not None
    master, ratio, offset = joint.mimic
    if master in follows:
        master, above, shift = follows[master]
        ratio, offset = ratio * above, ratio * shift + offset
    if not (abs(ratio) <= LARGEST and abs(offset) <= LARGEST):
        raise ModelError(f"joint '{joint.name}' mimics '{master}', along its chain, with the "
                         f'multiplier {ratio:g} and offset {offset:g}; expected less than '
                         f'{LARGEST:g}')
    if master in locked_at:
        at = locked_at[master][0] if len(locked_at[master]) else 0.0  # a fixed joint is at zero
        locked_at[joint.name] = np.array([ratio * at + offset])
    else:
        follows[joint.name] = (master, ratio, offset)


def chains(order: Sequence[JointRecord]) -> Iterator[str]:
    """Yield a warning for every joint that mimics a mimic joint."""
    by_name = {joint.name: joint for joint in order}
    for joint in order:
        leader = by_name.get(joint.mimic.joint) if joint.mimic else None
        if leader is not None and leader.mimic:
            yield (f"joint '{joint.name}' mimics '{leader.name}', which mimics "
                   f"'{leader.mimic.joint}': the chain is folded")


def within_followers(order: Sequence[JointRecord], follows: Mapping[str, tuple[str, float, float]]
                     ) -> tuple[dict[str, JointRecord], list[str]]:
    """Return {master: its record, limited so that no follower leaves its own limits}; warnings.

    lower <= ratio q + offset <= upper and |ratio v| <= max_velocity. Effort limits stay: how the
    torque of a master is shared among its followers is unknown. A continuous master with a limited
    follower becomes revolute, unless it may turn by more than FAR both ways. Limits of a follower
    that narrow those of its master give a warning. Those that leave it no motion are ignored, with
    a warning; so are [0, 0], the default of URDF, without one.
    """
    by_name = {joint.name: joint for joint in order}
    masters: dict[str, JointRecord] = {}
    warnings = []
    for name, (master, ratio, offset) in follows.items():
        own, leader = by_name[name], masters.get(master, by_name[master])
        old = leader.lower, leader.upper
        new = _narrowed(leader, *_seen_from_master(own, ratio, offset))
        if not new[0] < new[1]:  # the gripper of PR2: at 0 only
            if old[0] < old[1]:
                warnings.append(
                    f"limits {_range(own.lower, own.upper)} of joint '{name}' are ignored: they "
                    f"leave '{master}', which it mimics, no motion within its limits "
                    f'{_range(*old)}')
            new = old
        elif new != old:
            warnings.append(f"joint '{name}' mimics '{master}', whose limits {_range(*old)} are "
                            f"narrowed to {_range(*new)} by those of '{name}'")
        fastest = own.max_velocity / abs(ratio) if ratio else np.nan
        limited = leader.kind == 'continuous' and new != old
        masters[master] = leader._replace(
            kind='revolute' if limited else leader.kind, lower=new[0], upper=new[1],
            max_velocity=float(np.fmin(leader.max_velocity, fastest)))  # nan is unknown
    return masters, warnings


def _narrowed(leader: JointRecord, least: float, most: float) -> tuple[float, float]:
    """Return the limits of a master within [least, most]; its own where rounding is all."""
    if leader.kind == 'continuous' and least < -FAR and most > FAR:
        return leader.lower, leader.upper
    return (leader.lower if _close(least, leader.lower) else max(leader.lower, least),
            leader.upper if _close(most, leader.upper) else min(leader.upper, most))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)   # 0.3 / 3 < 0.1


def _range(lower: float, upper: float) -> str:
    return f'[{lower:.10g}, {upper:.10g}]'


def _seen_from_master(joint: JointRecord, ratio: float, offset: float) -> tuple[float, float]:
    """Return the range of the master's position in which a follower is within its limits."""
    if joint.lower == joint.upper == 0.0:
        return -np.inf, np.inf
    if not ratio:  # the follower does not move: any position of the master, or none
        return (-np.inf, np.inf) if joint.lower <= offset <= joint.upper else (np.inf, -np.inf)
    one, other = (joint.lower - offset) / ratio, (joint.upper - offset) / ratio
    return (one, other) if one <= other else (other, one)
