"""Test joint states as robots publish them: any order, in parts, late, with gaps."""

import itertools
import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.remote_node import BEST_EFFORT, RELIABLE, assert_close, floats, joint_state, wait_until
from support.reply_stamps import stamp_of
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert

NAN = math.nan
MILLISECOND, SECOND = 1_000_000, 1_000_000_000
JOINTS = [f'joint_{k}' for k in range(1, 8)]
_days = itertools.count(1)


@pytest.fixture
def begun(arm):
    """The node has measured a whole state: (q, v, stamp), a day later for each test."""
    stamp = next(_days) * 86_400 * SECOND
    rng = np.random.default_rng(stamp // SECOND)
    q, v = arm.robot.random_configuration(rng), rng.normal(size=7)
    arm.node.measure(arm.robot, stamp, JOINTS, q, v, np.zeros(7))
    return q, v, stamp


def assert_measured(arm, q, v):
    """Assert that the node uses this state for an empty request."""
    reply = arm.node.call('inverse_dynamics')
    assert_close(reply.effort, arm.robot.inverse_dynamics(q, v, np.zeros(7)), EXACT_MATHS)


def dropped(status, reason):
    """Return how many joint states a DiagnosticStatus says were dropped for a reason."""
    values = {item.key: item.value for item in status.values}
    return int(values.get(f'joint states, {reason}', 0))


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('qos', [BEST_EFFORT, RELIABLE], ids=['best effort', 'reliable'])
def test_joints_may_come_in_any_order_among_unknown_ones(arm, begun, seed, qos):
    """By name; a gripper between the joints is ignored."""
    rng, stamp = np.random.default_rng(seed), begun[2] + SECOND
    q, v = arm.robot.random_configuration(rng), rng.normal(size=7)
    names = rng.permutation([*JOINTS, 'left_finger', 'right_finger']).tolist()
    place = [JOINTS.index(name) if name in JOINTS else -1 for name in names]
    arm.node.measure(arm.robot, stamp, names, np.append(q, 99.0)[place],
                     np.append(v, NAN)[place], qos=qos)
    assert_measured(arm, q, v)


def test_nan_efforts_are_not_measured(arm, begun):
    """Only services that need them refuse, by name."""
    q, v, stamp = begun
    arm.node.measure(arm.robot, stamp + 1, JOINTS, q, v, [0.5, NAN, *[0.5] * 4, NAN])
    assert_measured(arm, q, v)
    reply = arm.node.call('forward_dynamics')
    assert not reply.success
    assert [name for name in JOINTS if name in reply.message] == ['joint_2', 'joint_7']
    arm.node.measure(arm.robot, stamp + 2, JOINTS, q, v, [0.5] * 7)
    assert_close(arm.node.call('forward_dynamics').acceleration,
                 arm.robot.forward_dynamics(q, v, np.full(7, 0.5)), SOLVED)


@pytest.mark.parametrize('velocity', [(), [NAN] * 7], ids=['empty', 'nan'])
def test_a_velocity_that_is_left_out_refuses_what_needs_it_on_request(arm, begun, velocity):
    """With missing_velocity: fault; a request with velocities of its own is served."""
    q, v, stamp = begun
    assert arm.node.set_parameters({'missing_velocity': 'fault'}) == ''
    try:
        arm.node.publish_until(lambda: not arm.node.call('inverse_dynamics').success,
                               joint_state(stamp + 1, JOINTS, q, velocity))
        assert 'finite' in arm.node.call('inverse_dynamics').message
        assert arm.node.call('inverse_dynamics', joint_names=JOINTS, velocity=list(v),
                             acceleration=[0.0] * 7).success
    finally:
        assert arm.node.set_parameters({'missing_velocity': 'difference'}) == ''


def test_a_missing_position_keeps_the_last_one(arm, begun):
    """A NaN position is missing; the stamp of its joint stays, so its age is reported."""
    q, v, stamp = begun
    new = q + 0.1
    new[3] = NAN
    arm.node.publish_until(lambda: arm.node.stamp_of(arm.robot, ['joint_5']) == stamp + SECOND,
                           joint_state(stamp + SECOND, JOINTS, new, v))
    assert_measured(arm, np.where(np.isnan(new), q, new), v)
    assert arm.node.stamp_of(arm.robot, ['joint_4']) == stamp
    assert stamp_of(arm.node.call('kinematics')) == stamp


def test_missing_velocities_are_filtered_differences(arm, begun):
    """With a filter of 20 ms, v += (difference / dt - v) / (1 + filter time / dt)."""
    (q, v, stamp), rng = begun, np.random.default_rng(0)
    for ms in (10, 5, 40):
        step, dt = rng.normal(size=7) * 0.01, ms * 1e-3
        q, v = q + step, v + (step / dt - v) / (1.0 + 0.02 / dt)
        stamp += ms * MILLISECOND
        arm.node.measure(arm.robot, stamp, JOINTS, q)
        assert_measured(arm, q, v)
    arm.node.measure(arm.robot, stamp - 10 * SECOND, JOINTS, q + 0.1)  # another run begins
    assert_measured(arm, q + 0.1, np.zeros(7))


def test_two_publishers_of_some_joints_each_are_merged(arm, begun):
    """In any order; the stamp is that of the older part."""
    (q, v, stamp), rng = (x.copy() if isinstance(x, np.ndarray) else x for x in begun), \
        np.random.default_rng(1)
    parts = [([5, 0, 3], BEST_EFFORT), ([1, 6, 4, 2], RELIABLE)]
    stamps = [stamp, stamp]
    for turn in range(6):
        part, qos = parts[turn % 2]
        stamps[turn % 2] = stamp + (turn + 1) * 10 * MILLISECOND
        q[part], v[part] = rng.normal(size=(2, len(part)))
        arm.node.measure(arm.robot, stamps[turn % 2], [JOINTS[k] for k in part], q[part], v[part],
                         qos=qos)
        assert_measured(arm, q, v)
        assert stamp_of(arm.node.call('inverse_dynamics')) == min(stamps)


def test_a_late_joint_state_is_dropped(arm, begun):
    """Half a second older than the last of its joint: out of order, and counted."""
    q, v, stamp = begun
    new_q, new_v = q.copy(), v.copy()
    new_q[0], new_v[0] = 0.123, 0.456
    before = arm.node.wait_for_diagnostics(lambda status: True, 'anything')
    late = joint_state(stamp - SECOND // 2, ['joint_3', 'joint_4'], [1.0, 1.0], [1.0, 1.0])
    newer =  joint_state(stamp + 1, ['joint_1'], [0.123], [0.456])  # behind it on the wire
    arm.node.wait_for_diagnostics(
        lambda status: dropped(status, 'out of order') >= dropped(before, 'out of order') + 2,
        'that it was dropped', meanwhile=lambda: arm.node.publish(late, newer))
    arm.node.publish_until(lambda: arm.node.stamp_of(arm.robot, ['joint_1']) == stamp + 1,
                           late, newer)
    assert_measured(arm, new_q, new_v)


@pytest.mark.parametrize('jump', [-86_000, -2, 2, 86_000])
def test_the_state_follows_a_jump_of_the_clock(arm, begun, jump):
    """Forward, or back as after a reset; late joint states are dropped."""
    q, v, stamp = begun
    stamp += jump * SECOND
    arm.node.measure(arm.robot, stamp, JOINTS, q + 0.1, v + 0.1)
    assert_measured(arm, q + 0.1, v + 0.1)
    arm.node.measure(arm.robot, stamp + MILLISECOND, JOINTS, q + 0.2, v + 0.2)
    assert_measured(arm, q + 0.2, v + 0.2)


def test_names_and_values_of_different_length_are_dropped(arm, begun):
    """Counted, and the state stays."""
    q, v, stamp = begun
    before = arm.node.wait_for_diagnostics(lambda status: True, 'anything')
    reason = 'sizes of names and values differ'
    bad = [joint_state(stamp + 1, JOINTS, q[:3]), joint_state(stamp + 1, JOINTS, q, v[:3]),
           joint_state(stamp + 1, JOINTS, q, v, [0.1]), joint_state(stamp + 1, JOINTS[:2], q)]
    arm.node.wait_for_diagnostics(
        lambda status: dropped(status, reason) >= dropped(before, reason) + len(bad), reason,
        meanwhile=lambda: arm.node.publish(*bad))
    assert_measured(arm, q, v)


@pytest.mark.parametrize('data', [
    b'garbage', b'\x00\x01\x00\x00' + b'\xff' * 60, serialize_message(JointState())[:9],
], ids=['words', 'endless', 'cut off'])
def test_bytes_that_are_no_joint_state_are_dropped(arm, begun, data):
    """As from a broken bridge: counted, and the node continues."""
    q, v, _ = begun
    publisher, reason = arm.node.publisher(JointState, 'joint_states', BEST_EFFORT), 'unreadable'
    before = arm.node.wait_for_diagnostics(lambda status: True, 'anything')
    arm.node.wait_for_diagnostics(
        lambda status: dropped(status, reason) > dropped(before, reason), reason,
        meanwhile=lambda: publisher.publish(data))
    assert_measured(arm, q, v)


def test_a_joint_state_without_a_stamp_was_measured_now(arm, begun):
    """Some drivers leave it zero."""
    q, v, _ = begun
    reply = None

    def is_fresh():
        nonlocal reply
        reply = arm.node.call('inverse_dynamics')
        return stamp_of(reply) > 1_600_000_000 * SECOND
    arm.node.publish_until(is_fresh, joint_state(0, JOINTS, q + 0.1, v))
    assert 0.0 <= reply.state_age < 60.0
    assert_measured(arm, q + 0.1, v)


def test_an_old_state_is_refused(arm, begun):
    """Parameter max_state_age; a request that gives its own state is served."""
    q, v, _ = begun
    assert arm.node.set_parameters({'max_state_age': 5.0}) == ''
    try:
        reply = arm.node.call('inverse_dynamics')
        assert not reply.success
        assert 'max_state_age' in reply.message
        assert arm.node.call('inverse_dynamics', position=floats(q), velocity=floats(v)).success
    finally:
        assert arm.node.set_parameters({'max_state_age': 0.0}) == ''
    assert_measured(arm, q, v)


def test_joints_never_measured_are_reported(launch):
    """In the report and on /diagnostics, until the last of them is measured."""
    node = launch(f'robot_description:={ARM7}')
    node.wait_for_diagnostics(
        lambda status: status.level == DiagnosticStatus.WARN and status.hardware_id == 'arm7' and
        all(name in status.message for name in JOINTS), 'that nothing is measured')
    assert node.call('model_report').never_measured == JOINTS
    node.publish_until(lambda: node.call('model_report').never_measured == ['joint_4', 'joint_6'],
                       joint_state(1, ['joint_1', 'joint_2', 'joint_3', 'joint_5', 'joint_7'],
                                   [0.1] * 5))
    node.wait_for_diagnostics(
        lambda status: status.message == 'never measured: joint_4, joint_6', 'the missing joints')
    node.publish_until(lambda: not node.call('model_report').never_measured,
                       joint_state(1, ['joint_6', 'joint_4'], [0.1] * 2))
    node.wait_for_diagnostics(lambda status: status.level == DiagnosticStatus.OK, 'all is well')


def test_the_age_is_in_simulated_time(launch):
    """With use_sim_time the clock is /clock, also when it is set back."""
    node = launch(f'robot_description:={ARM7}', 'use_sim_time:=true')
    for now, stamp in ((1000 * SECOND, 999 * SECOND), (10 * SECOND, 9 * SECOND)):
        clock = Clock(clock=convert.time(now))
        node.publish_until(
            lambda stamp=stamp: stamp_of(node.call('inverse_dynamics')) == stamp,
            joint_state(stamp, JOINTS, [0.1] * 7))

        def told(clock=clock):
            node.publisher(Clock, '/clock').publish(clock)
            return node.call('inverse_dynamics').state_age == pytest.approx(1.0)
        wait_until(told, 'an age of one second')
