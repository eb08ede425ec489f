"""Draw the parts of each joint's torque as stacked bars against the limits, as SVG."""

from collections.abc import Sequence

import numpy as np

from dynamics_node.inspector.colours import OVER, PARTS, hexadecimal
from dynamics_node.inspector.figures import Figures
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, joined, path, tag
from dynamics_node.reports.plots import ROUNDING, picture, shortened

WIDTH, ROW, BAR, TOP = 340.0, 40.0, 13.0, 16.0   # [px]
HALF = WIDTH / 2.0
ROOM = 1.25    # the bars reach to this multiple of the limit
ZERO = 1e-6    # of the limit: a smaller torque is shown as 0


def stacked_bars(names: Sequence[str], units: Sequence[str], shown_figures: Figures,
                 now: Figures | None = None) -> Markup:
    """Return one bar for each entry of the torque, with a legend above.

    Parts that increase the torque are stacked on one side of zero and parts that reduce it on the
    other, so that each part is visible. A line marks the sum; dashed lines mark the limits.

    :param names, units: names and units of the entries of v.
    :param now: figures to compare with, marked by a hollow triangle.
    """
    drawn: list[Markup] = []
    for k, name in enumerate(names):
        scale = HALF / _reach(shown_figures, now, k)
        drawn += _row(k, name, units[k], shown_figures, now, scale)
    words = '; '.join(f'{name} {shown(torque, 3)} {unit}' for name, torque, unit in
                      zip(names, shown_figures.torque, units))
    svg = picture(WIDTH, max(1, len(names)) * ROW, 'Parts of the torque of each joint', words,
                  drawn)
    return tag('div', legend(shown_figures, now is not None), svg,
               style='padding:2px 4px;font:11px system-ui,sans-serif')


def legend(shown_figures: Figures, compares: bool) -> Markup:
    """Return the names and colours of the parts that are not zero for all joints."""
    size = np.abs(shown_figures.parts).max(initial=0.0)
    present = [name for name, part in shown_figures.parts._asdict().items()
               if np.abs(part).max(initial=0.0) > ROUNDING * size]
    words: list[str] = [
        joined(tag('span', '\N{BLACK SQUARE}', style=f'color:{PARTS[name]}'), f' {name} ')
        for name in present]
    if compares:
        words.append(joined('\N{WHITE UP-POINTING TRIANGLE} now '))
    return tag('div', *(words or ['no torque']), style='line-height:1.6')


def _reach(figures: Figures, now: Figures | None, k: int) -> float:
    """Return the torque at the end of the bar of joint k."""
    parts = np.array([part[k] for part in figures.parts])
    ends = [parts[parts > 0].sum(), -parts[parts < 0].sum()]
    if np.isfinite(figures.limit[k]):
        ends.append(ROOM * figures.limit[k])
    if now is not None:
        ends.append(abs(now.torque[k]))
    return max(ends) or 1.0


def _row(k: int, name: str, unit: str, figures: Figures, now: Figures | None,
         scale: float) -> list[Markup]:
    y = k * ROW + TOP
    limit, torque, over = figures.limit[k], figures.torque[k], figures.share[k] > 1.0
    drawn = [
        tag('text', tag('title', name), shortened(name, 24), x=0.0, y=y - 4.0,
            fill='currentColor', font_weight=600),
        tag('text', _value(torque, limit, unit, now, k), x=WIDTH, y=y - 4.0, text_anchor='end',
            fill=hexadecimal(OVER) if over else 'currentColor',
            font_weight=700 if over else 400),
        tag('rect', x=0.0, y=y, width=WIDTH, height=BAR, fill='currentColor', fill_opacity=0.07)]
    drawn += _stack(k, y, figures, scale)
    drawn.append(tag('path', d=path([HALF, HALF], [y - 1.0, y + BAR + 1.0]),
                     stroke='currentColor', stroke_opacity=0.5))
    if np.isfinite(limit):
        drawn += [tag('path', d=path([HALF + side * limit * scale] * 2, [y - 2.0, y + BAR + 2.0]),
                      stroke=hexadecimal(OVER), stroke_dasharray='3 2', stroke_width=1.5)
                  for side in (-1.0, 1.0)]
    x = HALF + torque * scale
    drawn.append(tag('path', d=path([x, x], [y - 2.0, y + BAR + 2.0]), stroke='currentColor',
                     stroke_width=2.5))
    if now is not None:
        x = HALF + now.torque[k] * scale
        drawn.append(tag('path', d=path([x, x - 4.0, x + 4.0, x],
                                        [y + BAR, y + BAR + 6.0, y + BAR + 6.0, y + BAR]),
                         fill='none', stroke='currentColor'))
    return drawn


def _stack(k: int, y: float, figures: Figures, scale: float) -> list[Markup]:
    """Return the rectangles of the parts, positive ones to the right of zero."""
    ends, drawn = {True: HALF, False: HALF}, []
    for name, part in figures.parts._asdict().items():
        length = abs(part[k]) * scale
        if length < 0.05:
            continue
        forward = bool(part[k] > 0)
        x = ends[forward] if forward else ends[forward] - length
        ends[forward] += length if forward else -length
        drawn.append(tag('rect', tag('title', f'{name} {shown(part[k], 4)}'), x=float(x), y=y,
                         width=float(length), height=BAR, fill=PARTS[name]))
    return drawn


def _value(torque: float, limit: float, unit: str, now: Figures | None, k: int) -> str:
    zero = np.fmax(1e-9, ZERO * limit)   # nan: the limit is unknown
    text = f'{shown(torque, 4, zero)} {unit}'
    if np.isfinite(limit):
        text += f' = {shown(100 * abs(torque) / limit, 3, 1e-2)} % of {shown(limit, 4)}'
    if now is not None:
        text += f' (now {shown(now.torque[k], 4, zero)})'
    return text
