"""Test mode whole_body in the pipeline: start, messages, refusals and stops."""

from dataclasses import replace

import numpy as np
import pytest
from support.pipeline_rig import Rig
from support.real_robots import ROBOTS
from support.standing_pipeline import StandingRig
from support.standing_robots import FEET, state
from support.tolerances import SOLVED

from dynamics_node import DynamicsError
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import Task, TaskBound, WholeBodyReference
from dynamics_node.parameter import PerJoint

PATH = next(robot.path for robot in ROBOTS if str(robot) == 'solo12')
NAMES = [foot.name for foot in FEET]
Q = state(1, speed=0.0)[0]
KEEP = Task(name='keep', kind='posture', position=Q[7:].tolist())
STEP = 0.01   # [s]


@pytest.fixture
def rig():
    return StandingRig(PATH, FEET, Q)


@pytest.fixture
def enabled(rig):
    return rig.enabled()


def message(contacts=NAMES, tasks=(KEEP,), **fields):
    return WholeBodyReference(contacts=list(contacts), tasks=list(tasks), **fields)


def run(rig, seconds):
    """Step through a time; return the releases, (N, 12)."""
    return np.array([rig.step(STEP)[6:] for _ in range(round(seconds / STEP))])


# Start ---------------------------------------------------------------------------------------


def test_it_starts_with_the_torque_that_holds_the_robot(rig):
    """On enable nothing jumps: the first torque is that of gravity on the contacts."""
    rig.enable()
    hold = rig.pipeline.controller.holding_torque(Q)[6:]
    assert np.abs(run(rig, STEP) - hold).max() < 0.05   # [N m], of 2.7
    assert rig.pipeline.reference.contacts == tuple(NAMES)


REFUSED = {
    'mode whole_body needs contacts': {'contacts': ()},
    'the base|fixed': {'urdf': ARM7},
    "torque.driver is 'without_gravity'; mode whole_body needs full": {
        'driver': 'without_gravity'},
    'torque.gravity_scale is not 1': {'gravity_scale': PerJoint(0.9)},
    'torque.joints is without FL_HAA': {
        'joints': tuple(f'{leg}_{joint}' for leg in ('FL', 'FR', 'HL', 'HR')
                        for joint in ('HAA', 'HFE', 'KFE'))[1:]},
}


@pytest.mark.parametrize('reason', REFUSED)
def test_enable_is_refused_with_the_reason(reason):
    changes = dict(REFUSED[reason])
    urdf, contacts = changes.pop('urdf', PATH), changes.pop('contacts', FEET)
    if urdf is ARM7:
        rig = Rig(str(ARM7), mode='whole_body')
    else:
        rig = StandingRig(urdf, contacts, Q, **changes)
    with pytest.raises(DynamicsError, match=reason):
        rig.enable()


def test_enable_is_refused_without_the_state_of_the_base(rig):
    joints = rig.robot.model.joints[1:]
    for joint in joints:
        rig.node_state.measured_state.take(rig.node_state.clocks.now, [joint.name], Q[joint.q],
                                           np.zeros(1))
    with pytest.raises(DynamicsError, match='no joint state has been measured of: floating_base'):
        rig.pipeline.enable(rig.node_state.snapshot())


# Messages ------------------------------------------------------------------------------------


def test_contacts_change_without_a_jump(enabled):
    """The torque goes over to three feet in equal steps, in the time of the message."""
    before = run(enabled, STEP)[0]
    enabled.send(message(NAMES[1:], blend=0.2))
    torques = run(enabled, 0.3)
    after = enabled.pipeline.controller.torque(Q, enabled.v, enabled.pipeline.reference)[6:]
    assert enabled.pipeline.controller.contacts == tuple(NAMES[1:])
    assert np.abs(after - before).max() > 0.3   # [N m]
    share = (1 + np.arange(len(torques))) * STEP / 0.2
    wanted = before + np.minimum(share, 1.0)[:, None] * (after - before)
    assert np.abs(torques - wanted).max() < SOLVED


def test_a_message_during_a_blend_waits_for_its_end(enabled):
    first, second = message(NAMES[1:], blend=0.1), message(blend=0.1)
    begin = run(enabled, STEP)[0]
    enabled.send(first)
    run(enabled, 0.05)
    enabled.send(second)
    torques = run(enabled, 0.3)
    assert np.abs(np.diff(torques, axis=0)).max() < 0.1 * np.abs(torques - begin).max() + 0.02
    assert enabled.pipeline.controller.contacts == tuple(NAMES)
    assert enabled.pipeline.reference.tasks[0].name == 'keep'


