"""Test the watched node: what a node publishes arrives, requests are answered in words."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.remote_node import LATCHED, wait_until

from dynamics_node.example_robots import ARM7
from dynamics_node.ros import watched_node
from dynamics_node.ros.watched_node import ControlRequests, WatchedNode, named


@pytest.fixture(scope='module')
def watched(arm):
    opened = WatchedNode(arm.node.name)
    yield opened
    opened.close()


def until(watched, condition, what):
    return wait_until(lambda: condition(watched.read()), what)


def test_description_and_joint_states_arrive_by_name(arm, watched):
    client, space = arm.node.client, arm.node.namespace
    client.create_publisher(String, f'{space}/robot_description', LATCHED).publish(
        String(data=ARM7.read_text()))
    until(watched, lambda state: state.description == ARM7.read_text(), 'the description')
    joints = client.create_publisher(JointState, f'{space}/joint_states', 10)

    def arrived(state):
        joints.publish(JointState(name=['joint_3'], position=[0.25]))
        return state.position is not None and state.position.values.get('joint_3') == 0.25
    until(watched, arrived, 'the joint states')


def test_a_slow_publisher_of_joint_states_is_not_lost_beside_a_fast_one(arm, watched):
    slow, fast = (arm.node.client.create_publisher(
        JointState, f'{arm.node.namespace}/joint_states', 50) for _ in range(2))
    until(watched, lambda _: slow.get_subscription_count() == fast.get_subscription_count() > 0,
          'the connections')
    for _ in range(30):
        watched.read()
        time.sleep(0.02)

    def arrived(state):
        slow.publish(JointState(name=['slow_joint'], position=[0.5]))
        for _ in range(20):
            fast.publish(JointState(name=['fast_joint'], position=[0.25]))
        time.sleep(0.05)
        return state.position is not None and {'slow_joint', 'fast_joint'} <= set(
            state.position.values)
    until(watched, arrived, 'both')


def test_gate_and_rate_come_from_the_diagnostics(watched):
    state = until(watched, lambda state: state.gate and state.rate and state,
                  'the diagnostics')
    assert state.node_exists and state.gate == 'disabled' and state.mode == 'gravity'


def test_requests_are_answered_in_words(arm, watched):
    """A payload is attached and removed; a frame that does not exist is refused."""
    control = ControlRequests(watched.name)
    try:
        assert control.attach('inspector', 'tool0', 1.5) == '1.5 kg at tool0 within 1 s'
        frame, mass, *_ = until(watched, lambda state: state.payloads.get('inspector'),
                                'the payload')
        assert (frame, mass) == ('tool0', 1.5)
        assert control.detach('inspector') == 'the payload is removed within 1 s'
        assert 'nowhere' in control.attach('inspector', 'nowhere', 1.5)
        assert control.enable(False).startswith('torques are disabled')
    finally:
        control.close()


@pytest.fixture
def control(watched):
    opened = ControlRequests(watched.name)
    yield opened
    opened.close()


def test_requests_of_several_threads_are_all_answered(control):
    requests = [lambda: control.attach('inspector', 'tool0', 1.5), lambda: control.enable(False)]
    with ThreadPoolExecutor(8) as pool:
        answers = [each.result(30.0) for each in [pool.submit(one) for one in requests * 12]]
    assert set(answers[::2]) == {'1.5 kg at tool0 within 1 s'}
    assert all(answer.startswith('torques are disabled') for answer in answers[1::2])
    assert control.detach('inspector') == 'the payload is removed within 1 s'


def test_disabling_does_not_wait_for_a_payload(control, monkeypatch):
    started, goes_on = threading.Event(), threading.Event()

    def slow(*arguments, **options):
        started.set()
        goes_on.wait(30.0)
    monkeypatch.setattr(control._client, 'set_payload', slow)
    with ThreadPoolExecutor(2) as pool:
        attached = pool.submit(control.attach, 'inspector', 'tool0', 1.5)
        assert started.wait(10.0)
        try:
            assert pool.submit(control.enable, False).result(10.0).startswith('torques are dis')
            assert not attached.done()
        finally:
            goes_on.set()


def test_requests_after_the_end_are_refused(watched):
    control = ControlRequests(watched.name)
    control.close()
    assert control.enable(True) == control.detach('inspector') == 'refused: the inspector ends'


def test_a_node_of_another_name_is_not_there(watched, monkeypatch):
    monkeypatch.setattr(watched, '_base', 'absent')
    assert not watched.read().node_exists


def test_numbers_of_several_publishers_are_merged():
    assert named(['a', 'b'], [1.0, 2.0], named(['b', 'c'], [5.0, 6.0])).values == {
        'a': 1.0, 'b': 2.0, 'c': 6.0}


def test_each_joint_keeps_the_time_of_its_own_message(monkeypatch):
    """A publisher that has gone silent is not hidden by another one."""
    clock = iter([10.0, 20.0])
    monkeypatch.setattr(watched_node.time, 'monotonic', lambda: next(clock))
    assert named(['b'], [2.0], named(['a', 'b'], [5.0, 6.0])).arrived == {'a': 10.0, 'b': 20.0}
