"""Show the page of a running node: its state in words, the robot that it serves, the controls."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.control_guard import ControlGuard
from dynamics_node.inspector.control_panel import Control, ControlPanel, NamedTrajectory
from dynamics_node.inspector.guarded_requests import GuardedRequests
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.inspector.identify_panel import (
    CODE_TO_IDENTIFY,
    SURE_TO_IDENTIFY,
    IdentifyPanel,
)
from dynamics_node.inspector.identify_state import Identifying
from dynamics_node.inspector.live_panels import LivePanels
from dynamics_node.inspector.live_state import LiveState, NodeModel, status_text, without_old
from dynamics_node.inspector.page import last_frame
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.trajectory_check import trajectory_collisions

if TYPE_CHECKING:
    import viser

PERIOD = 0.1       # [s] between two updates of a page
WIDTH = 410        # [px] of the panel: its six tabs stand in one row
CURVES_EVERY = 5   # updates between two updates of the curves, which are long messages


class Watched(Protocol):
    """A running node that is watched."""

    name: str

    def read(self) -> LiveState:
        """Return what is known of the node now."""


class Allowed(NamedTuple):
    """What the pages may do, after the code was typed."""

    control: Control
    identifying: Identifying
    code: str
    trajectory: NamedTrajectory | None = None   # reference that they may send


class LivePage:
    """Shows a node; the robot appears when its description has arrived."""

    def __init__(self, server: viser.ViserServer, watched: Watched,
                 allowed: Allowed | None = None, reports: ServedReports | None = None):
        """Show the state in words; `update` shows the rest.

        :param allowed: None: control is not allowed.
        :param reports: reports of the server, to which reports are added.
        """
        self._server, self._watched, self._allowed = server, watched, allowed
        self._reports = reports or ServedReports()
        self._guard = ControlGuard('' if allowed is None else allowed.code)
        self._drawing = threading.Lock()   # of the robot, or of the controls of a client
        self._status = HtmlBox(server.gui)
        self._stamp = HtmlBox(server.gui)
        self._state = LiveState(False)
        self._failed: tuple[NodeModel, str] | None = None   # model that cannot be drawn, reason
        self._view: LivePanels | None = None
        self._checking: threading.Thread | None = None   # of the trajectory
        self._count = 0
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(WIDTH)
        if allowed is not None:
            server.on_client_connect(self._add_controls)

    def update(self) -> None:
        """Read the node and show what is known."""
        self._state = state = self._watched.read()
        now = time.monotonic()   # before drawing, which can take seconds
        problem = self._take(state.model)
        if not problem and state.refusal:
            problem = f'The robot description cannot be shown: {state.refusal}'
        robot = None if self._view is None else self._view.robot
        status = status_text(self._watched.name, state, robot, now)
        if self._view is not None and status.kind in ('live', 'fault'):
            problem = problem or self._show(self._view, without_old(state, now))
        if self._allowed is not None and self._view is not None:
            self._view.identify.show(self._allowed.identifying.state())
        text = problem if status.kind == 'loading' and problem else ' '.join(
            filter(None, [status.text, problem]))
        self._status.say(text, strong=status.kind != 'live' or problem != '')
        self._count += 1

    def _show(self, view: LivePanels, state: LiveState) -> str:
        """Show a state; return why it cannot be shown, '' if it can."""
        try:
            view.show(state, self._count % CURVES_EVERY == 0)
        except DynamicsError as error:
            return f'The state cannot be shown: {error}'
        self._stamp.say(f'Shown at {time.strftime("%H:%M:%S")}; joint states at the node: '
                        f'{state.rate or "?"} Hz')
        return ''

    def _take(self, model: NodeModel | None) -> str:
        """Use the model of the node; draw another robot in place of the one before.

        :return: why it cannot be drawn; '' if it can.
        """
        if model is None:
            return ''
        if self._failed is not None and self._failed[0].key == model.key:
            return self._failed[1]
        if self._view is not None and self._view.key == model.key:
            self._view.robot = model.robot
            return ''
        try:
            self._draw(model)
        except DynamicsError as error:
            self._failed = model, f'The robot description cannot be shown: {error}'
            return self._failed[1]
        self._failed = None
        if self._allowed is not None:
            for client in self._server.get_clients().values():
                self._add_controls(client)
        return ''

    def _draw(self, model: NodeModel) -> None:
        """Draw a robot in place of the one before."""
        with self._drawing:
            if self._view is not None:
                self._view.remove()
            self._view = None
            self._view = LivePanels(self._server, model, self._allowed is not None, self._reports)
        trajectory = None if self._allowed is None else self._allowed.trajectory
        if trajectory is not None:   # in a thread: meshes of a large robot take seconds
            self._checking = threading.Thread(
                target=self._check, args=(self._view, model, trajectory), daemon=True)
            self._checking.start()

    def _check(self, view: LivePanels, model: NodeModel, trajectory: NamedTrajectory) -> None:
        """Show which links would touch each other along a trajectory."""
        self._warn(view, [f'{trajectory.name}: self-collisions are being looked for'])
        try:
            found = trajectory_collisions(model.robot, model.text, trajectory.points).warnings
        except DynamicsError as error:
            found = (str(error),)
        except Exception as error:   # the page says so: there is no other place
            found = (f'self-collisions could not be checked: {error!r}',)
        self._warn(view, [f'{trajectory.name}: {text}' for text in found])

    def _warn(self, view: LivePanels, warnings: Sequence[str]) -> None:
        """Show warnings about the trajectory, unless another robot has been drawn meanwhile."""
        with self._drawing:
            if self._view is view:
                view.warn(warnings)

    def _add_controls(self, client: viser.ClientHandle) -> None:
        """Give a client controls of its own, once for each robot that is drawn."""
        with self._drawing:
            view, allowed = self._view, self._allowed
            if view is None or allowed is None or client.client_id in view.controlled:
                return
            view.controlled.add(client.client_id)
            gui = client.gui
            with view.controls:
                requests = self._requests(client)
                ControlPanel(gui, view.robot, allowed.control, requests, last_frame(view.robot),
                             lambda: self._state, allowed.trajectory)
            with view.identify_controls:
                requests = self._requests(client, CODE_TO_IDENTIFY, SURE_TO_IDENTIFY)
                IdentifyPanel(gui, allowed.identifying, requests, lambda: self._state,
                              allowed.trajectory)

    def _requests(self, client: viser.ClientHandle, *labels: str) -> GuardedRequests:
        return GuardedRequests(client.gui, self._guard, client.client_id,
                               lambda: self._state.node_exists, *labels)

    def run(self, stopped: threading.Event) -> None:
        """Update the page until an event is set."""
        while not stopped.wait(PERIOD):
            self.update()
