"""Test the judgement of a trajectory: on the way, after its end, in time, joints that turn."""

import math

import numpy as np
import pytest

from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import ReferenceLimits
from dynamics_node.control.trajectory_goal import GoalCode, Tolerances, TrajectoryGoal

NAMES = ('a', 'b', 'c')
LIMITS = ReferenceLimits(NAMES, np.full(3, -np.inf), np.full(3, np.inf), np.full(3, np.nan),
                         np.array([2]), 0.2, np.inf)
NONE = np.full(2, np.inf)
FREE = Tolerances(NONE, NONE, NONE, NONE)
END = 1.0        # [s] of the trajectory
ARRIVAL = 1.2    # [s] its last point has an acceleration, which fades in the blend time
LATER = 1.7


@pytest.fixture
def reference():
    """Joints c and a move for a second, in this order."""
    return Reference.hold(np.zeros(3), 0.0, LIMITS).replaced_by(
        [END], [[0.4, 0.2]], start=0.0, now=0.0, joints=[2, 0])


def judged(reference, now, off=(0.0, 0.0, 0.0), v_off=(0.0, 0.0, 0.0), **tolerances):
    """Return the outcome where the joints are off the reference, positive if ahead."""
    goal = TrajectoryGoal(reference, reference.newest, ('c', 'a'),
                          FREE._replace(**{name: np.array(value) if name != 'goal_time' else value
                                           for name, value in tolerances.items()}))
    motion = reference.at(now)
    return goal.outcome(now, goal.progress(now, motion.q + off, motion.v + v_off))


def test_a_goal_goes_on_until_its_end_and_succeeds(reference):
    assert judged(reference, 0.5) is None and judged(reference, END) is None
    assert judged(reference, ARRIVAL) == (GoalCode.SUCCESSFUL, '')


@pytest.mark.parametrize(('what', 'tolerances', 'off', 'v_off'), [
    ('position', {'path_position': [0.1, 0.1]}, (-0.11, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ('velocity', {'path_velocity': [np.inf, 0.1]}, (0.0, 0.0, 0.0), (0.11, 0.0, 0.0))])
def test_a_joint_beyond_its_path_tolerance_is_named(reference, what, tolerances, off, v_off):
    code, text = judged(reference, 0.5, off, v_off, **tolerances)
    assert code == GoalCode.PATH_TOLERANCE_VIOLATED
    assert f"joint 'a' has a {what} error of " in text and 'path tolerance is 0.1' in text
    assert ('+0.11' if what == 'position' else '-0.11') in text   # desired minus measured
    inside = judged(reference, 0.5, np.multiply(0.9, off), np.multiply(0.9, v_off), **tolerances)
    assert inside is None


def test_joints_that_the_goal_does_not_have_are_not_judged(reference):
    assert judged(reference, 0.5, off=(0.0, 9.0, 0.0), path_position=[0.1, 0.1]) is None


def test_path_tolerances_end_with_the_trajectory_and_those_of_the_goal_begin(reference):
    both = {'path_position': [0.1, 0.1], 'goal_position': [0.3, 0.3]}
    assert judged(reference, LATER, off=(0.2, 0.0, 0.2), **both).code == GoalCode.SUCCESSFUL
    assert judged(reference, 0.5, off=(0.2, 0.0, 0.2), goal_position=[0.1, 0.1]) is None


def test_a_goal_waits_for_its_tolerances_as_long_as_it_may(reference):
    off, tolerance = (0.2, 0.0, 0.0), {'goal_position': [0.1, 0.1]}
    assert judged(reference, 1000.0, off, **tolerance) is None
    assert judged(reference, LATER, off, **tolerance, goal_time=0.55) is None
    code, text = judged(reference, LATER + 0.1, off, **tolerance, goal_time=0.55)
    assert code == GoalCode.GOAL_TOLERANCE_VIOLATED
    assert "joint 'a' has a position error of -0.2; its goal tolerance is 0.1" in text
    assert '0.6 s after the end' in text


def test_a_joint_that_still_moves_has_not_arrived(reference):
    slow = {'goal_velocity': [0.01, 0.01]}
    assert judged(reference, LATER, v_off=(0.0, 0.0, 0.02), **slow) is None
    assert judged(reference, LATER, v_off=(0.0, 0.02, 0.009), **slow).code == 0


def test_a_velocity_that_is_not_known_is_not_judged(reference):
    slow = {'goal_velocity': [0.01, 0.01]}
    assert judged(reference, LATER, v_off=(math.nan, 0.0, 0.0), **slow).code == 0


def test_a_whole_turn_is_no_error_of_a_joint_that_turns_freely(reference):
    close = {'path_position': [0.1, 0.1]}
    assert judged(reference, 0.5, off=(0.0, 0.0, 2 * math.pi), **close) is None
    code, text = judged(reference, 0.5, off=(2 * math.pi, 0.0, 0.0), **close)
    assert code == GoalCode.PATH_TOLERANCE_VIOLATED and "'a'" in text


def test_a_last_point_with_a_velocity_ends_when_the_reference_rests():
    reference = Reference.hold(np.zeros(3), 0.0, LIMITS).replaced_by(
        [END], [[0.2, 0.2]], [[0.5, 0.5]], start=0.0, now=0.0, joints=[2, 0])
    assert judged(reference, END + 0.1, path_position=[0.1, 0.1]) is None
    assert judged(reference, END + 0.2).code == GoalCode.SUCCESSFUL


def test_a_goal_is_followed_until_one_of_its_joints_has_another_motion(reference):
    goal = TrajectoryGoal(reference, reference.newest, ('c', 'a'), FREE)
    assert goal.is_followed_by(reference) and not goal.is_followed_by(None)
    other = reference.replaced_by([1.0], [[0.1]], start=0.1, now=0.1, joints=[1])
    assert goal.is_followed_by(other)
    for replaced in (reference.replaced_by([1.0], [[0.1]], start=0.1, now=0.1, joints=[0]),
                     reference.stopped(0.1), reference.stopped(0.1, [0]),
                     reference.resting_at(np.zeros(3), 0.1)):
        assert not goal.is_followed_by(replaced)
