"""Show buttons that download the content of a page: picture, last minute as CSV, JSON, report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.html_box import STYLE, HtmlBox
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.state_json import file_name
from dynamics_node.reports.markup import tag
from dynamics_node.reports.model_page import model_report_page
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

PICTURE = (900, 1600)   # [px] height, width
PATIENCE = 20.0         # [s] that a page may take to draw the picture


def add_export(gui: viser.GuiApi, robot: Robot, table: Callable[[], str],
               record: Callable[[], str], reports: ServedReports,
               now: Callable[[], tuple[Robot, np.ndarray] | None]) -> None:
    """Add the buttons to the container that is open; files go to the page that asks.

    :param table, record: return the text of the CSV and of the JSON.
    :param reports: reports of the server, to which a report is added.
    :param now: returns robot and configuration that are shown, None for none.
    """
    picture = gui.add_button('Picture (PNG)', hint='of the 3D view, as it is seen')
    rows = gui.add_button('Last minute (CSV)')
    state = gui.add_button('State (JSON)')
    report = gui.add_button('Make a report (HTML)', hint='of the robot at this pose')
    link = HtmlBox(gui)

    def send(event: Any, suffix: str, content: bytes) -> None:
        event.client.send_file_download(file_name(robot, suffix), content, save_immediately=True)

    picture.on_click(lambda event: send(event, '.png', png_of(event.client.get_render(
        *PICTURE, transport_format='png', timeout=PATIENCE))))
    rows.on_click(lambda event: send(event, '.csv', table().encode()))
    state.on_click(lambda event: send(event, '.json', record().encode()))
    report.on_click(lambda _: link_report(link, reports, now()))


def link_report(link: HtmlBox, reports: ServedReports,
                shown: tuple[Robot, np.ndarray] | None) -> None:
    """Make the report of what is shown, and show a link to it."""
    if shown is None:
        link.say('There is no robot yet.')
        return
    robot, q = shown
    try:
        path = reports.put(f'report_{robot.name}', model_report_page(robot, q)[0])
    except DynamicsError as error:
        link.say(f'No report: {error}', strong=True)
        return
    link.show(tag('div', tag('a', f'Report of {robot.name}', href=path, target='_blank',
                             rel='noopener noreferrer', style='color:inherit'),
                  style=STYLE))


def png_of(pixels: np.ndarray) -> bytes:
    """Return a picture (height, width, 3 or 4) as a PNG."""
    import imageio.v3 as imageio
    return imageio.imwrite('<bytes>', pixels, extension='.png')
