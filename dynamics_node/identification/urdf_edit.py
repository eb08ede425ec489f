"""Edit attributes in the text of a URDF and keep every other byte.

Expat gives the position of each start tag; the value of an attribute is the text between its
quotes. All text is UTF-8 bytes, and all edits are applied at once.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.parsers import expat

from dynamics_node.errors import ModelError


class Element(NamedTuple):
    """An XML element with the positions of its tags in the text."""

    tag: str
    attributes: dict[str, str]
    start: int          # of '<'
    inner: int          # after the '>' of the start tag
    end: list[int]      # [start of the end tag]; `inner` of <tag/>
    closed: bool        # <tag/>
    children: list[Element]

    def child(self, tag: str) -> Element | None:
        """Return the first child with that tag, or None; later ones are ignored."""
        return next((child for child in self.children if child.tag == tag), None)


def parsed(raw: bytes) -> Element:
    """Return the root Element of a URDF in bytes."""
    skipped = len(raw) - len(raw.removeprefix(b'\xef\xbb\xbf').lstrip())
    parser = expat.ParserCreate('utf-8')
    root: list[Element] = []
    stack: list[Element] = []
    home: str | None = None

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal home
        prefix, _, name = tag.rpartition(':')
        home = prefix if home is None else home  # of the root, whose namespace is ignored
        start = parser.CurrentByteIndex + skipped
        inner = _end_of_tag(raw, start)
        element = Element(name if prefix == home else tag, attributes, start, inner, [inner],
                          raw[inner - 2:inner - 1] == b'/', [])
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def finish(tag: str) -> None:
        element = stack.pop()
        if not element.closed:
            element.end[0] = parser.CurrentByteIndex + skipped

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    try:
        parser.Parse(raw[skipped:].rstrip(), True)
    except expat.ExpatError as error:
        raise ModelError(f'the URDF is not well-formed XML: {error}') from error
    return root[0]


def _end_of_tag(raw: bytes, start: int) -> int:
    """Return the position after the '>' of a start tag; quoted values may contain '>'."""
    tag = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""").match(raw, start)
    assert tag is not None   # the parser has read it
    return tag.end()


class Edits:
    """Changes of a text, applied all at once."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._changes: list[tuple[int, int, bytes]] = []

    def set(self, element: Element, attribute: str, value: str) -> None:
        """Change the value of an attribute; a missing one is added after the others."""
        tag = self._raw[element.start:element.inner]
        pattern = rb"""\s%b\s*=\s*("[^"]*"|'[^']*')""" % re.escape(attribute.encode())
        found = re.search(pattern, _without_values(tag, attribute.encode()))
        if found:
            self._put(element.start + found.start(1) + 1, element.start + found.end(1) - 1, value)
        else:
            at = element.inner - (2 if element.closed else 1)
            at -= len(self._raw[:at]) - len(self._raw[:at].rstrip())
            self._put(at, at, f' {attribute}="{value}"')

    def insert(self, parent: Element, text: str) -> None:
        """Insert an element as the first child of a parent, with the same indentation."""
        if parent.closed:
            tag = self._raw[parent.start + 1:parent.inner]
            name = re.split(rb'[\s/>]', tag, maxsplit=1)[0].decode()
            self._put(parent.inner - 2, parent.inner, f'>{text}</{name}>')
            return
        inside = self._raw[parent.inner:]
        space = inside[:len(inside) - len(inside.lstrip())].decode()
        self._put(parent.inner, parent.inner, space + text)

    def _put(self, start: int, end: int, text: str) -> None:
        self._changes.append((start, end, text.encode()))

    def apply(self) -> bytes:
        """Return the text with all changes."""
        parts, at = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._raw[at:start], text]
            at = end
        return b''.join([*parts, self._raw[at:]])


def _without_values(tag: bytes, wanted: bytes) -> bytes:
    """Return the tag with the values of all other attributes blanked: they may look like it."""
    def blank(match: re.Match[bytes]) -> bytes:
        return match.group() if match.group(1) == wanted else b' ' * len(match.group())
    return re.sub(rb"""(?<=\s)([^\s=<>"'/]+)\s*=\s*(?:"[^"]*"|'[^']*')""", blank, tag)
