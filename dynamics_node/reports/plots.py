"""Small plots as SVG: lines over time, bars against limits, values with error bars."""

from typing import NamedTuple

import numpy as np

from dynamics_node.reports.digits import MINUS, shown
from dynamics_node.reports.markup import path, tag

POINTS = 400           # of a line; more could not be told apart on paper
SEEN_FROM = 0.3        # a limit is drawn when the line comes this near to it, relative
ROUNDING = 1e-9        # relative: smaller efforts are shown as none
WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 24, 32
ROW, NAME, VALUE = 19, 150, 190   # of bars: height, room for a name and for a value
LINE, LABEL = 16, 92              # of error bars: height, room for a name


class Line(NamedTuple):
    """A line of a plot."""

    name: str
    x: np.ndarray
    y: np.ndarray
    kind: str = 'one'   # its colour: one, two or three


def line_plot(title, lines, x_label, y_label, limits=(), event=None):
    """Return the plot of some Lines over one x axis.

    :param limits: values of y that should not be passed; drawn if a line comes near.
    :param event: the x of something to be marked, or None.
    """
    x_span = _span(np.concatenate([line.x for line in lines]), 0.0)
    y_span = _span(np.concatenate([[0.0], *(line.y for line in lines), near(lines, limits)]), 0.06)
    x_of, y_of = (_scale(x_span, LEFT, WIDTH - RIGHT), _scale(y_span, HEIGHT - BOTTOM, TOP))
    drawn = [*_x_axis(x_span, x_of, TOP, HEIGHT - BOTTOM), *_y_axis(y_span, y_of)]
    drawn += [tag('path', d=path([LEFT, WIDTH - RIGHT], [y_of(y)] * 2), class_='limit')
              for y in near(lines, limits)]
    if event is not None:
        drawn.append(tag('path', d=path([x_of(event)] * 2, [TOP, HEIGHT - BOTTOM]), class_='event'))
    drawn += [tag('path', tag('title', line.name), d=path(x_of(x), y_of(y)), class_=line.kind)
              for line in lines for x, y in [decimated(line.x, line.y)]]
    drawn += [tag('text', tag('title', title), shortened(title, 28), x=0, y=12, class_='strong'),
              tag('text', y_label, x=WIDTH - RIGHT, y=12, class_='soft', text_anchor='end'),
              tag('text', x_label, x=WIDTH - RIGHT, y=HEIGHT - 3, class_='soft',
                  text_anchor='end'),
              *_legend(lines)]
    return picture(WIDTH, HEIGHT, f'{title}, {y_label} over {x_label}', _in_words(lines), drawn)


def limit_bars(title, names, values, limits, unit):
    """Return one bar for each name, from zero to its value; its track ends at the limits.

    :param limits: of |value|, nan = unknown: then there is a number and no bar.
    """
    half = (WIDTH * 2 - NAME - VALUE) / 2
    middle, drawn = NAME + half, []
    for k, (name, value, limit) in enumerate(zip(names, values, limits)):
        y = TOP / 4 + k * ROW
        nothing = ROUNDING * np.fmax(limit, np.abs(values).max())
        words = [f'{shown(value, 3, nothing)} {unit[k]}']
        if np.isfinite(limit):
            share = value / limit
            length = min(abs(share), 1.0) * half
            drawn += [tag('rect', x=middle - half, y=y, width=2 * half, height=ROW - 6.0,
                          class_='track'),
                      tag('rect', x=middle - (length if share < 0 else 0.0), y=y, width=length,
                          height=ROW - 6.0, class_='bar over' if abs(share) > 1.0 else 'bar')]
            words.append(f'= {shown(100 * abs(share), 3, 1e-2)} % of {shown(limit, 3)}')
        over = np.isfinite(limit) and abs(value) > limit
        drawn += [tag('text', tag('title', name), shortened(name, 24), x=NAME - 8, y=y + 10,
                      text_anchor='end'),
                  tag('text', ' '.join(words), x=2 * WIDTH - VALUE + 8, y=y + 10,
                      class_='bad' if over else 'soft')]
    bottom = TOP / 4 + len(names) * ROW
    drawn.append(tag('path', d=path([middle] * 2, [0, bottom]), class_='axis'))
    words = '; '.join(f'{name} {shown(value, 3)}' for name, value in zip(names, values))
    return picture(2 * WIDTH, bottom, title, words, drawn)


def error_bars(title, names, values, deviations, before, unit):
    """Return one row for each name: the value with two deviations to each side, and one before.

    :param deviations: standard deviations; none where it is not finite: no whisker.
    :param before: what was believed; a hollow mark.
    """
    ends = np.concatenate([values - 2 * deviations, values + 2 * deviations, values, before])
    span = _span(np.concatenate([[0.0], ends]), 0.03)
    bottom = TOP + 2.0 + len(names) * LINE
    x_of = _scale(span, LABEL, WIDTH - RIGHT)
    drawn = _x_axis(span, x_of, TOP, bottom)
    for k, (name, value, deviation, old) in enumerate(zip(names, values, deviations, before)):
        y = TOP + 10.0 + k * LINE
        if np.isfinite(deviation):
            drawn.append(tag('path', class_='whisker', d=''.join(path(x, y) for x, y in _whisker(
                x_of(value - 2 * deviation), x_of(value + 2 * deviation), y))))
        drawn += [tag('circle', cx=x_of(old), cy=y, r=3.4, class_='dot two'),
                  tag('circle', cx=x_of(value), cy=y, r=2.4, class_='dot'),
                  tag('text', tag('title', name), shortened(name, 14), x=LABEL - 8, y=y + 4,
                      text_anchor='end')]
    drawn += [tag('text', tag('title', title), shortened(title, 36), x=0, y=12, class_='strong'),
              tag('text', unit, x=WIDTH - RIGHT, y=12, class_='soft', text_anchor='end')]
    words = '; '.join(f'{name} {shown(value)} {unit}, before {shown(old)}'
                      for name, value, old in zip(names, values, before))
    return picture(WIDTH, bottom + 18.0, title, words, drawn)


