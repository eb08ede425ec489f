"""Complete the state of a robot with closed loops: passive joints follow the motors."""

from __future__ import annotations

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.spline import MotionSample
from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.figures import MotionState
from dynamics_node.robot.robot import Robot


class LoopState:
    """Close the loops of a robot, starting from the positions given; a tree is not changed.

    :ivar coordinates: names of the independent joints; None for a tree.
    :ivar last: (nq,) the last configuration, with closed loops.
    """

    def __init__(self, robot: Robot):
        """Close the loops near the neutral configuration.

        :raise DynamicsError: they cannot be closed, or leave no degree of freedom.
        """
        self._robot, self.last = robot, robot.neutral()
        self.coordinates: tuple[str, ...] | None = None
        if has_loops(robot):
            motion = LoopMotion(robot)
            self.coordinates, self.last = motion.names, motion.home
            self._loops = ClosedLoops(robot)

    def complete(self, state: MotionState) -> MotionState:
        """Return a state whose passive joints follow the others.

        :param state: its positions of passive joints are the start of the search.
        :raise DynamicsError: the loops cannot be closed there, or the configuration is singular.
        """
        if self.coordinates is None:
            return state
        try:
            found = self._loops.with_passive_joints(state.q, MotionSample(*state), whole=True)
        except DynamicsError:
            # With more motors than degrees of freedom, noise of the measured positions opens loops.
            q = self._robot.project_configuration(state.q)
            found = self._loops.with_passive_joints(q, MotionSample(q, state.v, state.a), True)
        self.last = np.array(found.q)
        return MotionState(*found)


def has_loops(robot: Robot) -> bool:
    """Return whether a robot has closed loops."""
    return bool(robot.loops.constraints)
