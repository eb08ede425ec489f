"""Show a supposed load case beside a running robot: a ghost, its torques compared with now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.figures import Figures, MotionState, figures
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.inspector.load_case import motion_of_case, robot_of_case
from dynamics_node.inspector.load_case_panel import LoadCasePanel
from dynamics_node.inspector.loop_state import LoopState
from dynamics_node.inspector.scene import SUPPOSED, RobotView
from dynamics_node.inspector.solids import Solid
from dynamics_node.inspector.tool_gizmo import ToolGizmo
from dynamics_node.model.model import base_joint
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

SHOW = 'Show this case'
ABOUT = ('The orange ghost is the supposed case; the bars are its torques, the triangles those of '
         'the robot now. The payload is in addition to those of the node.')


class WhatIfTab:
    """The tab 'What if' of a running robot; nothing is shown until it is ticked."""

    def __init__(self, server: viser.ViserServer, robot: Robot, solids: Sequence[Solid],
                 tabs: viser.GuiTabGroupHandle, frame: str):
        """Add the tab, and the ghost in the 3D view.

        :param frame: tool frame that is chosen at first.
        """
        gui = server.gui
        self._loops = LoopState(robot)
        self.case = LoadCasePanel(gui, robot, tabs, frame, lambda: None, self._loops, together=True)
        with self.case.tab:
            # at the top: elements without an order of their own have 1, 2, ... in their order
            self.shown = gui.add_checkbox(SHOW, False, order=-2.0)
            as_measured = gui.add_button('Pose as measured', order=-1.0)
            self._problem = HtmlBox(gui, order=-0.5)
            HtmlBox(gui).say(ABOUT)
        self._ghost = RobotView(server.scene, '/supposed', robot, solids, ghost=SUPPOSED)
        self._ghost.show_bodies(False)
        self._gizmo = ToolGizmo(server.scene, robot, self.case)
        self._measured: np.ndarray | None = None   # (nq,)
        self.shown.on_update(lambda _: self._switch())
        as_measured.on_click(lambda _: self._copy_pose())

    def _switch(self) -> None:
        self._ghost.show_bodies(self.shown.value)
        if self.shown.value:
            self._copy_pose()

    def _copy_pose(self) -> None:
        """Set the sliders to the pose of the robot."""
        if self._measured is not None:
            self._loops.last = self._measured
            self.case.set_configuration(self._measured)

    def of(self, robot: Robot, measured: np.ndarray
           ) -> tuple[Robot, MotionState, Figures] | None:
        """Return robot, state and figures of the case; None if it is not shown or not computable.

        If it cannot be computed, the tab says why, and the robot is shown as it is.

        :param robot: with the payloads and gravity of the node.
        :param measured: (nq,).
        """
        self._measured, rest = measured, np.array(self._loops.last)
        base = base_joint(robot.model)
        if base is not None:   # it has no slider
            rest[base.q] = measured[base.q]
        self._loops.last = rest
        found, problem = None, ''
        if self.shown.value:
            try:
                found = self._computed(robot)
            except DynamicsError as error:
                problem = f'This case cannot be computed: {error}'
        self._problem.say(problem, strong=True)
        return found

    def _computed(self, robot: Robot) -> tuple[Robot, MotionState, Figures]:
        case = self.case.case()
        loaded = robot_of_case(robot, case)
        state = self._loops.complete(motion_of_case(loaded, case))
        self._ghost.move(state.q)
        self._gizmo.follow(loaded.frame_pose(state.q, case.payload_frame))
        return loaded, state, figures(loaded, state, case.payload_frame,
                                      coordinates=self._loops.coordinates)
