"""Declare the kernels of closed mechanisms, one per set of constraints and of coordinates."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamics_node.constrained import closed_derivatives
from dynamics_node.constrained.closed_dynamics import (
    ClosedDynamics,
    closed_dynamics,
    closed_dynamics_or_error,
)
from dynamics_node.constrained.closed_hybrid import (
    ClosedHybrid,
    closed_hybrid_dynamics,
    closed_hybrid_or_error,
)
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels.constrained_specs import is_small
from dynamics_node.kernels.spec import COORDINATES, NUMBER, WITH_WRENCHES, KernelSpec, Shape
from dynamics_node.model.model import Model

VECTOR, MATRIX, ALL_JOINTS = (COORDINATES,), (COORDINATES, COORDINATES), ('nv', COORDINATES)


def _closed(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
            independent: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    found, margin = closed_dynamics(model, q, v, constraints, independent)
    return *found, margin


def _derivatives(algorithm: Callable) -> Callable:
    """Return the algorithm with the inputs in the order of the kernel, margins last."""
    def result(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
               third: np.ndarray, *rest: Any) -> tuple[np.ndarray, ...]:
        *wrenches, independent = rest
        found, margin = algorithm(model, q, v, third, constraints, independent, *wrenches)
        return *found, margin
    return result


def _numpy(algorithm: Callable) -> Callable:
    """Return the NumPy path with the inputs in the order of the kernel."""
    def result(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
               third: np.ndarray, *rest: Any) -> Any:
        *wrenches, independent = rest
        return algorithm(model, constraints, q, v, third, independent, *wrenches)
    return result


def _hybrid(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
            a: np.ndarray, tau: np.ndarray, given: np.ndarray, *rest: Any
            ) -> tuple[np.ndarray, ...]:
    *wrenches, independent = rest
    found, margin = closed_hybrid_dynamics(model, q, v, a, tau, given, constraints, independent,
                                           *wrenches)
    return *found, margin


def _numpy_hybrid(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
                  a: np.ndarray, tau: np.ndarray, given: np.ndarray, *rest: Any) -> ClosedHybrid:
    *wrenches, independent = rest
    return closed_hybrid_or_error(model, constraints, q, v, a, tau, given, independent, *wrenches)


def _derivative_spec(name: str, doc: str, third: str, by_third: Shape, algorithm: Callable,
                     numpy: Callable, result: type) -> KernelSpec:
    return KernelSpec(name, doc, ('q', 'v', third), (VECTOR, MATRIX, MATRIX, by_third),
                      (_derivatives(algorithm),), _numpy(numpy), result, margins=True,
                      subject=COORDINATES, wrenches=WITH_WRENCHES, friction=True, derivative=True,
                      direct=False, fits=is_small)


CLOSED = (
    KernelSpec('closed_dynamics', 'Terms of the equation of motion of a closed mechanism.',
               ('q', 'v'), (MATRIX, MATRIX, *(VECTOR,) * 3, *(ALL_JOINTS,) * 2, NUMBER, NUMBER),
               (_closed,), closed_dynamics_or_error, ClosedDynamics, margins=True,
               subject=COORDINATES, friction=True, direct=False, fits=is_small),
    KernelSpec('closed_hybrid_dynamics',
               'Accelerations and torques of a closed mechanism, some accelerations given.',
               ('q', 'v', 'a', 'tau', 'given'), (('nv',), ('nv',)), (_hybrid,), _numpy_hybrid,
               ClosedHybrid, margins=True, subject=COORDINATES, wrenches=WITH_WRENCHES,
               friction=True, direct=False, fits=is_small),
    _derivative_spec('closed_inverse_derivatives',
                     'Torques of the coordinates of a closed mechanism, and derivatives.', 'a',
                     MATRIX, closed_derivatives.closed_inverse_derivatives,
                     closed_derivatives.inverse_derivatives_or_error,
                     closed_derivatives.ClosedInverseDerivatives),
    _derivative_spec('closed_forward_derivatives',
                     'Accelerations of the coordinates of a closed mechanism, and derivatives.',
                     'tau', (COORDINATES, 'nv'), closed_derivatives.closed_forward_derivatives,
                     closed_derivatives.forward_derivatives_or_error,
                     closed_derivatives.ClosedForwardDerivatives),
)
