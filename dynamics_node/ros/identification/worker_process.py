"""Run identification in a separate process, so that it does not delay torques.

A thread would hold the interpreter lock up to 5 ms at a time, and torques are due every
millisecond. The process has a lower priority, and can be stopped at any time.

The node writes the pickled job to the standard input of the process, then the joint states of the
buffer, in parts so that no torque waits. The process writes WorkerMessages to its standard output.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.child_process import start_python
from dynamics_node.ros.identification.memory_limit import limit_memory

NICE = 10            # increment of the process's nice value
PART = 500           # joint states that are pickled in one go: 0.2 ms


class WorkerMessage(NamedTuple):
    """A message of the worker process."""

    kind: str           # 'progress', 'numbers', 'done', 'refused' or 'failed'
    content: tuple      # (share, text); (condition, residual); (outcome,); (reason,); (traceback,)

    @property
    def last(self) -> bool:
        """Whether the job has ended."""
        return self.kind in ('done', 'refused', 'failed')


class WorkerProcess:
    """One job at a time, in a process of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._messages: deque[WorkerMessage] = deque()

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._process is not None

    def check_free(self) -> None:
        """Raise a DynamicsError while a job is running."""
        if self.busy:
            raise DynamicsError('an identification is under way: wait for its end, or cancel it')

    def start(self, job: Any, joint_states: Sequence[tuple[int, bytes]] = ()) -> None:
        """Start a job: job.run(joint_states, progress, tell) in the process.

        :param joint_states: [(stamp [ns], bytes)] of a JointStateBuffer.
        """
        self.check_free()
        self._messages = deque()
        self._process = start_python('dynamics_node.ros.identification.worker_process',
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=_communicate,
                         args=(self._process, job, joint_states, self._messages),
                         daemon=True).start()

    def messages(self) -> list[WorkerMessage]:
        """Return the messages since the last call; the job has ended with one that is `last`."""
        messages = []
        while self._messages:
            messages.append(self._messages.popleft())
            if messages[-1].last:
                self.stop()
                break
        return messages

    def stop(self) -> None:
        """Kill the process, if there is one; do not wait until it has ended.

        At its low priority that took more than 5 s on a busy machine.
        """
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            threading.Thread(target=process.wait, daemon=True).start()   # no zombie is left


def _communicate(process: Any, job: Any, joint_states: Sequence[tuple[int, bytes]],
                 messages: deque[WorkerMessage]) -> None:
    """Send a job to the process, and collect its messages until the end; runs in a thread."""
    try:
        with process.stdin as to:
            pickle.dump(job, to)
            for k in range(0, len(joint_states) + PART, PART):
                pickle.dump(joint_states[k:k + PART], to)   # the last one is empty
        with process.stdout as output:
            message = None
            while message is None or not message.last:
                message = WorkerMessage(*pickle.load(output))
                messages.append(message)
    except (OSError, EOFError, pickle.UnpicklingError):
        messages.append(WorkerMessage('failed', ('the worker process has ended',)))


# In the process --------------------------------------------------------------------------------

def main() -> None:
    """Run one job."""
    os.nice(NICE)
    limit_memory()
    output = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # printed text must not disturb the messages

    def send(kind: str, *content: Any) -> None:
        pickle.dump((kind, content), output)
        output.flush()
    try:
        job, joint_states = pickle.load(sys.stdin.buffer), []
        while part := pickle.load(sys.stdin.buffer):
            joint_states += part
        outcome = job.run(joint_states, lambda share, text: send('progress', share, text),
                          lambda condition, residual: send('numbers', condition, residual))
        send('done', outcome)
    except DynamicsError as error:
        send('refused', str(error))
    except BrokenPipeError:  # the node has ended
        pass
    except Exception:
        send('failed', traceback.format_exc())
