"""Write the results as JSON."""

import json

import numpy as np


def json_text(results):
    """Return the JSON text of results whose numbers and truths may be NumPy's."""
    return json.dumps(results, indent=1, default=_plain) + '\n'


def _plain(value):
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f'{type(value).__name__} cannot be written to results.json')
