"""Divide the joints of a mechanism with loops into independent and dependent ones.

With the constraint matrix A, A v = 0, the dependent joints follow from the others; their number is
the rank of A. Joints of several axes, which are not measured, are made dependent first, then
passive joints, then motors: motors are independent wherever possible.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model

# A column of A, rows at unit length, with less left than this share of the largest one is zero.
DEPENDENT = 1e-6
MULTI_AXIS = ('floating', 'planar')   # kinds of joints with several axes


def independent_joints(model: Model, active: np.ndarray,
                       matrices: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return (independent, dependent) entries of v, integer arrays.

    :param active: (nv,) booleans, False at passive joints.
    :param matrices: A (m, nv) at some configurations. The least singular one is used: greatest
        rank, most motors independent, pivots largest.
    :raise DynamicsError: a joint of several axes would be independent.
    """
    multi = np.zeros(model.nv, dtype=bool)
    for joint in model.joints:
        multi[joint.v] = joint.kind in MULTI_AXIS
    kinds = [np.flatnonzero(mask) for mask in (multi, ~multi & ~active, ~multi & active)]
    dependent, _ = max((_pivots(A, kinds) for A in matrices), key=lambda pivots: (
        len(pivots[0]), -np.count_nonzero(active[pivots[0]]), pivots[1]))
    independent = np.setdiff1d(np.arange(model.nv), dependent)
    undetermined = [joint.name for joint in model.joints if joint.kind in MULTI_AXIS
                    and np.isin(np.arange(joint.v.start, joint.v.stop), independent).any()]
    if undetermined:
        raise DynamicsError(
            f'the loops do not determine the motion of {", ".join(undetermined)}, which has more '
            "than one axis: it must follow from the others. Read the URDF with base='fixed', or "
            'lock the joint')
    return independent, dependent


def _pivots(A: np.ndarray, kinds: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return (dependent entries of v, smallest pivot): QR with column pivoting within each kind."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    left = A / np.where(length > 0.0, length, 1.0)
    largest = np.linalg.norm(left, axis=0).max(initial=0.0)
    pivots, smallest = [], np.inf
    for kind in map(list, kinds):
        while kind:
            norms = np.linalg.norm(left[:, kind], axis=0)
            best = int(norms.argmax())
            if norms[best] <= DEPENDENT * largest:
                break
            k = kind.pop(best)
            direction = left[:, k] / norms[best]
            for _ in range(2):   # the second pass removes the rounding errors of the first
                left = left - np.outer(direction, direction @ left)
            pivots.append(k)
            smallest = min(smallest, norms[best] / largest)
    return np.sort(np.array(pivots, dtype=int)), smallest
