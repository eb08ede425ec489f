"""Read lists of records from YAML or dicts: springs, constraints, soft contacts.

    springs:
      - name: strut
        stiffness: 900
        frame: forearm

Every field is given by its name. An error names the record, the field and what would be valid.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from dynamics_node.errors import LONGEST_NAME, DynamicsError, FileError, shortened, shown
from dynamics_node.files import read_text
from dynamics_node.yaml_text import load_yaml

T = TypeVar('T')
MAX_CHARACTERS = 200_000  # a thousand records
MAX_VALUES = 50_000

# YAML 1.1 reads 1e-3 as text, since it has no point.
_NUMBER = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z')


def is_path(source: object) -> bool:
    """Return whether a source is the path of a file; YAML has a colon or several lines."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and ':' not in source
                                               and '\n' not in source)


def text_of(name: str, source: Any) -> Any:
    """Return the content of a file if the source is a path, else the source.

    :param name: name of the argument, for the message.
    """
    if not is_path(source):
        return source
    try:
        return read_text(source, 4 * MAX_CHARACTERS)  # bytes of UTF-8 each
    except FileError as error:
        raise DynamicsError(f'{name}: {error}') from error


def read_lists(what: str, source: str | Mapping | Sequence, keys: tuple[str, ...]
               ) -> list[list]:
    """Return the list under each key of a YAML text or dict; [] for keys without one.

    :param what: the records, for the message.
    :param source: with the first of the keys at least, or the list under it alone.
    """
    if isinstance(source, (list, tuple)):
        source = {keys[0]: source}
    found = _loaded(what, source) if isinstance(source, str) else source
    if not isinstance(found, dict) or keys[0] not in found:
        raise DynamicsError(f'the {what} are {shown(source)}; expected a YAML text, not the '
                            f'name of a file, or a dict, with a list under {keys[0]}:')
    for key in found:
        if key not in keys:
            raise DynamicsError(f'the {what} have the unknown key {shown(key)}; expected: '
                                f'{", ".join(keys)}')
    return [as_list(key, found.get(key)) for key in keys]


def as_list(key: str, value: object) -> list:
    """Return a list or tuple as a list, None as an empty one."""
    if value is None:  # the key alone, or none
        return []
    if not isinstance(value, (list, tuple)):
        raise DynamicsError(f'{key} is {shown(value)}; expected a list')
    return list(value)


def read_records(kind: str, record: type[T], entries: Sequence[object]) -> tuple[T, ...]:
    """Return the records of a list of dicts; records in it stay as they are.

    :param kind: kind of one of them, for the message.
    :param record: dataclass with a field `name`, which checks the values of its fields.
    """
    return tuple(entry if isinstance(entry, record) else _record(kind, record, number, entry)
                 for number, entry in enumerate(entries, start=1))


def _record(kind: str, record: type, number: int, entry: object) -> Any:
    known = {field.name: field for field in fields(record)}
    expected = f'expected fields: {", ".join(known)}'
    if not isinstance(entry, dict):
        raise DynamicsError(f'{kind} number {number} is {shown(entry)}; {expected}')
    name = entry.get('name')
    if name is None:
        raise DynamicsError(f'{kind} number {number} has no name; {expected}')
    where = f"{kind} '{shortened(name, LONGEST_NAME) if isinstance(name, str) else shown(name)}':"
    for key in entry:
        if key not in known:
            raise DynamicsError(f'{where} {shown(key)} is not a field; {expected}')
    for field in known.values():
        if field.default is MISSING and field.name not in entry:
            raise DynamicsError(f'{where} {field.name} is missing; {expected}')
    return record(**{key: value if known[key].type is str else numbers(value)
                     for key, value in entry.items()})


def numbers(value: object) -> object:
    """Return a value with numeric texts converted to floats, in one level of lists."""
    if isinstance(value, (list, tuple)):
        return [_number(entry) for entry in value]
    return _number(value)


def _number(value: object) -> object:
    return float(value) if isinstance(value, str) and _NUMBER.match(value) else value


def _loaded(what: str, text: str) -> object:
    """Return the content of the YAML text: plain data, each key once."""
    if len(text) > MAX_CHARACTERS:
        raise DynamicsError(f'the {what} are a text of {len(text)} characters; expected at '
                            f'most {MAX_CHARACTERS}')
    try:
        return load_yaml(text, MAX_VALUES)
    except DynamicsError as error:
        raise DynamicsError(f'the {what} are not valid YAML: {error}') from error
