"""Draw curves of the last minute of one joint, as SVG: torques and tracking error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.inspector.history import SECONDS, History
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, joined, path, tag
from dynamics_node.reports.plots import decimated, picture, ticks
from dynamics_node.reports.units import effort_units
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

# series -> colour; the same quantities are columns of the history
TORQUES = {'measured': '#0072b2', 'wanted': '#e69f00', 'released': '#009e73',
           'external': '#cc79a7'}
ERROR = {'error': '#d55e00'}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 340.0, 170.0, 40.0, 16.0, 6.0   # [px]
POINTS = 200       # of a curve
ROOM = 0.08        # of the height, above and below the curves


class Curves:
    """Two charts of the joint that is chosen."""

    def __init__(self, gui: viser.GuiApi, robot: Robot):
        """Add them to the container that is open."""
        self._names, self._units = robot.dof_names, effort_units(robot)
        self.joint = gui.add_dropdown('Joint', robot.dof_names)
        self._torque, self._error = HtmlBox(gui), HtmlBox(gui)

    def show(self, history: History) -> None:
        """Show the rows of a history with the columns of curve_columns."""
        times, values = history.arrays()
        if not len(times):
            return
        k, n = self._names.index(self.joint.value), len(self._names)
        unit = self._units[k]
        rows = values.reshape(len(times), -1, n)[:, :, k].T
        self._torque.show(chart(f'Torque [{unit}]', times, dict(zip(TORQUES, rows)), TORQUES))
        self._error.show(chart(f'Reference minus measured [{"m" if unit == "N" else "rad"}]',
                               times, {'error': rows[-1]}, ERROR))


def curve_columns(robot: Robot) -> list[str]:
    """Return the columns of the history: each of TORQUES and ERROR for each entry of v."""
    return [f'{kind}_{name}' for kind in (*TORQUES, *ERROR) for name in robot.dof_names]


def chart(title: str, times: np.ndarray, curves: dict[str, np.ndarray],
          colours: dict[str, str]) -> Markup:
    """Return the chart of curves over the last SECONDS, with its legend; nan is a gap.

    :param times: (rows,) [s]; the last one is at the right edge.
    """
    known = {name: y for name, y in curves.items() if np.isfinite(y).any()}
    ends = [np.nanmin([0.0, *map(np.nanmin, known.values())]),
            np.nanmax([0.0, *map(np.nanmax, known.values())])]
    low, high = (ends[0], ends[1]) if ends[1] > ends[0] else (-1.0, 1.0)
    low, high = low - ROOM * (high - low), high + ROOM * (high - low)

    def y_of(y: ArrayLike) -> np.ndarray:
        return HEIGHT - BOTTOM - (np.asarray(y) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    drawn = []
    for mark in ticks(low, high):
        y = float(y_of(mark))
        drawn += [tag('path', d=path([LEFT, WIDTH], [y, y]), stroke='currentColor',
                      stroke_opacity=0.15),
                  tag('text', shown(float(mark), 3), x=LEFT - 4.0, y=y + 3.0, text_anchor='end',
                      fill='currentColor', font_size=9)]
    x = LEFT + (WIDTH - LEFT) * (1.0 + (times - times[-1]) / SECONDS)
    drawn += [tag('path', tag('title', name), d=path(*decimated(x, y_of(y), POINTS)), fill='none',
                  stroke=colours[name], stroke_width=1.6) for name, y in known.items()]
    drawn += [tag('text', f'{seconds:g} s', x=LEFT + (WIDTH - LEFT) * (1.0 + seconds / SECONDS),
                  y=HEIGHT - 3.0, text_anchor=anchor, fill='currentColor', font_size=9)
              for seconds, anchor in ((-SECONDS, 'start'), (0.0, 'end'))]
    words: list[str] = [
        joined(tag('span', '\N{BLACK SQUARE}', style=f'color:{colours[name]}'),
               f' {name} {shown(float(y[-1]), 4)} ') for name, y in known.items()]
    description = '; '.join(f'{name} {shown(float(y[-1]), 4)}' for name, y in known.items())
    return tag('div', tag('b', title), tag('div', *(words or ['not published'])),
               picture(WIDTH, HEIGHT, title, description or 'no data', drawn),
               style='padding:4px 8px;font:11px system-ui,sans-serif;line-height:1.6')
