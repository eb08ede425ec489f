"""Report rank, freedom, actuation, clearance and contradictions of constraints at a state.

Float only: ranks are counted by singular values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.classification import FAILURES, Classification
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.row_decomposition import (
    Decomposition,
    decompose,
    dependent_rows,
    null_space,
    rank_of,
)
from dynamics_node.constrained.rows import constraint_matrix, rows
from dynamics_node.errors import SingularModel
from dynamics_node.model.configuration import integrate
from dynamics_node.model.model import Model

# Rows contradict each other where more than this share of gamma cannot be cancelled by any a.
CONTRADICTION = 1e-8
# A configuration is singular if the rank is greater after this small step along a free motion.
STEP = 1e-3       # [rad or m]
# After the step, singular values of first order in it are additional rank; those of second order
# come from leaving the manifold. The bound is half way between on a logarithmic scale.
NEARBY = STEP ** 1.5
LOOSE = 1e-6      # a joint takes part in a unit motion if it moves by more than this


@dataclass(frozen=True)
class ConstraintReport:
    """Rank, freedom, actuation, clearance and contradictions of a set of constraints at a state.

    The clearance is the distance to a singular configuration: the smallest singular value that
    counts, over the largest, of the rows in the metric of the mass matrix, A L^-T with M = L L'. A
    pure number, 1 at best; rows in radians are taken as if at an arm of 1 m.
    """

    rows: tuple                  # names of the m rows
    redundant: tuple             # names of the rows that depend on the rows before them
    passive: Classification      # of the joint coordinates with the constraints
    driven: Classification       # the same with every active joint fixed too
    actuated: int                # number of remaining freedoms that the active joints drive
    redundant_actuation: int     # number of active joints beyond that
    loose: tuple                 # joints that can move while every active joint is at rest
    clearance: float             # [1]; infinite where no row constrains anything
    singular: bool               # whether the rank is greater after a small free motion
    residual: np.ndarray         # (m,) position error of the rows [m, rad]
    velocity: np.ndarray         # (m,) A v [m/s, rad/s]
    contradiction: np.ndarray    # (m,) the part of gamma that no acceleration cancels [m/s^2, ...]
    failure: int                 # 0, 1 or 2: see `classification.FAILURES`

    @property
    def rank(self) -> int:
        """The rank of A."""
        return self.passive.rank

    @property
    def freedom(self) -> int:
        """Number of degrees of freedom that the constraints leave."""
        return self.passive.free

    def __str__(self) -> str:
        repeated = f" (repeated: {', '.join(self.redundant)})" if self.redundant else ''
        lines = [
            f'{len(self.rows)} constraint rows of rank {self.rank}{repeated}',
            f'{self.freedom} of {self.passive.coordinates} degrees of freedom are left: '
            f'{self.passive.kind}; with every active joint fixed {self.driven.kind}'
            + ('' if self.driven.grounded else ', groundless: six motions or more are free'),
            f'the active joints drive {self.actuated} of them'
            + (f', {self.redundant_actuation} active joint(s) are redundant'
               if self.redundant_actuation else '')
            + (f"; loose: {', '.join(self.loose)}" if self.loose else ''),
            f'clearance {self.clearance:.3g} (1 is best, 0 is singular)'
            + (': SINGULAR configuration' if self.singular else ''),
            *(f'{what} off by {np.abs(broken).max():.3g} at {self._worst(broken)}'
              for what, broken in (('position', self.residual), ('velocity', self.velocity))
              if len(broken)),
        ]
        if self.failure:
            where = f' (worst at {self._worst(self.contradiction)})' if self.failure == 1 else ''
            lines.append(FAILURES[self.failure] + where)
        return '\n'.join(lines)

    def _worst(self, broken: np.ndarray) -> str:
        return self.rows[int(np.argmax(np.abs(broken)))]


def report(model: Model, q: np.ndarray, v: np.ndarray, constraints: Sequence[Constraint],
           active: np.ndarray | None = None) -> ConstraintReport:
    """Return the ConstraintReport at the state (q, v).

    :param active: (nv,) booleans, True where actuated; None for all but floating joints.
    """
    found = rows(model, q, v, constraints)
    A, names = found.A, row_names(constraints)
    active = actuated_dofs(model) if active is None else np.asarray(active, dtype=bool)
    M, failure = mass_matrix(model, q), 0
    try:
        decomposition = decompose(M, A)
    except SingularModel:
        M, failure = np.eye(model.nv), 2  # ranks are the same in any metric
        decomposition = decompose(M, A)
    free = np.linalg.qr(decomposition.free())[0]
    left = found.gamma / decomposition.length
    left = decomposition.length * (left - decomposition.U @ (decomposition.U.T @ left))
    if np.abs(left).max(initial=0.0) > CONTRADICTION * np.abs(found.gamma).max(initial=1.0):
        failure = 1
    actuated = rank_of(np.linalg.svd(free[active], compute_uv=False), 1.0)
    driven = Classification(len(A) + int(active.sum()),
                            decomposition.rank + actuated, model.nv)
    return ConstraintReport(
        tuple(names), tuple(names[k] for k in dependent_rows(A, M)),
        Classification(len(A), decomposition.rank, model.nv), driven,
        actuated, int(active.sum()) - actuated, _loose(model, free, active),
        decomposition.clearance,
        _is_singular(model, q, constraints, decomposition, free),
        found.residual, A @ v, left, failure)


def _loose(model: Model, free: np.ndarray, active: np.ndarray) -> tuple[str, ...]:
    """Return the joints that move in a free motion in which no active joint moves."""
    motions = free @ null_space(free[active], 1.0)
    sizes = np.abs(motions).max(axis=1, initial=0.0)
    return tuple(joint.name for joint in model.joints
                 if np.any(sizes[joint.v] > LOOSE)) if motions.size else ()


def _is_singular(model: Model, q: np.ndarray, constraints: Sequence[Constraint],
                 decomposition: Decomposition, free: np.ndarray) -> bool:
    """Return whether the rank is greater after a small step along a free motion."""
    if not free.size:
        return False
    mixed = free @ np.cos(1.0 + np.arange(free.shape[1]))  # all of them, with irregular weights
    moved = integrate(model, q, mixed, STEP / np.abs(mixed).max())
    A = constraint_matrix(model, moved, constraints)
    unit = linalg.solve_triangular(decomposition.L, A.T, lower=True).T
    length = np.linalg.norm(unit, axis=1, keepdims=True)
    unit = unit / np.where(length > NEARBY * length.max(initial=0.0), length, np.inf)
    s = np.linalg.svd(unit, compute_uv=False)
    return int(np.sum(s > NEARBY * s.max(initial=0.0))) > decomposition.rank
