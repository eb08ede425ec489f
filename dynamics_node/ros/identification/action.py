"""Serve the action `~/identify`, and send the deferred replies of `~/identify_payload`.

The worker process computes. Everything here runs in the thread of the executor; a timer polls the
worker while it is busy.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.action import CancelResponse
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.service import Service

from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.defer_replies import Send, defer_replies
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.identification.jobs import IdentifyJob, Outcome
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.rclpy_internals import BackgroundActionServer
from dynamics_node.ros.sendable_messages import publish, sendable
from dynamics_node.ros.services.identify import fill_result, identify_job
from dynamics_node.ros.services.runner import ServiceRunner
from dynamics_node.ros.state.joint_state_buffer import KEPT

POLL = 0.05          # [s] between two polls of the worker
RECORDED = 0.5       # progress of a goal when its live recording is complete
SILENCE = 5.0        # [s] without a joint state, after which a live recording is aborted
BILLION = 1e9
FAULT = 'internal error; see the log of the node'


class IdentificationServer:
    """Run one goal, or one deferred reply, at a time."""

    def __init__(self, node: Node, node_state: NodeState, runner: ServiceRunner,
                 may_apply: Callable[[], None], apply: Callable[[Outcome], None]) -> None:
        """Create the action server.

        :param may_apply: raises a DynamicsError if an identified robot must not be used now.
        :param apply: makes an identified robot the current one.
        """
        self._node_state, self._runner, self._log = node_state, runner, node.log
        self._worker, self._buffer = node_state.worker, node_state.buffer
        self._may_apply, self._apply = may_apply, apply
        self._work: _Goal | _Reply | None = None
        self._server = BackgroundActionServer(
            node, Identify, '~/identify', lambda _: None, log_error=self._log.error,
            handle_accepted_callback=self._accept,
            cancel_callback=lambda _: CancelResponse.ACCEPT)
        self._timer = node.create_timer(POLL, self._poll, autostart=False,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.entities = [(BackgroundActionServer.destroy, self._server),
                         (node.destroy_timer, self._timer), (IdentificationServer.close, self)]

    def abort(self, reason: str) -> None:
        """Stop the work, and report the reason to its client."""
        self._worker.stop()
        work, self._work = self._work, None
        if work is not None:
            work.on_message(WorkerMessage('refused', (reason,)))

    def close(self) -> None:
        """Stop the work without a report."""
        self._worker.stop()
        self._work = None

    def defer(self, service: Service) -> None:
        """Let a service defer its replies; their jobs run in the worker of this server."""
        defer_replies(service, self._begin)

    def _begin(self, deferred: DeferredReply, _: bytes, send: Send) -> None:
        reply = _Reply(deferred, send, self._runner)
        try:
            self._worker.start(deferred.job, deferred.joint_states)
            self._start(reply)
        except Exception:
            reply.on_message(WorkerMessage('failed', (traceback.format_exc(),)))

    # A goal ----------------------------------------------------------------------------------

    def _accept(self, handle: Any) -> None:
        """Start an accepted goal, or abort it with the reason."""
        handle.execute()
        try:
            self._start_goal(handle)
        except DynamicsError as error:
            self.refuse_goal(handle, handle.abort, str(error))
        except Exception:
            self.log_failure(traceback.format_exc())
            self.refuse_goal(handle, handle.abort, FAULT)

    def _start_goal(self, handle: Any) -> None:
        goal = handle.request
        self._runner.check_active()
        if self._work is not None:
            self._worker.check_free()
            raise DynamicsError('a live recording is under way: wait for its end, or cancel it')
        job = identify_job(self._node_state, goal)
        if goal.apply:
            self._may_apply()
        work = _Goal(self, handle, job, self._node_state)
        if goal.recording:
            self._worker.start(job)
        else:
            self._buffer.keep(max(KEPT, goal.duration + 1.0))
            work.begin_recording()
        self._start(work)

    def _start(self, work: _Goal | _Reply) -> None:
        self._work = work
        self._timer.reset()

    def _poll(self) -> None:
        """Pass on the messages of the worker."""
        work = self._work
        if work is None:
            self._timer.cancel()
            return
        try:
            over = work.poll()
            for message in self._worker.messages() if not over else ():
                over = work.on_message(message) or over
        except Exception:
            work.on_message(WorkerMessage('failed', (traceback.format_exc(),)))
            over = True
        if over:
            self._work = None
            self._worker.stop()
            self._buffer.keep()

    def end_goal(self, handle: Any, job: IdentifyJob, outcome: Outcome) -> None:
        """End a goal with its result, and use the identified robot if the goal asks for it."""
        result = fill_result(Identify.Result(), outcome)
        end = handle.succeed if result.success else handle.abort
        current_robot = self._node_state.current_robot
        if handle.request.apply and result.success:
            try:
                self._may_apply()
                if current_robot.text != job.urdf:
                    raise DynamicsError('another robot description was loaded meanwhile')
                if current_robot.settled_robot()[1] != job.model_id:
                    raise DynamicsError('the robot was changed meanwhile: its constraints, '
                                        'springs, payloads, gravity or friction')
                self._apply(outcome)
            except DynamicsError as error:
                result.success, end = False, handle.abort
                result.message = f'identified, but not applied: {error}'
        result.model_id = current_robot.model_id
        self._server.finish(handle, end, sendable(result))

    def refuse_goal(self, handle: Any, end: Callable[[], None], message: str) -> None:
        """End a goal without a result."""
        self._server.finish(handle, end,
                            sendable(Identify.Result(success=False, message=message)))

    def publish_feedback(self, handle: Any, feedback: Identify.Feedback) -> None:
        """Publish the feedback of a goal."""
        publish(handle.publish_feedback, feedback, self._log)

    def log_failure(self, text: str) -> None:
        """Log an internal error."""
        self._log.error(f'identify failed, please report this:\n{text}')


class _Goal:
    """A goal under way: first a recording, if it is live, then the job."""

    def __init__(self, server: IdentificationServer, handle: Any, job: IdentifyJob,
                 node_state: NodeState) -> None:
        self.handle, self._job, self._server, self._node_state = handle, job, server, node_state
        self._feedback = Identify.Feedback(stage='starting', condition=math.nan, residual=math.nan)
        self._first: int | None = None     # stamps of the live recording [ns]
        self._last: int | None = None
        self._received, self._working = 0.0, bool(job.recording)

    def begin_recording(self) -> None:
        self._first, self._received = self._node_state.buffer.newest, time.monotonic()

    def poll(self) -> bool:
        """Return whether the goal has ended without the worker."""
        if self.handle.is_cancel_requested:
            self._server.refuse_goal(self.handle, self.handle.canceled, 'cancelled')
            return True
        return not self._working and self._record()

    def _record(self) -> bool:
        """Report the progress of the recording; start the job at its end."""
        buffer = self._node_state.buffer
        self._node_state.catch_up()
        newest, now = buffer.newest, time.monotonic()
        if newest != self._last:
            self._last, self._received = newest, now
        if now - self._received > SILENCE:
            self._server.refuse_goal(
                self.handle, self.handle.abort,
                f'no joint state was received for {SILENCE:g} s: nothing can be recorded')
            return True
        if newest is None:
            return False
        if self._first is None or newest < self._first:   # the clock was set back: begin again
            self._first = newest
        passed, duration = (newest - self._first) / BILLION, self.handle.request.duration
        kept = buffer.since(self._first) if passed >= duration else ()
        self._report('recording', RECORDED * min(1.0, passed / duration), samples=len(kept))
        if kept:
            self._working = True
            self._node_state.worker.start(self._job, kept)
        return False

    def on_message(self, message: WorkerMessage) -> bool:
        """Process a message of the worker; return whether it was the last one."""
        if message.kind == 'progress':
            share, text = message.content
            begun = 0.0 if self._job.recording else RECORDED
            self._report(text, begun + (1.0 - begun) * share)
        elif message.kind == 'numbers':
            self._feedback.condition, self._feedback.residual = message.content
        elif message.kind == 'done':
            self._server.end_goal(self.handle, self._job, *message.content)
        elif message.kind == 'refused':
            self._server.refuse_goal(self.handle, self.handle.abort, *message.content)
        else:
            self._server.log_failure(*message.content)
            self._server.refuse_goal(self.handle, self.handle.abort, FAULT)
        return message.last

    def _report(self, stage: str, progress: float, samples: int = 0) -> None:
        feedback = self._feedback
        feedback.stage, feedback.progress = stage, float(progress)
        feedback.samples = samples or feedback.samples
        self._server.publish_feedback(self.handle, feedback)


class _Reply:
    """A deferred reply of a service whose job is running."""

    def __init__(self, deferred: DeferredReply, send: Send, runner: ServiceRunner) -> None:
        self._deferred, self._send, self._runner = deferred, send, runner

    def poll(self) -> bool:
        return False

    def on_message(self, message: WorkerMessage) -> bool:
        """Process a message of the worker; return whether it was the last one."""
        if not message.last:
            return False
        self._send(self._runner.finish(self._deferred, message))
        return True
