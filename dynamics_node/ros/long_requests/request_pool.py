"""Distribute long requests to worker processes: fairly between clients, and within limits.

Independent of rclpy: the workers and the clock are constructor arguments.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.long_requests.fair_queue import FairQueue
from dynamics_node.ros.parameters.caps import refusal
from dynamics_node.ros.parameters.service import ServiceParameters

# ServiceParameters that refuse requests here
LIMITS = ('max_duration', 'max_waiting', 'max_waiting_bytes')
START = 60.0   # [s] for a process to start: it has to import NumPy and the messages


class PoolWorker(Protocol):
    """The part of a RequestWorker that the pool uses."""

    begun: float | None
    failure: str

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""

    def start(self, job: Any) -> None:
        """Compute a request."""

    def message(self) -> WorkerMessage | None:
        """Return the last message of the job, None until it has ended."""

    def kill(self) -> None:
        """End the process."""


class _Work(NamedTuple):
    """A request that waits or runs."""

    client: bytes
    job: Any
    on_end: Callable[[WorkerMessage], None]
    since: float   # time of its arrival; while it is computed, time when that began [s]
    size: int      # of the request [bytes]


class RequestPool:
    """Long requests: those that wait, and those that worker processes compute.

    :ivar limits: ServiceParameters in use.
    :ivar refused: {parameter: number of requests refused by it}.
    :ivar longest_wait: of a request for its worker so far [s].
    """

    def __init__(self, start_worker: Callable[[], PoolWorker], limits: ServiceParameters,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Start no worker yet.

        :param start_worker: returns a new worker process.
        :param clock: returns seconds and never goes back.
        """
        self.limits, self.refused, self.longest_wait = limits, Counter[str](), 0.0
        self._start_worker, self._clock = start_worker, clock
        self._queue: FairQueue[_Work] = FairQueue()
        self._running: dict[PoolWorker, _Work] = {}
        self._idle: list[PoolWorker] = []

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a worker."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Number of requests that are computed."""
        return len(self._running)

    @property
    def workers(self) -> int:
        """Number of processes."""
        return len(self._running) + len(self._idle)

    # Requests ----------------------------------------------------------------------------------

    def check(self, seconds: float) -> None:
        """Refuse a request that takes too long.

        :param seconds: estimated.
        """
        self._check('max_duration', seconds, 'seconds that the request would take')

    def submit(self, client: bytes, job: Any, on_end: Callable[[WorkerMessage], None],
               size: int = 0) -> None:
        """Compute a request as soon as its client is next.

        :param on_end: called with the last message of the job.
        :param size: size of the request [bytes].
        :raise DynamicsError: too many requests of this client wait, or all take too much memory.
        """
        self._check('max_waiting', self._queue.count(client) + 1,
                    'waiting long requests of this client')
        self._check('max_waiting_bytes', size + sum(work.size for work in self._queue),
                    'bytes of waiting long requests')
        self._queue.put(client, _Work(client, job, on_end, self._clock(), size))
        self.poll()

    def poll(self) -> None:
        """Finish the requests that have ended or take too long; start the next ones."""
        for worker in list(self._running):
            message = worker.message()
            if message is not None:
                self._idle.append(worker)
                self._running.pop(worker).on_end(message)
            elif reason := self._why_stopped(worker):
                worker.kill()
                self._running.pop(worker).on_end(WorkerMessage('refused', (reason,)))
        self._idle = [worker for worker in self._idle if not worker.ended]
        while self.workers > self.limits.workers and self._idle:
            self._idle.pop().kill()
        self._start_next()

    def abort(self, reason: str) -> None:
        """Refuse all requests with a reason; end the workers that compute."""
        last = WorkerMessage('refused', (reason,))
        waiting = self._queue.clear()
        for worker in list(self._running):
            worker.kill()
            self._running.pop(worker).on_end(last)
        for work in waiting:
            work.on_end(last)

    def close(self, reason: str) -> None:
        """Refuse all requests with a reason; end all workers."""
        self.abort(reason)
        for worker in self._idle:
            worker.kill()
        self._idle = []

    # Workers -----------------------------------------------------------------------------------

    def _why_stopped(self, worker: PoolWorker) -> str:
        """Return why a request gets no reply any more, '' if it may go on."""
        work, now, limit = self._running[worker], self._clock(), self.limits.max_duration
        if worker.failure:
            return (f'the worker process {worker.failure} before it replied; the next request '
                    'starts a new one')
        if worker.begun is None:
            return (f'the worker process did not start within {START:g} s'
                    if now - work.since > START else '')
        if now - worker.begun <= limit:
            return ''
        self.refused['max_duration'] += 1
        advice = ('; kernels of this robot are still being compiled: try again later'
                  if work.job.compiling else '')
        return (f'the request was stopped after {now - worker.begun:.3g} s; service.max_duration '
                f'is {limit:g} s{advice}')

    def _start_next(self) -> None:
        """Start the requests for which a worker is free."""
        while self._idle or self.workers < self.limits.workers:
            busy = {work.client for work in self._running.values()}
            found = self._queue.take(busy)
            if found is None:
                return
            _, work = found
            now = self._clock()
            self.longest_wait = max(self.longest_wait, now - work.since)
            try:
                worker = self._idle.pop() if self._idle else self._start_worker()
            except OSError as error:
                work.on_end(WorkerMessage('refused', (f'no worker process can start: {error}',)))
                continue
            self._running[worker] = work._replace(since=now)
            worker.start(work.job)

    def _check(self, parameter: str, count: float, what: str) -> None:
        """Refuse a request if a count exceeds one of the limits."""
        most = getattr(self.limits, parameter)
        if count > most:
            self.refused[parameter] += 1
            raise DynamicsError(refusal(what, count, most, f'service.{parameter}'))
