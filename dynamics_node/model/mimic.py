"""Resolve mimic joints: the master, ratio and offset of each follower, chains folded."""

from collections.abc import Iterator, Sequence

import numpy as np

from dynamics_node.checks import LARGEST
from dynamics_node.errors import ModelError
from dynamics_node.model.records import JointRecord
from dynamics_node.model.tree import some


def resolve_mimic(order: Sequence[JointRecord],
                  locked_at: dict) -> dict[str, tuple[str, float, float]]:
    """Return {follower: (master, ratio, offset)} with every master an independent joint.

    A chain a -> b -> c is folded: q_a = r_a (r_b q_c + o_b) + o_a. A joint that follows a locked
    one is locked too, and is added to `locked_at`.
    """
    by_name = {joint.name: joint for joint in order}
    follows: dict[str, tuple[str, float, float]] = {}
    for joint in order:
        for follower in _unresolved(joint, by_name, locked_at, follows):
            _resolve(follower, locked_at, follows)
    return {joint.name: follows[joint.name] for joint in order if joint.name in follows}


def _unresolved(joint, by_name, locked_at, follows):
    """Return the unresolved followers from `joint` up to a resolved one, the last first."""
    chain = {}
    while joint.mimic is not None and joint.name not in locked_at and joint.name not in follows:
        if joint.name in chain:
            raise ModelError('joints mimic each other in a loop: '
                             f'{some([*chain, joint.name], " -> ")}; let one of them move freely')
        chain[joint.name] = joint
        joint = _master(joint, by_name)
    return reversed(chain.values())


def _master(joint, by_name):
    name = joint.mimic.joint
    if name not in by_name:
        raise ModelError(f"joint '{joint.name}' mimics '{name}', which is no joint; "
                         f'the joints are: {some(by_name)}')
    if by_name[name].kind in ('planar', 'floating'):
        raise ModelError(f"joint '{joint.name}' mimics '{name}', which is {by_name[name].kind}; "
                         'only a joint of one degree of freedom can be mimicked')
    return by_name[name]


def _resolve(joint, locked_at, follows):
    """Resolve a joint whose master is locked, resolved or independent."""
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
