"""Compute the dynamics of a robot whose constraints follow a prescribed motion."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained.constraint import size
from dynamics_node.constrained.prescribed import RowMotion, check_row_motion, with_row_motion
from dynamics_node.constrained.regular_or_fallback import ConstrainedMotion
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.constrained import ConstrainedDynamics
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher


class PrescribedMotion:
    """The method of a Robot for constraints that move."""

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets,
                 constrained: ConstrainedDynamics) -> None:
        self._dispatcher, self._sets, self._constrained = dispatcher, sets, constrained

    def prescribed_forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                    motion: RowMotion | tuple[ArrayLike, ArrayLike, ArrayLike],
                                    constraints: Constraints = None, wrenches: Wrenches = None,
                                    stabilisation: ArrayLike | None = None) -> ConstrainedMotion:
        """Return the ConstrainedMotion (a, tau, multipliers) of constraints that move.

        A a + dA/dt v = s'': the residual of the rows follows s(t) instead of zero.

        :param motion: (s, s', s'') of the rows at this time, (m,) each.
        :param constraints, wrenches, stabilisation: as in constrained_forward_dynamics; the
            stabilisation leads the residual to s.
        """
        valid = self._sets.of(constraints)
        free = self._constrained.constrained_forward_dynamics(q, v, tau, valid, wrenches,
                                                              stabilisation)
        wanted = check_row_motion(motion, sum(map(size, valid)))
        checks.batch_size({'q, v and tau': free.a, **wanted._asdict()})
        support = self._dispatcher.positional('support_consistent_dynamics', (), valid)(q, v)
        return with_row_motion(free, support, self._dispatcher.call('mass_matrix_inverse', q=q),
                               wanted, arguments.check_stabilisation(stabilisation))
