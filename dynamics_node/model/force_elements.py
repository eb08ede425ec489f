"""Define springs with dampers and linear actuators, at joints and between links, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, check_kind, check_sequence, finite
from dynamics_node.errors import ModelError, UnknownName, shown
from dynamics_node.model.configuration import coordinate_places
from dynamics_node.model.model import WORLD_NAME, Model, frame_of


class LineElement(Protocol):
    """A straight line from a point of one link, or of the world, to a point of another."""

    @property
    def name(self) -> str: ...

    @property
    def frame(self) -> str: ...      # link of one end

    @property
    def to(self) -> str: ...         # link of the other end, or the world

    @property
    def point(self) -> ArrayLike: ...     # of the end in `frame` [m]

    @property
    def to_point(self) -> ArrayLike: ...  # of the other end in `to` [m]


@dataclass(frozen=True)
class Spring:
    """A spring and damper in parallel: at a joint, or along a line between two links.

    It pulls with k (d - rest) + c d', where d is the joint's coordinate or the length of the line.
    """

    name: str
    stiffness: float = 0.0       # k [N m/rad or N/m]
    damping: float = 0.0         # c [N m s/rad or N s/m]
    rest: float = 0.0            # coordinate or length at which the spring has no force [rad or m]
    joint: str = ''              # name of the joint, or 'joint.x' for one axis; or:
    frame: str = ''              # link of one end
    to: str = WORLD_NAME         # link of the other end, or the world
    point: ArrayLike = (0.0, 0.0, 0.0)     # of the end in `frame` [m]
    to_point: ArrayLike = (0.0, 0.0, 0.0)  # of the other end in `to` [m]

    def __post_init__(self) -> None:
        where = _checked_name('spring', self.name)
        for field in ('stiffness', 'damping'):
            object.__setattr__(self, field, at_least_zero(f'{where} {field}', getattr(self, field)))
        object.__setattr__(self, 'rest', float(finite(f'{where} rest', self.rest, ())))
        _set_points(self, where)
        if bool(check_kind(f'{where} joint', self.joint, str)) == bool(self.frame):
            raise ModelError(f'{where} has joint {self.joint!r} and frame {self.frame!r}; expected '
                             'one of the two')
        ends = {'to': WORLD_NAME, 'point': (0.0, 0.0, 0.0), 'to_point': (0.0, 0.0, 0.0)}
        for field, unset in ends.items():
            if self.joint and getattr(self, field) != unset:
                raise ModelError(f'{where} is at a joint and has {field} '
                                 f'{getattr(self, field)!r}, which only a spring between links has')
        if self.frame and self.rest < 0.0:
            raise ModelError(f'{where} rest is {self.rest}; expected a length')


@dataclass(frozen=True)
class Actuator:
    """A linear actuator between two links, such as a hydraulic cylinder; its force extends it."""

    name: str
    frame: str                   # link of one end
    to: str = WORLD_NAME         # link of the other end, or the world
    point: ArrayLike = (0.0, 0.0, 0.0)     # of the end in `frame` [m]
    to_point: ArrayLike = (0.0, 0.0, 0.0)  # of the other end in `to` [m]

    def __post_init__(self) -> None:
        _set_points(self, _checked_name('actuator', self.name))


Element = TypeVar('Element', Spring, Actuator)


def check_springs(model: Model, springs: Sequence[Spring]) -> tuple[Spring, ...]:
    """Return the springs as a tuple; those that do not fit the model raise a ModelError."""
    springs = check_sequence('springs', springs)
    for spring in springs:
        check_kind('springs', spring, Spring)
        if spring.frame:
            _check_line('spring', model, spring)
        elif spring.joint not in coordinate_places(model):
            unknown = UnknownName('joint', spring.joint, coordinate_places(model))
            raise ModelError(f"spring '{spring.name}': joint: {unknown}")
    return _unique('springs', springs)


def check_actuators(model: Model, actuators: Sequence[Actuator]) -> tuple[Actuator, ...]:
    """Return the actuators as a tuple; those that do not fit the model raise a ModelError."""
    actuators = check_sequence('actuators', actuators)
    for actuator in actuators:
        _check_line('actuator', model, check_kind('actuators', actuator, Actuator))
    return _unique('actuators', actuators)


def _check_line(kind: str, model: Model, line: Spring | Actuator) -> None:
    where = f"{kind} '{line.name}':"
    for field, name in (('frame', line.frame), ('to', line.to)):
        if name not in model.frames and (field, name) != ('to', WORLD_NAME):
            raise ModelError(f"{where} {field}: {UnknownName('frame', name, model.frames)}")
    if frame_of(model, line.to).body == model.frame(line.frame).body:
        raise ModelError(f"{where} connects '{line.frame}' to '{line.to}', which is fixed to "
                         'it; expected a link that moves against it')


def _unique(name: str, elements: tuple[Element, ...]) -> tuple[Element, ...]:
    names = [each.name for each in elements]
    twice = [each for each in names if names.count(each) > 1]
    if twice:
        raise ModelError(f"{name} has '{twice[0]}' twice; expected a name of its own for each")
    return elements


def _checked_name(kind: str, name: object) -> str:
    """Return the words that begin an error message about an element."""
    if not isinstance(name, str) or not name:
        raise ModelError(f'the name of a {kind} is {shown(name)}; expected a text')
    return f"{kind} '{name}':"


def _set_points(element: Spring | Actuator, where: str) -> None:
    """Check the fields of a line; the points become tuples, so that it can be hashed."""
    for field in ('frame', 'to'):
        check_kind(f'{where} {field}', getattr(element, field), str)
    for field in ('point', 'to_point'):
        point = finite(f'{where} {field}', getattr(element, field), (3,))
        object.__setattr__(element, field, tuple(point.tolist()))
