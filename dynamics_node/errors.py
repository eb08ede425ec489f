"""Every error that a user of this package can meet."""

import os

LONGEST_VALUE, LONGEST_PATH, LONGEST_NAME = 80, 100, 200   # characters of them in a message


def shown(value, width=LONGEST_VALUE):
    """Return the repr of a value, cut to a width, for a message; never raises."""
    try:
        return repr(value)[:width]
    except Exception:  # Python prints no integer of more than 4300 digits
        return ('a number of too many digits' if isinstance(value, int)
                else f'a {type(value).__name__} that cannot be printed')


def shortened(text, longest):
    """Return a text, its middle left out where it has more than `longest` characters."""
    if len(text) <= longest:
        return text
    end = longest // 2
    return f'{text[:longest - end]} [... {len(text) - longest} characters ...] {text[-end:]}'


class DynamicsError(ValueError):
    """The input cannot be right; the message says what, where, and what would be valid."""


class ModelError(DynamicsError):
    """The robot description cannot be turned into a model."""


class FileError(DynamicsError):
    """A file cannot be read.

    :ivar path: its path, as it was given.
    :ivar shown: the same for a message, its middle left out where it is long.
    :ivar reason: why not.
    :ivar missing: whether there is no such file.
    """

    def __init__(self, path, reason, missing=False):
        self.path, self.reason, self.missing = path, reason, missing
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
        self.shown = shortened(text, LONGEST_PATH)
        super().__init__(f'cannot read {self.shown!r}: {reason}')

    def __reduce__(self):
        return type(self), (self.path, self.reason, self.missing)


class FileTooLong(FileError):
    """A file has more bytes than may be read."""


class UnknownName(DynamicsError):
    """A name the robot does not have.

    :ivar kind: what was asked for, e.g. 'frame' or 'joint'.
    :ivar name: the name that is not there.
    :ivar known: the names that are.
    """

    def __init__(self, kind, name, known):
        self.kind, self.name, self.known = kind, name, tuple(known)
        choices = ', '.join(map(str, self.known)) or 'none'
        plain = isinstance(name, str) and name.isprintable()
        quoted = shortened(name, LONGEST_NAME) if plain else shown(name).strip("'")
        super().__init__(f"no {kind} '{quoted}'; the robot has: {choices}")

    def __reduce__(self):
        return UnknownName, (self.kind, self.name, self.known)


class SingularModel(DynamicsError):
    """The forward dynamics does not exist: some motion meets no inertia."""


class SingularParametrisation(DynamicsError):
    """The parameters of a position or a rotation cannot follow every motion where they are.

    :ivar kind: e.g. 'euler_zyx'.
    :ivar value: the parameters, an array.
    :ivar clearance: 1 / |E^-1|, zero at the singularity; see spatial/rate_maps.py.
    """

    def __init__(self, kind, value, clearance):
        self.kind, self.value, self.clearance = kind, value, clearance
        super().__init__(f'{kind} is singular at {value.tolist()}: clearance {clearance:.3g}; '
                         'take another kind, quaternion and matrix never are')

    def __reduce__(self):
        return SingularParametrisation, (self.kind, self.value, self.clearance)
