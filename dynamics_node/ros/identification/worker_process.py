"""How is long work done while torques are due every millisecond? By a process beside the node.

A thread would not do: between two instructions of Python it keeps the interpreter for itself up to
5 ms at a time, and whatever it spoils it spoils here. The process has less priority, and can be
stopped at any time without a trace.

The job goes to its standard input, pickled, and behind it joint states from the node's tape, some
at a time so that nobody waits for it; what comes back is on its standard output: (what, ...)
tuples, see `News`.
"""

import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import deque
from typing import NamedTuple

from dynamics_node.errors import DynamicsError

LESS = 10            # by which it is nicer than the node
AT_A_TIME = 500      # joint states that are pickled in one go: 0.2 ms
PATIENCE = 5.0       # [s] for a process that was killed


class WorkerMessage(NamedTuple):
    """What is heard of the work."""

    kind: str        # 'progress', 'numbers', 'done', 'refused' or 'failed'
    what: tuple      # (share, text); (condition, residual); (outcome,); (reason,); (traceback,)

    @property
    def last(self):
        return self.kind in ('done', 'refused', 'failed')


class WorkerProcess:
    """One job at a time, in a process of its own."""

    def __init__(self):
        self._process, self._heard = None, deque()

    @property
    def busy(self):
        return self._process is not None

    def check_free(self):
        """Refuse while something is being done."""
        if self.busy:
            raise DynamicsError('an identification is under way: wait for its end, or cancel it')

    def start(self, job, kept=()):
        """Begin a job: job.run(kept, progress, tell) in the process.

        :param kept: [(stamp, bytes)] of a Tape.
        """
        self.check_free()
        self._heard = deque()
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'dynamics_node.ros.identification.worker_process'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True)  # no Ctrl-C: the node stops it
        threading.Thread(target=_talk, args=(self._process, job, kept, self._heard),
                         daemon=True).start()

    def look(self):
        """Return the News since the last look; the work is over with one that is `last`."""
        news = []
        while self._heard:
            news.append(self._heard.popleft())
            if news[-1].last:
                self.stop()
                break
        return news

    def stop(self):
        """End the work, whatever it is at."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process = None


def _talk(process, job, kept, heard):
    """Tell the process what to do, and hear of it until its end. All that a thread does here."""
    try:
        with process.stdin as to:
            pickle.dump(job, to)
            for k in range(0, len(kept) + AT_A_TIME, AT_A_TIME):
                pickle.dump(kept[k:k + AT_A_TIME], to)   # the last one is empty
        with process.stdout as answers:
            news = None
            while news is None or not news.last:
                news = WorkerMessage(*pickle.load(answers))
                heard.append(news)
    except (OSError, EOFError, pickle.UnpicklingError):
        heard.append(WorkerMessage('failed', ('the process that does the work has ended',)))


# In the process --------------------------------------------------------------------------------

def main():
    """Do one job."""
    os.nice(LESS)
    answers = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # whoever prints does not disturb

    def say(kind, *what):
        pickle.dump((kind, what), answers)
        answers.flush()
    try:
        job, kept = pickle.load(sys.stdin.buffer), []
        while part := pickle.load(sys.stdin.buffer):
            kept += part
        outcome = job.run(kept, lambda share, text: say('progress', share, text),
                          lambda condition, residual: say('numbers', condition, residual))
        say('done', outcome)
    except DynamicsError as error:
        say('refused', str(error))
    except BrokenPipeError:  # the node is gone
        pass
    except Exception:
        say('failed', traceback.format_exc())


if __name__ == '__main__':
    main()
