"""Test goals of ~/follow_joint_trajectory in the torque pipeline, without ROS."""

import numpy as np
import pytest
from support.pipeline_rig import IMPEDANCE, STEP, Rig, to
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError
from dynamics_node.control.trajectory_goal import GoalCode, Tolerances
from dynamics_node.ros.torque.goal_execution import GoalExecution
from dynamics_node.ros.torque.records import GoalEnd, GoalFeedback, GoalRequest

BLEND = 0.1


class GoalRig(Rig):
    """A rig with goals.

    :ivar sent: records for the serving process.
    :ivar follows: whether the joints follow the reference exactly; otherwise they stand still.
    """

    def __init__(self, **options):
        super().__init__(TWO_JOINTS, **{**IMPEDANCE, 'blend_time': BLEND, **options})
        self.sent, self.follows = [], False
        self.goals = GoalExecution(self.pipeline, lambda record: self.sent.append(record) or True,
                                   lambda: self.node_state.clocks.seconds)

    def step(self, seconds=STEP):
        effort = super().step(seconds)
        self.goals.check_gate()
        self.goals.on_state(self.node_state.snapshot())
        if self.follows and self.pipeline.reference is not None:
            self.q, self.v, _ = self.wanted
        return effort

    @property
    def wanted(self):
        return self.pipeline.reference.at(self.pipeline.now())

    def ask(self, positions, names=('shoulder', 'elbow'), number=0, after=1.0, **tolerances):
        none = np.full(len(names), np.inf)
        values = dict.fromkeys(Tolerances._fields[:4], none)
        for name, value in tolerances.items():
            values[name] = value if name == 'goal_time' else np.full(len(names), value)
        (names, start, *points) = to(positions, after, names)
        self.goals.follow(GoalRequest(number, names, start, tuple(points), Tolerances(**values),
                                      0.05))

    def ends(self):
        return [record for record in self.sent if isinstance(record, GoalEnd)]


@pytest.fixture
def rig():
    return GoalRig().enabled()


def test_a_goal_that_is_followed_succeeds_and_is_held(rig):
    rig.follows = True
    rig.ask([0.5, 0.0], path_position=0.05, goal_position=0.01, goal_velocity=0.01)
    rig.run(0.9)
    assert not rig.ends()
    rig.run(0.3)
    assert rig.ends() == [GoalEnd(0, (GoalCode.SUCCESSFUL, ''), False)]
    assert isinstance(rig.sent[-2], GoalFeedback) and isinstance(rig.sent[-1], GoalEnd)
    rig.run(1.0)
    assert rig.wanted.q == pytest.approx([0.5, 0.0]) and len(rig.ends()) == 1


def test_feedback_has_the_desired_and_the_measured_motion_of_the_joints_of_the_goal(rig):
    rig.ask([0.4], names=['elbow'])
    rig.run(0.5)
    number, stamp, progress = rig.sent[-1]
    assert number == 0 and 0 <= rig.node_state.clocks.now - stamp < 0.1e9
    np.testing.assert_array_equal(progress.q, rig.q[1:])
    np.testing.assert_array_equal(progress.q_error, progress.desired.q - progress.q)
    np.testing.assert_array_equal(progress.v_error, progress.desired.v - rig.v[1:])
    assert 0.2 < progress.desired.q[0] < 0.4


def test_a_violated_path_returns_to_the_measured_position(rig):
    """Torques do not press on; nothing jumps."""
    rig.ask([0.7, 0.2], path_position=0.1)
    rig.run(1.0)
    (end,) = rig.ends()
    assert end.outcome.code == GoalCode.PATH_TOLERANCE_VIOLATED
    assert "joint 'shoulder' has a position error of +0.1" in end.outcome.text
    rig.run(1.0)
    assert rig.wanted.q == pytest.approx(rig.q) and not rig.wanted.v.any()
    assert rig.step() == pytest.approx(rig.robot.gravity_torque(rig.q)) and rig.state == 'enabled'


def test_a_goal_that_is_not_reached_in_time_returns_to_the_measured_position(rig):
    rig.ask([0.4, 0.2], goal_position=0.1, goal_time=0.3)
    rig.run(1.3)
    assert not rig.ends()
    rig.run(0.2)
    (end,) = rig.ends()
    assert end.outcome.code == GoalCode.GOAL_TOLERANCE_VIOLATED
    rig.run(1.0)
    assert rig.wanted.q == pytest.approx(rig.q)


