"""The controls of a running node: enable, disable, payloads; only if they were allowed."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

PAYLOAD = 'inspector'   # name of the payload that the page attaches
REFUSED = ('This page cannot change anything: the inspector was started without --allow-control.')
EXPLAINED = ('Type the code that the inspector has printed in its terminal. It keeps other web '
             'pages in this browser from controlling the robot.')


class Control(Protocol):
    """Requests to a node; each returns the answer in words."""

    def enable(self, on: bool) -> str:
        """Enable or disable torques."""

    def attach(self, name: str, frame: str, mass: float) -> str:
        """Attach a payload."""

    def detach(self, name: str) -> str:
        """Remove a payload."""


class ControlPanel:
    """Buttons that act on the node; none if control is not allowed."""

    def __init__(self, gui: viser.GuiApi, robot: Robot, control: Control | None, code: str,
                 frame: str, connected: Callable[[], bool]):
        """Add the controls to the container that is open.

        :param control: None: control is not allowed.
        :param code: that must be typed before a button works.
        :param connected: whether the node runs; otherwise nothing is requested.
        """
        self._code, self._connected = code, connected
        self._answer = HtmlBox(gui)
        if control is None:
            self._answer.say(REFUSED)
            return
        self._answer.say(EXPLAINED)
        self._typed = gui.add_text('Code', '')
        self._sure = gui.add_checkbox('I see the robot and nothing is in its way', False)
        enable = gui.add_button('Enable torques', color='red')
        disable = gui.add_button('Disable torques')
        self._frame = gui.add_dropdown('Payload at', robot.frame_names, initial_value=frame)
        self._mass = gui.add_number('Mass [kg]', 0.0, min=0.0, max=1000.0, step=0.01)
        attach, detach = gui.add_button('Attach payload'), gui.add_button('Detach payload')
        enable.on_click(lambda _: self._enable(control))
        disable.on_click(lambda _: self._request(lambda: control.enable(False)))
        attach.on_click(lambda _: self._request(lambda: control.attach(
            PAYLOAD, self._frame.value, float(self._mass.value))))
        detach.on_click(lambda _: self._request(lambda: control.detach(PAYLOAD)))

    def _enable(self, control: Control) -> None:
        """Enable torques if the box is ticked; it must be ticked again for the next time."""
        if not self._sure.value:
            self._answer.say('Not enabled: tick the box above the button first.', strong=True)
            return
        self._sure.value = False
        self._request(lambda: control.enable(True))

    def _request(self, action: Callable[[], str]) -> None:
        """Carry out an action if the code is right and the node is there."""
        if not hmac.compare_digest(self._typed.value.strip().encode(), self._code.encode()):
            self._answer.say(f'Refused: the code is wrong. {EXPLAINED}', strong=True)
        elif not self._connected():
            self._answer.say('Refused: the node is not running.', strong=True)
        else:
            self._answer.say(f'Answer of the node: {action()}', strong=True)


def new_code() -> str:
    """Return a random code of six digits."""
    return f'{secrets.randbelow(1_000_000):06d}'
