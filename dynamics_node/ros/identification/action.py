"""The action `~/identify`, and replies that come later: work of the workshop, brought to ROS.

Everything here happens in the executor's thread; a timer looks at the workshop while it is busy.
"""

import math
import time
import traceback

from rclpy.action import ActionServer, CancelResponse
from rclpy.clock import Clock, ClockType

from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.identification.deferred_reply import DeferredReply
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.outgoing import publish, sendable
from dynamics_node.ros.services.identify import fill_result, identify_job
from dynamics_node.ros.state.joint_state_buffer import KEPT

LOOK = 0.05          # [s] between two looks at the work
RECORDED = 0.5       # of the progress is the recording, where that is live
SILENCE = 5.0        # [s] without a joint state, by which a live recording is given up
BILLION = 1e9
FAULT = 'internal error; see the log of the node'


class Server(ActionServer):
    """An action server whose goals are executed elsewhere, and end by `finish`.

    rclpy would run a goal in the executor's thread, which has torques to make.
    """

    def __init__(self, node, *arguments, **options):
        self._gone, self._log = False, node.log
        super().__init__(node, *arguments, **options)

    def notify_execute(self, goal_handle, execute_callback):
        """Do not run anything when a goal begins."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def finish(self, goal_handle, end, result):
        """End a goal by end(), one of succeed, abort and canceled of the handle."""
        def ended(_):
            end()
            return sendable(result)
        super().notify_execute(goal_handle, ended)

    # rclpy lets an exception in sending end the node: of a client that has gone, for instance.

    async def execute(self, taken_data):
        """Answer requests for goals, cancellations and results; none once it is destroyed."""
        if self._gone:
            return
        try:
            await super().execute(taken_data)
        except Exception:
            self._log.error(f'~/identify could not answer:\n{traceback.format_exc()}')

    def _send_result_response(self, request_header, future):
        try:
            super()._send_result_response(request_header, future)
        except Exception:
            if not self._gone:
                self._log.error(f'a result could not be sent:\n{traceback.format_exc()}')

    def destroy(self):
        """Answer nothing any more, whatever is still in the executor's queue."""
        self._gone = True
        super().destroy()


