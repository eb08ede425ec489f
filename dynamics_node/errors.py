"""Every error that a user of this package can meet."""


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
        super().__init__(f"no {kind} '{name}'; the robot has: {choices}")

    def __reduce__(self):
        return UnknownName, (self.kind, self.name, self.known)


class SingularModel(DynamicsError):
    """The forward dynamics does not exist: some motion meets no inertia."""
