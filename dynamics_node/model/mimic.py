"""Which joints follow which, once chains are resolved."""

import numpy as np

from dynamics_node.errors import ModelError


def resolve_mimic(order, held):
    """Return {follower: (master, ratio, offset)} with every master an independent joint.

    A chain a -> b -> c is folded: q_a = r_a (r_b q_c + o_b) + o_a. A joint that follows a held
    one is held too, and is added to `held`.
    """
    by_name = {joint.name: joint for joint in order}
    follows = {}
    for joint in order:
        if joint.mimic is None or joint.name in held:
            continue
        master, ratio, offset = _chain(joint, by_name, held)
        if master in held:
            at = held[master][0] if len(held[master]) else 0.0
            held[joint.name] = np.array([ratio * at + offset])
        else:
            follows[joint.name] = (master, ratio, offset)
    return follows


def _chain(joint, by_name, held):
    ratio, offset, seen = 1.0, 0.0, [joint.name]
    while joint.mimic is not None and (joint.name not in held or len(seen) == 1):
        offset += ratio * joint.mimic.offset
        ratio *= joint.mimic.multiplier
        master = by_name.get(joint.mimic.joint)
        if master is None:
            raise ModelError(f"joint '{joint.name}' mimics '{joint.mimic.joint}', which is no "
                             f'joint; the joints are: {", ".join(by_name)}')
        if master.name in seen:
            loop = ' -> '.join([*seen, master.name])
            raise ModelError(f'joints mimic each other in a loop: {loop}; '
                             'let one of them move freely')
        if master.kind in ('planar', 'floating'):
            raise ModelError(f"joint '{joint.name}' mimics '{master.name}', which is "
                             f'{master.kind}; only a joint of one degree of freedom can lead')
        seen.append(master.name)
        joint = master
    return joint.name, ratio, offset
