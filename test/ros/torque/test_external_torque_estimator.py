"""What pushes the robot, from joint states as they come: without ROS, time passes by steps."""

import numpy as np
import pytest
from support.node_states import NOW, node_state_of

from dynamics_node import DynamicsError
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.torque.external_torque_estimator import ExternalTorqueEstimator

STEP = 2_000_000   # [ns]
Q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
STILL = np.zeros(7)


class Watched:
    """An estimator, and joint states for it: all joints at once, in the order of the model."""

    def __init__(self, node=None, **parameters):
        self.node_state = node_state_of(ARM7, **(node or {}))
        self.robot, self.stamp = self.node_state.robot, NOW
        self.estimator = ExternalTorqueEstimator(self.node_state.current_robot, ObserverParameters(
            **{'effort_meaning': 'motor_torque', 'bandwidth': (50.0,), 'thresholds': (2.0,),
               **parameters}))

    def state(self, effort=None, v=STILL, robot=None, push=None, steps=1):
        """Let a state be measured; return the Sight."""
        if effort is None:
            wrenches = None if push is None else {'tool0': push}
            effort = (robot or self.robot).inverse_dynamics(Q, STILL, STILL, wrenches)
        self.stamp += steps * STEP
        self.node_state.measured_state.take(self.stamp, self.robot.joint_names, Q, v, effort)
        return self.estimator.on_state(self.node_state.snapshot())

    def run(self, seconds, **options):
        return [self.state(**options) for _ in range(round(seconds * 1e9 / STEP))]


PUSH = np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_unknown_meaning_is_off_with_the_reason():
    """The default."""
    watched = Watched(effort_meaning=ObserverParameters().effort_meaning)
    assert not watched.estimator.on
    assert 'effort_meaning is unknown' in watched.estimator.reason
    assert watched.state() is None


def test_a_push_is_seen_flagged_and_located():
    watched = Watched(frame='tool0')
    assert not any(sight.contact for sight in watched.run(0.1))
    sights = watched.run(0.3, push=PUSH)
    pushed = watched.robot.jacobian(Q, 'tool0', local=True).T @ PUSH
    np.testing.assert_allclose(sights[-1].torque, pushed, atol=1e-4 * np.abs(pushed).max())
    assert sights[-1].contact and sights[-1].stamp == watched.stamp
    assert watched.estimator.contacts == 1
    np.testing.assert_allclose(watched.estimator.wrench(watched.node_state.snapshot()).wrench, PUSH,
                               atol=0.01)
    assert not watched.run(0.5)[-1].contact
    assert watched.estimator.peaks.max() < 2.0   # those of the contact do not count


def test_the_same_state_tells_nothing_twice():
    watched = Watched()
    assert watched.state() is not None
    assert watched.estimator.on_state(watched.node_state.snapshot()) is None


def test_partial_states_count_when_all_have_come():
    """Two publishers: the oldest stamp is the state's time."""
    watched = Watched()
    watched.run(0.01)
    effort = watched.robot.gravity_torque(Q)
    names = watched.robot.joint_names
    stamp = watched.stamp + STEP
    watched.node_state.measured_state.take(stamp, names[:3], Q[:3], STILL[:3], effort[:3])
    assert watched.estimator.on_state(watched.node_state.snapshot()) is None
    watched.node_state.measured_state.take(stamp, names[3:], Q[3:], STILL[3:], effort[3:])
    assert watched.estimator.on_state(watched.node_state.snapshot()).stamp == stamp


def test_a_payload_that_comes_is_no_push():
    watched = Watched()
    watched.run(0.1)
    watched.node_state.current_robot.set_payload('box', ('tool0', 3.0, (0.0, 0.0, 0.1), None), 0.0)
    sights = watched.run(0.1, robot=watched.node_state.robot)
    assert not any(sight.contact for sight in sights)
    assert np.abs(sights[-1].torque).max() < 1e-9


def test_efforts_that_are_missing_are_named():
    watched = Watched()
    watched.run(0.1, push=PUSH)
    assert watched.estimator.flag.contact
    effort = watched.robot.gravity_torque(Q)
    effort[[1, 4]] = np.nan
    assert watched.state(effort) is None
    assert watched.estimator.reason == 'joint_states has no effort of joint_2, joint_5'
    assert not watched.estimator.flag.contact and not watched.estimator.observer.torque.any()
    assert watched.state() is not None and watched.estimator.reason == ''


def test_velocities_that_are_taken_for_zero_are_no_good():
    watched = Watched()
    assert watched.state(v=()) is None
    assert 'set it to difference' in watched.estimator.reason
    assert watched.state() is not None
    watched = Watched(node={'missing_velocity': 'difference'})
    assert watched.state(v=()) is not None


def test_after_a_gap_the_balance_begins_anew():
    watched = Watched()
    watched.run(0.1)
    effort = watched.robot.gravity_torque(Q) + 50.0
    assert not watched.state(effort, steps=1000).torque.any()


def test_joint_states_that_come_too_seldom_are_named():
    """Gap upon gap tells nothing of a push: that is not the same as that there is none."""
    watched = Watched()
    sights = [watched.state(steps=60, push=PUSH) for _ in range(8)]   # every 0.12 s
    assert sights[-1] is None
    assert watched.estimator.reason == ('joint_states of all joints come 0.12 s apart; expected '
                                      '0.1 s or less')
    assert watched.run(0.1, push=PUSH)[-1].contact and watched.estimator.reason == ''


def test_a_state_beyond_all_bounds_is_named_and_forgotten():
    """Else no number would ever come again, and no contact."""
    watched = Watched()
    watched.run(0.1)
    effort = watched.robot.gravity_torque(Q)
    effort[3] = 1e308
    assert watched.state(effort) is None and 'is too large: a' in watched.estimator.reason
    assert watched.state(effort) is None
    sights = watched.run(0.1)
    assert np.abs(sights[-1].torque).max() < 1e-9
    assert watched.run(0.1, push=PUSH)[-1].contact


def test_another_robot_begins_anew():
    watched = Watched()
    watched.run(0.3, push=PUSH)
    watched.node_state.load(ARM7.read_text().replace('"arm7"', '"other"').encode())
    watched.estimator.robot_changed()
    assert watched.estimator.on and not watched.estimator.observer.torque.any()


@pytest.mark.parametrize(('change', 'message'), [
    ({'thresholds': (1.0, 2.0)}, 'thresholds is .* expected 7 finite numbers'),
    ({'bandwidth': (0.0,)}, 'bandwidth is 0'),
    ({'frame': 'hand'}, "no frame 'hand'"),
    ({'effort_meaning': 'current'}, 'torque_constants lack joint_1'),
    ({'torque_constants': 'joint_1=2'}, "torque_constants are for effort_meaning 'current'"),
])
def test_parameters_that_do_not_fit_are_refused(change, message):
    watched = Watched()
    with pytest.raises(DynamicsError, match=message):
        watched.estimator.check(ObserverParameters(
            **{'effort_meaning': 'motor_torque', 'bandwidth': (50.0,), **change}))
