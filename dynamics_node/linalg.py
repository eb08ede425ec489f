"""Give the functions of scipy.linalg; the first use of one imports it.

The import takes 0.25 s. The serving process of a node needs it only for some requests, the watchdog
never. The torque process imports it at its start, so that no torque is delayed by it.
"""

import sys
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a function or module of scipy.linalg."""
    if name.startswith('_'):   # asked for by import and by pickle, not by our code
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    import scipy.linalg
    value = getattr(scipy.linalg, name)
    setattr(sys.modules[__name__], name, value)   # next time found without this function
    return value
