"""How does one state of a held robot answer: quickly where rows are independent, else at all?

The quick way divides by pivots that are zero where rows repeat each other; its margin says so. What
answers then is float only and imports SciPy, 0.1 s: not before it is needed.
"""

import itertools
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained import impact as impacts
from dynamics_node.constrained.constraint import row_names
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.hybrid import constrained_hybrid_dynamics
from dynamics_node.constrained.proximal import proximal_forward_dynamics
from dynamics_node.errors import DynamicsError, SingularModel


class ConstrainedMotion(NamedTuple):
    """M a + b = tau + A' multipliers."""

    a: np.ndarray            # (nv,)
    tau: np.ndarray          # (nv,)
    multipliers: np.ndarray  # (m,) on frame 2 from frame 1, in its axes [N, N m]; see `row_names`


class AfterImpact(NamedTuple):
    """The state after, and what it took."""

    v: np.ndarray            # (nv,)
    impulse: np.ndarray      # (m,) on frame 2, in frame 1's axes [N s, N m s]
    energy_loss: np.ndarray  # kinetic energy before, less that after [J]


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of acceleration and multipliers: column k is the change of k."""

    dq: np.ndarray              # da/dq (nv, nv) along unit velocities
    dv: np.ndarray              # (nv, nv)
    dtau: np.ndarray            # (nv, nv)
    multipliers_dq: np.ndarray  # (m, nv)
    multipliers_dv: np.ndarray
    multipliers_dtau: np.ndarray


def forward(model, constraints, q, v, tau, wrenches=None, stabilisation=None):
    """Return the ConstrainedMotion under the torques tau; never NaN where there is an answer."""
    with np.errstate(all='ignore'):
        found = constrained_forward_dynamics(model, q, v, tau, constraints, wrenches,
                                             stabilisation)
    if _regular(found):
        return ConstrainedMotion(found.a, tau, found.multipliers)
    from dynamics_node.constrained.rank_deficient import rank_deficient_forward
    with linear_algebra_errors():
        found = rank_deficient_forward(model, q, v, tau, constraints, wrenches, stabilisation)
    return ConstrainedMotion(found.a, tau, found.multipliers)


def proximal_forward(model, constraints, settings, q, v, tau, wrenches=None, stabilisation=None):
    """Return the ConstrainedMotion whose multipliers stay bounded, see proximal.py."""
    with np.errstate(all='ignore'):  # where there is no inertia, it is said below
        found = proximal_forward_dynamics(model, q, v, tau, constraints, wrenches, stabilisation,
                                          settings)
    if not (found.inertia_margin > 0.0).all():
        raise SingularModel('proximal: some motion of the tree meets no inertia; give every moving '
                            'link mass, or ask without proximal')
    return ConstrainedMotion(found.a, tau, found.multipliers)


def hybrid(model, constraints, q, v, a, tau, given, wrenches=None, stabilisation=None):
    """Return the ConstrainedMotion from a where given (nv,) is 1 and tau where it is 0."""
    given = given > 0.5
    with np.errstate(all='ignore'):
        found = constrained_hybrid_dynamics(model, q, v, a, tau, given, constraints, wrenches,
                                            stabilisation)
    if not _regular(found):
        from dynamics_node.constrained.rank_deficient import rank_deficient_hybrid
        with linear_algebra_errors():
            found = rank_deficient_hybrid(model, q, v, a, tau, given, constraints, wrenches,
                                       stabilisation)
    return ConstrainedMotion(found.a, found.tau, found.multipliers)


def impact(model, constraints, q, v, restitution):
    """Return the AfterImpact; restitution (m,), one per row."""
    with np.errstate(all='ignore'):
        found = impacts.impact(model, q, v, constraints, restitution)
    if not _regular(found):
        from dynamics_node.constrained.redundant_impact import redundant_impact
        with linear_algebra_errors():
            found = redundant_impact(model, q, v, constraints, restitution)
    return AfterImpact(found.v, found.impulse, np.asarray(found.energy_loss))


def forward_derivatives(model, constraints, q, v, tau, wrenches=None):
    """Return the ConstrainedDerivatives.

    :raises DynamicsError: the rows depend on each other; it names those that repeat others.
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
def linear_algebra_errors():
    """Let LAPACK's complaints about numbers that have overflown be ours, and NumPy's none."""
    try:
        with np.errstate(all='ignore'):
            yield
    except DynamicsError:
        raise
    except (np.linalg.LinAlgError, ValueError) as error:
        raise DynamicsError(f'no solution can be found, the values are too large: {error}'
                            ) from error


def zero_result(kind, nv, m):
    """Return a function that answers zeros, of the shapes that the fields of a kind have."""
    shapes = {**dict.fromkeys(('a', 'tau', 'unsupported'), (nv,)),
              **dict.fromkeys(('multipliers', 'force', 'violation', 'slip'), (m,)),
              **dict.fromkeys(('dq', 'dv', 'da'), (nv, nv)),
              **dict.fromkeys(('multipliers_dq', 'multipliers_dv', 'multipliers_da'), (m, nv))}
    return lambda *_: tuple(np.zeros(shapes.get(field, ())) for field in kind._fields)


def is_batch(array):
    """Return whether an argument is a batch of states; what is no array is refused elsewhere."""
    try:
        return np.ndim(array) == 2
    except Exception:  # an object may raise anything when NumPy reads it
        return False


def with_state_number(answer, *arrays):
    """Return the answer to a state as one that says, of a batch, in which state it fails."""
    if not any(is_batch(array) for array in arrays):
        def one(*state):
            with linear_algebra_errors():
                return answer(*state)
        return one
    numbers = itertools.count()

    def next_one(*state):
        number = next(numbers)
        try:
            with linear_algebra_errors():
                return answer(*state)
        except DynamicsError as error:
            raise DynamicsError(f'state {number} of the batch: {error}') from error
    return next_one


def _regular(found):
    return bool(np.all(found.margin > 0.0) and np.all(found.inertia_margin > 0.0))
