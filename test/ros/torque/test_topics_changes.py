"""Test torques while references, limits, payloads, parameters or the robot change.

Each case ends in Arm.ended_safely or Arm.check, which look at every message since it began.
"""

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia
from std_msgs.msg import Header
from support.gate_states import moved
from support.remote_node import wait_until
from support.tiny_robots import TWO_JOINTS, chain
from support.torque_wire import EFFORT, ORDER, REST
from support.trajectories import trajectory
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.parameters.service import ServiceParameters
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

SPRINGS = {'torque__mode': 'impedance', 'torque__kp__default': 50.0, 'torque__kd__default': 5.0}
USUAL_STATES = ServiceParameters().max_states_with_torques
TEXT = Path(ARM7).read_text()
HEAVIER = re.sub(r'<mass value="([^"]*)"', lambda m: f'<mass value="{2 * float(m[1])}"', TEXT)


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


# References --------------------------------------------------------------------------------------

def test_a_reference_that_ends_is_held(arm):
    arm.prepared(**SPRINGS).enabled()
    arm.follow(moved(7, 0.1), 0.3)
    arm.run(160)
    arm.is_held(50.0 * (moved(7, 0.1) - REST))
    arm.disable()
    arm.ended_safely()


def test_a_reference_that_ends_is_a_fault_on_request(arm):
    arm.prepared(**SPRINGS, torque__hold_reference=False).enabled()
    arm.follow(moved(7, 0.1), 0.3)
    arm.until_fault('old, more than max_reference_age, 0.5 s')
    arm.ended_safely()


def test_a_stream_of_references_is_followed(arm):
    """Replaced ten times, each before the one before it ended."""
    arm.prepared(**SPRINGS, torque__hold_reference=False).enabled()
    for k in range(10):
        arm.follow(moved(6, 0.02 * k), 0.3)
        arm.run(15)
    assert arm.said('enabled')
    arm.check()


BAD_REFERENCES = {
    'no joints': trajectory([], [1.0], positions=[[]]),
    'unknown joint': trajectory(['knee'], [1.0], positions=[[0.1]]),
    'joint twice': trajectory(['joint_1', 'joint_1'], [1.0], positions=[[0.3, 0.3]]),
    'nan': trajectory(['joint_7'], [1.0], positions=[[math.nan]]),
    'infinite velocity': trajectory(['joint_7'], [1.0], positions=[[0.1]], velocities=[[math.inf]]),
    'sizes': trajectory(EFFORT, [1.0], positions=[[0.1] * 6]),
    'times go back': trajectory(['joint_7'], [1.0, 0.5], positions=[[0.1], [0.2]]),
    'beyond a limit': trajectory(['joint_7'], [5.0], positions=[[3.5]]),
    'too fast': trajectory(['joint_7'], [0.5], positions=[[2.9]]),
    'far off': trajectory(['joint_7'], [0.01], positions=[[1.0]]),
    'too long': trajectory(['joint_7'], [1.0], like=Header(frame_id='x' * 1_000_000),
                           positions=[[0.1]])}


def test_malformed_references_are_refused(arm):
    """One after the other: each is counted, and the torque does not change."""
    arm.prepared(**SPRINGS).enabled()
    references = arm.node.publisher(JointTrajectory, 'dynamics_node/reference')

    def in_log():
        return arm.log().count('the reference was refused')
    for refused, (name, bad) in enumerate(BAD_REFERENCES.items(), arm.refused + 1):
        references.publish(bad)
        arm.run_until(lambda so_far=refused: in_log() >= so_far, name)
        arm.is_held()
        assert in_log() == refused and arm.said('enabled'), name
    total = arm.refused + len(BAD_REFERENCES)
    arm.run_until(lambda: arm.counted('references refused') >= total, 'the count')
    assert arm.counted('references refused') == total and arm.said('enabled')
    arm.check()