def test_a_cancelled_goal_stops_its_joints_on_their_path(rig):
    rig.pipeline.follow(*to([0.5], names=['shoulder']))
    rig.ask([0.5], names=['elbow'])
    rig.run(0.5)
    path = rig.pipeline.reference
    rig.goals.cancel(1)          # another one
    assert not rig.ends() and rig.pipeline.reference is path
    now = rig.pipeline.now()
    rig.goals.cancel(0)
    rig.goals.cancel(0)
    (end,) = rig.ends()
    assert end.cancelled and end.outcome.code == GoalCode.SUCCESSFUL
    rig.run(1.0)
    assert rig.wanted.q == pytest.approx([0.5, path.at(now + BLEND / 2).q[1]])
    assert not rig.wanted.v.any()


def test_a_newer_goal_replaces_the_one_before_as_a_whole(rig):
    """A joint that only the first one has stops."""
    rig.ask([0.6, 0.6])
    rig.run(0.5)
    rig.ask([0.0], names=['elbow'], number=1)
    (end,) = rig.ends()
    assert (end.number, end.outcome.code) == (0, GoalCode.INVALID_GOAL)
    assert 'newer goal' in end.outcome.text
    rig.run(1.5)
    assert 0.4 < rig.wanted.q[0] < 0.5 and rig.wanted.q[1] == pytest.approx(0.0)
    assert [each.number for each in rig.ends()] == [0, 1]
    assert rig.ends()[1].outcome.code == GoalCode.SUCCESSFUL


def test_a_refused_goal_leaves_the_one_before(rig):
    rig.ask([0.4, 0.2])
    rig.run(0.2)
    with pytest.raises(DynamicsError, match='would start'):
        rig.ask([2.0, 0.2], number=1, after=0.01)
    rig.run(1.2)
    assert [(each.number, each.outcome.code) for each in rig.ends()] == [(0, 0)]


def test_a_reference_of_one_of_its_joints_replaces_a_goal(rig):
    rig.ask([0.4], names=['elbow'])
    rig.run(0.2)
    rig.pipeline.follow(*to([0.5], names=['shoulder']))
    rig.run(0.2)
    assert not rig.ends()
    rig.pipeline.follow(*to([0.1], names=['elbow']))
    rig.step()
    (end,) = rig.ends()
    assert end.outcome.code == GoalCode.INVALID_GOAL and '~/reference' in end.outcome.text


def test_a_goal_ends_with_the_torques(rig):
    rig.ask([0.4, 0.2])
    rig.run(0.2)
    rig.pipeline.disable()
    rig.goals.check_gate()
    assert rig.ends()[0].outcome == (GoalCode.INVALID_GOAL, 'torques were disabled')
    rig.run_out()
    rig.enabled().ask([0.4, 0.2], number=1)
    rig.v[0] = 99.0
    rig.run(0.2)
    assert rig.ends()[1].number == 1 and 'torques ended in a fault: ' in rig.ends()[1].outcome.text
    assert rig.reason in rig.ends()[1].outcome.text


def test_a_goal_is_refused_while_disabled():
    rig = GoalRig()
    rig.measured()
    with pytest.raises(DynamicsError, match='torques are disabled: enable them first'):
        rig.ask([0.4, 0.2])


def test_a_goal_is_held_where_streams_are_not():
    rig = GoalRig(hold_reference=False, safety={'max_reference_age': 0.2}).enabled()
    rig.ask([0.3, 0.2])
    rig.run(3.0)
    assert rig.state == 'enabled' and rig.wanted.q == pytest.approx([0.3, 0.2])


@pytest.mark.parametrize('what', ['stop', 'rest'])
def test_torques_are_continuous_over_a_stop(rig, what):
    rig.follows = True
    rig.ask([0.9, -0.4])
    rig.run(0.5)
    before = rig.releases[-1][0].effort
    rig.pipeline.change_reference(lambda old, now: old.stopped(now) if what == 'stop'
                                  else old.resting_at(rig.q, now))
    for _ in range(50):
        after = rig.step()
        assert np.abs(after - before).max() < 2.0
        before = after
    assert not rig.wanted.v.any()
