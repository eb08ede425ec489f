"""Compute the torques of mode whole_body: the whole-body QP on the current contacts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.controller import Controller
from dynamics_node.control.torque_terms import without_friction
from dynamics_node.control.whole_body_reference import (
    WholeBodyReference,
    constraints_with,
    contacts_of,
)
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.robot.robot import Robot
from dynamics_node.task_space.whole_body import WholeBody

WHOLE_BODY = 'whole_body'
# Joint states in a row without a solution after which this is an error: one failure of the solver
# must not let a robot sink, and gravity torques alone do not keep its balance.
MOST_FAILURES = 10


class WholeBodyController(Controller):
    """Compute the torque of a WholeBodyReference for a robot that stands on given contacts.

    Where the QP has no solution, the torque is holding_torque: the least one that balances gravity
    on the contacts. The same torque ends every stop; the motors do not brake a floating base.
    Friction of the joints is not compensated: it damps.

    :param contacts: names of those that carry the robot; None for all among its constraints.
    :raise DynamicsError: the base is fixed, or which contact is wrong.
    """

    def __init__(self, robot: Robot, contacts: tuple[str, ...] | None = None) -> None:
        contacts = tuple(contacts_of(robot)) if contacts is None else contacts
        self._constraints = constraints_with(robot, contacts)
        super().__init__(robot)
        self.mode, self.needs_reference, self.contacts = WHOLE_BODY, True, contacts
        self._loops = ClosedLoops(robot, self._constraints)
        self._moved = without_friction(robot)
        self._failures = 0

    def for_robot(self, robot: Robot) -> WholeBodyController:
        """Return the same controller for another robot, e.g. with another payload."""
        return WholeBodyController(robot, self.contacts)

    def on_contacts(self, contacts: tuple[str, ...]) -> WholeBodyController:
        """Return the controller on other contacts."""
        return WholeBodyController(self.robot, contacts)

    def torque(self, q: ArrayLike, v: ArrayLike | None = None, motion: Any = None) -> np.ndarray:
        """Return the torque to send, (nv,) [N m or N]; that of gravity where there is no solution.

        :param q, v: measured, (nq,) and (nv,).
        :param motion: the WholeBodyReference.
        :raise DynamicsError: an argument is wrong, or MOST_FAILURES states had no solution.
        """
        found = self._solved(q, v, motion)
        if found.status == 'solved' and found.torque is not None:
            self._failures = 0
            return found.torque
        self._failures += 1
        if self._failures > MOST_FAILURES:
            raise DynamicsError(f'{_failure(found)}, for {self._failures} joint states')
        return self.holding_torque(q)

    def check_solved(self, q: ArrayLike, v: ArrayLike, reference: WholeBodyReference) -> None:
        """Raise a DynamicsError if a reference is wrong, or has no solution at a state.

        The robot must be supported too: without the tasks the motors hold it on the contacts.
        """
        self.holding_torque(q)
        found = self._solved(q, v, reference)
        if found.status != 'solved':
            raise DynamicsError(_failure(found))

    def _solved(self, q: ArrayLike, v: Any, motion: Any) -> WholeBody:
        """Return the WholeBody of a reference."""
        if not isinstance(motion, WholeBodyReference):
            raise DynamicsError(f'motion is {shown(motion)}; mode whole_body needs a '
                                'WholeBodyReference')
        nv = self.robot.nv
        return self._moved.whole_body(q, checks.check_single('v', v, nv), motion.tasks,
                                      constraints=self._constraints, bounds=motion.bounds)


def _failure(found: WholeBody) -> str:
    """Return why a WholeBody has no torque."""
    if found.status == 'infeasible':
        return f'these cannot be fulfilled together: {", ".join(found.conflict)}'
    return 'the solver of the whole-body problem did not converge'
