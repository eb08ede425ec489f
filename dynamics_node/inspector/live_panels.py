"""Show the scene and the panels of the robot of a running node."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.inspector.control_panel import REFUSED
from dynamics_node.inspector.curves import Curves, curve_columns
from dynamics_node.inspector.export_panel import add_export
from dynamics_node.inspector.figures import Figures, MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.history import History
from dynamics_node.inspector.html_box import LAST, STYLE, HtmlBox
from dynamics_node.inspector.identify_panel import IdentifyView
from dynamics_node.inspector.live_state import (
    LiveState,
    NodeModel,
    configuration_of,
    vector_of,
    velocity_of,
)
from dynamics_node.inspector.loop_state import LoopState
from dynamics_node.inspector.page import last_frame, prepare_scene
from dynamics_node.inspector.scene import REFERENCE, Marks, RobotView
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.solids import solids_of
from dynamics_node.inspector.state_json import state_text
from dynamics_node.inspector.torque_panel import TorquePanel
from dynamics_node.inspector.view_panel import add_view_switches
from dynamics_node.inspector.what_if_tab import WhatIfTab
from dynamics_node.inspector.wrench_arrows import WrenchArrows, arrow_key
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, tag
from dynamics_node.reports.plots import shortened
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser


class LivePanels:
    """What is drawn of one robot.

    :ivar robot: of the node; one with other settings, but the same joints, may replace it.
    :ivar controls, identify_controls: tabs to which the controls of a client are added.
    """

    def __init__(self, server: viser.ViserServer, model: NodeModel, control: bool,
                 reports: ServedReports):
        """Draw it.

        :param control: whether clients get controls.
        """
        gui = server.gui
        self.robot, self.key, self._server = model.robot, model.key, server
        robot, solids = model.robot, solids_of(model.robot.model, model.text)
        self._loops = LoopState(robot)
        prepare_scene(server, robot)
        self._view = RobotView(server.scene, '/robot', robot, solids.solids)
        self._ghost = RobotView(server.scene, '/reference', robot, solids.solids, ghost=REFERENCE)
        self._marks = Marks(server.scene, robot)
        self._arrows = WrenchArrows(server.scene, robot)
        self._torques = TorquePanel(gui)
        self.history = History(curve_columns(robot))
        self._shown: tuple[Robot, MotionState, Figures, str] | None = None
        self._tabs = tabs = gui.add_tab_group()
        with tabs.add_tab('Curves'):
            self._curves = Curves(gui, robot)
        self._supposed = WhatIfTab(server, robot, solids.solids, tabs, last_frame(robot))
        self._add_controls(gui, control, reports)
        with tabs.add_tab('View'):
            arrows = gui.add_checkbox('Arrows', True)
            arrows.on_update(lambda _: self._arrows.show(arrows.value))
            add_view_switches(server, self._view, self._marks, solids.missing, lambda: None)
            HtmlBox(gui, arrow_key())
        with tabs.add_tab('Export'):
            add_export(gui, robot, self.history.text, self.record, reports, self._now)

    def _add_controls(self, gui: viser.GuiApi, control: bool, reports: ServedReports) -> None:
        self.controls = self._tabs.add_tab('Control')
        self.controlled: set[int] = set()   # ids of clients that have controls
        with self.controls:
            if not control:
                HtmlBox(gui).say(REFUSED)
            self._touching = [HtmlBox(gui)]
            self._gains = HtmlBox(gui, order=LAST)
        self.identify_controls = self._tabs.add_tab('Identify')
        with self.identify_controls:
            if not control:
                HtmlBox(gui).say(REFUSED)
            self._touching.append(HtmlBox(gui))
            self.identify = IdentifyView(gui, reports)

    def warn(self, warnings: Sequence[str]) -> None:
        """Show warnings about the trajectory that can be sent, above its buttons."""
        for box in self._touching:
            box.show(tag('div', *(tag('div', f'Warning: {text}') for text in warnings),
                         style=f'{STYLE};font-weight:700') if warnings else Markup(''))

    def show(self, state: LiveState, curves: bool) -> None:
        """Show a state that is complete.

        The acceleration is that of the reference, since it is not measured; zero without one.

        :param curves: whether the curves are drawn too.
        """
        robot, frame = self._loaded(state.payloads), self._supposed.case.frame.value
        motion = self._loops.complete(MotionState(
            configuration_of(robot, state.position, self._loops.last, state.base),
            velocity_of(robot, state.velocity, state.base),
            vector_of(robot, state.acceleration)))
        coordinates, external = self._loops.coordinates, vector_of(robot, state.external)
        found = figures(robot, motion, frame, external, coordinates)
        poses = self._view.move(motion.q)
        self._view.colour(found)
        self._show_reference(robot, state)
        self._marks.move(poses, found.center_of_mass)
        self._arrows.draw(poses, state.wrenches, external, found.limit, state.contact_joints)
        self._show_torques(robot, motion, found, frame)
        self._gains.show(gain_table(state.gains))
        self.history.append(time.time(), np.concatenate([
            vector_of(robot, named, np.nan) for named in
            (state.effort, state.wanted, state.released, state.external, state.error)]))
        if curves:
            self._curves.show(self.history)
        self._shown = robot, motion, found, frame

    def _show_reference(self, robot: Robot, state: LiveState) -> None:
        self._ghost.show_bodies(state.reference is not None)
        if state.reference is not None:
            self._ghost.move(configuration_of(robot, state.reference, self._loops.last,
                                              state.base))

    def _show_torques(self, robot: Robot, motion: MotionState, found: Figures,
                      frame: str) -> None:
        """Show the bars: of the robot now, or of the supposed case compared with it."""
        case = self._supposed.of(robot, motion.q)
        now, shown_robot, shown_motion, shown_figures = None, robot, motion, found
        if case is not None:
            now, (shown_robot, shown_motion, shown_figures) = found, case
        ellipsoids = frame_ellipsoids(shown_robot, shown_motion.q, frame, self._loops.coordinates)
        place = shown_robot.frame_pose(shown_motion.q, frame)[:3, 3]
        self._marks.show_ellipsoid(self._torques.ellipsoid.value, ellipsoids, place)
        self._torques.show(shown_robot, shown_figures, now, frame, ellipsoids, place)

    def _loaded(self, payloads: Mapping[str, tuple]) -> Robot:
        """Return the robot with the payloads of the node."""
        known = {name: load for name, load in payloads.items()
                 if load[0] in self.robot.model.frames and load[1] > 0.0}
        return self.robot.with_payloads(known) if known else self.robot

    def _now(self) -> tuple[Robot, np.ndarray] | None:
        """Return robot and configuration that are shown; None for none."""
        return None if self._shown is None else (self._shown[0], self._shown[1].q)

    def record(self) -> str:
        """Return the state that is shown, as JSON."""
        return state_text(*self._shown) if self._shown is not None else '{}\n'

    def remove(self) -> None:
        """Remove all that was drawn."""
        self._server.scene.reset()
        self._tabs.remove()
        self._torques.remove()


def gain_table(gains: Mapping[str, Mapping[str, float]]) -> Markup:
    """Return the gains in use, one row per joint."""
    if not gains:
        return Markup('')
    joints = list(next(iter(gains.values())))
    head = tag('tr', tag('th', 'Gains in use', style='text-align:left'),
               *(tag('th', gain, style='text-align:right') for gain in gains))
    rows = [tag('tr', tag('td', shortened(joint, 20), title=joint),
                *(tag('td', shown(values[joint], 4), style='text-align:right')
                  for values in gains.values())) for joint in joints]
    return tag('table', head, *rows, style=f'{STYLE};width:100%')