# What they are made of -----------------------------------------------------------------------

def picture(width, height, title, description, drawn):
    """Return an SVG that says in words what it shows."""
    return tag('svg', tag('title', title), tag('desc', description), *drawn, role='img',
               viewBox=f'0 0 {width:g} {height:g}')


def shortened(name, most):
    """Return a name that has room: a long one loses its middle, since ends tell names apart."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f'{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[len(name) - (most - 1 - head):]}'


def decimated(x, y, points=POINTS):
    """Return fewer points of a line, among them the least and greatest y of each stretch.

    So that a peak which is drawn over a limit is never lost.
    """
    if len(x) <= points:
        return x, y
    edges = np.linspace(0, len(x), points // 2 + 1).astype(int)
    kept = {0, len(x) - 1}
    for first, last in zip(edges[:-1], edges[1:]):
        stretch = np.nan_to_num(y[first:last])
        kept |= {first + int(stretch.argmin()), first + int(stretch.argmax())}
    kept = np.array(sorted(kept))
    return x[kept], y[kept]


def near(lines, limits):
    """Return the limits that a line comes near to, or passes."""
    greatest = max(np.nanmax(line.y, initial=0.0) for line in lines)
    least = min(np.nanmin(line.y, initial=0.0) for line in lines)
    return np.array([y for y in limits if np.isfinite(y)
                     and (greatest >= SEEN_FROM * y if y > 0 else least <= SEEN_FROM * y)])


def ticks(low, high, step=None):
    """Return the multiples of a step from low to high; by default some round ones."""
    step = step or round_step(high - low)
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)


def round_step(length, most=6):
    """Return 1, 2 or 5 times a power of ten, at most so many of which fit into the length."""
    step = 10.0 ** np.floor(np.log10(length / most))
    return step * next(k for k in (1, 2, 5, 10, 20) if length / (k * step) <= most)


def _span(values, margin):
    values = values[np.isfinite(values)]
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not low <= high:
        return 0.0, 1.0
    size = high - low
    if size <= 1e-9 * max(abs(low), abs(high)):  # level, or a single point
        size = max(abs(low), abs(high), 1e-9)
        return low - 0.5 * size, high + 0.5 * size
    return low - margin * size, high + margin * size


def _scale(span, start, end):
    low, high = span
    return lambda value: start + (np.asarray(value) - low) / (high - low) * (end - start)


def _x_axis(span, x_of, top, bottom):
    marks = ticks(*span, round_step(span[1] - span[0], 5))
    return [tag('path', d=''.join(path([x_of(x)] * 2, [top, bottom]) for x in marks),
                class_='raster'),
            *(tag('text', _tick(x, marks), x=float(x_of(x)), y=bottom + 13, class_='soft',
                  text_anchor='middle') for x in marks)]


def _y_axis(span, y_of):
    marks = ticks(*span, round_step(span[1] - span[0], 5))
    right = WIDTH - RIGHT
    return [tag('path', d=''.join(path([LEFT, right], [y_of(y)] * 2) for y in marks),
                class_='raster'),
            tag('path', d=path([LEFT, right], [y_of(0.0)] * 2), class_='axis'),
            *(tag('text', _tick(y, marks), x=LEFT - 5, y=float(y_of(y)) + 4, class_='soft',
                  text_anchor='end') for y in marks)]


def _tick(value, marks):
    """Return the number at a mark: its digits are those that the step between marks needs."""
    step = marks[1] - marks[0] if len(marks) > 1 else abs(value) or 1.0
    largest = np.abs(marks).max()
    if largest >= 1e5 or largest < 1e-3:
        return shown(float(value), 3)
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    return f'{value + 0.0:.{decimals}f}'.replace('-', MINUS)  # -0.0 + 0.0 is 0.0


def _whisker(left, right, y):
    yield [left, right], [y, y]
    for x in (left, right):
        yield [x, x], [y - 3, y + 3]


def _legend(lines):
    if len(lines) < 2:
        return
    x = float(LEFT)
    for line in lines:
        yield tag('path', d=path([x, x + 16], [HEIGHT - 7] * 2), class_=line.kind)
        yield tag('text', line.name, x=x + 20, y=HEIGHT - 3, class_='soft')
        x += 32.0 + 6.0 * len(line.name)


def _in_words(lines):
    return '; '.join(f'{line.name} from {shown(np.nanmin(line.y))} to {shown(np.nanmax(line.y))}'
                     for line in lines)
