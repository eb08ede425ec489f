"""Keep the last minute of what a page has shown, and write it as CSV."""

import csv
import io
from collections import deque
from collections.abc import Sequence

import numpy as np

SECONDS = 60.0


class History:
    """Rows of numbers with their times; rows older than SECONDS are dropped."""

    def __init__(self, columns: Sequence[str], seconds: float = SECONDS):
        """Start without rows.

        :param columns: names of the numbers of a row.
        """
        self.columns, self._seconds = tuple(columns), seconds
        self._rows: deque[tuple[float, np.ndarray]] = deque()

    def append(self, time: float, values: np.ndarray) -> None:
        """Add a row.

        :param time: [s], not before that of the last row.
        :param values: (columns,), nan = unknown.
        """
        self._rows.append((time, np.asarray(values, dtype=float)))
        while time - self._rows[0][0] > self._seconds:
            self._rows.popleft()

    def __len__(self) -> int:
        return len(self._rows)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times (rows,) and values (rows, columns)."""
        times = np.array([time for time, _ in self._rows])
        return times, np.array([row for _, row in self._rows]).reshape(-1, len(self.columns))

    def text(self) -> str:
        """Return the rows as CSV, all digits; an unknown number is empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator='\n')
        writer.writerow(('time', *self.columns))
        for time, row in list(self._rows):
            writer.writerow([repr(time), *('' if np.isnan(x) else repr(x) for x in row.tolist())])
        return out.getvalue()
