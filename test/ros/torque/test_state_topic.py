"""Test ~/state, and the stop by an empty trajectory that it shows. One node for all cases."""

import time

import numpy as np
import pytest
from support.gate_states import moved
from support.remote_node import RELIABLE
from support.torque_wire import EFFORT, ORDER, REST
from support.trajectories import trajectory
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.msg import TorqueState
from dynamics_node.ros import convert

SETTINGS = {'torque.mode': 'impedance'}
RATE = 50.0   # [Hz], default of torque.state_rate


class Watched:
    """An arm, and the messages on its ~/state so far."""

    def __init__(self, arm):
        self.arm, self.states = arm, []
        arm.node.client.create_subscription(TorqueState, f'{arm.node.name}/state',
                                            self.states.append, 1000)

    def until(self, condition, what):
        """Return the first state from now on that meets a condition."""
        seen = len(self.states)
        return self.arm.run_until(lambda: next(filter(condition, self.states[seen:]), None), what)

    def send(self, message):
        self.arm.node.publish(message, topic='dynamics_node/reference', qos=RELIABLE)


@pytest.fixture(scope='module')
def watched_arm(driven_arm):
    return Watched(driven_arm)


@pytest.fixture
def watched(watched_arm):
    """An arm at rest, its torques disabled."""
    watched_arm.arm.prepared()
    return watched_arm


def test_the_state_has_the_motion_and_the_torques_in_the_order_of_the_command(watched):
    arm = watched.arm
    arm.enabled()
    arm.follow(moved(7, 0.05), 0.3)
    goal = arm.in_order(moved(7, 0.05))
    state = watched.until(lambda state: state.gate == 'enabled' and state.reference.positions
                          and np.allclose(state.reference.positions, goal, rtol=0.0, atol=1e-9)
                          and not np.any(state.reference.velocities), 'the end of the reference')
    assert state.joint_names == ORDER and state.mode == 'impedance' and not state.fault
    assert convert.nanoseconds(state.header.stamp) in arm.sent
    np.testing.assert_array_equal(state.feedback.positions, arm.in_order(REST))
    np.testing.assert_array_equal(state.feedback.velocities, 0.0)
    np.testing.assert_array_equal(state.reference.accelerations, 0.0)
    error = arm.in_order(moved(7, 0.05) - REST)
    np.testing.assert_allclose(state.error.positions, error)
    np.testing.assert_array_equal(state.error.velocities, 0.0)
    wanted = arm.gravity() + 50.0 * error
    state = watched.until(lambda state: np.allclose(state.released, wanted), 'the wanted torque')
    np.testing.assert_allclose(state.wanted, wanted)
    np.testing.assert_array_equal(state.limited, 0)
    assert any(np.array_equal(one.effort, state.released) for one in arm.heard)
    arm.check()


def test_the_state_says_which_limit_changed_which_torque(watched):
    arm = watched.arm
    arm.prepared(torque__kp__default=2000.0).enabled()
    arm.follow(moved(7, -0.4))
    k = ORDER.index('joint_7')
    effort = TorqueState.LIMITED_EFFORT
    state = watched.until(lambda state: state.limited and state.limited[k] & effort
                          and state.released[k] == -20.0, 'the limit')
    assert state.wanted[k] < -20.0 and not any(state.limited[:k])
    arm.check()


def test_the_state_without_torques_has_the_measured_state(watched):
    arm = watched.arm
    arm.arrive()
    state = watched.until(lambda state: state.gate == 'disabled' and state.feedback.positions,
                          'a state')
    np.testing.assert_array_equal(state.feedback.positions, arm.in_order(REST))
    assert not (state.wanted or state.released or state.limited or state.reference.positions
                or state.error.positions)


def test_the_state_in_mode_gravity_has_no_reference(watched):
    arm = watched.arm
    arm.prepared(torque__mode='gravity').enabled()
    state = watched.until(lambda state: state.gate == 'enabled', 'a state')
    assert state.mode == 'gravity' and not state.reference.positions
    np.testing.assert_allclose(state.released, arm.gravity())


def test_the_state_has_the_reason_of_a_fault(watched):
    arm = watched.arm
    arm.enabled()
    arm.v[0] = -5.0
    state = watched.until(lambda state: state.gate == 'fault', 'a fault')
    assert 'joint_1' in state.fault
    arm.v[0] = 0.0
    arm.until_fault('joint_1')


def test_the_state_and_the_diagnostics_have_the_last_refused_reference(watched):
    arm = watched.arm
    arm.enabled()
    before = watched.until(lambda state: state.gate == 'enabled', 'a state').refused_references
    watched.send(trajectory(['knee'], [1.0], positions=[[0.1]]))
    state = watched.until(lambda state: state.refused_references == before + 1, 'a refusal')
    assert "'knee'" in state.last_refusal
    arm.run_until(lambda: any(item.key == 'last refused reference' and "'knee'" in item.value
                              for status in arm.statuses[-1:] for item in status.values), 'it')
    watched.send(trajectory(['joint_7'], [5.0], positions=[[3.5]]))
    state = watched.until(lambda state: state.refused_references == before + 2, 'another one')
    assert "joint 'joint_7' would be at" in state.last_refusal


def test_the_rate_of_states_is_bounded(watched):
    """Joint states are sent faster, as far as the machine permits."""
    arm = watched.arm
    arm.enabled()
    began, count, sent = time.monotonic(), len(watched.states), len(arm.sent)
    arm.run(200)
    passed = time.monotonic() - began
    assert len(watched.states) - count <= RATE * passed + 3   # on the way, and the first two
    assert len(arm.sent) - sent == 200


@pytest.mark.parametrize('names', [(), tuple(EFFORT), ('joint_1',)])
def test_an_empty_trajectory_stops_all_joints_and_holds_them(watched, names):
    arm = watched.arm
    arm.enabled()
    arm.follow(moved(7, 0.3), 5.0)
    watched.until(lambda state: np.any(state.reference.velocities), 'a motion')
    watched.send(JointTrajectory(joint_names=list(names)))
    state = watched.until(lambda state: state.reference.velocities
                          and not np.any(state.reference.velocities), 'rest')
    k = ORDER.index('joint_7')
    assert REST[6] < state.reference.positions[k] < REST[6] + 0.3
    later = watched.until(lambda state: True, 'a state')
    np.testing.assert_array_equal(later.reference.positions, state.reference.positions)
    assert arm.said('enabled')
    arm.check()


def test_an_empty_trajectory_is_refused_while_disabled(watched):
    before = watched.until(lambda state: True, 'a state').refused_references
    watched.send(JointTrajectory())
    state = watched.until(lambda state: state.refused_references > before, 'a refusal')
    assert 'torques are disabled' in state.last_refusal
