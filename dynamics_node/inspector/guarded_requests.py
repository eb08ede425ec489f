"""Let one client request what the guard allows, and show the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dynamics_node.inspector.control_guard import EXPLAINED, ControlGuard
from dynamics_node.inspector.html_box import HtmlBox

if TYPE_CHECKING:
    import viser

CODE, SURE = 'Code', 'I see the robot and nothing is in its way'


class GuardedRequests:
    """A code, a confirmation and an answer, which belong to one client.

    What is typed into an element of `server.gui` is sent to all clients, also to those that
    connect later; the elements of a client are its own.
    """

    def __init__(self, gui: viser.GuiApi, guard: ControlGuard, client: int,
                 connected: Callable[[], bool], code: str = CODE, sure: str = SURE):
        """Add them to the container that is open.

        :param gui: GUI of the client, not of the server.
        :param guard: that decides which clients may act.
        :param client: id of the client.
        :param connected: whether the node runs; otherwise nothing is requested.
        :param code, sure: labels of the code and of the confirmation.
        """
        self._guard, self._client, self._connected = guard, client, connected
        self.answer = HtmlBox(gui)
        self.answer.say(EXPLAINED)
        self.typed = gui.add_text(code, '')
        self.sure = gui.add_checkbox(sure, False)

    def confirmed(self, client: int | None, action: Callable[[], str]) -> None:
        """Request what can move the robot: only if the box is ticked, anew for each time."""
        if client != self._client:
            return
        if not self.sure.value:
            self.answer.say('Refused: tick the box first that says that you see the robot.',
                            strong=True)
            return
        self.sure.value = False
        self.request(client, action)

    def request(self, client: int | None, action: Callable[[], str],
                disables: bool = False) -> None:
        """Carry out an action if the client may act and the node is there."""
        if client != self._client:
            return
        typed, self.typed.value = self.typed.value.strip(), ''
        refusal = self._guard.refusal(self._client, typed, disables)
        if refusal:
            self.answer.say(refusal, strong=True)
        elif not self._connected():
            self.answer.say('Refused: the node is not running.', strong=True)
        else:
            self.answer.say(f'Answer of the node: {action()}', strong=True)
