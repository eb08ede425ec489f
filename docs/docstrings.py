"""Turn the package's docstrings into reStructuredText that autodoc can read.

Docstrings are plain text with `code` in single backticks, `:param x:` fields, `* ` lists and
indented equations. Characters that reStructuredText would take for markup are escaped. Fields of
NamedTuples and dataclasses are listed with the comments behind them.
"""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections import namedtuple

from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

FIELD_GETTER = type(namedtuple('Pair', 'first').first)
MARKER = re.compile(r'(\* |- |\d+\. |:\w[^:`]*: ?)')
ARRAY_LIKE = {stringify_annotation(ArrayLike, mode)
              for mode in ('smart', 'fully-qualified-except-typing')}


def to_rst(app, what, name, obj, options, lines):
    """Rewrite the lines of a docstring in place: an event handler of autodoc."""
    found = [line for paragraph in paragraphs(lines) for line in [*converted(paragraph), '']]
    if what == 'class':
        found += [f'* ``{field}``{": " + escaped(text) if text else ""}'
                  for field, text in commented_fields(obj)] + ['']
    lines[:] = found


def short_signature(app, what, name, obj, options, signature, returned):
    """Write ArrayLike for the union of types it stands for: an event handler of autodoc."""
    for long in ARRAY_LIKE:
        signature = signature and signature.replace(long, 'ArrayLike')
        returned = returned and returned.replace(long, 'ArrayLike')
    return signature, returned


def skip_member(app, what, name, obj, skip, options):
    """Leave out fields, which are listed in the docstring of their class."""
    return True if isinstance(obj, FIELD_GETTER) else None


def paragraphs(lines):
    """Return the lines in groups: split at blank lines, list items, fields, and indented text."""
    groups, open_group = [], False
    for line in lines:
        indented = line.startswith(' ')
        if not line.strip():
            open_group = False
            continue
        item = bool(MARKER.match(line))
        last = groups[-1] if groups else ['']
        in_item = bool(MARKER.match(last[0]))
        literal = last[0].startswith(' ')
        if open_group and not item and (in_item and indented or not in_item
                                        and literal == indented):
            last.append(line)
        else:
            groups.append([line])
        open_group = True
    return groups


def converted(group):
    """Return one paragraph, list item, field or indented block as reStructuredText."""
    if group[0].startswith(' '):
        return ['::', '', *textwrap.indent(textwrap.dedent('\n'.join(group)), '    ').splitlines()]
    marker = MARKER.match(group[0])
    if marker is None:
        return [escaped(line) for line in group]
    first, *rest = group
    return [marker[0] + escaped(first[marker.end():]),
            *(' ' * min(len(marker[0]), 4) + escaped(line.strip()) for line in rest)]


def escaped(line):
    """Return text with literals in double backticks and all other markup escaped."""
    parts = re.split(r'`+([^`]+)`+', line)
    return ''.join(f'``{part}``' if index % 2 else re.sub(r'[*|\\`]|_(?!\w)', r'\\\g<0>', part)
                   for index, part in enumerate(parts))


def commented_fields(kind):
    """Return [(field, comment)] of a NamedTuple or a dataclass, in the order of its source."""
    if not (hasattr(kind, '_fields') or dataclasses.is_dataclass(kind)):
        return []
    try:
        lines = textwrap.dedent(inspect.getsource(kind)).splitlines()
    except (OSError, TypeError):
        return []
    body = ast.parse('\n'.join(lines)).body[0].body
    found = []
    for node in body:
        if isinstance(node, ast.AnnAssign) and not node.target.id.startswith('_'):
            texts = [lines[node.end_lineno - 1][node.end_col_offset:]]
            for line in lines[node.end_lineno:]:  # a comment may go on below
                if not line.strip().startswith('#'):
                    break
                texts.append(line)
            words = ' '.join(text.strip().lstrip('#, ') for text in texts)
            found.append((node.target.id, words.strip()))
    return found
