"""Show the switches of the view: bodies, labels, inertias, frames, centre of mass, dark page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynamics_node.inspector.colours import OVER, RAMP, UNKNOWN, hexadecimal
from dynamics_node.inspector.html_box import STYLE, HtmlBox
from dynamics_node.inspector.scene import Marks, RobotView
from dynamics_node.reports.markup import Markup, tag

if TYPE_CHECKING:
    import viser

MOST_MISSING = 5   # names of missing meshes that are shown


def add_view_switches(server: viser.ViserServer, view: RobotView, marks: Marks,
                      missing: list[str], changed: Callable[[], None]) -> None:
    """Add the switches to the container that is open.

    :param changed: called when the figures are to be drawn again.
    :param missing: names of meshes that were not found.
    """
    gui = server.gui
    bodies = gui.add_checkbox('Bodies', True)
    labels = gui.add_checkbox('Percent of limit', True)
    center = gui.add_checkbox('Centre of mass', True)
    inertias = gui.add_checkbox('Inertia ellipsoids', False)
    frames = gui.add_checkbox('Frames', False)
    dark = gui.add_checkbox('Dark page', False)
    HtmlBox(gui, colour_key())
    if missing:
        HtmlBox(gui, missing_text(missing))

    def show_labels(_: object) -> None:
        view.show_labels(labels.value)
        changed()

    bodies.on_update(lambda _: view.show_bodies(bodies.value))
    labels.on_update(show_labels)
    center.on_update(lambda _: setattr(marks.center, 'visible', center.value))
    inertias.on_update(lambda _: marks.show_inertias(inertias.value))
    frames.on_update(lambda _: marks.show_frames(frames.value))
    dark.on_update(lambda _: gui.configure_theme(
        show_logo=False, show_share_button=False, dark_mode=dark.value, control_width='large'))


def colour_key() -> Markup:
    """Return the meaning of the colours of the joints."""
    steps = [tag('span', style='display:inline-block;width:22px;height:12px;'
                 f'background:rgb({r:.0f},{g:.0f},{b:.0f})') for r, g, b in RAMP]
    return tag('div', tag('div', 'Joints: torque over limit'), tag('div', '0 % ', *steps, ' 100 %'),
               tag('div', _square(hexadecimal(OVER)), ' over the limit ',
                   _square(hexadecimal(UNKNOWN)), ' limit unknown'),
               style=STYLE)


def missing_text(missing: list[str]) -> Markup:
    """Return which meshes are missing and what is drawn instead."""
    more = f' and {len(missing) - MOST_MISSING} more' if len(missing) > MOST_MISSING else ''
    return tag('div', f'Meshes not found or not readable: {", ".join(missing[:MOST_MISSING])}'
               f'{more}. Collision shapes or boxes with the inertia of the link are drawn '
               'instead.', style=STYLE)


def _square(colour: str) -> Markup:
    return tag('span', '\N{BLACK SQUARE}', style=f'color:{colour}')
