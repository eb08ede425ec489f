"""Test the requests of the inspector to a real node: answered in words, in several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.remote_node import wait_until

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.ros.control_requests import ControlRequests
from dynamics_node.ros.watched_node import WatchedNode


@pytest.fixture(scope='module')
def watched(arm):
    opened = WatchedNode(arm.node.name)
    yield opened
    opened.close()


def until(watched, condition, what):
    return wait_until(lambda: condition(watched.read()), what)


def test_requests_are_answered_in_words(arm, watched):
    """A payload is attached and removed; a frame that does not exist is refused."""
    control = ControlRequests(watched.name)
    try:
        assert control.attach('inspector', 'tool0', 1.5) == '1.5 kg at tool0 within 1 s'
        until(watched, lambda state: state.payloads.get('inspector', ())[:2] == ('tool0', 1.5),
              'the payload')
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


def test_gains_are_set_all_or_none_and_read_back(control, watched):
    """The parameters of a node with gains by frequency: kp is not in use."""
    assert control.set_gains('frequency', {'joint_1': 12.0, 'joint_2': 12.0}) == (
        'frequency of joint_1, joint_2 is 12')
    refused = control.set_gains('frequency', {'joint_3': 5.0, 'joint_4': -1.0})
    assert refused.startswith('refused: ') and 'joint_4' in refused
    gains = until(watched, lambda state: state.gains.get('frequency', {}).get('joint_2') == 12.0
                  and state.gains, 'the gains')
    assert gains['frequency']['joint_3'] == 10.0 and set(gains) == {'frequency', 'damping_ratio'}


def test_a_reference_is_sent(control):
    """Torques are disabled: the node ignores it, but has received it."""
    points = TimedPoints(tuple(f'joint_{k}' for k in range(1, 8)), np.array([0.0, 1.0]),
                         np.zeros((2, 7)), None, None)
    assert control.follow(points).startswith('2 points over 1 s were sent')
    assert control.stop() == 'the joints are stopped'


def test_a_node_that_does_not_run_is_said_so(watched, monkeypatch):
    monkeypatch.setattr('dynamics_node.ros.control_requests.TIMEOUT', 0.2)
    control = ControlRequests('/absent')
    try:
        assert 'is the node running?' in control.enable(False)
        assert 'is the node running?' in control.set_gains('kp', {'joint_1': 1.0})
        assert 'no node subscribes' in control.follow(None)
        assert 'no node subscribes' in control.stop()
    finally:
        control.close()
