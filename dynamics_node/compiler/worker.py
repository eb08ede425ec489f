"""Run compilations in one background thread for the whole process.

Compilation uses one core. LLVM works with the GIL released; tracing is Python and holds it.
"""

import threading
from collections import deque
from typing import Protocol


class Job(Protocol):
    """A callable to run, or to cancel when the worker stops."""

    def __call__(self, cancelled: bool = False) -> None:
        """Do the job; if cancelled, record that it is not done."""


class Worker:
    """A thread that runs jobs one after another; it ends when the queue stays empty."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._ready = threading.Condition()
        self._busy = threading.Lock()  # locked while a job runs
        self._thread: threading.Thread | None = None
        self._stopping = False

    def submit(self, job: Job, urgent: bool = False) -> bool:
        """Queue a job, an urgent one at the front; return False if no thread can run it."""
        with self._ready:
            if self._stopping or not self._has_thread():
                return False
            if urgent:
                self._jobs.appendleft(job)
            else:
                self._jobs.append(job)
            self._ready.notify()
            return True

    def _has_thread(self) -> bool:
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._run, name='dynamics_node compiler', daemon=True)
            try:
                thread.start()
            except RuntimeError:  # a limit on processes, or the interpreter shuts down
                return False
            self._thread = thread
        return True

    def stop(self) -> None:
        """Cancel the queue and wait for the running job: LLVM must not be unloaded during it."""
        with self._ready:
            self._stopping = True
            dropped = list(self._jobs)
            self._jobs.clear()
            self._ready.notify()
            thread = self._thread
        for job in dropped:
            job(cancelled=True)
        if thread is not None:
            thread.join()

    def pause(self) -> None:
        """Wait for the running job; start no other before resume()."""
        self._ready.acquire()
        self._busy.acquire()

    def resume(self) -> None:
        """Continue after pause()."""
        self._busy.release()
        self._ready.release()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._jobs and not self._stopping:
                    if not self._ready.wait(timeout=5.0) and not self._jobs:
                        self._thread = None
                        return
                if self._stopping:
                    return
                job = self._jobs.popleft()
            with self._busy:
                job()
