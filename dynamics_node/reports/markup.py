"""Write HTML and SVG elements with all text escaped: names in a URDF may be anything."""

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError

VOID = ('meta', 'br')  # elements of HTML without an end tag


class Markup(str):
    """Text that is markup already. Any other text is escaped by `tag`."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element, Markup.

    :param children: Markup, or text, which is escaped; None is skipped.
    :param attributes: `stroke_width=2` is stroke-width="2", `class_` is class. None is skipped,
        numbers have two decimals.
    """
    head = ''.join(f' {key.rstrip("_").replace("_", "-")}="{_value(key, value)}"'
                   for key, value in attributes.items() if value is not None)
    return Markup(f'<{name}{head}>' if name in VOID else
                  f'<{name}{head}>{joined(*children)}</{name}>')


def joined(*children: object) -> Markup:
    """Return the concatenated children, escaped."""
    return Markup(''.join(child if isinstance(child, Markup) else escape(str(child))
                          for child in children if child is not None))


def path(x: Iterable[Any], y: Iterable[Any]) -> str:
    """Return the `d` of a line through points; it is interrupted where one is not finite."""
    words, pen_is_down = [], False
    for px, py in zip(x, y):
        if np.isfinite(px) and np.isfinite(py):
            words.append(f'{"L" if pen_is_down else "M"}{coordinate(px)},{coordinate(py)}')
            pen_is_down = True
        else:
            pen_is_down = False
    return ''.join(words)


def coordinate(value: float) -> str:
    """Return the text of a coordinate, rounded to a hundredth of a pixel."""
    if not np.isfinite(value):
        raise DynamicsError(f'a picture has the coordinate {value}; expected a finite number')
    return f'{value:.2f}'.rstrip('0').rstrip('.')


def _value(key: str, value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return coordinate(float(value))
    return escape(str(value))
