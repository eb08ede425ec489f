"""How far is it? A bar on a terminal, elsewhere a line for every tenth."""

import sys
from time import monotonic

WIDTH = 30
PAUSE = 0.1   # [s] between two drawings


class ProgressBar:
    """A progress(fraction, text) for whoever waits in front of a terminal or a log."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._drawn, self._tenths = -PAUSE, -1

    def __call__(self, fraction, text):
        """Show the share of the work that is done, and what is being done."""
        fraction = min(1.0, max(0.0, fraction))
        if self._live:
            if monotonic() - self._drawn >= PAUSE or fraction == 1.0:
                bar = '#' * round(WIDTH * fraction)
                self._write(f'\r\033[K[{bar:-<{WIDTH}}] {fraction:4.0%}  {text}'[:110])
                self._drawn = monotonic()
        elif int(10.0 * fraction) > self._tenths:
            self._tenths = int(10.0 * fraction)
            self._write(f'{fraction:4.0%}  {text}\n')

    def clear(self):
        """Leave the line empty."""
        if self._live:
            self._write('\r\033[K')

    def _write(self, text):
        self._stream.write(text)
        self._stream.flush()
