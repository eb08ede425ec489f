"""Define the errors of the package, and helpers for their messages."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

LONGEST_VALUE, LONGEST_PATH, LONGEST_NAME = 80, 100, 200   # characters in a message


def shown(value: object, width: int = LONGEST_VALUE) -> str:
    """Return the repr of a value, cut to a width, for a message; never raises."""
    try:
        return repr(value)[:width]
    except Exception:  # Python prints no integer of more than 4300 digits
        return ('a number of too many digits' if isinstance(value, int)
                else f'a {type(value).__name__} that cannot be printed')


def shortened(text: str, longest: int) -> str:
    """Return a text without its middle if it has more than `longest` characters."""
    if len(text) <= longest:
        return text
    end = longest // 2
    return f'{text[:longest - end]} [... {len(text) - longest} characters ...] {text[-end:]}'


def several(n: int, noun: str) -> str:
    """Return '1 joint', '2 joints'."""
    return f'{n} {noun}{"" if n == 1 else "s"}'


class DynamicsError(ValueError):
    """An invalid input; the message names the argument, its value and the valid choices."""


class ModelError(DynamicsError):
    """A robot description that is not a valid model."""


class FileError(DynamicsError):
    """A file that cannot be read.

    :ivar path: the path as given.
    :ivar shown: the path for a message, without its middle if it is long.
    :ivar reason: why it cannot be read.
    :ivar missing: whether there is no such file.
    """

    def __init__(self, path: object, reason: str, missing: bool = False):
        self.path, self.reason, self.missing = path, reason, missing
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
        self.shown = shortened(text, LONGEST_PATH)
        super().__init__(f'cannot read {self.shown!r}: {reason}')

    def __reduce__(self) -> tuple:
        return type(self), (self.path, self.reason, self.missing)


class FileTooLong(FileError):
    """A file that is longer than the limit."""


class UnknownName(DynamicsError):
    """A name that the robot does not have.

    :ivar kind: of the named thing, for example 'frame' or 'joint'.
    :ivar name: the unknown name.
    :ivar known: the valid names.
    """

    def __init__(self, kind: str, name: object, known: Iterable[str]):
        self.kind, self.name, self.known = kind, name, tuple(known)
        choices = ', '.join(map(str, self.known)) or 'none'
        plain = isinstance(name, str) and name.isprintable()
        quoted = shortened(str(name), LONGEST_NAME) if plain else shown(name).strip("'")
        super().__init__(f"no {kind} '{quoted}'; the robot has: {choices}")

    def __reduce__(self) -> tuple:
        return UnknownName, (self.kind, self.name, self.known)


class NotFinite(DynamicsError):
    """A result that is not finite: the values are too large."""


class SingularModel(DynamicsError):
    """Forward dynamics is not defined: the mass matrix is singular."""


class SingularParametrisation(DynamicsError):
    """The parameters of a position or a rotation are singular: some motions have no finite rate.

    :ivar kind: for example 'euler_zyx'.
    :ivar value: the parameters, an array.
    :ivar clearance: 1 / |E^-1|, zero at the singularity; see spatial/rate_maps.py.
    """

    def __init__(self, kind: str, value: 'np.ndarray', clearance: float):
        self.kind, self.value, self.clearance = kind, value, clearance
        super().__init__(f'{kind} is singular at {value.tolist()}: clearance {clearance:.3g}; '
                         'use another kind: quaternion and matrix are never singular')

    def __reduce__(self) -> tuple:
        return SingularParametrisation, (self.kind, self.value, self.clearance)
