"""Compute a digest of a model, to recognise the same robot in another text.

Comments, white space, visuals, collision shapes and unknown tags of a URDF have no effect on it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from dynamics_node.model.model import Model

IGNORED = ('gravity', 'payloads', 'inertias', 'warnings')   # settings, and remarks on the text


def fingerprint(model: Model) -> str:
    """Return 16 hexadecimal digits of everything in a model but gravity and payloads."""
    return digest(*(_plain(getattr(model, f.name)) for f in fields(model)
                    if f.name not in IGNORED))


def full_fingerprint(model: Model) -> str:
    """Return 16 hexadecimal digits of all that changes a result, gravity and payloads too."""
    return digest(*(_plain(getattr(model, f.name)) for f in fields(model) if f.name != 'warnings'))


def digest(*values: Any) -> str:
    """Return 16 hexadecimal digits of values whose repr is the same in every process."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """Return a value as nested tuples and lists of numbers and texts, to the last bit."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist()
    if is_dataclass(value):
        return type(value).__name__, [_plain(getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, Mapping):
        return [(name, _plain(each)) for name, each in value.items()]
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value
