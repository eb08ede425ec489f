"""Every error that a user of this package can meet."""

LONGEST_NAME = 80  # characters of a name, or of a value, that a message shows


def shown(value, width=LONGEST_NAME):
    """Return the repr of a value, cut to a width, for a message; never raises."""
    try:
        return repr(value)[:width]
    except Exception:  # an integer of 5000 digits has none
        return f'a {type(value).__name__} that cannot be printed'


class DynamicsError(ValueError):
    """The input cannot be right; the message says what, where, and what would be valid."""


class ModelError(DynamicsError):
    """The robot description cannot be turned into a model."""


class UnknownName(DynamicsError):
    """A name the robot does not have.

    :ivar kind: what was asked for, e.g. 'frame' or 'joint'.
    :ivar name: the name that is not there.
    :ivar known: the names that are.
    """

    def __init__(self, kind, name, known):
        self.kind, self.name, self.known = kind, name, tuple(known)
        choices = ', '.join(map(str, self.known)) or 'none'
        plain = isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_NAME
        quoted = name if plain else shown(name).strip("'")
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
