"""Run a peer in a process of its own, which times its loops when it is asked to."""

import subprocess
from contextlib import suppress

import numpy as np

PATIENCE = 10.0   # [s] for a peer to end by itself


class Absent(Exception):
    """A peer is not on this machine; the text says why."""


class PeerProcess:
    """A program that answers `time NAME` with seconds of a loop, `show NAME` with its numbers."""

    def __init__(self, words, **environment):
        self._name = str(words[0])
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, **environment)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with suppress(BrokenPipeError):   # of a peer that has ended
            self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def loop(self, name):
        """Return a function that runs a loop over all states, and returns its seconds."""
        return lambda: float(self._answer('time', name))

    def result(self, name):
        """Return the numbers of a result."""
        return np.array(self._answer('show', name).split(), dtype=float)

    def _answer(self, what, name):
        line = ''
        with suppress(BrokenPipeError):   # of a peer that has ended
            self._process.stdin.write(f'{what} {name}\n')
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f'{self._name} ended while it computed {name}')
        return line
