"""Refuse fields of a request that are given but not read: otherwise mistakes stay unnoticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from dynamics_node.errors import DynamicsError


def refuse_unread(request: Any, readers: Mapping[str, Sequence[str]]) -> None:
    """Refuse a field that is given but not read for the question of a request.

    :param readers: {field: the questions that read it}.
    """
    question = request.question
    for field, questions in readers.items():
        if question not in questions:
            refuse_given(request, field, f"question '{question}' does not read it, only "
                                         f"{' and '.join(questions)}")


def refuse_given(request: Any, field: str, reason: str) -> None:
    """Refuse a field that differs from its default."""
    kind = cast(Any, type(request))
    if getattr(request, field) != getattr(_default(kind), field):
        raise DynamicsError(f'{field} is given, but {reason}')


@cache
def _default(kind: Any) -> Any:
    return kind()
