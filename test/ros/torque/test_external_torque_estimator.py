"""Test the external-torque estimator on joint states, without ROS and with simulated time."""

import re

import numpy as np
import pytest
from support.node_states import NOW, node_state_of

from dynamics_node.example_robots import ARM7
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.torque.external_torque_estimator import ExternalTorqueEstimator

STEP = 2_000_000   # [ns]
Q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
STILL = np.zeros(7)


class EstimatorRig:
    """An estimator, and joint states for it: all joints at once, in the order of the model."""

    def __init__(self, node=None, **parameters):
        self.node_state = node_state_of(ARM7, **(node or {}))
        self.robot, self.stamp = self.node_state.robot, NOW
        self.estimator = ExternalTorqueEstimator(self.node_state.current_robot, ObserverParameters(
            **{'effort_meaning': 'motor_torque', 'bandwidth': PerJoint(50.0),
               'thresholds': PerJoint(2.0), **parameters}))

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


def test_an_unknown_meaning_disables_the_estimator_with_the_reason():
    """The default."""
    rig = EstimatorRig(effort_meaning=ObserverParameters().effort_meaning)
    assert not rig.estimator.on
    assert 'effort_meaning is unknown' in rig.estimator.reason
    assert rig.state() is None


def test_a_push_is_estimated_flagged_and_located():
    rig = EstimatorRig(frame='tool0')
    assert not any(sight.contact for sight in rig.run(0.1))
    sights = rig.run(0.3, push=PUSH)
    external = rig.robot.jacobian(Q, 'tool0', local=True).T @ PUSH
    np.testing.assert_allclose(sights[-1].torque, external, atol=1e-4 * np.abs(external).max())
    assert sights[-1].contact and sights[-1].stamp == rig.stamp
    assert rig.estimator.contacts == 1
    np.testing.assert_allclose(rig.estimator.wrench(rig.node_state.snapshot()).wrench, PUSH,
                               atol=0.01)
    assert not rig.run(0.5)[-1].contact
    assert rig.estimator.peaks.max() < 2.0   # those of the contact do not count


def test_a_repeated_state_is_ignored():
    rig = EstimatorRig()
    assert rig.state() is not None
    assert rig.estimator.on_state(rig.node_state.snapshot()) is None


def test_partial_states_are_used_when_complete():
    """Two publishers: the oldest stamp is the state's time."""
    rig = EstimatorRig()
    rig.run(0.01)
    effort = rig.robot.gravity_torque(Q)
    names = rig.robot.joint_names
    stamp = rig.stamp + STEP
    rig.node_state.measured_state.take(stamp, names[:3], Q[:3], STILL[:3], effort[:3])
    assert rig.estimator.on_state(rig.node_state.snapshot()) is None
    rig.node_state.measured_state.take(stamp, names[3:], Q[3:], STILL[3:], effort[3:])
    assert rig.estimator.on_state(rig.node_state.snapshot()).stamp == stamp


def test_a_new_payload_is_no_push():
    rig = EstimatorRig()
    rig.run(0.1)
    rig.node_state.current_robot.set_payload('box', ('tool0', 3.0, (0.0, 0.0, 0.1), None), 0.0)
    sights = rig.run(0.1, robot=rig.node_state.robot)
    assert not any(sight.contact for sight in sights)
    assert np.abs(sights[-1].torque).max() < 1e-9


def test_efforts_that_are_missing_are_named():
    rig = EstimatorRig()
    rig.run(0.1, push=PUSH)
    assert rig.estimator.flag.contact
    effort = rig.robot.gravity_torque(Q)
    effort[[1, 4]] = np.nan
    assert rig.state(effort) is None
    assert rig.estimator.reason == 'joint_states has no effort of joint_2, joint_5'
    assert not rig.estimator.flag.contact and not rig.estimator.observer.torque.any()
    assert rig.state() is not None and rig.estimator.reason == ''


def test_missing_velocities_disable_the_estimator():
    """Unless they are estimated."""
    rig = EstimatorRig(node={'missing_velocity': 'fault'})
    assert rig.state(v=()) is None
    assert rig.estimator.reason.startswith('joint_states has no velocity of joint_1, joint_2')
    assert rig.state() is not None
    assert EstimatorRig().state(v=()) is not None


def test_the_estimator_restarts_after_a_gap():
    rig = EstimatorRig()
    rig.run(0.1)
    effort = rig.robot.gravity_torque(Q) + 50.0
    assert not rig.state(effort, steps=1000).torque.any()


def test_joint_states_that_are_too_rare_are_reported():
    """Repeated gaps give no estimate, which is not the same as no push."""
    rig = EstimatorRig()
    sights = [rig.state(steps=60, push=PUSH) for _ in range(8)]   # every 0.12 s
    assert sights[-1] is None
    assert rig.estimator.reason == ('joint_states of all joints come 0.12 s apart; expected '
                                      '0.1 s or less')
    assert rig.run(0.1, push=PUSH)[-1].contact and rig.estimator.reason == ''


def test_a_state_that_overflows_is_reported_and_dropped():
    """Else all later estimates would be NaN."""
    rig = EstimatorRig()
    rig.run(0.1)
    effort = rig.robot.gravity_torque(Q)
    effort[3] = 1e308
    assert rig.state(effort) is None and 'is too large: a' in rig.estimator.reason
    assert rig.state(effort) is None
    sights = rig.run(0.1)
    assert np.abs(sights[-1].torque).max() < 1e-9
    assert rig.run(0.1, push=PUSH)[-1].contact


def test_a_new_robot_restarts_the_estimator():
    rig = EstimatorRig()
    rig.run(0.3, push=PUSH)
    rig.node_state.load(ARM7.read_text().replace('"arm7"', '"other"').encode())
    rig.estimator.robot_changed()
    assert rig.estimator.on and not rig.estimator.observer.torque.any()


@pytest.mark.parametrize(('change', 'message'), [
    ({'bandwidth': PerJoint(0.0)}, 'bandwidth is 0'),
    ({'frame': 'hand'}, "no frame 'hand'"),
    ({'effort_meaning': 'current'}, 'torque_constants lack joint_1'),
    ({'torque_constants': PerJoint(named={'joint_1': 2.0})},
     "torque_constants are for effort_meaning 'current'"),
])
def test_parameters_that_do_not_fit_switch_it_off(change, message):
    """With the reason; robot_mismatch.py refuses them when they are set."""
    rig = EstimatorRig()
    rig.estimator.use(ObserverParameters(
        **{'effort_meaning': 'motor_torque', 'bandwidth': PerJoint(50.0), **change}))
    assert not rig.estimator.on and re.search(message, rig.estimator.reason)
