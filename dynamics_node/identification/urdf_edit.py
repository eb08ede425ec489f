"""How is a number in a URDF text changed without touching any other byte?

Expat says where each start tag begins; within a tag an attribute's value is what stands between its
quotes. Everything is bytes, UTF-8, and edits are made at the end in one go.
"""

import re
from typing import NamedTuple
from xml.parsers import expat

from dynamics_node.errors import ModelError


class Element(NamedTuple):
    """An element of the robot down to the third level, by where its tags are in the text."""

    tag: str
    attributes: dict
    start: int          # of '<'
    inner: int          # behind the '>' of the start tag
    end: list           # [where the end tag begins], at `inner` if the tag closes itself
    closed: bool        # <tag/>
    children: list      # of Element

    def child(self, tag):
        """Return the first child of that tag, the only one that counts, or None."""
        return next((child for child in self.children if child.tag == tag), None)


def parsed(raw):
    """Return the root Element of a URDF in bytes."""
    skipped = len(raw) - len(raw.removeprefix(b'\xef\xbb\xbf').lstrip())
    parser = expat.ParserCreate('utf-8')
    root, stack, home = [], [], None

    def begin(tag, attributes):
        nonlocal home
        prefix, _, name = tag.rpartition(':')
        home = prefix if home is None else home  # of the root, whose namespace does not count
        start = parser.CurrentByteIndex + skipped
        inner = _end_of_tag(raw, start)
        element = Element(name if prefix == home else tag, attributes, start, inner, [inner],
                          raw[inner - 2:inner - 1] == b'/', [])
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def finish(tag):
        element = stack.pop()
        if not element.closed:
            element.end[0] = parser.CurrentByteIndex + skipped

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    try:
        parser.Parse(raw[skipped:].rstrip(), True)
    except expat.ExpatError as error:
        raise ModelError(f'the URDF is not well-formed XML: {error}') from error
    return root[0]


def _end_of_tag(raw, start):
    """Return the place behind the '>' that ends a start tag; quotes may hold one too."""
    return re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""").match(raw, start).end()


class Edits:
    """Changes to a text, made all at once."""

    def __init__(self, raw):
        self._raw, self._changes = raw, []

    def set(self, element, attribute, value):
        """Let an attribute have another value; one that is not there is added behind the others."""
        tag = self._raw[element.start:element.inner]
        pattern = rb"""\s%b\s*=\s*("[^"]*"|'[^']*')""" % re.escape(attribute.encode())
        found = re.search(pattern, _without_values(tag, attribute.encode()))
        if found:
            self._put(element.start + found.start(1) + 1, element.start + found.end(1) - 1, value)
        else:
            at = element.inner - (2 if element.closed else 1)
            at -= len(self._raw[:at]) - len(self._raw[:at].rstrip())
            self._put(at, at, f' {attribute}="{value}"')

    def insert(self, parent, text):
        """Put an element before the first thing within its parent, indented as that is."""
        if parent.closed:
            name = re.match(rb'<([^\s/>]+)', self._raw[parent.start:]).group(1).decode()
            self._put(parent.inner - 2, parent.inner, f'>{text}</{name}>')
            return
        space = re.match(rb'\s*', self._raw[parent.inner:]).group().decode()
        self._put(parent.inner, parent.inner, space + text)

    def _put(self, start, end, text):
        self._changes.append((start, end, text.encode()))

    def made(self):
        """Return the text with all changes."""
        parts, at = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._raw[at:start], text]
            at = end
        return b''.join([*parts, self._raw[at:]])


def _without_values(tag, wanted):
    """Return the tag with the values of all other attributes blanked, so that none is mistaken."""
    def blank(match):
        return match.group() if match.group(1) == wanted else b' ' * len(match.group())
    return re.sub(rb"""(?<=\s)([^\s=<>"'/]+)\s*=\s*(?:"[^"]*"|'[^']*')""", blank, tag)
