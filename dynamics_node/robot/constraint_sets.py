"""Read loops and sets of constraints, and check them against a model."""

import os
from collections.abc import Mapping
from typing import TypeGuard

from dynamics_node.constrained.constraint import Constraint, validate
from dynamics_node.constrained.read_loops import Loops, read_loops
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints
from dynamics_node.yaml_records import text_of

KNOWN_SETS = 64  # kept by a robot; with more, all are dropped


def loops_of(model: Model, source: str | os.PathLike | Loops | Mapping | Constraints) -> Loops:
    """Return the Loops of a source that fit the model.

    :param source: None, Loops, a path or text of YAML, a dict, or a list of dicts and Constraint.
    """
    if source is None:
        return Loops((), ())
    if not isinstance(source, Loops):
        source = read_loops(text_of('loops', source))
    validate(model, source.constraints)
    return Loops(tuple(source.constraints),
                 arguments.check_joint_names(model, 'passive', source.passive))


class ConstraintSets:
    """Checks sets of constraints and keeps them; equal sets become one object.

    A tuple of Constraint is immutable: a known one is found by its id, and not checked again.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict = {}  # ids of constraints and contacts -> (both of them, the set)
        self._sets: dict = {}   # set -> itself

    def of(self, constraints: Constraints, contacts: Constraints = None
           ) -> tuple[Constraint, ...]:
        """Return the constraints, and then the contacts, as one valid tuple of Constraint."""
        known = self._known.get((id(constraints), id(contacts)))
        if known is not None:  # both arguments are kept, so that their ids stay unique
            return known[-1]
        valid = self._read('constraints', constraints) + self._read('contacts', contacts)
        validate(self._model, valid)
        if len(self._known) + len(self._sets) > KNOWN_SETS:
            self._known.clear()
            self._sets.clear()
        valid = self._sets.setdefault(valid, valid)
        if _is_immutable(constraints) and _is_immutable(contacts):
            self._known[id(constraints), id(contacts)] = constraints, contacts, valid
        return valid

    def _read(self, name: str, constraints: Constraints) -> tuple[Constraint, ...]:
        if constraints is None:
            return () if name == 'contacts' else self._model.loops[0]
        if isinstance(constraints, Loops):
            return constraints.constraints
        if _is_tuple(constraints):
            return constraints
        if isinstance(constraints, Constraint):
            constraints = [constraints]
        try:
            return read_loops(constraints).constraints
        except DynamicsError as error:
            raise DynamicsError(f'{name}: {error}') from None


def _is_immutable(constraints: Constraints) -> bool:
    return constraints is None or _is_tuple(constraints)


def _is_tuple(constraints: Constraints) -> TypeGuard[tuple[Constraint, ...]]:
    return (type(constraints) is tuple
            and all(type(entry) is Constraint for entry in constraints))
