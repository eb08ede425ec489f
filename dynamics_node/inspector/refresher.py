"""Run a function in a thread when something has changed, newest change only, at a bounded rate."""

import threading
from collections.abc import Callable

PERIOD = 0.1   # [s] a page that draws in software falls behind at a higher rate


class Refresher:
    """Calls `work` after `request`; requests that arrive while it runs or waits become one."""

    def __init__(self, work: Callable[[], None], period: float = PERIOD):
        """Start the thread.

        :param period: least time between two calls [s].
        """
        self._work, self._period = work, period
        self._requested, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name='inspector', daemon=True)
        self._thread.start()

    def request(self) -> None:
        """Have `work` called soon."""
        self._requested.set()

    def stop(self) -> None:
        """End the thread, after the call that runs."""
        self._stopped.set()
        self._requested.set()
        self._thread.join()

    def _run(self) -> None:
        while self._requested.wait() and not self._stopped.is_set():
            self._requested.clear()
            self._work()
            self._stopped.wait(self._period)
