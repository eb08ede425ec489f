"""Which joints of a mechanism say where all others are?

With the constraint matrix A, A v = 0, as many columns as A has rank belong to dependent joints,
which follow from the others. Chosen first are joints of several axes, which nothing measures, then
those without a motor, then motors: so motors are independent wherever they can be.
"""

import numpy as np

from dynamics_node.errors import DynamicsError

DEPENDENT = 1e-6   # of the largest column, rows at unit length: what is left of a column, or none
MULTI_AXIS = ('floating', 'planar')   # kinds of joints with several axes


def independent_joints(model, active, matrices):
    """Return (independent, dependent) entries of v.

    :param active: (nv,) booleans, False where there is no motor.
    :param matrices: A (m, nv) at some configurations, of which the least singular one decides: with
        the greatest rank, most motors independent, and the most of each column new.
    :raise DynamicsError: a joint of several axes would be independent.
    """
    wide = np.zeros(model.nv, dtype=bool)
    for joint in model.joints:
        wide[joint.v] = joint.kind in MULTI_AXIS
    kinds = [np.flatnonzero(mask) for mask in (wide, ~wide & ~active, ~wide & active)]
    dependent, _ = max((_chosen(A, kinds) for A in matrices), key=lambda choice: (
        len(choice[0]), -np.count_nonzero(active[choice[0]]), choice[1]))
    independent = np.setdiff1d(np.arange(model.nv), dependent)
    loose = [joint.name for joint in model.joints if joint.kind in MULTI_AXIS
             and np.isin(np.arange(joint.v.start, joint.v.stop), independent).any()]
    if loose:
        raise DynamicsError(
            f'the loops do not say how {", ".join(loose)} moves, which has more than one axis: '
            "identification needs it. Read the URDF with base='fixed', or lock the joint")
    return independent, dependent


def _chosen(A, kinds):
    """Return (dependent entries of v, least share of a column that was new).

    Within each kind, the column of which most is left beside those that were chosen before.
    """
    length = np.linalg.norm(A, axis=1, keepdims=True)
    left = A / np.where(length > 0.0, length, 1.0)
    largest = np.linalg.norm(left, axis=0).max(initial=0.0)
    chosen, least = [], np.inf
    for kind in map(list, kinds):
        while kind:
            new = np.linalg.norm(left[:, kind], axis=0)
            best = int(new.argmax())
            if new[best] <= DEPENDENT * largest:
                break
            k = kind.pop(best)
            direction = left[:, k] / new[best]
            for _ in range(2):   # the second time takes off what rounding has left
                left = left - np.outer(direction, direction @ left)
            chosen.append(k)
            least = min(least, new[best] / largest)
    return np.sort(np.array(chosen, dtype=int)), least