class Identifier:
    """One goal, or one reply, at a time."""

    def __init__(self, node, desk, clerk, may_apply, apply):
        """Take may_apply(), which raises why not, and apply(outcome), to hold what was found."""
        self._desk, self._clerk, self._log = desk, clerk, node.log
        self._may_apply, self._apply = may_apply, apply
        self._work = None      # _Goal or _Reply
        self._server = Server(node, Identify, '~/identify', lambda _: None,
                              handle_accepted_callback=self._begin,
                              cancel_callback=lambda _: CancelResponse.ACCEPT)
        self._timer = node.create_timer(LOOK, self._look, autostart=False,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.entities = [(Server.destroy, self._server), (node.destroy_timer, self._timer),
                         (Identifier.close, self)]

    def give_up(self, reason):
        """Stop the work, and tell whoever waits for it."""
        self._desk.workshop.stop()
        work, self._work = self._work, None
        if work is not None:
            work.hear(WorkerMessage('refused', (reason,)))

    def close(self):
        """Stop the work: there is nobody to tell any more."""
        self._desk.workshop.stop()
        self._work = None

    def defer(self, service):
        """Let a service reply when the workshop has the answer, if its handler returns a Later."""
        send = service.send_response

        def answer(response, header):
            if not isinstance(response, DeferredReply):
                send(response, header)
                return
            reply = _Reply(response, lambda reply: send(reply, header), self._clerk)
            try:
                self._desk.workshop.start(response.job, response.kept)
                self._start(reply)
            except Exception:
                reply.hear(WorkerMessage('failed', (traceback.format_exc(),)))
        service.send_response = answer

    # A goal ----------------------------------------------------------------------------------

    def _begin(self, handle):
        """Accept a goal: begin, or abort it with the reason."""
        handle.execute()
        try:
            self._begin_work(handle)
        except DynamicsError as error:
            self.refuse_goal(handle, handle.abort, str(error))
        except Exception:
            self.log_failure(traceback.format_exc())
            self.refuse_goal(handle, handle.abort, FAULT)

    def _begin_work(self, handle):
        goal = handle.request
        self._clerk.check_active()
        if self._work is not None:
            self._desk.workshop.check_free()
            raise DynamicsError('a live recording is under way: wait for its end, or cancel it')
        job = identify_job(self._desk, goal)
        if goal.apply:
            self._may_apply()
        work = _Goal(self, handle, job)
        if goal.recording:
            self._desk.workshop.start(job)
        else:
            self._desk.tape.keep(max(KEPT, goal.duration + 1.0))
            work.begin_recording(self._desk)
        self._start(work)

    def _start(self, work):
        self._work = work
        self._timer.reset()

    def _look(self):
        """Pass on what has been heard of the work."""
        work = self._work
        if work is None:
            self._timer.cancel()
            return
        try:
            over = work.look(self._desk)
            for news in self._desk.workshop.look() if not over else ():
                over = work.hear(news) or over
        except Exception:
            work.hear(WorkerMessage('failed', (traceback.format_exc(),)))
            over = True
        if over:
            self._work = None
            self._desk.workshop.stop()
            self._desk.tape.keep()

    def end_goal(self, handle, job, outcome):
        """Tell a goal what was identified, and hold it if that was asked for."""
        result, end = fill_result(Identify.Result(), outcome), handle.succeed
        if handle.request.apply:
            try:
                self._may_apply()
                if self._desk.held.text != job.urdf:
                    raise DynamicsError('another robot description has come meanwhile')
                self._apply(outcome)
            except DynamicsError as error:
                result.success, end = False, handle.abort
                result.message = f'identified, but not applied: {error}'
        result.model_id = self._desk.held.model_id
        self._server.finish(handle, end, result)

    def refuse_goal(self, handle, end, message):
        """End a goal without a result."""
        self._server.finish(handle, end, Identify.Result(success=False, message=message))

    def publish_feedback(self, handle, feedback):
        publish(handle.publish_feedback, feedback, self._log)

    def log_failure(self, text):
        self._log.error(f'identify failed, please report this:\n{text}')


class _Goal:
    """A goal under way: first a recording, if it is live, then the work."""

    def __init__(self, identifier, handle, job):
        self.handle, self._job, self._identifier = handle, job, identifier
        self._feedback = Identify.Feedback(stage='starting', condition=math.nan, residual=math.nan)
        self._first = self._last = None     # stamps of the live recording [ns]
        self._heard, self._working = 0.0, bool(job.recording)

    def begin_recording(self, desk):
        self._first, self._heard = desk.tape.newest, time.monotonic()

    def look(self, desk):
        """Return whether the goal has ended by itself."""
        if self.handle.is_cancel_requested:
            self._identifier.refuse_goal(self.handle, self.handle.canceled, 'cancelled')
            return True
        return not self._working and self._record(desk)

    def _record(self, desk):
        """Look how far the recording is; begin the work at its end."""
        desk.catch_up()
        newest, now = desk.tape.newest, time.monotonic()
        if newest != self._last:
            self._last, self._heard = newest, now
        if now - self._heard > SILENCE:
            self._identifier.refuse_goal(
                self.handle, self.handle.abort,
                f'no joint state has come for {SILENCE:g} s: nothing can be recorded')
            return True
        if newest is None:
            return False
        if self._first is None or newest < self._first:   # the clock was set back: begin anew
            self._first = newest
        passed, duration = (newest - self._first) / BILLION, self.handle.request.duration
        kept = desk.tape.since(self._first) if passed >= duration else ()
        self._say('recording', RECORDED * min(1.0, passed / duration), samples=len(kept))
        if kept:
            self._working = True
            desk.workshop.start(self._job, kept)
        return False

    def hear(self, news):
        """Take in a piece of News; return whether it was the last one."""
        if news.kind == 'progress':
            share, text = news.what
            begun = 0.0 if self._job.recording else RECORDED
            self._say(text, begun + (1.0 - begun) * share)
        elif news.kind == 'numbers':
            self._feedback.condition, self._feedback.residual = news.what
        elif news.kind == 'done':
            self._identifier.end_goal(self.handle, self._job, *news.what)
        elif news.kind == 'refused':
            self._identifier.refuse_goal(self.handle, self.handle.abort, *news.what)
        else:
            self._identifier.log_failure(*news.what)
            self._identifier.refuse_goal(self.handle, self.handle.abort, FAULT)
        return news.last

    def _say(self, stage, progress, samples=0):
        feedback = self._feedback
        feedback.stage, feedback.progress = stage, float(progress)
        feedback.samples = samples or feedback.samples
        self._identifier.publish_feedback(self.handle, feedback)


class _Reply:
    """A reply of a service that the workshop is working on."""

    def __init__(self, later, send, clerk):
        self._later, self._send, self._clerk = later, send, clerk

    def look(self, desk):
        return False

    def hear(self, news):
        """Take in a piece of News; return whether it was the last one."""
        if not news.last:
            return False
        self._send(self._clerk.finish(self._later, news))
        return True
