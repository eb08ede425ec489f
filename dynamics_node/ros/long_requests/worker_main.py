"""Run a worker process: compute one request after the other.

The node starts it with one end of their connection. The process ends when the connection ends,
because the node has closed it or has itself ended.
"""

from __future__ import annotations

import os
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels import delegated_compilation
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.ros.child_process import set_name
from dynamics_node.ros.free_memory import MemoryReturn
from dynamics_node.ros.identification.worker_process import NICE, WorkerMessage
from dynamics_node.ros.long_requests.request_job import JobState, RequestJob
from dynamics_node.ros.process_link import Link
from dynamics_node.ros.torque.records import KernelCached, KernelWanted

IDLE = 1.0   # [s] without a job; by then the last reply has been sent, and its memory is free
READY = WorkerMessage('ready', ())
# If memory runs out, Linux ends this process before the node: 0 as other processes, 1000 first.
OUT_OF_MEMORY = '500'


class _Inbox:
    """Records of the node: jobs, and kernels that it has compiled."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[RequestJob] = queue.SimpleQueue()
        self._cached: dict[KernelKey, threading.Event] = {}

    def on_record(self, record: Any) -> None:
        """Receive a record, in the thread of the link."""
        if isinstance(record, KernelCached):
            self._cached.setdefault(record.key, threading.Event()).set()
        else:
            self.jobs.put(record)

    def next_job(self, idle: Callable[[], None]) -> RequestJob:
        """Wait for a job and return it; call idle() once if none comes for IDLE."""
        with suppress(queue.Empty):
            return self.jobs.get(timeout=IDLE)
        idle()
        return self.jobs.get()

    def wait_for_kernel(self, link: Link, key: KernelKey) -> None:
        """Let the node compile a kernel; return when it is in the cache.

        If this process is stopped because a request takes too long, the node still completes the
        kernel, and the next request finds it.
        """
        cached = self._cached.setdefault(key, threading.Event())
        if link.send(KernelWanted(key)):
            cached.wait()


def reply_of(state: JobState, job: RequestJob) -> WorkerMessage:
    """Return the last message of a job."""
    try:
        return WorkerMessage('done', (state.run(job),))
    except DynamicsError as error:
        return WorkerMessage('refused', (str(error),))
    except Exception:
        return WorkerMessage('failed', (traceback.format_exc(),))


def main() -> None:
    """Run the process; argument: file descriptor of the connection."""
    set_name('dynamics_worker')
    os.nice(NICE)
    with suppress(OSError):
        Path('/proc/self/oom_score_adj').write_text(OUT_OF_MEMORY)
    inbox, state = _Inbox(), JobState()
    link = Link(socket.socket(fileno=int(sys.argv[1])), inbox.on_record, lambda: os._exit(0))
    delegated_compilation.use(lambda key: inbox.wait_for_kernel(link, key))
    link.send(READY)
    memory = MemoryReturn()
    while True:
        if not link.send(reply_of(state, inbox.next_job(memory.check))):
            os._exit(1)   # the node does not read