def test_a_reference_is_refused_in_modes_that_follow_none(arm):
    arm.prepared(**SPRINGS)
    arm.follow(moved(7, 0.1))
    assert arm.refused_references() == 1 and not arm.heard
    arm.prepared().enabled()
    arm.follow(moved(7, 0.1))
    assert arm.refused_references() == 1
    arm.is_held()
    arm.check()


# Limits ------------------------------------------------------------------------------------------

def test_a_wanted_torque_beyond_the_effort_limit_is_clamped(arm):
    """The status reports it."""
    arm.prepared(**{**SPRINGS, 'torque__kp__default': 2000.0}).enabled()
    arm.follow(moved(7, -0.4))
    arm.run_until(lambda: arm.heard[-1].effort[ORDER.index('joint_7')] == -20.0, 'the limit')
    arm.run(20)
    assert arm.heard[-1].effort[ORDER.index('joint_7')] == -20.0
    arm.run_until(lambda: arm.counted('limited by effort: joint_7') > 0, 'diagnostics')
    arm.check()


def test_an_effort_limit_of_the_user_replaces_that_of_the_description(arm):
    """An arm that it cannot hold is not enabled."""
    arm.prepared(torque__effort_limits__joint_2=3.0, torque__effort_limits__joint_4=2.0)
    arm.arrive()
    reply = arm.run_until(lambda: 'compiled' not in (reply := arm.enable()).message and reply,
                          'the kernels')
    assert not reply.success and "joint 'joint_2' " in reply.message and ' of 3;' in reply.message
    arm.prepared(**{**SPRINGS, 'torque__kp__default': 2000.0}, torque__effort_limits__joint_7=5.0)
    arm.limit = {**EFFORT, 'joint_7': 5.0}
    arm.enabled()
    arm.follow(moved(7, -0.4))
    arm.run_until(lambda: arm.heard[-1].effort[ORDER.index('joint_7')] == -5.0, 'the limit')
    arm.check()


def test_a_fast_change_of_the_wanted_torque_is_slew_limited(arm):
    arm.prepared(**{**SPRINGS, 'torque__kp__default': 2000.0}, torque__slew_limits__joint_7=50.0)
    arm.slew = {'joint_7': 50.0}
    arm.enabled()
    arm.follow(moved(7, -0.4), 0.3)
    arm.run_until(lambda: arm.heard[-1].effort[ORDER.index('joint_7')] == -20.0, 'the limit')
    arm.run_until(lambda: arm.counted('limited by slew: joint_7') > 0, 'diagnostics')
    arm.disable()
    arm.ended_safely()


