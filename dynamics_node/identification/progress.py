"""Show progress: a bar on a terminal, else a line for every tenth of the work."""

import sys
from time import monotonic
from typing import TextIO

WIDTH = 30
PAUSE = 0.1   # [s] between two drawings


class ProgressBar:
    """A callback progress(share, text) that writes to a terminal or a log.

    :param stream: None: the standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._drawn, self._tenths = -PAUSE, -1

    def __call__(self, share: float, text: str) -> None:
        """Show the share of the work done and the current step."""
        share = min(1.0, max(0.0, share))
        if self._live:
            if monotonic() - self._drawn >= PAUSE or share == 1.0:
                bar = '#' * round(WIDTH * share)
                self._write(f'\r\033[K[{bar:-<{WIDTH}}] {share:4.0%}  {text}'[:110])
                self._drawn = monotonic()
        elif int(10.0 * share) > self._tenths:
            self._tenths = int(10.0 * share)
            self._write(f'{share:4.0%}  {text}\n')

    def clear(self) -> None:
        """Erase the bar."""
        if self._live:
            self._write('\r\033[K')

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
