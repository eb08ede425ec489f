"""Read constraints from YAML or dicts, and write them.

    constraints:
      - name: knee
        kind: revolute
        frame: shank
        to: rod
        to_pose: [0.1, 0, 0]
        axis: [0, 1, 0]
    passive: [ankle]

Every field of `Constraint` may be given by its name; `passive` lists joints without actuator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from dynamics_node.constrained.constraint import FIELDS, KINDS, Constraint
from dynamics_node.constrained.field_checks import refuse, short
from dynamics_node.errors import DynamicsError
from dynamics_node.yaml_records import as_list, numbers, read_lists

_KEYS = ('constraints', 'passive')
_TEXTS = ('name', 'kind', 'frame', 'to', 'joints', 'expression')


class Loops(NamedTuple):
    """The loop constraints of a robot and its passive joints."""

    constraints: tuple[Constraint, ...]
    passive: tuple[str, ...]  # names of the joints without actuator


def read_constraints(
        source: str | Mapping | Sequence[Constraint | Mapping]) -> tuple[Constraint, ...]:
    """Return the constraints, a tuple of Constraint.

    :param source: a YAML text or a dict with a list under `constraints`, or the list itself, of
        dicts and of Constraint.
    :raise DynamicsError: names the entry, the field and what would be valid.
    """
    return read_loops(source).constraints


def read_loops(source: str | Mapping | Sequence[Constraint | Mapping]) -> Loops:
    """Return the Loops: constraints and passive joints. `source` is as in `read_constraints`."""
    entries, passive = read_lists('constraints', source, _KEYS)
    _check_names(passive)
    return Loops(tuple(_constraint(k, entry) for k, entry in enumerate(entries, start=1)),
                 tuple(passive))


def as_dict(constraint: Constraint) -> dict:
    """Return the fields of a constraint that are not the default, as plain data for YAML."""
    return {field.name: list(value) if isinstance(value, tuple) else value
            for field in fields(constraint)
            if (value := getattr(constraint, field.name)) not in (field.default,)}


def to_yaml(constraints: Sequence[Constraint], passive: Sequence[str] = ()) -> str:
    """Return the text from which `read_loops` reads the same constraints and passive joints."""
    constraints, passive = as_list('constraints', constraints), as_list('passive', passive)
    for entry in constraints:
        if not isinstance(entry, Constraint):
            raise DynamicsError(f'constraints has {short(entry)}; expected Constraint objects')
        if callable(entry.expression):
            refuse(entry.name, 'expression', 'is a Python function', 'a text, to be written as '
                   'YAML')
    _check_names(passive)
    import yaml  # comes with rclpy; not needed to read dicts
    content: dict[str, list] = {'constraints': [as_dict(constraint) for constraint in constraints]}
    if passive:
        content['passive'] = list(passive)
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)


def _check_names(passive: Sequence[str]) -> None:
    for name in passive:
        if not isinstance(name, str):
            raise DynamicsError(f'passive has {short(name)}; expected names of joints')


def _constraint(number: int, entry: Constraint | Mapping) -> Constraint:
    if isinstance(entry, Constraint):
        return entry
    if not isinstance(entry, dict):
        raise DynamicsError(f'constraint number {number} is {short(entry)}; expected fields: '
                            'name, kind, ...')
    name = entry.get('name')
    if name is None:
        raise DynamicsError(f'constraint number {number} has no name; expected fields: name, '
                            'kind, ...')
    name = name if isinstance(name, str) else short(name)
    kind = entry.get('kind')
    if not isinstance(kind, str) or kind not in KINDS:
        refuse(name, 'kind', 'is missing' if kind is None else f'is {short(kind)}',
               f'one of: {", ".join(KINDS)}')
    for key in entry:
        if key not in ('name', 'kind', *FIELDS[kind]):
            refuse(name, short(key), f'is not a field of {kind}',
                   f'name, kind, {", ".join(FIELDS[kind])}')
    given: dict[str, Any] = {key: value if key in _TEXTS else numbers(value)
                             for key, value in entry.items()}
    return Constraint(**given)
