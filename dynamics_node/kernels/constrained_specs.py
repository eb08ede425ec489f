"""Which kernels there are for robots that are held: as in `questions`, one per set of constraints.

Each takes the set after the robot. Margins are those of the rows and of the inertia: where one is
not positive, the answer comes from NumPy, which knows what to do (see
constrained/regular_or_fallback.py).
"""

import numpy as np

from dynamics_node.constrained import forward, hybrid
from dynamics_node.constrained.impact import impact
from dynamics_node.constrained.regular_or_fallback import (
    AfterImpact,
    ConstrainedForwardDerivatives,
    ConstrainedMotion,
)
from dynamics_node.constrained.rows import ConstraintRows, rows
from dynamics_node.constrained.stabilisation import stabilised_gamma
from dynamics_node.kernels.spec import PUSHED, KernelSpec

FORWARD, HYBRID = ('q', 'v', 'tau'), ('q', 'v', 'a', 'tau', 'given')


def _forward(by, stabilised):
    def answer(model, constraints, q, v, tau, *rest):
        rates, wrenches = _split(rest, stabilised)
        found = by(model, q, v, tau, constraints, *wrenches, stabilisation=rates)
        return found.a, tau, found.multipliers, _margins(found)
    return answer


def _hybrid(stabilised):
    def answer(model, constraints, q, v, a, tau, given, *rest):
        rates, wrenches = _split(rest, stabilised)
        held = rows(model, q, v, constraints)
        found = hybrid.by_blocks(model, q, v, a, tau, given, held.A,
                                 stabilised_gamma(held, v, rates), *wrenches)
        return found.a, found.tau, found.multipliers, _margins(found)
    return answer


def _split(rest, stabilised):
    """Return (rates or None, () or (wrenches,))."""
    return (rest[0], rest[1:]) if stabilised else (None, rest)


def _impact(model, constraints, q, v, restitution):
    found = impact(model, q, v, constraints, restitution)
    return found.v, found.impulse, np.asarray(found.energy_loss), _margins(found)


def _derivatives(model, constraints, q, v, tau, *wrenches):
    # SciPy takes 0.1 s to import: not before somebody asks
    from dynamics_node.constrained.derivatives import constrained_forward_dynamics_derivatives

    return tuple(constrained_forward_dynamics_derivatives(model, q, v, tau, constraints, *wrenches))


def _margins(found):
    return np.concatenate([found.margin, found.inertia_margin])


def _dynamics(states, answers, stabilised):
    return KernelSpec((*states, *(('stabilisation',) if stabilised else ())), answers, True, PUSHED,
                    kind=ConstrainedMotion, held=True)


# Those that every set of constraints gets, and those only where derivatives are wanted.
HELD = {
    **{f'{name}_forward_dynamics': _dynamics(
        FORWARD, (_forward(forward.by_mass_matrix, stabilised),
                  _forward(forward.by_articulated_bodies, stabilised)), stabilised)
       for name, stabilised in (('constrained', False), ('stabilised', True))},
    **{f'{name}_hybrid_dynamics': _dynamics(HYBRID, (_hybrid(stabilised),), stabilised)
       for name, stabilised in (('constrained', False), ('stabilised', True))},
    'impact': KernelSpec(('q', 'v', 'restitution'), (_impact,), True, kind=AfterImpact, held=True),
    'constraint_rows': KernelSpec(
        ('q', 'v'), (lambda model, constraints, q, v: tuple(rows(model, q, v, constraints)),),
        kind=ConstraintRows, held=True),
}
HELD_DERIVATIVES = {
    'constrained_forward_dynamics_derivatives': KernelSpec(
        FORWARD, (_derivatives,), True, PUSHED, kind=ConstrainedForwardDerivatives, held=True),
}
