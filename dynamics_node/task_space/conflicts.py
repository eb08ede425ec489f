"""Find conflicting strict tasks and bounds: a deletion filter (Chinneck and Dravnieks 1991)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.task_space.qp import solve_qp


class RowGroup(NamedTuple):
    """Rows of one task or bound, lower <= G x <= upper; equalities where both are equal."""

    name: str
    G: np.ndarray      # (m, n)
    lower: np.ndarray  # (m,)
    upper: np.ndarray  # (m,)


def conflicting(groups: Sequence[RowGroup], A: np.ndarray, b: np.ndarray) -> tuple[str, ...]:
    """Return the names of a minimal set of groups that is infeasible with A x = b.

    Each group in turn is removed, for good if the others are infeasible without it. The result is
    () where all groups are feasible together. One QP per group.

    :param groups: RowGroup records; later ones are preferred in the result.
    :param A: (p, n), b: (p,) equations that always hold.
    """
    if _can_hold(groups, A, b):
        return ()
    kept = list(groups)
    for group in groups:
        rest = [other for other in kept if other is not group]
        if not _can_hold(rest, A, b):
            kept = rest
    return tuple(dict.fromkeys(group.name for group in kept))


def _can_hold(groups: Sequence[RowGroup], A: np.ndarray, b: np.ndarray) -> bool:
    n = A.shape[1]
    G, lower, upper = (np.concatenate(parts) for parts in zip(
        (np.zeros((0, n)), np.zeros(0), np.zeros(0)),
        *((group.G, group.lower, group.upper) for group in groups)))
    equal = lower == upper
    found = solve_qp(np.eye(n), np.zeros(n), G[~equal], lower[~equal], upper[~equal],
                     A=np.concatenate([A, G[equal]]), b=np.concatenate([b, lower[equal]]))
    return found.solved
