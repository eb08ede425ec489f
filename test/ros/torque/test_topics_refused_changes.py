"""Test that changes which would fling the arm are refused while torques are enabled, on the wire.

Each case ends in Arm.check, which looks at every message since it began.
"""

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia
from support.gate_states import moved
from support.torque_wire import REST

from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

SPRINGS = {'torque__mode': 'impedance', 'torque__kp__default': 50.0, 'torque__kd__default': 5.0}


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


@pytest.mark.parametrize('milliseconds', [0, 2000])
def test_a_payload_that_cannot_be_carried_is_refused_while_enabled(arm, milliseconds):
    """With the numbers; the torque does not change, and the payload is not there."""
    arm.enabled()
    kind = SERVICES['set_payload'].kind
    reply = arm.ask(kind, 'set_payload', kind.Request(
        name='box', frame='tool0', payload=Inertia(m=1e6),
        transition_time=Duration(nanosec=milliseconds % 1000 * 1_000_000,
                                 sec=milliseconds // 1000)))
    assert not reply.success and 'cannot hold the arm in this pose' in reply.message
    assert "'joint_2' " in reply.message and ' of 120' in reply.message
    arm.run(60)
    arm.is_held()
    listed = SERVICES['list_payloads'].kind
    assert arm.said('enabled') and arm.ask(listed, 'list_payloads', listed.Request()).names == []
    arm.check()


def test_a_payload_that_cannot_be_carried_is_refused_on_enable(arm):
    kind = SERVICES['set_payload'].kind
    assert arm.ask(kind, 'set_payload', kind.Request(
        name='box', frame='tool0', payload=Inertia(m=1e6))).success
    arm.arrive()
    reply = arm.run_until(lambda: 'compiled' not in (reply := arm.enable()).message and reply,
                          'the kernels')
    assert not reply.success and 'cannot hold the arm in this pose' in reply.message
    assert arm.ask(kind, 'set_payload', kind.Request(name='box', remove=True)).success
    arm.until_silent()
    assert not arm.heard


def test_a_payload_that_comes_too_fast_is_refused_while_enabled(arm):
    arm.enabled()
    kind = SERVICES['set_payload'].kind
    box = kind.Request(name='box', frame='tool0', payload=Inertia(m=8.0))
    reply = arm.ask(kind, 'set_payload', box)
    assert not reply.success and 'too fast' in reply.message and 'at most 30' in reply.message
    arm.is_held()
    box.transition_time = Duration(sec=2)
    assert arm.ask(kind, 'set_payload', box).success
    bare, arm.robot = arm.robot, arm.robot.with_payload('box', 'tool0', 8.0)
    arm.is_held()
    arm.robot = bare
    assert arm.ask(kind, 'set_payload', kind.Request(
        name='box', remove=True, transition_time=Duration(sec=2))).success
    arm.is_held()
    arm.check()


def test_a_gravity_that_would_fling_the_arm_is_refused_while_enabled(arm):
    arm.enabled()
    kind = SERVICES['set_gravity'].kind
    for z, reason in ((9.81, 'at most 2 at once'), (-300.0, 'at most 30 m/s^2')):
        request = kind.Request()
        request.gravity.vector.z = z
        reply = arm.ask(kind, 'set_gravity', request)
        assert not reply.success and reason in reply.message
    arm.run(60)
    arm.is_held()
    arm.check()


def test_gains_that_would_fling_the_arm_are_refused_while_enabled(arm):
    """Beyond their bounds, or by the torque that the error of the moment would become."""
    arm.prepared(**SPRINGS).enabled()
    arm.follow(moved(7, 0.1), 0.3)
    arm.run(160)
    for name, value, reason in (('kp.default', 1e6, '100000'), ('kp.joint_1', 1e6, '100000'),
                                ('kp.default', 9e4, 'too fast'), ('kp.joint_7', 9e4, 'too fast'),
                                ('gravity_scale.default', 3.0, '2')):
        result = arm.set(**{f'torque.{name}': value})
        assert not result.successful and reason in result.reason, result.reason
    arm.is_held(50.0 * (moved(7, 0.1) - REST))
    arm.check()
