"""Run the action `~/identify` of a node in another process, for the inspector."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.action import ActionClient

from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import read_file
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.identify_state import IdentifyFound, IdentifyState
from dynamics_node.ros.recorded_motion import RecordedMotion, References
from dynamics_node.ros.request_node import ENDED, RequestNode

TIMEOUT = 10.0            # [s] for the action, and for the response to a goal
POLL = 0.2                # [s] between two looks for a cancellation
LONGEST = 7200.0          # [s] of an identification
MOST_REPORT = 30_000_000  # bytes
REPORT, RECORDING = 'report.html', 'recording.csv'   # files of the action
DONE = 'done'
NUMBERS = ('rms_before', 'rms_after', 'rms_torque', 'before', 'values')
PER_JOINT = ('rms_before', 'rms_after', 'rms_torque')
PER_PARAMETER = ('parameter_units', 'before', 'values', 'determined')
SAME = ('success', 'message', 'joint_names', 'gain', 'error_share', 'condition',
        'parameter_names', 'parameter_units', 'determined', 'warnings', 'files')


class IdentifyRequests:
    """One identification at a time, in a thread of its own. rclpy must be initialised."""

    def __init__(self, name: str, references: References) -> None:
        """Prepare goals for the node of this name.

        :param references: to the same node.
        """
        self._requests, self._references = RequestNode('identify'), references
        self._client = ActionClient(self._requests.node, Identify, f'{name}/identify')
        self._state, self._thread = IdentifyState(), threading.Thread()
        self._cancelled = False
        self._recording = ''    # on the machine of the node, of the last identification
        self._starting = threading.Lock()

    def state(self) -> IdentifyState:
        """Return the newest IdentifyState."""
        return self._state

    def begin(self, duration: float, points: TimedPoints | None) -> str:
        """Record the motion of the robot, and identify it; return the answer in words.

        The node writes its files to a new folder below its shared folders.

        :param duration: duration of the recording [s].
        :param points: reference that is sent when the recording begins; None: none.
        """
        folder = time.strftime('inspector_%Y%m%d_%H%M%S')
        return self._start(Identify.Goal(duration=float(duration), output=folder), points)

    def use(self) -> str:
        """Identify the last recording again, and let the node use the result."""
        if not self._recording:
            return 'refused: nothing was recorded yet'
        return self._start(Identify.Goal(recording=self._recording, apply=True), None)

    def cancel(self) -> str:
        """Cancel the identification that runs, and stop the robot if its reference moves it."""
        if not self._state.running:
            return 'nothing is identified now'
        self._cancelled = True
        return 'cancelled'

    def close(self) -> None:
        """Cancel what runs, and refuse later requests."""
        self._cancelled = self._requests.closed = True
        if self._thread.ident is not None:
            self._thread.join(TIMEOUT)
        self._client.destroy()
        self._requests.close()

    def _start(self, goal: Identify.Goal, points: TimedPoints | None) -> str:
        with self._starting:
            if self._requests.closed:
                return ENDED
            if self._state.running:
                return 'refused: an identification is under way; cancel it, or wait for its end'
            self._cancelled = False
            self._state = IdentifyState('waiting for the node', running=True)
            self._thread = threading.Thread(target=self._run, args=(goal, points), daemon=True)
            self._thread.start()
        return 'started'

    def _run(self, goal: Identify.Goal, points: TimedPoints | None) -> None:
        """Carry out a goal; whatever happens, the state says how it has ended."""
        ended, motion = 'failed', RecordedMotion(self._references, points)
        try:
            ended = self._requests.answer(lambda: self._carried_out(goal, motion))
        finally:
            stopped = '' if ended == DONE else motion.stop()
            self._state = self._state._replace(stage='; '.join(filter(None, [ended, stopped])),
                                               running=False)

    def _carried_out(self, goal: Identify.Goal, motion: RecordedMotion) -> str:
        if not self._client.wait_for_server(TIMEOUT):
            return 'no answer: the node has no action identify'
        notes: list[str] = []   # on the reference

        def on_feedback(message: Any) -> None:
            each = message.feedback
            self._state = self._state._replace(
                stage=each.stage, progress=each.progress, samples=each.samples,
                condition=each.condition, residual=each.residual)

        future = self._client.send_goal_async(goal, feedback_callback=on_feedback)
        if not self._requests.spin_until(future, TIMEOUT):
            return f'no answer within {TIMEOUT:g} s'
        handle: Any = future.result()
        result = handle.get_result_async()
        end, cancelling = time.monotonic() + LONGEST, None
        while not self._requests.spin_until(result, POLL):
            if self._state.stage == 'recording' and not self._cancelled:
                refused = motion.start()
                if refused:
                    notes.append(f'the reference was {refused}')
                    self._cancelled = True
            if self._cancelled and cancelling is None:
                notes.append(motion.stop())   # before all else
                cancelling = handle.cancel_goal_async()
                end = min(end, time.monotonic() + TIMEOUT)
            if time.monotonic() > end:
                return '; '.join(filter(None, [
                    'no answer: the node has not ended the identification', *notes]))
        try:
            found = found_of(result.result().result, goal.output)
        except DynamicsError as error:
            return '; '.join(filter(None, [str(error), *notes]))
        self._recording = next((path for path in found.files if Path(path).name == RECORDING),
                               self._recording)
        self._state = self._state._replace(found=found, condition=found.condition or np.nan)
        return DONE if found.success else '; '.join(
            filter(None, [f'ended without success: {found.message}', *notes]))


def found_of(result: Identify.Result, folder: str) -> IdentifyFound:
    """Return the IdentifyFound of a result; its report if this machine has it.

    :param folder: that the goal has named: a report elsewhere is not read.
    :raise DynamicsError: fields differ in size.
    """
    for names, others in (('joint_names', PER_JOINT), ('parameter_names', PER_PARAMETER)):
        for field in others:
            size, expected = len(getattr(result, field)), len(getattr(result, names))
            if size != expected:
                raise DynamicsError(f'the result is malformed: {field} has {size} entries; '
                                    f'expected {expected}, as {names}')
    fields = {name: getattr(result, name) for name in SAME}
    fields.update({name: np.array(getattr(result, name)) for name in NUMBERS})
    report = None
    for path in map(Path, result.files if folder else ()):
        if path.name == REPORT and path.parent.name == folder and not path.is_symlink():
            with suppress(FileError):   # the node may run on another machine
                report = read_file(path, MOST_REPORT)
    return IdentifyFound(**fields, report=report)
