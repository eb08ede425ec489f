"""Start a worker process, send it one request at a time, and notice its end."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from dynamics_node.kernels.keys import KernelKey
from dynamics_node.robot.urgent_kernel import compile_urgently
from dynamics_node.ros.child_process import start_python, wait_for_end
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.long_requests.request_job import RequestJob
from dynamics_node.ros.process_link import Link, pair
from dynamics_node.ros.torque.records import KernelCached, KernelWanted


class RequestWorker:
    """A worker process, seen from the node.

    :ivar pid: id of the process.
    :ivar begun: when the job was sent [s, monotonic]; None while the process still starts.
    :ivar failure: how the process has ended; '' while it runs.
    """

    def __init__(self, on_message: Callable[[], None]) -> None:
        """Start the process.

        :param on_message: called in a thread when a message has arrived, or the process has ended.
        """
        self.begun: float | None = None
        self.failure = ''
        self._on_message = on_message
        self._ready = False
        self._job: RequestJob | None = None
        self._messages: deque[WorkerMessage] = deque()
        self._robot: Any = None   # Robot as described that the process has
        ours, theirs = pair()
        with theirs:
            self._process = start_python(
                'dynamics_node.ros.long_requests.worker_main', [str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.pid = self._process.pid
        self._link = Link(ours, self._on_record, self._on_end)

    def start(self, job: RequestJob) -> None:
        """Compute a request; at most one at a time."""
        self._job, self.begun = job, None
        self._send()

    def message(self) -> WorkerMessage | None:
        """Return the last message of the job, None until it has ended."""
        while self._messages:
            message = self._messages.popleft()
            if message.last:
                self._job = None
                return message
            self._ready = True
            self._send()
        return None

    @property
    def ended(self) -> bool:
        """Whether the process has ended; `failure` follows when all its messages are read."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process."""
        self._process.kill()

    def _send(self) -> None:
        """Send the job once the process reads; a large one without waiting for it."""
        job = self._job
        if job is None or not self._ready:
            return
        self.begun = time.monotonic()
        described = job.robot.described
        if described is self._robot:
            job = job._replace(robot=job.robot._replace(described=None))
        self._robot = described
        threading.Thread(target=self._send_or_kill, args=(job,), daemon=True).start()

    # In other threads --------------------------------------------------------------------------

    def _send_or_kill(self, job: RequestJob) -> None:
        if not self._link.send(job):
            self._process.kill()

    def _on_record(self, record: Any) -> None:
        if isinstance(record, KernelWanted):
            # Here, where it is kept if a request takes too long and its process is stopped.
            compile_urgently(self._robot, record.key, lambda: self._announce(record.key))
        else:
            self._messages.append(record)
            self._on_message()

    def _announce(self, key: KernelKey) -> None:
        self._link.send(KernelCached(key))

    def _on_end(self) -> None:
        self.failure = wait_for_end(self._process)
        self._on_message()
