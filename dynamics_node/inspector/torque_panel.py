"""Show the parts of the torques, the mass matrix and the ellipsoids of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.inspector.figures import Figures, FrameEllipsoids
from dynamics_node.inspector.heat_map import heat_map
from dynamics_node.inspector.html_box import STYLE, HtmlBox
from dynamics_node.inspector.stacked_bars import stacked_bars
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, joined, tag
from dynamics_node.reports.units import effort_units
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

WIDTH = 390                # [px]
NO_ELLIPSOID = 'none'
UNITS = {'velocity': 'm/s', 'force': 'N', 'inertia': 'kg'}
MEANING = {'velocity': 'speed at joint velocities of norm 1',
           'force': 'force at joint torques of norm 1',
           'inertia': 'effective mass along each axis'}


class TorquePanel:
    """Shows Figures; has no control but the choice of the ellipsoid."""

    def __init__(self, gui: viser.GuiApi):
        """Add the panel at the left edge of the page."""
        self._panel = panel = gui.add_panel()
        with panel.add_tab('Why this torque'):
            self._summary = HtmlBox(gui)
            self._bars = HtmlBox(gui)
        with panel.add_tab('Mass matrix'):
            self._matrix = HtmlBox(gui)
        with panel.add_tab('Tool'):
            self.ellipsoid = gui.add_dropdown('Ellipsoid', (NO_ELLIPSOID, *UNITS),
                                              initial_value=NO_ELLIPSOID,
                                              hint='drawn at the frame of the tool, scaled')
            self._tool = HtmlBox(gui)
        panel.dock_left()
        panel.set_width(WIDTH)

    def remove(self) -> None:
        """Remove the panel."""
        self._panel.remove()

    def show(self, robot: Robot, found: Figures, now: Figures | None, frame: str,
             ellipsoids: FrameEllipsoids, place: np.ndarray) -> None:
        """Show the figures of a state.

        :param now: to compare with, or None.
        :param frame, ellipsoids, place: name, FrameEllipsoids and position of the tool.
        """
        self._summary.show(summary(robot, found, now, frame))
        self._bars.show(stacked_bars(robot.dof_names, effort_units(robot), found, now))
        self._matrix.show(joined(
            heat_map('Mass matrix', found.matrix_names, found.mass_matrix),
            tag('p', 'Bright cells have the greatest entries. kg m\u00b2 between revolute joints, '
                'kg m or kg where a joint is prismatic.', style=STYLE)))
        self._tool.show(tool_text(frame, ellipsoids, place))


def summary(robot: Robot, found: Figures, now: Figures | None, frame: str) -> Markup:
    """Return the most loaded joint, the greatest payload and the centre of mass, in words."""
    lines = [worst_joint(robot, found), payload_text(found.greatest_payload, frame),
             f'Centre of mass {vector_text(found.center_of_mass)} m, '
             f'total mass {shown(robot.total_mass)} kg.']
    if now is not None:
        lines.append(f'Now: {worst_joint(robot, now)}')
    return tag('div', *(tag('div', line) for line in lines), style=STYLE)


def worst_joint(robot: Robot, found: Figures) -> str:
    """Return a sentence on the joint that has the greatest share of its limit."""
    if not robot.nv:
        return 'The robot has no movable joint.'
    if not np.isfinite(found.share).any():
        return 'Limits unknown: the URDF has no effort limits.'
    k = int(np.nanargmax(found.share))
    name, share = robot.dof_names[k], found.share[k]
    if share > 1.0:
        return f'OVER THE LIMIT: {name} needs {shown(100 * share, 3)} % of its torque limit.'
    return f'Most loaded: {name}, {shown(100 * share, 3, 1e-2)} % of its torque limit.'


def payload_text(mass: float, frame: str) -> str:
    """Return a sentence on the greatest additional payload."""
    if np.isinf(mass):
        return f'No torque limit bounds a payload at {frame}.'
    if mass == 0.0:
        return f'No payload at {frame}: a limit is exceeded already.'
    return f'Greatest additional payload at {frame}: {shown(mass)} kg.'


def tool_text(frame: str, ellipsoids: FrameEllipsoids, place: np.ndarray) -> Markup:
    """Return position and radii of the ellipsoids of a frame."""
    rows = [tag('div', f'{frame} at {vector_text(place)} m')]
    for kind, unit in UNITS.items():
        _, radii = getattr(ellipsoids, kind)
        rows.append(tag('div', tag('b', f'{kind}: '),
                        f'{", ".join(shown(radius, 3) for radius in radii)} {unit} '
                        f'({MEANING[kind]})'))
    return tag('div', *rows, style=STYLE)


def vector_text(vector: np.ndarray) -> str:
    """Return three numbers in brackets."""
    return f'({", ".join(shown(x, 3, 1e-9) for x in vector)})'
