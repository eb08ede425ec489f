"""Move a robot by a reference while it is recorded; stop it if the recording ends early."""

from __future__ import annotations

import time
from typing import Protocol

from dynamics_node.identification.trajectory_files import TimedPoints


class References(Protocol):
    """Requests to a node that follows references; each returns the answer in words."""

    def follow(self, points: TimedPoints) -> str:
        """Send a reference that starts now."""

    def stop(self) -> str:
        """Stop all joints, and hold them where they stop."""


class RecordedMotion:
    """Send a reference once; stop() ends it early if it still moves the robot."""

    def __init__(self, references: References, points: TimedPoints | None) -> None:
        """Store the reference; None: something else moves the robot."""
        self._references, self._points = references, points
        self._end: float | None = None   # of the motion, on time.monotonic() [s]

    def start(self) -> str:
        """Send the reference at the first call; return '', the refusal, or that no answer came."""
        if self._points is None:
            return ''
        points, self._points = self._points, None
        answer = self._references.follow(points)
        if answer.startswith('refused'):
            return answer
        # Without an answer the node may have received the reference and follow it.
        self._end = time.monotonic() + float(points.times[-1])
        return answer if answer.startswith('no answer') else ''

    def stop(self) -> str:
        """Stop the robot if the reference still moves it; return what was done, '' if nothing."""
        end, self._end = self._end, None
        self._points = None
        if end is None or time.monotonic() > end:
            return ''
        answer = self._references.stop()
        if answer.startswith(('refused', 'no answer')):
            return f'THE ROBOT MAY STILL MOVE: disable torques. The request to stop: {answer}'
        return 'the robot was stopped'
