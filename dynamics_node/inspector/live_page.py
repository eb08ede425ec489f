"""The page of a running node: its measured state, torques, curves and state in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.control_guard import ControlGuard
from dynamics_node.inspector.control_panel import REFUSED, Control, ControlPanel
from dynamics_node.inspector.curves import Curves, curve_columns
from dynamics_node.inspector.export_panel import add_export
from dynamics_node.inspector.figures import Figures, MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.history import History
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.inspector.live_state import (
    LiveState,
    configuration_of,
    status_text,
    vector_of,
    without_old,
)
from dynamics_node.inspector.page import last_frame, prepare_scene, refuse_loops
from dynamics_node.inspector.scene import Marks, RobotView
from dynamics_node.inspector.solids import solids_of
from dynamics_node.inspector.state_record import state_text
from dynamics_node.inspector.torque_panel import TorquePanel
from dynamics_node.inspector.view_panel import add_view_switches
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

PERIOD = 0.1       # [s] between two updates of a page
CURVES_EVERY = 5   # updates between two updates of the curves, which are long messages


class Watched(Protocol):
    """A running node that is watched."""

    name: str

    def read(self) -> LiveState:
        """Return what is known of the node now."""


class LivePage:
    """Shows a node; the robot appears when its description has arrived."""

    def __init__(self, server: viser.ViserServer, watched: Watched,
                 control: Control | None = None, code: str = ''):
        """Show the state in words; `update` shows the rest.

        :param control: None: control is not allowed.
        :param code: that a client must type to use the controls.
        """
        self._server, self._watched = server, watched
        self._control, self._guard = control, ControlGuard(code)
        self._drawing = threading.Lock()   # of the robot, or of the controls of a client
        self._status = HtmlBox(server.gui)
        self._stamp = HtmlBox(server.gui)
        self._state = LiveState(False)
        self._refused: str | None = None   # description that was refused
        self._view: RobotPanels | None = None
        self._count = 0
        if control is not None:
            server.on_client_connect(self._add_controls)

    def update(self) -> None:
        """Read the node and show what is known."""
        self._state = state = self._watched.read()
        if state.description is not None and state.description != self._refused and (
                self._view is None or state.description != self._view.text):
            self._load(state.description)
        robot, now = None if self._view is None else self._view.robot, time.monotonic()
        status, problem = status_text(self._watched.name, state, robot, now), ''
        if self._view is not None and status.kind in ('live', 'fault'):
            problem = self._show(self._view, without_old(state, now))
        if self._refused is None or self._view is not None:
            self._status.say(f'{status.text}{problem}',
                             strong=status.kind != 'live' or problem != '')
        self._count += 1

    def _show(self, view: RobotPanels, state: LiveState) -> str:
        """Show a state; return why it cannot be shown, '' if it can."""
        try:
            view.show(state, self._count % CURVES_EVERY == 0)
        except DynamicsError as error:
            return f' The state cannot be shown: {error}'
        self._stamp.say(f'Shown at {time.strftime("%H:%M:%S")}; joint states at the node: '
                        f'{state.rate or "?"} Hz')
        return ''

    def _load(self, text: str) -> None:
        """Draw the robot of a description in place of the one before."""
        try:
            robot = Robot.from_urdf(text.encode('utf-8', 'surrogatepass'))
            refuse_loops(robot)
            self._draw(robot, text)
        except DynamicsError as error:
            self._refused = text
            self._status.say(f'The robot description cannot be shown: {error}', strong=True)
            return
        if self._control is not None:
            for client in self._server.get_clients().values():
                self._add_controls(client)

    def _draw(self, robot: Robot, text: str) -> None:
        """Draw a robot in place of the one before."""
        with self._drawing:
            if self._view is not None:
                self._view.remove()
            self._view = None
            self._view = RobotPanels(self._server, robot, text, self._control is not None)

    def _add_controls(self, client: viser.ClientHandle) -> None:
        """Give a client controls of its own, once for each robot that is drawn."""
        with self._drawing:
            view = self._view
            if view is None or self._control is None or client.client_id in view.controlled:
                return
            view.controlled.add(client.client_id)
            with view.controls:
                ControlPanel(client.gui, view.robot, self._control, self._guard, client.client_id,
                             last_frame(view.robot), lambda: self._state.node_exists)

    def run(self, stopped: threading.Event) -> None:
        """Update the page until an event is set."""
        while not stopped.wait(PERIOD):
            self.update()


class RobotPanels:
    """The scene and the panels of the robot of a node."""

    def __init__(self, server: viser.ViserServer, robot: Robot, text: str, control: bool):
        """Draw them; the controls of a client are added to the tab `controls`."""
        gui = server.gui
        self.robot, self.text, self._server = robot, text, server
        solids = solids_of(robot.model, text)
        prepare_scene(server, robot)
        self._view = RobotView(server.scene, '/robot', robot, solids.solids)
        self._ghost = RobotView(server.scene, '/reference', robot, solids.solids, ghost=True)
        self._marks = Marks(server.scene, robot)
        self._torques = TorquePanel(gui)
        self.history = History(curve_columns(robot))
        self._shown: tuple[Robot, MotionState, Figures, str] | None = None
        self._tabs = tabs = gui.add_tab_group()
        with tabs.add_tab('Curves'):
            self._curves = Curves(gui, robot)
        self.controls = tabs.add_tab('Control')
        self.controlled: set[int] = set()   # ids of clients that have controls
        if not control:
            with self.controls:
                HtmlBox(gui).say(REFUSED)
        with tabs.add_tab('View'):
            self._frame = gui.add_dropdown('Tool frame', robot.frame_names,
                                           initial_value=last_frame(robot))
            add_view_switches(server, self._view, self._marks, solids.missing, lambda: None)
        with tabs.add_tab('Export'):
            add_export(gui, robot, self.history.text, self.record)
        gui.main_panel.dock_right()

    def show(self, state: LiveState, curves: bool) -> None:
        """Show a state that is complete.

        The acceleration is that of the reference, since it is not measured; zero without one.

        :param curves: whether the curves are drawn too.
        """
        robot, frame = self._loaded(state.payloads), self._frame.value
        motion = MotionState(configuration_of(robot, state.position),
                             vector_of(robot, state.velocity),
                             vector_of(robot, state.acceleration))
        found = figures(robot, motion, frame, vector_of(robot, state.external))
        place = robot.frame_pose(motion.q, frame)[:3, 3]
        ellipsoids = frame_ellipsoids(robot, motion.q, frame)
        poses = self._view.move(motion.q)
        self._view.colour(found)
        self._ghost.show_bodies(state.reference is not None)
        if state.reference is not None:
            self._ghost.move(configuration_of(robot, state.reference))
        self._marks.move(poses, found.center_of_mass)
        self._marks.show_ellipsoid(self._torques.ellipsoid.value, ellipsoids, place)
        self._torques.show(robot, found, None, frame, ellipsoids, place)
        self.history.append(time.time(), np.concatenate([
            vector_of(robot, named, np.nan) for named in
            (state.effort, state.wanted, state.released, state.external, state.error)]))
        if curves:
            self._curves.show(self.history)
        self._shown = robot, motion, found, frame

    def _loaded(self, payloads: Mapping[str, tuple]) -> Robot:
        """Return the robot with the payloads of the node."""
        known = {name: load for name, load in payloads.items()
                 if load[0] in self.robot.model.frames}
        return self.robot.with_payloads(known) if known else self.robot

    def record(self) -> str:
        """Return the state that is shown, as JSON."""
        return state_text(*self._shown) if self._shown is not None else '{}\n'

    def remove(self) -> None:
        """Remove all that was drawn."""
        self._server.scene.reset()
        self._tabs.remove()
        self._torques.remove()
