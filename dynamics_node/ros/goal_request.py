"""Read a goal of control_msgs/action/FollowJointTrajectory: trajectory and tolerances, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynamics_node.control.trajectory_goal import GoalCode, GoalOutcome, Tolerances
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.trajectory import TrajectoryParameters
from dynamics_node.ros.torque.joint_trajectory import checked_points, numbers_of
from dynamics_node.ros.torque.joint_trajectory_bytes import LARGEST
from dynamics_node.ros.torque.records import GoalRequest

DEFAULT, NONE = 0.0, -1.0   # special values of a tolerance in a goal
NOT_FOLLOWED = ('multi_dof_trajectory', 'component_path_tolerance', 'component_goal_tolerance')


class RefusedGoal(DynamicsError):
    """A goal that is not executed.

    :ivar outcome: its code, and why.
    """

    def __init__(self, code: GoalCode, text: str) -> None:
        super().__init__(text)
        self.outcome = GoalOutcome(code, text)


def goal_request(number: int, goal: Any, current_robot: CurrentRobot, now: int,
                 p: TrajectoryParameters) -> GoalRequest:
    """Return the request of a goal.

    :param goal: FollowJointTrajectory.Goal.
    :param now: [ns]
    :raise RefusedGoal: with the field that is wrong, and what is valid.
    """
    for field in NOT_FOLLOWED:
        content = getattr(goal, field)
        if getattr(content, 'joint_names', content):
            raise RefusedGoal(GoalCode.INVALID_GOAL, f'{field} is given; joints with several '
                              'degrees of freedom are not followed')
    trajectory = numbers_of(goal.trajectory)
    try:
        points = checked_points(trajectory)
        _check_size(points)
    except DynamicsError as error:
        raise RefusedGoal(GoalCode.INVALID_GOAL, str(error)) from error
    names = list(trajectory.names)
    try:
        current_robot.select_joints(names)
    except DynamicsError as error:
        raise RefusedGoal(GoalCode.INVALID_JOINTS, str(error)) from error
    late = (now - trajectory.stamp - int(trajectory.times[-1])) * 1e-9
    if trajectory.stamp and late > 0.0:
        raise RefusedGoal(GoalCode.OLD_HEADER_TIMESTAMP,
                          f'the trajectory was over {late:.3g} s ago; expected a stamp of zero, '
                          'for now, or one with which it ends later than now')
    tolerances = _tolerances(goal, names, p)
    return GoalRequest(number, names, trajectory.stamp or None, points, tolerances,
                       1.0 / p.feedback_rate)


def _check_size(points: Sequence[np.ndarray | None]) -> None:
    """Refuse a goal with more numbers than fit in a message on ~/reference."""
    size = sum(part.nbytes for part in points if part is not None)
    if size > LARGEST:
        raise DynamicsError(f'the trajectory has {size} bytes of numbers; expected at most '
                            f'{LARGEST}')


def _tolerances(goal: Any, names: list[str], p: TrajectoryParameters) -> Tolerances:
    path = _given('path_tolerance', goal.path_tolerance, names)
    end = _given('goal_tolerance', goal.goal_tolerance, names)
    stopped = np.full(len(names), p.stopped_velocity_tolerance)
    return Tolerances(
        _merged('path_tolerance', 'position', names, path, p.path_tolerance.each(names)),
        _merged('path_tolerance', 'velocity', names, path, np.zeros(len(names))),
        _merged('goal_tolerance', 'position', names, end, p.goal_tolerance.each(names)),
        _merged('goal_tolerance', 'velocity', names, end, stopped),
        _goal_time(goal, p))


def _given(field: str, tolerances: Sequence[Any], names: list[str]) -> dict[str, Any]:
    """Return {joint: JointTolerance}."""
    found = {each.name: each for each in tolerances}
    for name in found:
        if name not in names:
            raise RefusedGoal(GoalCode.INVALID_JOINTS, f"{field} has '{name}', which is not in the "
                              f'trajectory; expected: {", ".join(names)}')
    return found


def _merged(field: str, quantity: str, names: list[str], given: dict[str, Any],
            defaults: np.ndarray) -> np.ndarray:
    """Return one tolerance per joint, from the goal or the default; inf where there is none."""
    values = [getattr(given[name], quantity) if name in given else DEFAULT for name in names]
    for name, value in zip(names, values):
        if not (value == NONE or 0.0 <= value < math.inf):
            raise RefusedGoal(GoalCode.INVALID_GOAL, f"{field} of '{name}': {quantity} is {value}; "
                              'expected a positive number, 0 for the default, or -1 for none')
    chosen = np.where(np.equal(values, DEFAULT), defaults, values)
    return np.where(chosen > 0.0, chosen, np.inf)


def _goal_time(goal: Any, p: TrajectoryParameters) -> float:
    """Return the time after the end within which the goal tolerances must be met [s]."""
    given = convert.nanoseconds(goal.goal_time_tolerance) * 1e-9
    if given < 0.0 and given != NONE:
        raise RefusedGoal(GoalCode.INVALID_GOAL, f'goal_time_tolerance is {given:g} s; expected a '
                          'positive time, 0 for the default, or -1 for any')
    chosen = given or p.goal_time
    return chosen if chosen > 0.0 else math.inf
