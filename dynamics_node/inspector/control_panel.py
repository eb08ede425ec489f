"""The controls of a running node, for one client: enable, disable, payloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from dynamics_node.inspector.control_guard import EXPLAINED, ControlGuard
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

PAYLOAD = 'inspector'   # name of the payload that the page attaches
REFUSED = ('This page cannot change anything: the inspector was started without --allow-control.')


class Control(Protocol):
    """Requests to a node; each returns the answer in words."""

    def enable(self, on: bool) -> str:
        """Enable or disable torques."""

    def attach(self, name: str, frame: str, mass: float) -> str:
        """Attach a payload."""

    def detach(self, name: str) -> str:
        """Remove a payload."""


class ControlPanel:
    """Buttons that act on the node.

    They belong to one client: what is typed into an element of `server.gui` is sent to all
    clients, also to those that connect later.
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, control: Control, guard: ControlGuard,
                 client: int, frame: str, connected: Callable[[], bool]):
        """Add the controls to the container that is open.

        :param gui: of the client, not of the server.
        :param guard: that decides which clients may act.
        :param client: id of the client.
        :param connected: whether the node runs; otherwise nothing is requested.
        """
        self._control, self._guard, self._client = control, guard, client
        self._connected = connected
        self._answer = HtmlBox(gui)
        self._answer.say(EXPLAINED)
        self._typed = gui.add_text('Code', '')
        self._sure = gui.add_checkbox('I see the robot and nothing is in its way', False)
        enable = gui.add_button('Enable torques', color='red')
        disable = gui.add_button('Disable torques')
        self._frame = gui.add_dropdown('Payload at', robot.frame_names, initial_value=frame)
        self._mass = gui.add_number('Mass [kg]', 0.0, min=0.0, max=1000.0, step=0.01)
        attach, detach = gui.add_button('Attach payload'), gui.add_button('Detach payload')
        enable.on_click(lambda event: self.enable(event.client_id))
        disable.on_click(lambda event: self.disable(event.client_id))
        attach.on_click(lambda event: self._request(event.client_id, lambda: control.attach(
            PAYLOAD, self._frame.value, float(self._mass.value))))
        detach.on_click(lambda event: self._request(
            event.client_id, lambda: control.detach(PAYLOAD)))

    def enable(self, client: int | None) -> None:
        """Enable torques if the box is ticked; it must be ticked again for the next time."""
        if not self._sure.value:
            self._answer.say('Not enabled: tick the box above the button first.', strong=True)
            return
        self._sure.value = False
        self._request(client, lambda: self._control.enable(True))

    def disable(self, client: int | None) -> None:
        """Disable torques."""
        self._request(client, lambda: self._control.enable(False), disables=True)

    def _request(self, client: int | None, action: Callable[[], str],
                 disables: bool = False) -> None:
        """Carry out an action if the client may act and the node is there."""
        if client != self._client:
            return
        typed, self._typed.value = self._typed.value.strip(), ''
        refusal = self._guard.refusal(self._client, typed, disables)
        if refusal:
            self._answer.say(refusal, strong=True)
        elif not self._connected():
            self._answer.say('Refused: the node is not running.', strong=True)
        else:
            self._answer.say(f'Answer of the node: {action()}', strong=True)
