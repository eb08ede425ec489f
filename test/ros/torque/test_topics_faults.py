"""Test faults on the wire: for any input, every published torque meets the contract.

Each case ends in Arm.ended_safely or Arm.check, which look at every message since it began.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import rclpy
from std_msgs.msg import Float64MultiArray, MultiArrayLayout
from support.torque_wire import DEEP, EFFORT, PACE, ROUNDING, Arm, parameters

from dynamics_node.ros import convert

pytestmark = pytest.mark.long

MILLISECOND = 1_000_000  # [ns]


SETTINGS = {'safety.max_state_age': 0.5}   # most faults end this time later


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


# Joint states ------------------------------------------------------------------------------------

class Bad(NamedTuple):
    """The bad joint states, and the expected fault."""

    happens: Callable    # to the arm
    reason: str
    safe: str = 'zero'   # nothing can be computed any more; else gravity


def spoiled(**columns):
    """Return what replaces fields of every joint state by f(old value)."""
    def happens(arm):
        def spoil(message):
            for field, change in columns.items():
                setattr(message, field, change(list(getattr(message, field))))
        arm.spoil = spoil
    return happens


def entry(k, value):
    return lambda values: [value if i == k else x for i, x in enumerate(values)]


def stop(arm):
    arm.step = arm.listen


def repeat(arm):
    stamp = arm.now()
    arm.now = lambda: stamp


def stamps(milliseconds):
    def happens(arm):
        arm.ahead = milliseconds * MILLISECOND
    return happens


def jump(arm):
    arm.q[6] -= math.pi


def too_fast(arm):
    arm.v[0] = -5.0


def beyond(arm):
    """Creep over the limit, 2.0 and 0.05 beyond, slower than the velocity limit."""
    arm.q[1] = min(arm.q[1] + 2.0 * PACE, 2.06)   # it stands before the ramp to gravity ends


def creep(arm):
    arm.spoil = lambda message: beyond(arm)


OLD = 's old; max_state_age is 0.5 s'
BAD_STATES = {
    'they stop': Bad(stop, OLD),
    'the same one comes again and again': Bad(repeat, OLD),
    'they go back in time by 700 ms': Bad(stamps(-700), OLD),
    'they go back in time by an hour': Bad(stamps(-3_600_000), OLD),
    'they come from the future': Bad(stamps(10_000), 's in the future; max_state_age is 0.5 s'),
    'a position is nan': Bad(spoiled(position=entry(2, math.nan)), OLD),
    'a position is infinite': Bad(spoiled(position=entry(2, -math.inf)), OLD),
    'all positions are nan': Bad(spoiled(position=lambda q: [math.nan] * 7), OLD),
    'there are no positions': Bad(spoiled(position=lambda q: []), OLD),
    'a joint is lost': Bad(spoiled(name=lambda x: x[:6], position=lambda x: x[:6],
                                   velocity=lambda x: x[:6]), "the state of joint 'joint_7' is "),
    'a joint has another name': Bad(spoiled(name=entry(3, 'joint_x')), "joint 'joint_4' is "),
    'a position is lost': Bad(spoiled(position=lambda q: q[:6]), OLD),
    'there is a velocity too much': Bad(spoiled(velocity=lambda v: [*v, 0.0]), OLD),
    'there is one effort of seven': Bad(spoiled(effort=lambda x: [1.0]), OLD),
    'they are empty': Bad(spoiled(name=lambda x: [], position=lambda x: [],
                                  velocity=lambda x: []), OLD),
    'a joint jumps by pi': Bad(jump, "joint 'joint_7' moved by 3.14"),
    'a position is absurd': Bad(spoiled(position=entry(0, 1e12)), 'not finite'),
    'a velocity is absurd': Bad(spoiled(velocity=entry(0, 1e12)), 'not finite'),
    'a joint is too fast': Bad(too_fast, "joint 'joint_1' moves at -5", 'gravity'),
    'a joint goes beyond its limit': Bad(creep, "joint 'joint_2' is at 2.0", 'gravity')}


@pytest.mark.parametrize('name', BAD_STATES)
def test_bad_joint_states_are_a_fault(arm, name):
    """A ramp to the safe torque, then no messages; only enable ends it."""
    bad = BAD_STATES[name]
    if bad.happens is creep:
        arm.q[1] = 1.85
    arm.enabled()
    bad.happens(arm)
    arm.until_fault(bad.reason)
    arm.__dict__.pop('step', None)
    arm.__dict__.pop('now', None)
    arm.ended_safely(bad.safe)
    arm.rest()
    arm.until_silent()
    assert arm.said('fault: ')
    arm.enabled_and_disabled()
    arm.ended_safely()


GOOD_STATES = {
    'velocities are nan': spoiled(velocity=lambda v: [math.nan] * 7),   # they are estimated
    'there are no velocities': spoiled(velocity=lambda v: []),
    'efforts are nan': spoiled(effort=lambda x: [math.nan] * 7),
    'they are 200 ms late': stamps(-200),
    'they are 200 ms early': stamps(200),
    'joints come in another order': spoiled(name=lambda x: x[::-1], position=lambda x: x[::-1],
                                            velocity=lambda x: x[::-1]),
    'there are other joints too': spoiled(name=lambda x: ['finger', *x],
                                          position=lambda x: [math.nan, *x],
                                          velocity=lambda x: [9.0, *x])}


@pytest.mark.parametrize('name', GOOD_STATES)
def test_tolerable_joint_states_are_no_fault(arm, name):
    arm.enabled()
    GOOD_STATES[name](arm)
    arm.run(60)
    arm.is_held()
    assert arm.said('enabled')
    arm.check()


@pytest.mark.parametrize('velocity', [[], [math.nan] * 7, [0.0] * 6 + [math.inf]],
                         ids=['none', 'nan', 'one is infinite'])
def test_missing_velocities_are_a_fault_on_request(arm, velocity):
    arm.prepared(missing_velocity='fault').enabled()
    spoiled(velocity=lambda v: velocity)(arm)
    arm.until_fault('the joint state is not finite')
    arm.ended_safely('zero')


def test_a_joint_that_is_too_fast_is_seen_without_velocities(arm):
    """Joint 7 turns at 5 rad/s; its limit is 3.8 and a fifth more."""
    arm.q[6] = -2.5
    arm.enabled()

    def turn(message):
        message.velocity = []
        message.position[6] += 5.0 * (convert.nanoseconds(message.header.stamp) - begin) * 1e-9
    begin, arm.spoil = arm.now(), turn
    arm.until_fault("joint 'joint_7' mov")   # moves at 5, or moved too far between two messages
    arm.check()


def test_two_publishers_of_half_the_joints_each_are_no_fault(arm):
    """Each message completes the one before: the older of the two stamps counts."""
    halves = [lambda message: _keep(message, [0, 2, 4, 6]),
              lambda message: _keep(message, [1, 3, 5])]

    def spoil(message):
        halves.reverse()
        halves[0](message)
    arm.spoil = spoil
    arm.enabled().run(20)
    arm.is_held()
    arm.check()
    arm.spoil = halves[0]
    arm.until_fault(OLD)
    arm.ended_safely('zero')


def _keep(message, places):
    for field in ('name', 'position', 'velocity'):
        values = getattr(message, field)
        setattr(message, field, [values[k] for k in places])


# Enable and disable ------------------------------------------------------------------------------

def test_the_ramp_begins_at_the_measured_effort(arm):
    """Where its meaning is declared; the effort pushes a little."""
    arm.prepared(observer__effort_meaning='motor_torque', safety__ramp_in_time=2.0)
    arm.effort = arm.robot.gravity_torque(arm.q) + 2.0
    arm.enabled()
    first = arm.heard[0].effort - arm.gravity()
    assert ((first > 0.0) & (first <= 2.0)).all()
    arm.is_held()
    arm.check()


def test_the_ramp_begins_at_gravity_if_the_meaning_of_effort_is_not_declared(arm):
    """No message differs from gravity, whatever the driver publishes: here milliampere."""
    arm.effort = np.full(7, 3400.0)
    arm.enabled().run(10)
    assert arm.check() >= 10
    for one in arm.heard:
        np.testing.assert_allclose(one.effort, arm.gravity(), atol=ROUNDING)


def test_an_effort_in_another_unit_than_declared_is_refused(arm):
    """With the numbers, and no message is published."""
    arm.prepared(observer__effort_meaning='motor_torque')
    arm.effort = np.full(7, 3400.0)
    arm.arrive()
    reply = arm.run_until(lambda: 'compiled' not in (reply := arm.enable()).message and reply,
                          'the kernels')
    assert not reply.success and "joint 'joint_1' 3400, expected -24 to 24" in reply.message
    arm.until_silent()
    assert not arm.heard
    arm.effort = ()
    arm.enabled_and_disabled()
    arm.ended_safely()


@pytest.mark.parametrize('action', ['gravity', 'zero', 'hold'])
def test_disable_ends_in_the_safe_torque(arm, action):
    arm.prepared(safety__safe_action=action).enabled()
    arm.disable()
    arm.ended_safely(action)
    arm.run_until(lambda: arm.said('disabled'), 'the diagnostics')


@pytest.mark.parametrize('action', ['gravity', 'zero', 'hold'])
def test_a_fault_ends_in_the_safe_torque(arm, action):
    arm.prepared(safety__safe_action=action).enabled()
    too_fast(arm)
    arm.until_fault("joint 'joint_1' moves at -5")
    arm.ended_safely(action)


def test_rapid_enables_and_disables_meet_the_contract(arm):
    """Also when they come faster than the replies."""
    for k in range(30):
        assert (arm.disable if k % 3 == 2 else arm.enable)().success
    arm.storm(50)
    arm.enabled()   # on a busy machine a joint state was late: that is a fault
    arm.disable()
    arm.ended_safely()
    arm.run_until(lambda: arm.said('disabled'), 'the diagnostics')


def test_enable_is_refused_while_the_state_is_stale(arm):
    """No message is published."""
    arm.until_silent()
    arm.step = arm.listen
    try:
        arm.run_until(lambda: not arm.enable().success, 'a refusal', lambda: None)
    finally:
        del arm.step
    arm.until_silent()
    arm.check()


# The command topic -------------------------------------------------------------------------------

def test_enable_is_refused_with_a_second_publisher(arm):
    topic = f'{arm.node.namespace}/commands'
    other = arm.node.client.create_publisher(Float64MultiArray, topic, 1)
    try:
        arm.run_until(lambda: not arm.enable().success, 'a refusal')
        assert arm.enable().message == 'another publisher is on the command topic or on ~/torque'
        arm.until_silent()
        arm.check()
    finally:
        arm.node.client.destroy_publisher(other)
    arm.run_until(lambda: arm.enable().success, 'that we are alone')
    arm.run_until(lambda: arm.heard, 'a torque')
    arm.disable()
    arm.ended_safely()


def test_a_second_publisher_while_enabled_is_a_fault(arm):
    arm.enabled()
    other = arm.node.client.create_publisher(Float64MultiArray, f'{arm.node.namespace}/commands', 1)
    try:
        arm.until_fault('another publisher is on the command topic')
        arm.ended_safely()
        assert not arm.enable().success
    finally:
        arm.node.client.destroy_publisher(other)
    arm.run_until(lambda: arm.enable().success, 'that we are alone')


def test_a_second_publisher_is_found_under_a_remapped_name(launch):
    """The command topic was remapped on the command line."""
    arm = Arm(launch(*parameters(), arguments=['-r', 'commands:=wheels']), 'wheels').prepared()
    arm.enabled()
    other = arm.node.client.create_publisher(Float64MultiArray, f'{arm.node.namespace}/wheels', 1)
    arm.until_fault('another publisher is on the command topic')
    arm.ended_safely()
    arm.node.client.destroy_publisher(other)
    arm.close()


def test_a_driver_can_time_out_by_the_information_about_a_command(arm):
    """A number, one more with each message, and the time of publication; the layout is empty."""
    driver = rclpy.create_node('driver', context=arm.node.client.context)
    commands = driver.create_subscription(
        Float64MultiArray, f'{arm.node.namespace}/commands', lambda *_: None, DEEP)
    arm.run_until(commands.get_publisher_count, 'the publisher')
    arm.enabled().run(20)
    arm.disable()
    arm.ended_safely()
    infos = list(iter(lambda: commands.handle.take_message(Float64MultiArray, False), None))
    driver.destroy_node()
    numbers = [info['publication_sequence_number'] for _, info in infos]
    times = [info['source_timestamp'] for _, info in infos]
    assert len(numbers) > 20 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert times == sorted(times) and abs(times[-1] - arm.heard[-1].sent) < 1_000_000_000
    assert all(command.layout == MultiArrayLayout() for command, _ in infos)


def test_only_some_joints_are_driven(arm):
    """The message has as many entries as the controller has joints."""
    arm.prepared(torque__joints=['joint_2', 'joint_1'])
    arm.order = ['joint_2', 'joint_1']
    arm.enabled()
    arm.is_held()
    arm.disable()
    arm.ended_safely()
    assert len(arm.commands[-1][1]) == 2 and len(EFFORT) == 7


# What is counted ---------------------------------------------------------------------------------

def test_diagnostics_count_faults_refusals_and_releases(arm):
    before = arm.counted('released')
    arm.enabled()
    too_fast(arm)
    arm.until_fault('moves at -5')
    faults = arm.counted('refused: velocity beyond limit')
    assert faults >= 1 and not arm.enable().success
    arm.ended_safely()
    arm.run_until(lambda: arm.counted('refused: enable: velocity beyond limit') >= 1, 'the refusal')
    arm.run_until(lambda: arm.counted('released') >= before + arm.check(), 'all torques')
    assert arm.counted('refused: velocity beyond limit') == faults
    lost, = (item for item in arm.statuses[-1].values if item.key.startswith('joint states lost'))
    assert lost.value == '0'