WRONG = {
    'no contact .nose.': {'contacts': ['nose']},
    'contacts is \\[\\]; expected at least one': {'contacts': []},
    'floating_base can move while the motors are at rest': {'contacts': NAMES[:2]},
    'tasks has 0 entries': {'tasks': []},
    "task 'keep': kind is 'dance'": {'tasks': [Task(name='keep', kind='dance')]},
    "task 'keep': position has 3": {'tasks': [Task(name='keep', kind='posture',
                                                   position=[0.0] * 3)]},
    "task 'keep': no frame 'wing'": {'tasks': [Task(name='keep', kind='frame', frame='wing')]},
    "bound 'torque': limit is": {'bounds': [TaskBound(kind='torque', limit=[-1.0])]},
    'cannot be fulfilled together': {'bounds': [TaskBound(kind='torque', limit=[0.01]),
                                                TaskBound(kind='friction')]},
    'blend is -1': {'blend': -1.0},
    'blend is nan': {'blend': np.nan},
}


@pytest.mark.parametrize('reason', WRONG)
def test_a_wrong_message_is_refused_by_name_and_changes_nothing(enabled_once, reason):
    old = enabled_once.pipeline.reference, enabled_once.pipeline.controller
    with pytest.raises(DynamicsError, match=reason):
        enabled_once.send(message(**WRONG[reason]))
    assert (enabled_once.pipeline.reference, enabled_once.pipeline.controller) == old


@pytest.fixture(scope='module')
def enabled_once():
    """A rig for tests that change nothing."""
    return StandingRig(PATH, FEET, Q).enabled()


def test_a_message_is_refused_in_another_mode_and_while_disabled(rig):
    with pytest.raises(DynamicsError, match='torques are disabled'):
        rig.send(message())
    other = StandingRig(PATH, FEET, Q, mode='gravity').enabled()
    with pytest.raises(DynamicsError, match="'gravity', which follows no whole-body reference"):
        other.send(message())


def test_without_messages_a_stream_is_a_fault():
    """With hold_reference: false; each message begins the time again."""
    stream = StandingRig(PATH, FEET, Q, hold_reference=False)
    longest = stream.settings.max_reference_age
    stream.enable()
    run(stream, 0.6 * longest)
    stream.send(message())
    run(stream, 0.6 * longest)
    assert stream.state in ('ramping in', 'enabled')
    run(stream, 0.6 * longest)
    assert stream.state == 'fault' and 'reference' in stream.reason


# Stops ---------------------------------------------------------------------------------------


def test_a_stop_ends_in_the_gravity_torque_of_the_present_contacts(enabled):
    """Three feet carry the robot: the fourth leg is held against its own weight alone."""
    enabled.send(message(NAMES[1:], blend=0.05))
    run(enabled, 0.1)
    enabled.run_out()
    last = enabled.releases[-1][0].effort[6:]
    assert np.abs(last - enabled.pipeline.controller.holding_torque(Q)[6:]).max() < SOLVED
    assert np.abs(last - enabled.robot.gravity_torque(Q)[6:])[:3].max() < SOLVED


def test_it_starts_again_on_all_contacts(enabled):
    enabled.send(message(NAMES[1:], blend=0.05))
    enabled.run_out()
    enabled.releases.clear()   # the gate compares the first one with the start of its ramp
    enabled.enabled()
    assert enabled.pipeline.controller.contacts == enabled.pipeline.reference.contacts == tuple(
        NAMES)


def test_a_payload_keeps_the_contacts(enabled):
    enabled.send(message(NAMES[1:], blend=0.05))
    run(enabled, 0.1)
    enabled.node_state.current_robot.set_payload('box', ('base_link', 0.2), 0.0)
    run(enabled, 0.05)
    assert enabled.pipeline.controller.robot.payloads
    assert enabled.pipeline.controller.contacts == tuple(NAMES[1:])


def test_mode_gravity_goes_over_to_whole_body_and_back():
    rig = StandingRig(PATH, FEET, Q, mode='gravity').enabled()
    for mode in ('whole_body', 'gravity'):
        changed = replace(rig.parameters, mode=mode)
        rig.pipeline.check(changed, rig.settings)
        rig.pipeline.use(changed, rig.settings)
        torques = run(rig, 0.3)
        assert np.abs(np.diff(torques, axis=0)).max() < 0.05   # [N m]
        assert rig.state == 'enabled'
        assert rig.pipeline.controller.mode == mode
