"""Draw small plots as SVG: lines over time, bars against limits, values with error bars."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.reports.digits import MINUS, shown
from dynamics_node.reports.markup import Markup, path, tag

POINTS = 400           # of a line; more are not visible on paper
NEAR_LIMIT = 0.3       # of a limit: it is drawn if the line exceeds this
ROUNDING = 1e-9        # relative: smaller efforts are shown as zero
WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 24, 32
ROW, NAME, VALUE = 19, 150, 190   # of bars: height, room for a name and for a value
LINE, LABEL = 16, 92              # of error bars: height, room for a name

Scale = Callable[[ArrayLike], np.ndarray]   # from numbers to pixels


class Line(NamedTuple):
    """A line of a plot."""

    name: str
    x: np.ndarray
    y: np.ndarray
    kind: str = 'one'   # colour: one, two or three


def line_plot(title: str, lines: Sequence[Line], x_label: str, y_label: str,
              limits: Sequence[float] = (), event: float | None = None) -> Markup:
    """Return the plot of Lines over one x axis.

    :param limits: limits of y; drawn if a line comes near.
    :param event: x of a vertical mark, or None.
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


def limit_bars(title: str, names: Sequence[str], values: np.ndarray, limits: np.ndarray,
               unit: Sequence[str]) -> Markup:
    """Return one bar for each name, from zero to its value; its track ends at the limits.

    :param limits: limits of |value|; nan = unknown: a number without a bar.
    """
    half = (WIDTH * 2 - NAME - VALUE) / 2
    middle, drawn = NAME + half, []
    for k, (name, value, limit) in enumerate(zip(names, values, limits)):
        y = TOP / 4 + k * ROW
        zero = ROUNDING * np.fmax(limit, np.abs(values).max())
        words = [f'{shown(value, 3, zero)} {unit[k]}']
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
    description = '; '.join(f'{name} {shown(value, 3)}' for name, value in zip(names, values))
    return picture(2 * WIDTH, bottom, title, description, drawn)


def error_bars(title: str, names: Sequence[str], values: np.ndarray, deviations: np.ndarray,
               before: np.ndarray, unit: str) -> Markup:
    """Return one row for each name: value, two deviations to each side, value before.

    :param deviations: standard deviations; no whisker if not finite.
    :param before: values before, as hollow marks.
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


# Parts -----------------------------------------------------------------------------------

def picture(width: float, height: float, title: str, description: str,
            drawn: Iterable[Markup]) -> Markup:
    """Return an SVG with a title and a description in words."""
    return tag('svg', tag('title', title), tag('desc', description), *drawn, role='img',
               viewBox=f'0 0 {width:g} {height:g}')


def shortened(name: str, most: int) -> str:
    """Return a name of at most so many characters, the middle of a long one replaced."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f'{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[len(name) - (most - 1 - head):]}'


def decimated(x: np.ndarray, y: np.ndarray,
              points: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Return fewer points of a line, with the least and greatest y of each part.

    A peak above a limit stays visible.
    """
    if len(x) <= points:
        return x, y
    edges = np.linspace(0, len(x), points // 2 + 1).astype(int)
    kept = {0, len(x) - 1}
    for first, last in zip(edges[:-1], edges[1:]):
        stretch = np.nan_to_num(y[first:last])
        kept |= {first + int(stretch.argmin()), first + int(stretch.argmax())}
    indices = np.array(sorted(kept))
    return x[indices], y[indices]


def near(lines: Sequence[Line], limits: Sequence[float]) -> np.ndarray:
    """Return the limits that a line comes near to or exceeds."""
    greatest = max(np.nanmax(line.y, initial=0.0) for line in lines)
    least = min(np.nanmin(line.y, initial=0.0) for line in lines)
    return np.array([y for y in limits if np.isfinite(y)
                     and (greatest >= NEAR_LIMIT * y if y > 0 else least <= NEAR_LIMIT * y)])


def ticks(low: float, high: float, step: float | None = None) -> np.ndarray:
    """Return the multiples of a step from low to high; None: a round step."""
    step = step or round_step(high - low)
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)


def round_step(length: float, most: int = 6) -> float:
    """Return 1, 2 or 5 times a power of ten that divides the length into at most `most` steps."""
    step = 10.0 ** np.floor(np.log10(length / most))
    return step * next(k for k in (1, 2, 5, 10, 20) if length / (k * step) <= most)


def _span(values: np.ndarray, margin: float) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not low <= high:
        return 0.0, 1.0
    size = high - low
    if size <= 1e-9 * max(abs(low), abs(high)):  # constant, or a single point
        size = max(abs(low), abs(high), 1e-9)
        return low - 0.5 * size, high + 0.5 * size
    return low - margin * size, high + margin * size


def _scale(span: tuple[float, float], start: float, end: float
           ) -> Scale:
    low, high = span
    return lambda value: start + (np.asarray(value) - low) / (high - low) * (end - start)


def _x_axis(span: tuple[float, float], x_of: Scale, top: float,
            bottom: float) -> list[Markup]:
    marks = ticks(*span, round_step(span[1] - span[0], 5))
    return [tag('path', d=''.join(path([x_of(x)] * 2, [top, bottom]) for x in marks),
                class_='raster'),
            *(tag('text', _tick(x, marks), x=float(x_of(x)), y=bottom + 13, class_='soft',
                  text_anchor='middle') for x in marks)]


def _y_axis(span: tuple[float, float], y_of: Scale) -> list[Markup]:
    marks = ticks(*span, round_step(span[1] - span[0], 5))
    right = WIDTH - RIGHT
    return [tag('path', d=''.join(path([LEFT, right], [y_of(y)] * 2) for y in marks),
                class_='raster'),
            tag('path', d=path([LEFT, right], [y_of(0.0)] * 2), class_='axis'),
            *(tag('text', _tick(y, marks), x=LEFT - 5, y=float(y_of(y)) + 4, class_='soft',
                  text_anchor='end') for y in marks)]


def _tick(value: float, marks: np.ndarray) -> str:
    """Return the text at a tick, with the decimals of the step between ticks."""
    step = marks[1] - marks[0] if len(marks) > 1 else abs(value) or 1.0
    largest = np.abs(marks).max()
    if largest >= 1e5 or largest < 1e-3:
        return shown(float(value), 3)
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    return f'{value + 0.0:.{decimals}f}'.replace('-', MINUS)  # -0.0 + 0.0 is 0.0


def _whisker(left: Any, right: Any, y: float) -> Iterator[tuple[list[float], list[float]]]:
    yield [left, right], [y, y]
    for x in (left, right):
        yield [x, x], [y - 3, y + 3]


def _legend(lines: Sequence[Line]) -> Iterator[Markup]:
    if len(lines) < 2:
        return
    x = float(LEFT)
    for line in lines:
        yield tag('path', d=path([x, x + 16], [HEIGHT - 7] * 2), class_=line.kind)
        yield tag('text', line.name, x=x + 20, y=HEIGHT - 3, class_='soft')
        x += 32.0 + 6.0 * len(line.name)


def _in_words(lines: Sequence[Line]) -> str:
    return '; '.join(f'{line.name} from {shown(np.nanmin(line.y))} to {shown(np.nanmax(line.y))}'
                     for line in lines)
