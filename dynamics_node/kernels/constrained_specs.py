"""Declare the kernels of robots with loops and contacts, one per set of constraints.

Each algorithm takes the constraints after the model. Margins are those of the constraint rows and
of the inertia. Where one is not positive, the NumPy path is taken, which accepts dependent rows
(constrained/regular_or_fallback.py).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamics_node.constrained import forward, hybrid, regular_or_fallback
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.impact import impact
from dynamics_node.constrained.regular_or_fallback import (
    AfterImpact,
    ConstrainedDerivatives,
    ConstrainedMotion,
)
from dynamics_node.constrained.rows import ConstraintRows, rows
from dynamics_node.constrained.stabilisation import stabilised_gamma
from dynamics_node.constrained.support_consistent import (
    SupportConsistent,
    support_consistent,
    support_consistent_any_rank,
)
from dynamics_node.kernels.spec import (
    CONSTRAINTS,
    MATRIX,
    NUMBER,
    VECTOR,
    WITH_WRENCHES,
    KernelSpec,
)
from dynamics_node.model.model import Model

FORWARD, HYBRID = ('q', 'v', 'tau'), ('q', 'v', 'a', 'tau', 'given')
ROWS = ('rows',)
MOST_ROW_DERIVATIVES = 12_000  # entries of dA/dq, as MOST_NUMBERS in derivative_specs.py


def _forward(algorithm: Callable, stabilised: bool) -> Callable:
    def result(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
               tau: np.ndarray, *rest: np.ndarray) -> tuple[np.ndarray, ...]:
        rates, wrenches = _split(rest, stabilised)
        found = algorithm(model, q, v, tau, constraints, *wrenches, stabilisation=rates)
        return found.a, tau, found.multipliers, _margins(found)
    return result


def _hybrid(stabilised: bool) -> Callable:
    def result(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
               a: np.ndarray, tau: np.ndarray, given: np.ndarray, *rest: np.ndarray
               ) -> tuple[np.ndarray, ...]:
        rates, wrenches = _split(rest, stabilised)
        A_rows = rows(model, q, v, constraints)
        found = hybrid.by_blocks(model, q, v, a, tau, given, A_rows.A, stabilised_gamma(A_rows, v,
                                                                                        rates),
                                 *wrenches)
        return found.a, found.tau, found.multipliers, _margins(found)
    return result


def _numpy(algorithm: Callable, inputs: Sequence[str], stabilised: bool) -> Callable:
    """Return the NumPy path with its optional inputs in the order of the kernel's."""
    def result(model: Model, constraints: Sequence[Constraint], *state: np.ndarray
               ) -> ConstrainedMotion:
        rates, wrenches = _split(state[len(inputs):], stabilised)
        return algorithm(model, constraints, *state[:len(inputs)], *(wrenches or (None,)),
                         stabilisation=rates)
    return result


def _split(rest: tuple[np.ndarray, ...], stabilised: bool
           ) -> tuple[np.ndarray | None, tuple[np.ndarray, ...]]:
    """Return (rates or None, () or (wrenches,))."""
    return (rest[0], rest[1:]) if stabilised else (None, rest)


def _impact(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
            restitution: np.ndarray) -> tuple[np.ndarray, ...]:
    found = impact(model, q, v, constraints, restitution)
    return found.v, found.impulse, np.asarray(found.energy_loss), _margins(found)


def _rows(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray
          ) -> ConstraintRows:
    return rows(model, q, v, constraints)


def _derivatives(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
                 tau: np.ndarray, *wrenches: np.ndarray) -> tuple[np.ndarray, ...]:
    # SciPy takes 0.1 s to import: only when it is needed
    from dynamics_node.constrained.derivatives import constrained_forward_dynamics_derivatives

    return constrained_forward_dynamics_derivatives(model, q, v, tau, constraints, *wrenches)


def _margins(found: Any) -> np.ndarray:
    return np.concatenate([found.margin, found.inertia_margin])


def is_small(model: Model, constraints: Sequence[Constraint]) -> bool:
    """Return whether a program with the rates of A is small enough to be compiled."""
    return sum(map(size, constraints)) * model.nv ** 2 <= MOST_ROW_DERIVATIVES


def _motion(name: str, doc: str, inputs: tuple[str, ...], algorithms: tuple[Callable, ...],
            numpy: Callable, stabilised: bool, direct: bool = False) -> KernelSpec:
    return KernelSpec(name, doc,
                      (*inputs, *(('stabilisation',) if stabilised else ())),
                      (VECTOR, VECTOR, ROWS),
                      algorithms, _numpy(numpy, inputs, stabilised), ConstrainedMotion,
                      margins=True, subject=CONSTRAINTS, wrenches=WITH_WRENCHES, friction=True,
                      direct=direct)


def _forward_spec(name: str, stabilised: bool) -> KernelSpec:
    return _motion(name, 'Accelerations, torques and multipliers under torques.', FORWARD,
                   (_forward(forward.by_mass_matrix, stabilised),
                    _forward(forward.by_articulated_bodies, stabilised)),
                   regular_or_fallback.forward, stabilised, direct=not stabilised)


def _hybrid_spec(name: str, stabilised: bool) -> KernelSpec:
    return _motion(name, 'Accelerations, torques and multipliers, some accelerations given.',
                   HYBRID, (_hybrid(stabilised),), regular_or_fallback.hybrid, stabilised)


CONSTRAINED = (
    _forward_spec('constrained_forward_dynamics', stabilised=False),
    _forward_spec('stabilised_forward_dynamics', stabilised=True),
    _hybrid_spec('constrained_hybrid_dynamics', stabilised=False),
    _hybrid_spec('stabilised_hybrid_dynamics', stabilised=True),
    KernelSpec('impact', 'Velocity, impulses and energy loss after an impact.',
               ('q', 'v', 'restitution'), (VECTOR, ROWS, NUMBER),
               (_impact,), regular_or_fallback.impact, AfterImpact, margins=True,
               subject=CONSTRAINTS, direct=False),
    KernelSpec('constraint_rows', 'Residual, matrix A and bias gamma of the constraints.',
               ('q', 'v'), (ROWS, ('rows', 'nv'), ROWS),
               (_rows,), result=ConstraintRows, subject=CONSTRAINTS, payload=False, direct=False),
    KernelSpec('support_consistent_dynamics', 'Dynamics that loops and contacts leave free.',
               ('q', 'v'), (('rows', 'rows'), MATRIX, VECTOR, ('rows', 'nv'), ROWS),
               (support_consistent,), support_consistent_any_rank, SupportConsistent, margins=True,
               subject=CONSTRAINTS, derivative=True, direct=False),
    KernelSpec('constrained_forward_dynamics_derivatives',
               'Derivatives of accelerations and multipliers.',
               FORWARD, (MATRIX,) * 3 + (('rows', 'nv'),) * 3,
               (_derivatives,), regular_or_fallback.forward_derivatives, ConstrainedDerivatives,
               margins=True, subject=CONSTRAINTS, wrenches=WITH_WRENCHES, friction=True,
               derivative=True, direct=False, fits=is_small),
)
