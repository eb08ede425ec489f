"""Test how the process of an identification is stopped."""

import io
import threading

from dynamics_node.ros.identification import worker_process
from dynamics_node.ros.identification.worker_process import WorkerProcess


class SlowToEnd:
    """A process that was killed and has not ended: it has a low priority on a busy machine."""

    def __init__(self):
        self.stdin, self.stdout = io.BytesIO(), io.BytesIO()
        self.killed, self.ended, self.waited = False, threading.Event(), threading.Event()

    def kill(self):
        self.killed = True

    def wait(self):
        self.ended.wait()
        self.waited.set()


def test_the_node_does_not_wait_for_the_end_of_a_process_that_it_kills(monkeypatch):
    processes = [SlowToEnd(), SlowToEnd()]
    ready = iter(processes)
    monkeypatch.setattr(worker_process, 'start_python', lambda *_, **__: next(ready))
    worker = WorkerProcess()
    for process in processes:   # the second one while the first one has not ended
        worker.start('job')
        assert worker.busy
        worker.stop()
        assert process.killed and not worker.busy
    for process in processes:
        process.ended.set()
        assert process.waited.wait(60.0)   # no zombie is left
