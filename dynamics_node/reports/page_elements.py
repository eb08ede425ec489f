"""Build pages: head, key figures, sections, tables, figures."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

import dynamics_node
from dynamics_node.reports.digits import column, shown
from dynamics_node.reports.markup import Markup, joined, tag
from dynamics_node.reports.style import STYLE


def page(title: str, about: Mapping[str, object], *parts: Markup | None) -> str:
    """Return a complete HTML page that needs no other file.

    :param about: {key: value}, shown in one line below the title.
    """
    line = ' \N{MIDDLE DOT} '.join(
        [*(f'{key} {value}' for key, value in about.items()),
         f'dynamics_node {dynamics_node.__version__}'])
    return '<!DOCTYPE html>\n' + tag(
        'html',
        tag('head', tag('meta', charset='utf-8'),
            tag('meta', name='viewport', content='width=device-width, initial-scale=1'),
            tag('title', title), tag('style', Markup(STYLE))),
        tag('body', tag('h1', title), tag('p', line, class_='about'), *parts), lang='en') + '\n'


def facts(pairs: Mapping[str, object]) -> Markup:
    """Return the key figures {name: text}."""
    return tag('dl', *(tag('div', tag('dt', name), tag('dd', text))
                       for name, text in pairs.items()), class_='facts')


def section(title: str, *parts: Markup | None) -> Markup:
    """Return a section under a heading."""
    return tag('section', tag('h2', title), *parts)


def note(*text: object) -> Markup:
    """Return a paragraph."""
    return tag('p', *text)


def table(caption: str, columns: Mapping[str, Sequence | np.ndarray],
          classes: Sequence[str] = ()) -> Markup | None:
    """Return a table, None if it is empty.

    :param columns: {heading: cells}. A heading is 'name [unit]'; numbers are aligned.
    :param classes: CSS class of each row, '' for none.
    """
    ready = {heading: _cells(cells) for heading, cells in columns.items()}
    length = len(next(iter(columns.values())))
    if not length:
        return None
    head = tag('tr', *(tag('th', *_heading(heading), scope='col', class_=kind)
                       for heading, (_, kind) in ready.items()))
    rows = [tag('tr', *(tag('td', cells[k], class_=kind) for cells, kind in ready.values()),
                class_=(classes[k] if len(classes) else None) or None) for k in range(length)]
    return tag('div', tag('table', tag('caption', caption), tag('thead', head),
                          tag('tbody', *rows)), class_='scroll')


def figure(svg: Markup, caption: str | None = None) -> Markup:
    """Return a picture with its caption."""
    return tag('figure', svg, tag('figcaption', caption) if caption else None)


def grid(figures: Iterable[Markup]) -> Markup:
    """Return figures side by side, as many as fit."""
    return tag('div', *figures, class_='grid')


def bullets(texts: Iterable[str]) -> Markup:
    """Return a list of texts."""
    return tag('ul', *(tag('li', text) for text in texts))


class Numbers(list):
    """Texts of numbers with their own digits, in a column of numbers."""


def numbers(values: Iterable[float], significant: int = 4) -> Numbers:
    """Return the Numbers of a column whose cells have different units."""
    return Numbers(shown(value, significant) for value in values)


def unit_text(unit: str) -> str:
    """Return a unit for print, without line breaks."""
    return unit.replace('^2', '\u00b2').replace(' ', '\N{NO-BREAK SPACE}')


def _cells(cells: Sequence | np.ndarray) -> tuple[Sequence[object], str | None]:
    """Return the cells as texts, and the class of their column."""
    if isinstance(cells, Numbers):
        return cells, 'number'
    if isinstance(cells, np.ndarray) or (len(cells) and all(
            isinstance(cell, (int, float)) for cell in cells)):
        return column(cells), 'number'
    return list(cells), None


def _heading(heading: str) -> tuple[str, ...]:
    name, bracket, unit = heading.partition(' [')
    return (name, tag('small', joined(bracket.strip(), unit))) if bracket else (name,)
