"""Draw a matrix as a heat map with its numbers, as SVG."""

from collections.abc import Sequence

import numpy as np

from dynamics_node.inspector.colours import hexadecimal, share_colour
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, tag
from dynamics_node.reports.plots import picture, shortened

WIDTH, MARGIN = 340.0, 62.0
MOST_NUMBERS = 9   # rows up to which the cells have numbers; more do not fit
DARK = 0.55        # share of the greatest entry below which text on a cell is white


def heat_map(title: str, names: Sequence[str], matrix: np.ndarray) -> Markup:
    """Return the picture of a square matrix; brightness is the size of an entry, sign in text."""
    n = len(names)
    cell = (WIDTH - MARGIN) / max(n, 1)
    greatest = np.abs(matrix).max(initial=0.0) or 1.0
    drawn = []
    for i, name in enumerate(names):
        drawn.append(tag('text', tag('title', name), shortened(name, 10), x=MARGIN - 4.0,
                         y=(i + 0.5) * cell + 3.0, text_anchor='end', fill='currentColor',
                         font_size=min(10.0, cell)))
        for j in range(n):
            share = abs(matrix[i, j]) / greatest
            x, y = MARGIN + j * cell, i * cell
            drawn.append(tag('rect', tag('title', f'{name}, {names[j]}: {shown(matrix[i, j], 4)}'),
                             x=x, y=y, width=cell - 1.0, height=cell - 1.0,
                             fill=hexadecimal(share_colour(share))))
            if n <= MOST_NUMBERS:
                drawn.append(tag('text', shown(matrix[i, j], 2, 1e-9 * greatest),
                                 x=x + cell / 2.0, y=y + cell / 2.0 + 3.0, font_size=9,
                                 text_anchor='middle', fill='white' if share < DARK else 'black'))
    words = f'greatest entry {shown(greatest, 4)}'
    return tag('div', picture(WIDTH, max(n * cell, 1.0), title, words, drawn),
               style='padding:2px 4px;font:11px system-ui,sans-serif')
