"""Test the reference of a recording: sent once, stopped while it moves the robot."""

import numpy as np
import pytest

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.ros import recorded_motion
from dynamics_node.ros.recorded_motion import RecordedMotion

POINTS = TimedPoints(('shoulder',), np.array([0.0, 5.0]), np.zeros((2, 1)), None, None)


class ReferencesStandIn:
    """Counts requests, and gives the answers that the test has set."""

    def __init__(self, follow='sent', stop='stopped'):
        self.sent, self._follow, self._stop = [], follow, stop

    def follow(self, points):
        self.sent.append(points)
        return self._follow

    def stop(self):
        self.sent.append('stop')
        return self._stop


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(recorded_motion.time, 'monotonic', lambda: now[0])
    return now


def test_the_reference_is_sent_once_and_stopped_once(clock):
    references = ReferencesStandIn()
    motion = RecordedMotion(references, POINTS)
    assert motion.start() == motion.start() == ''
    clock[0] += 4.9
    assert motion.stop() == 'the robot was stopped' and motion.stop() == ''
    assert references.sent == [POINTS, 'stop']


def test_a_motion_that_has_ended_is_not_stopped(clock):
    """Another reference may be followed by then."""
    references = ReferencesStandIn()
    motion = RecordedMotion(references, POINTS)
    motion.start()
    clock[0] += 5.1
    assert motion.stop() == '' and references.sent == [POINTS]


def test_nothing_is_stopped_that_was_not_sent_and_nothing_sent_after_the_stop(clock):
    for points in (None, POINTS):
        references = ReferencesStandIn()
        motion = RecordedMotion(references, points)
        assert motion.stop() == motion.start() == '' and references.sent == []


@pytest.mark.parametrize('answer, stops', [('refused: no', []), ('no answer: late', ['stop'])])
def test_a_reference_that_may_have_arrived_is_stopped(clock, answer, stops):
    references = ReferencesStandIn(follow=answer)
    motion = RecordedMotion(references, POINTS)
    assert motion.start() == answer
    motion.stop()
    assert references.sent == [POINTS, *stops]


@pytest.mark.parametrize('answer', ['refused: no', 'no answer: late'])
def test_a_stop_that_was_not_received_is_said(clock, answer):
    motion = RecordedMotion(ReferencesStandIn(stop=answer), POINTS)
    motion.start()
    assert 'MAY STILL MOVE' in motion.stop()
