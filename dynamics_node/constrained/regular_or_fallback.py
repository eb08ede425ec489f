"""Compute constrained dynamics of one state: by the regular path, else by a rank-deficient one.

The regular path divides by pivots, which are zero for dependent rows; its margins detect that. The
fallback is float only and imports SciPy (0.1 s), so it is imported when first needed.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.constrained import impact as impacts
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.hybrid import constrained_hybrid_dynamics
from dynamics_node.constrained.proximal import Proximal, proximal_forward_dynamics
from dynamics_node.constrained.stabilisation import Stabilisation
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.model.model import Model


class ConstrainedMotion(NamedTuple):
    """M a + b = tau + A' multipliers."""

    a: np.ndarray            # (nv,)
    tau: np.ndarray          # (nv,)
    multipliers: np.ndarray  # (m,) on frame 2 from frame 1, in its axes [N, N m]; see `row_names`


class AfterImpact(NamedTuple):
    """Velocity after an impact, impulses and energy loss."""

    v: np.ndarray            # (nv,)
    impulse: np.ndarray      # (m,) on frame 2, in frame 1's axes [N s, N m s]
    energy_loss: np.ndarray  # kinetic energy before, less that after [J]


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of acceleration and multipliers: column k belongs to the variable k."""

    dq: np.ndarray              # da/dq (nv, nv) along unit velocities
    dv: np.ndarray              # (nv, nv)
    dtau: np.ndarray            # (nv, nv)
    multipliers_dq: np.ndarray  # (m, nv)
    multipliers_dv: np.ndarray
    multipliers_dtau: np.ndarray


def forward(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
            tau: np.ndarray, wrenches: np.ndarray | None = None,
            stabilisation: Stabilisation = None) -> ConstrainedMotion:
    """Return the ConstrainedMotion under the torques tau, for rows of any rank."""
    with np.errstate(all='ignore'):
        found = constrained_forward_dynamics(model, q, v, tau, constraints, wrenches,
                                             stabilisation)
    if _regular(found):
        return ConstrainedMotion(found.a, tau, found.multipliers)
    from dynamics_node.constrained.rank_deficient import rank_deficient_forward
    with linear_algebra_errors():
        fallback = rank_deficient_forward(model, q, v, tau, constraints, wrenches, stabilisation)
    return ConstrainedMotion(fallback.a, tau, fallback.multipliers)


def proximal_forward(model: Model, constraints: Sequence[Constraint], settings: Proximal,
                     q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                     wrenches: np.ndarray | None = None,
                     stabilisation: Stabilisation = None) -> ConstrainedMotion:
    """Return the ConstrainedMotion with bounded multipliers, see proximal.py."""
    with np.errstate(all='ignore'):  # a singular M is reported below
        found = proximal_forward_dynamics(model, q, v, tau, constraints, wrenches, stabilisation,
                                          settings)
    if not (found.inertia_margin > 0.0).all():
        raise SingularModel('proximal: some motion of the tree has no inertia; give every moving '
                            'link mass, or set proximal to False')
    return ConstrainedMotion(found.a, tau, found.multipliers)


def hybrid(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
           a: np.ndarray, tau: np.ndarray, given: np.ndarray, wrenches: np.ndarray | None = None,
           stabilisation: Stabilisation = None,
           **choice: Any) -> ConstrainedMotion:
    """Return the ConstrainedMotion from a where given (nv,) is 1 and tau where it is 0.

    :param choice: choice, torque_weights and force_weights of `rank_deficient_hybrid`; without
        redundancy, on the regular path, the torques are unique.
    """
    given = given > 0.5
    with np.errstate(all='ignore'):
        found = constrained_hybrid_dynamics(model, q, v, a, tau, given, constraints, wrenches,
                                            stabilisation)
    if _regular(found):
        return ConstrainedMotion(found.a, found.tau, found.multipliers)
    from dynamics_node.constrained.rank_deficient import rank_deficient_hybrid
    with linear_algebra_errors():
        fallback = rank_deficient_hybrid(model, q, v, a, tau, given, constraints, wrenches,
                                         stabilisation, **choice)
    return ConstrainedMotion(fallback.a, fallback.tau, fallback.multipliers)


def impact(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
           restitution: np.ndarray) -> AfterImpact:
    """Return the AfterImpact; restitution (m,), one per row."""
    with np.errstate(all='ignore'):
        found = impacts.impact(model, q, v, constraints, restitution)
    if _regular(found):
        return AfterImpact(found.v, found.impulse, np.asarray(found.energy_loss))
    from dynamics_node.constrained.redundant_impact import redundant_impact
    with linear_algebra_errors():
        fallback = redundant_impact(model, q, v, constraints, restitution)
    return AfterImpact(fallback.v, fallback.impulse, np.asarray(fallback.energy_loss))


def forward_derivatives(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                        v: np.ndarray, tau: np.ndarray,
                        wrenches: np.ndarray | None = None) -> ConstrainedDerivatives:
    """Return the ConstrainedDerivatives.

    :raise DynamicsError: the rows are dependent; the message names the redundant ones.
    """
    from dynamics_node.constrained.derivatives import constrained_forward_dynamics_derivatives
    with np.errstate(all='ignore'):
        found = constrained_forward_dynamics_derivatives(model, q, v, tau, constraints, wrenches)
    weak = np.flatnonzero(~(found.margin > 0.0))
    if len(weak):
        names = row_names(constraints)
        raise DynamicsError(
            f'the constraint rows depend on each other here: {", ".join(names[k] for k in weak)} '
            'repeat others, so the multipliers have no derivatives; drop them')
    return ConstrainedDerivatives(*found[:-1])


@contextmanager
def linear_algebra_errors() -> Iterator[None]:
    """Raise LAPACK errors on overflown numbers as DynamicsError, and silence NumPy warnings."""
    try:
        with np.errstate(all='ignore'):
            yield
    except DynamicsError:
        raise
    except (np.linalg.LinAlgError, ValueError) as error:
        raise DynamicsError(f'no solution can be found, the values are too large: {error}'
                            ) from error


def zero_result(kind: Any, nv: int, m: int) -> Callable[..., tuple]:
    """Return a function that returns zeros in the shapes of the fields of a result type."""
    shapes = {**dict.fromkeys(('a', 'tau', 'unsupported'), (nv,)),
              **dict.fromkeys(('multipliers', 'force', 'violation', 'slip'), (m,)),
              **dict.fromkeys(('dq', 'dv', 'da'), (nv, nv)),
              **dict.fromkeys(('multipliers_dq', 'multipliers_dv', 'multipliers_da'), (m, nv))}
    return lambda *_: tuple(np.zeros(shapes.get(field, ())) for field in kind._fields)


def is_batch(array: Any) -> bool:
    """Return whether an argument is a batch of states; False if NumPy cannot read it."""
    try:
        return np.ndim(array) == 2
    except Exception:  # an object may raise anything when NumPy reads it
        return False


def with_state_number(function: Callable, *arrays: object) -> Callable:
    """Return the function of one state with errors that name the state of the batch.

    :param arrays: arguments of the call; a batch if one of them is two-dimensional.
    """
    if not any(is_batch(array) for array in arrays):
        def of_single_state(*state: Any) -> Any:
            with linear_algebra_errors():
                return function(*state)
        return of_single_state
    numbers = itertools.count()

    def of_next_state(*state: Any) -> Any:
        number = next(numbers)
        try:
            with linear_algebra_errors():
                return function(*state)
        except DynamicsError as error:
            raise DynamicsError(f'state {number} of the batch: {error}') from error
    return of_next_state


def _regular(found: Any) -> bool:
    return bool(np.all(found.margin > 0.0) and np.all(found.inertia_margin > 0.0))