def test_a_torque_towards_a_position_limit_fades(arm):
    """Half way into the margin, half of it is left."""
    arm.prepared(**SPRINGS)
    arm.q[1] = 1.95
    arm.enabled()
    arm.follow([1.99], 0.3, ['joint_2'])
    arm.run(160)
    arm.is_held([0.0, 0.5 * 50.0 * 0.04, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert arm.said('enabled')
    arm.follow([1.91], 0.3, ['joint_2'])
    arm.run(160)
    arm.is_held([0.0, -50.0 * 0.04, 0.0, 0.0, 0.0, 0.0, 0.0])  # away from it all of it
    arm.check()


def test_a_torque_along_a_fast_motion_fades(arm):
    arm.prepared(**{**SPRINGS, 'torque__kd__default': 0.0}).enabled()
    arm.v[0] = 2.0
    arm.follow(moved(1, 0.2), 0.3)
    arm.run(160)
    arm.is_held([(2.2 - 2.0) / 0.44 * 50.0 * 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    arm.check()


def test_an_unknown_effort_limit_is_refused_or_assumed(arm):
    """As the policy says; the refusal names the joint."""
    arm.describe(TEXT.replace('effort="80"', 'effort="0"', 1))
    reply = arm.enable()
    assert not reply.success and 'the effort limit is unknown: joint_3;' in reply.message
    arm.until_silent()
    assert not arm.heard and arm.set(safety__unknown_effort='assume').successful
    arm.limit = {**EFFORT, 'joint_3': 10.0}
    arm.enabled().disable()
    arm.ended_safely()


# Payloads, parameters, requests ------------------------------------------------------------------

@pytest.mark.parametrize('milliseconds', [0, 300])
def test_a_payload_set_while_enabled_is_compensated(arm, milliseconds):
    """By the slew limit at most."""
    arm.enabled()
    kind = SERVICES['set_payload'].kind
    reply = arm.ask(kind, 'set_payload', kind.Request(
        name='box', frame='tool0', payload=Inertia(m=3.0),
        transition_time=Duration(nanosec=milliseconds * 1_000_000)))
    assert reply.success, reply.message
    arm.robot = arm.robot.with_payload('box', 'tool0', 3.0)
    arm.run(100)
    arm.is_held()
    assert arm.said('enabled')
    arm.check()
    arm.robot = arm.robot.without_payload('box')
    assert arm.ask(kind, 'set_payload', kind.Request(name='box', remove=True)).success
    arm.run(60)
    arm.is_held()
    arm.check()


def test_large_requests_are_refused_while_enabled(arm):
    """By their own parameter; after the torques they are computed again."""
    kind = SERVICES['batch_dynamics'].kind
    request = kind.Request(question='inverse', position=[0.0] * 7 * 1001,
                           velocity=[0.0] * 7 * 1001)

    def reply():
        return arm.ask(kind, 'batch_dynamics', request)
    assert arm.set(service__max_states_with_torques=1000).successful
    arm.enabled()
    arm.run_until(lambda: reply().message == (
        'states: 1001, at most 1000 (service.max_states_with_torques)'), 'the refusal')
    arm.disable()
    arm.ended_safely()
    arm.run_until(lambda: reply().success, 'the reply')
    assert arm.set(service__max_states_with_torques=USUAL_STATES).successful


def test_payloads_set_faster_than_their_transitions_are_compensated(arm):
    """Few are active, and a second after the last call it is complete."""
    arm.enabled()
    kind = SERVICES['set_payload'].kind
    for k in range(60):
        mass, frame = 1.0 + 0.1 * (k % 7), f'link_{6 + k % 2}'
        assert arm.ask(kind, 'set_payload', kind.Request(
            name='box', frame=frame, payload=Inertia(m=mass),
            transition_time=Duration(sec=1))).success
        arm.run(3)
    bare = arm.robot
    arm.robot = bare.with_payload('box', frame, mass)
    arm.run_until(lambda: np.abs(arm.last - arm.gravity()).max() < 1e-6, 'the last load')
    assert arm.said('enabled')
    arm.check()
    arm.robot = bare
    assert arm.ask(kind, 'set_payload', kind.Request(name='box', remove=True)).success
    arm.run(60)
    arm.is_held()
    arm.check()


@pytest.mark.parametrize('parameter', ['constraints', 'robot_description'])
def test_a_fifo_does_not_stop_the_torque(arm, tmp_path, parameter):
    """A fifo without a writer is refused, and torques continue."""
    os.mkfifo(tmp_path / 'fifo')
    arm.enabled()
    result = arm.set(**{parameter: str(tmp_path / 'fifo')})
    assert not result.successful and 'it is a fifo' in result.reason
    count = len(arm.heard)
    arm.run_until(lambda: len(arm.heard) > count + 20, 'torques')
    arm.is_held()
    assert arm.said('enabled')
    arm.disable()
    arm.ended_safely()


def test_limits_cannot_be_set_while_enabled(arm):
    """Gains can."""
    arm.prepared(**SPRINGS).enabled()
    for name, value in (('torque.joints', ['joint_1']),
                        ('torque.effort_limits.joint_1', 1000.0),
                        ('safety.max_state_age', 0.9), ('safety.safe_action', 'zero')):
        result = arm.set(**{name.replace('.', '__'): value})
        assert not result.successful and 'disable first' in result.reason, name
    assert arm.set(torque__kp__default=80.0, torque__kd__default=0.0).successful
    arm.follow(moved(7, 0.1), 0.3)
    arm.run(160)
    arm.is_held(80.0 * (moved(7, 0.1) - REST))
    arm.check()


def test_the_gain_of_one_joint_is_tuned_while_enabled(arm):
    """Set and deleted, without a jump; a gain of another joint changes nothing here."""
    arm.prepared(**SPRINGS).enabled()
    arm.follow(moved(7, 0.1), 0.3)
    arm.run(160)
    for values, spring in (({'torque__kp__joint_7': 70.0}, 70.0),
                           ({'torque__kp__joint_6': 20.0}, 70.0),
                           ({'torque__kp__joint_7': None}, 50.0)):
        assert arm.set(**values).successful
        arm.is_held(spring * (moved(7, 0.1) - REST))
    assert arm.said('enabled')
    arm.check()


def test_absurd_requests_do_not_change_the_torque(arm):
    """Every service, empty and invalid requests."""
    arm.enabled()
    for name, (kind, _, _) in SERVICES.items():
        if not name.startswith('set_'):
            arm.ask(kind, name, kind.Request())
        request = kind.Request()
        for field, what in request.get_fields_and_field_types().items():
            if what == 'sequence<double>':
                setattr(request, field, [math.inf, math.nan, -1e300])
            elif what == 'string':
                setattr(request, field, '\x01 ' * 100)
        arm.ask(kind, name, request)
    assert arm.said('enabled')
    arm.is_held()
    arm.check()


# The robot ---------------------------------------------------------------------------------------

@pytest.mark.parametrize('mode', ['gravity', 'impedance'])
@pytest.mark.parametrize('text', [HEAVIER, TWO_JOINTS, chain(('only', 'continuous'))],
                         ids=['same joints', 'other joints', 'never measured'])
def test_a_new_description_is_a_fault(arm, text, mode):
    """The torque ends in gravity of the old robot; then there are no messages."""
    arm.prepared(torque__mode=mode).enabled()
    arm.describe(text)
    arm.until_fault('the model or its limits changed')
    ends_held(arm)
    assert arm.said('fault: ') and 'Traceback' not in arm.log()
    reply = arm.enable()
    assert reply.success == (text is HEAVIER)


def test_a_new_description_brakes_a_moving_arm(arm):
    """As rule 5 of the contract says."""
    arm.enabled()
    arm.v[:] = 0.3
    arm.run(20)
    before = arm.last
    arm.node.describe(TWO_JOINTS)
    arm.described = True
    arm.run_until(lambda: np.abs(arm.last - before).max() > 1.0, 'a braking torque')
    arm.v[:] = 0.0
    arm.until_fault('the model or its limits changed')
    ends_held(arm)


def ends_held(arm):
    """Assert that the torque ends in that of gravity, and nothing comes after it."""
    def silent():
        count = len(arm.heard)
        arm.run(40)
        return len(arm.heard) == count
    arm.run_until(silent, 'silence')
    np.testing.assert_allclose(arm.last, arm.gravity(), rtol=0.0, atol=1e-6)
    arm.check()


@pytest.mark.parametrize('text', ['', 'nonsense', '<robot name="r"/>', TEXT[:-20]],
                         ids=['empty', 'nonsense', 'no links', 'cut off'])
def test_a_bad_description_does_not_change_the_torque(arm, text):
    arm.enabled()
    arm.describe(text)
    arm.run(20)
    arm.is_held()
    assert arm.said('enabled')
    arm.check()


def test_a_robot_of_other_joints_is_driven_after_enable(arm):
    """In the order of its model, where the parameter names none."""
    arm.prepared(torque__joints=[''])
    arm.order = list(EFFORT)
    arm.enabled()
    arm.describe(TWO_JOINTS)
    ends_held(arm)
    arm.arrive()
    arm.heard.clear()
    assert arm.enable().success
    wait_until(lambda: arm.arrive() and arm.listen() or arm.heard, 'a torque')
    assert arm.heard[0].names == ['shoulder', 'elbow']
    assert all(np.abs(one.effort).max() <= 50.0 for one in arm.heard)
