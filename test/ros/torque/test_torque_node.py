"""Test the node of the torque process in this process: commands, clean-up, status."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.late_callbacks import call_back  # noqa: E402
from support.served_torque_node import LATE, Served, parameters  # noqa: E402

from dynamics_node.control.torque_terms import TorqueTerms  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.ros import convert  # noqa: E402
from dynamics_node.ros.state.joint_state_bytes import ReceivedJointState  # noqa: E402
from dynamics_node.ros.torque import last_torque  # noqa: E402
from dynamics_node.ros.torque.records import (  # noqa: E402
    FrameWanted,
    LogLine,
    TorqueStatus,
)
from dynamics_node.safety import State  # noqa: E402


@pytest.fixture
def served(ros_environment):
    import rclpy
    context = rclpy.Context()
    rclpy.init(context=context)
    made = Served(context)
    yield made
    made.node.cleanup()
    made.node.destroy_node()
    made.watchdog.close()
    made.watched.close()
    rclpy.shutdown(context=context)


def joint_state(stamp):
    """Return a JointState of the arm at rest."""
    message = JointState(name=[f'joint_{k}' for k in range(1, 8)], position=[0.1] * 7,
                         velocity=[0.0] * 7, effort=[0.0] * 7)
    message.header.stamp = convert.time(stamp)
    return message


def test_its_name_is_hidden_and_its_topics_are_those_of_the_node(served):
    served.ready()
    assert served.node.get_name() == '_dynamics_node_torque'
    assert {each.topic_name for each in served.node.publishers} >= {'/dynamics_node/torque'}
    assert '/dynamics_node/enable' in {each.srv_name for each in served.node.services}


def test_joint_states_are_passed_on_as_they_arrive_after_a_request(served, monkeypatch):
    """For a second; before it they wait in the queue of the middleware."""
    served.ready()
    queue = [ReceivedJointState(5, None, b'waiting')]
    monkeypatch.setattr(served.node._joint_states, 'waiting', lambda: iter(
        [] if served.node._joint_states.awake else [queue.pop()] if queue else []))
    assert served.passed_on.read() == [] and not served.passed_on.awake
    assert not served.call('fetch_joint_states').refusal
    assert served.passed_on.read() == [(5, b'waiting')] and served.passed_on.awake
    served.node._on_joint_state(6, None, b'next')
    assert served.passed_on.read() == [(6, b'next')]
    served.node._on_unused()
    assert not served.passed_on.awake


@pytest.mark.parametrize(('meaning', 'active', 'awake'), [
    ('motor_torque', True, True), ('motor_torque', False, False), ('unknown', True, False)])
def test_every_joint_state_is_received_while_they_are_stored(served, meaning, active, awake):
    served.ready(observer__effort_meaning=meaning)
    assert not served.call('set_active', active).refusal
    assert served.passed_on.awake is awake
    served.call('use', parameters(observer__effort_meaning='unknown'))
    assert not served.passed_on.awake
    served.call('cleanup')
    assert not served.passed_on.awake


def test_an_unknown_command_and_a_bug_are_replies_not_the_end(served):
    assert "internal error: KeyError('dance')" in served.call('dance').refusal
    assert 'internal error' in served.call('set_robot', None).refusal
    assert any(isinstance(each, LogLine) and 'please report this' in each.text
               for each in served.sent)


def test_the_status_is_complete_and_sent_when_it_changes(served):
    served.ready()
    status = served.status()
    assert (status.gate.state, status.gate.idle) == (State.DISABLED, True)
    assert (status.kernels, status.realtime, status.effort) == ('', 'not requested', {})
    assert status.contact.reason
    served.sent.clear()
    served.enable()
    assert any(isinstance(each, TorqueStatus) and each.gate.state is State.RAMPING_IN
               for each in served.sent)


def test_a_reference_that_waited_while_torques_were_enabled_again_is_refused(served):
    from dynamics_node.msg import TaskReference
    served.ready(torque__mode='task_space', torque__task_frame='tool0').enable()
    message = TaskReference()
    message.header.frame_id = 'camera'
    served.node._torque.references.on_task_reference(serialize_message(message))
    wanted = served.sent[-1]
    assert isinstance(wanted, FrameWanted)
    served.node._torque.finish()
    served.enable()
    assert not served.call('follow_seen_from', wanted, np.eye(4), '').refusal
    assert 'torques were enabled again' in served.status().last_refusal


def test_a_change_of_payload_is_used_as_a_whole(served):
    served.ready().enable()
    served.current.set_payload('box', ('tool0', 2.0, (0.0, 0.0, 0.1), None), 0.0)
    state = served.current.shared(known=1)
    assert state.described is None
    assert not served.call('set_robot', state).refusal
    assert served.node._node_state.robot.total_mass == pytest.approx(
        served.current.robot.total_mass)
    assert served.status().gate.state is State.RAMPING_IN   # torques go on


def test_few_functions_are_called_between_a_joint_state_and_its_command(served, monkeypatch):
    """Each one is read with cold caches: it takes longer than its work."""
    monkeypatch.setattr(TorqueTerms, 'gravity', lambda terms, q: np.zeros(7))   # no NumPy path
    served.ready(safety__ramp_in_time=0.0).enable()
    called, counts = [], []

    def send(command):
        counts.append(len(called))

    def on_event(frame, event, _):
        if event == 'call':
            called.append(frame.f_code.co_name)
    served.node._torque._send_command = send
    for k in range(5):
        called.clear()
        data = serialize_message(joint_state(time.time_ns()))
        sys.setprofile(on_event)
        try:
            served.node._joint_states._on_message((data, {'publication_sequence_number': 1 + k}))
        finally:
            sys.setprofile(None)
    assert served.status().gate.state is State.ENABLED
    assert len(counts) == 5 and counts[-1] <= 44, ' '.join(called)


def test_another_description_ends_torques_in_a_fault(served):
    served.ready().enable()
    served.current.load(ARM7.read_text().replace('joint_7', 'wrist'), parameters().node)
    assert not served.call('set_robot', served.current.shared(known=1)).refusal
    assert served.status().gate.state is State.FAULT


def test_other_parameters_are_refused_while_torques_are_published(served):
    served.ready().enable()
    for values in ({'torque__joints': ['joint_1']}, {'missing_velocity': 'fault'}):
        assert 'disable first' in served.call('check', parameters(**values)).refusal
    other = served.current.try_load(ARM7.read_text().replace('joint_7', 'wrist'), parameters().node)
    refusal = served.call('check', parameters(), served.current.shared_after(other)).refusal
    assert 'disable first' in refusal
    assert not served.call('check', parameters(torque__gravity_scale__default=0.9)).refusal


def test_torques_cannot_be_enabled_between_check_and_use(served):
    served.ready()
    other = parameters(torque__mode='impedance', torque__gains='kp_kd')
    assert not served.call('check', other).refusal
    served.measure()
    reply = served.node._torque.on_enable(SetBool.Request(data=True), SetBool.Response())
    assert not reply.success
    assert reply.message == 'parameters are being changed: try again'
    served.call('use', other)
    served.enable()


def test_deactivate_ends_in_the_safe_torque(served):
    served.ready().enable()
    served.node._torque.on_state(served.node._node_state.snapshot())
    before = served.released()
    assert not served.call('set_active', False).refusal
    assert served.released() > before
    assert served.status().gate.idle
    effort = served.status().effort
    gravity = served.node._node_state.robot.gravity_torque(np.full(7, 0.1))
    np.testing.assert_allclose(list(effort.values()), gravity, atol=1e-9)


def test_callbacks_that_come_after_the_cleanup_do_nothing(served):
    """As the events executor calls them: timers, messages, requests."""
    served.ready(torque__rate=500.0).enable()
    node = served.node

    def entities():
        return [*node.timers, *node._subscriptions, *node.services]
    before = entities()
    assert not served.call('cleanup').refusal
    left = entities()
    gone = [each for each in before if each not in left]
    assert len(gone) > 6
    call_back(gone)
    assert served.status() is None


def test_a_cleanup_while_timers_are_due_is_safe(served):
    """On a loaded machine: all are due at once, the cleanup comes first."""
    from rclpy.experimental import EventsExecutor
    from rclpy.task import Future
    served.ready(torque__rate=500.0)
    node = served.node
    executor, done, step = EventsExecutor(context=node.context), Future(), iter(range(100))
    executor.add_node(node)

    def on_timer():
        k = next(step)
        if k < 4:
            served.enable()   # once more, should the machine have been slower than that
            time.sleep(LATE)
        elif k == 4:
            served.call('cleanup')
        elif k == 8:
            done.set_result(True)
    node.create_timer(0.01, on_timer)
    executor.spin_until_future_complete(done, timeout_sec=30.0)
    assert done.done()


def test_repeated_configuring_leaves_no_entities(served):
    counts = set()
    for _ in range(5):
        served.ready()
        node = served.node
        counts.add((len(list(node.timers)), len(list(node.services)), len(node._subscriptions),
                    len(list(node.publishers))))
        served.call('cleanup')
    assert len(counts) == 1


# Kernels -----------------------------------------------------------------------------------------

@pytest.fixture
def compiling(served, monkeypatch):
    """A node whose kernels are being compiled until `ready` is set; ~/enable replies to a list."""
    served.ready()
    pipeline, topics = served.node._torque.pipeline, served.node._torque
    served.kernels_ready, served.replies = False, []

    def missing(robot):
        return '' if served.kernels_ready else '2 kernels of the torque are being compiled'
    monkeypatch.setattr('dynamics_node.ros.torque.law_kernels.missing_kernels', missing)
    monkeypatch.setattr(type(pipeline), 'compiling', property(lambda _: not served.kernels_ready))
    send = topics._reply_later(lambda reply, header: served.replies.append(reply))

    def ask(data):
        served.measure()
        send(topics.on_enable(SetBool.Request(data=data), SetBool.Response()), None)
    served.ask, served.poll = ask, topics._check_waiting
    return served


def test_enable_waits_for_its_kernels(compiling):
    compiling.ask(True)
    compiling.poll()
    assert not compiling.replies
    assert compiling.status().gate.idle
    assert 'being compiled' in compiling.status().kernels
    compiling.kernels_ready = True
    compiling.measure()
    compiling.poll()
    assert [reply.success for reply in compiling.replies] == [True]
    assert compiling.status().gate.state is State.RAMPING_IN


@pytest.mark.parametrize('end', ['disable', 'deactivate'])
def test_a_waiting_enable_is_refused_when_torques_are_disabled(compiling, end):
    """Torques must not begin after it."""
    compiling.ask(True)
    if end == 'disable':
        compiling.ask(False)
    else:
        compiling.call('set_active', False)
    assert 'meanwhile' in compiling.replies[0].message
    assert not compiling.replies[0].success
    compiling.kernels_ready = True
    assert compiling.status().gate.idle


def test_a_waiting_enable_is_refused_when_its_time_is_over(compiling, monkeypatch):
    from dynamics_node.ros.torque import topics
    monkeypatch.setattr(topics, 'KERNELS', 0.0)
    compiling.ask(True)
    compiling.poll()
    assert 'being compiled' in compiling.replies[0].message
    assert compiling.status().gate.idle


def test_a_kernel_that_cannot_be_made_prevents_enabling(served, monkeypatch):
    """Torques never start in NumPy, unless compile is false."""
    served.ready()
    robot = type(served.node._node_state.robot)
    monkeypatch.setattr(robot, 'compilation_enabled', property(lambda _: True))
    monkeypatch.setattr(robot, 'compile_failures', property(lambda _: ['no memory']))
    served.measure()
    reply = served.node._torque.on_enable(SetBool.Request(data=True), SetBool.Response())
    assert not reply.success
    assert 'could not be made: no memory. With compile: false' in reply.message


def test_the_watchdog_watches_until_the_last_torque_of_the_exit(served, monkeypatch):
    """The gate is idle before; if the process is killed then, the arm must not be left alone."""
    from dynamics_node.ros.torque import topics
    served.ready(torque__mode='gravity').enable()
    served.node._torque.on_state(served.node._node_state.snapshot())
    assert served.last_torque.active
    watched = []
    monkeypatch.setattr(topics.time, 'sleep', lambda _: watched.append(served.last_torque.active))
    served.node.finish()
    assert len(watched) > 10 and all(watched)
    assert not served.last_torque.active


def test_the_watchdog_gets_the_last_torque_and_the_gravity_torque(served):
    served.ready(torque__joints=['joint_4', 'joint_2'], safety__ramp_in_time=0.0).enable()
    served.node._torque.on_state(served.node._node_state.snapshot())
    last, robot = served.last_torque.last(), served.current.robot
    rules, places = last.rules, [3, 1]
    assert (rules.names, list(rules.places)) == (['joint_4', 'joint_2'], places)
    assert [last.last_valid.torque[k] for k in places] == (
        list(served.node._torque.published().values()))
    assert list(last.last_valid.position) == [0.1] * 7
    np.testing.assert_allclose(np.take(last.gravity, places),
                               robot.gravity_torque([0.1] * 7)[places], rtol=1e-9)
    assert [rules.limits.effort[k] for k in places] == [80.0, 120.0]
    np.testing.assert_allclose(rules.controller.holding_torque(np.array([0.1] * 7))[places],
                               np.take(last.gravity, places), rtol=1e-9)


def test_a_changed_model_that_the_watchdog_cannot_have_is_logged_once(served, monkeypatch):
    """Torques go on, and the watchdog keeps the model that it has."""
    served.ready().enable()
    served.node._torque.on_state(served.node._node_state.snapshot())
    before = served.current.robot.gravity.tolist()
    served.current.set_gravity((0.0, 0.0, -9.5))
    assert not served.call('set_robot', served.current.shared(known=1)).refusal
    served.measure()
    served.node._torque.on_state(served.node._node_state.snapshot())
    with monkeypatch.context() as patch:
        patch.setattr(last_torque.pickle, 'dumps', lambda *_: bytes(last_torque.SLOT))
        for _ in range(3):
            served.node._torque._give_sign()
    line, = (each for each in served.sent if isinstance(each, LogLine) and 'watchdog' in each.text)
    assert line.severity == 'error' and 'too long for the watchdog' in line.text
    code = Path(line.source.file).read_text().splitlines()[line.source.line - 1]
    assert "self._log.error(f'the watchdog does not have the changed model" in code
    assert served.last_torque.last().rules.controller.robot.gravity.tolist() == before
    assert not served.node._torque.pipeline.gate.idle


def test_torques_are_not_enabled_without_a_watchdog(served):
    """Nothing is published; with watchdog_time 0 it is not needed."""
    served.ready()
    served.watchdog.close()
    served.measure()
    reply = served.node._torque.on_enable(SetBool.Request(data=True), SetBool.Response())
    assert not reply.success and 'the watchdog process has ended' in reply.message
    assert served.node._torque.pipeline.gate.idle
    served.call('use', parameters(safety__watchdog_time=0.0))
    served.enable()


def test_a_change_without_an_effect_costs_no_time(served, monkeypatch):
    """A check, and the first torque of another Robot, take as long as several torques."""
    served.ready()
    checked = []
    monkeypatch.setattr(served.node._torque.pipeline, 'check', lambda *_: checked.append(1))
    known, robot = served.current.shared().serial, served.node._node_state.robot
    assert not served.call('set_robot', served.current.shared(known)).refusal
    assert not checked and served.node._node_state.robot is robot
    for k, change in enumerate((lambda: served.current.set_payload('box', ('tool0', 1.0), 0.0),
                                lambda: served.current.set_gravity([0.0, 0.0, -9.0]),
                                lambda: served.current.set_payload('box', ('tool0', 1.0), 5.0))):
        change()
        assert not served.call('set_robot', served.current.shared(known)).refusal
        assert len(checked) == min(k + 1, 2)   # the last one repeats the first
