"""Acceptance limits of a demo: a measured number, its limit, and a table of them."""

from typing import NamedTuple

import numpy as np


class Bar(NamedTuple):
    """A measured number and its limit."""

    name: str
    value: float
    limit: float      # met if the value is no greater
    unit: str
    meaning: str = ''

    @property
    def met(self):
        return bool(self.value <= self.limit)   # nan is not


def print_bars(title, bars):
    """Print one row each; return whether all are met."""
    print(f'\n{title:<44}{"measured":>10}{"bar":>10}')
    for bar in bars:
        print(f'  {bar.name:<42}{bar.value:10.4g}{bar.limit:10.4g} {bar.unit:<5}'
              f'{"ok" if bar.met else "FAILED":<8}{bar.meaning}')
    return all(bar.met for bar in bars)


def rms(x):
    """Return the root of the mean of squared lengths, of rows if there are several."""
    x = np.asarray(x)
    return float(np.sqrt(np.mean(np.sum(x ** 2, axis=1) if x.ndim > 1 else x ** 2)))
