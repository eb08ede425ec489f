"""What is a page made of: head, key figures, sections, tables, figures."""

import numpy as np

import dynamics_node
from dynamics_node.reports.digits import column, shown
from dynamics_node.reports.markup import Markup, joined, tag
from dynamics_node.reports.style import STYLE


def page(title, about, *parts):
    """Return a whole HTML page, a text. It asks for no other file.

    :param about: {what: value}, shown in one line below the title.
    """
    told = ' \N{MIDDLE DOT} '.join(
        [*(f'{what} {value}' for what, value in about.items()),
         f'dynamics_node {dynamics_node.__version__}'])
    return '<!DOCTYPE html>\n' + tag(
        'html',
        tag('head', tag('meta', charset='utf-8'),
            tag('meta', name='viewport', content='width=device-width, initial-scale=1'),
            tag('title', title), tag('style', Markup(STYLE))),
        tag('body', tag('h1', title), tag('p', told, class_='about'), *parts), lang='en') + '\n'


def facts(pairs):
    """Return the key figures of {what: text}."""
    return tag('dl', *(tag('div', tag('dt', what), tag('dd', text))
                       for what, text in pairs.items()), class_='facts')


def section(title, *parts):
    """Return a section under a heading."""
    return tag('section', tag('h2', title), *parts)


def note(*text):
    """Return a paragraph."""
    return tag('p', *text)


def table(caption, columns, classes=()):
    """Return a table, None if it would be empty.

    :param columns: {heading: cells}. A heading is 'name [unit]'; numbers align, texts do not.
    :param classes: a class for each row, '' for none.
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


def figure(svg, caption=None):
    """Return a picture with what there is to say about it."""
    return tag('figure', svg, tag('figcaption', caption) if caption else None)


def grid(figures):
    """Return figures side by side, as many as there is room for."""
    return tag('div', *figures, class_='grid')


def bullets(texts):
    """Return a list of texts."""
    return tag('ul', *(tag('li', text) for text in texts))


def several(n, noun):
    """Return '1 joint', '2 joints'."""
    return f'{n} {noun}{"" if n == 1 else "s"}'


class Numbers(list):
    """Texts of numbers that keep their own digits; they are set as numbers are."""


def numbers(values, significant=4):
    """Return the Numbers of a column whose cells have nothing to do with each other."""
    return Numbers(shown(value, significant) for value in values)


def unit_text(unit):
    """Return a unit as it is printed, on one line."""
    return unit.replace('^2', '\u00b2').replace(' ', '\N{NO-BREAK SPACE}')


def _cells(cells):
    """Return the cells as texts, and the class of their column."""
    if isinstance(cells, Numbers):
        return cells, 'number'
    if isinstance(cells, np.ndarray) or (len(cells) and all(
            isinstance(cell, (int, float)) for cell in cells)):
        return column(cells), 'number'
    return list(cells), None


def _heading(heading):
    name, bracket, unit = heading.partition(' [')
    return (name, tag('small', joined(bracket.strip(), unit))) if bracket else (name,)
