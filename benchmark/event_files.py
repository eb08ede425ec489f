"""Write the figures of torque_events.py as JSON, one row per line, and read them."""

import json
import math

DIGITS = 4


def write(path, rows, commit):
    """Write rows with the names of their columns and the commit that was measured."""
    lines = ',\n'.join(json.dumps([_short(value) for value in row]) for row in rows)
    head = json.dumps({'commit': commit, 'columns': rows[0]._fields})[:-1]
    path.write_text(f'{head}, "rows": [\n{lines}\n]}}\n')


def read(path, kind):
    """Return the rows of a file as records of a kind."""
    found = json.loads(path.read_text())
    return [kind(**dict(zip(found['columns'], row))) for row in found['rows']]


def _short(value):
    """Return a number with as many digits as the figures are worth; an infinite one is None."""
    if isinstance(value, float):
        return float(f'{value:.{DIGITS}g}') if math.isfinite(value) else None
    return value
