"""Describe the fields of a message type: text, message, list."""

import importlib
import re
from functools import cache
from typing import Any, NamedTuple


class FieldKind(NamedTuple):
    """What a field contains."""

    many: bool       # whether it is a list of any length
    is_text: bool    # a text, or a list of texts
    message: Any     # class of the message, or of each message of a list; None for others


@cache
def message_fields(message_type: Any) -> dict[str, FieldKind]:
    """Return {field: FieldKind} of a message type."""
    return {field: _kind(declared)
            for field, declared in message_type.get_fields_and_field_types().items()}


def _kind(declared: str) -> FieldKind:
    """Return the FieldKind of a declaration, such as 'sequence<string, 5>' or 'double[6]'."""
    name = re.findall(r'(?:sequence<)?([\w/]+)', declared)[0]
    return FieldKind(declared.startswith('sequence<'), name in ('string', 'wstring'),
                     _message_type(name) if '/' in name else None)


def _message_type(name: str) -> type:
    """Return the class of 'package/Type'."""
    package, *_, kind = name.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), kind)
