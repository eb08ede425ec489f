"""Show progress: a bar on a terminal, else a line per stage."""

import sys
from time import monotonic

WIDTH = 30


class Progress:
    """Shows the share of the work that is done.

    :param total: of the weights of all stages.
    """

    def __init__(self, total, stream=None):
        self._total, self._stream = total, stream or sys.stderr
        self._live = self._stream.isatty()
        self._before, self._weight, self._label, self._drawn = 0.0, 0.0, '', 0.0

    def stage(self, label, weight):
        """Begin a stage; the previous one is done."""
        self._before += self._weight
        self._label, self._weight = label, weight
        if self._live:
            self._draw(0.0)
        else:
            print(f'benchmark: {label}', file=self._stream, flush=True)

    def __call__(self, share):
        """Show the share of the stage that is done."""
        if self._live and monotonic() - self._drawn > 0.1:
            self._draw(share)

    def clear(self):
        """Clear the line."""
        if self._live:
            self._stream.write('\r\033[K')
            self._stream.flush()

    def _draw(self, share):
        done = min(1.0, (self._before + share * self._weight) / self._total)
        bar = '#' * round(WIDTH * done)
        self._stream.write(f'\r\033[K[{bar:-<{WIDTH}}] {done:4.0%}  {self._label}'[:110])
        self._stream.flush()
        self._drawn = monotonic()
