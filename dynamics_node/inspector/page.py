"""Show the page of a robot without ROS: pose, load case, torques, export."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.export_panel import add_export
from dynamics_node.inspector.figures import Figures, MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.history import History
from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.inspector.load_case import motion_of_case, robot_of_case
from dynamics_node.inspector.load_case_panel import LoadCasePanel
from dynamics_node.inspector.loop_state import LoopState
from dynamics_node.inspector.refresher import Refresher
from dynamics_node.inspector.scene import Marks, RobotView, robot_size
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.inspector.solids import Solids, solids_of
from dynamics_node.inspector.state_json import state_text
from dynamics_node.inspector.tool_gizmo import ToolGizmo
from dynamics_node.inspector.torque_panel import TorquePanel
from dynamics_node.inspector.view_panel import add_view_switches
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser


class InspectorPage:
    """Shows a robot at the pose of the sliders, and the figures of the load case."""

    def __init__(self, server: viser.ViserServer, robot: Robot, text: str,
                 urdf_folder: Path | None = None, q: np.ndarray | None = None,
                 reports: ServedReports | None = None):
        """Draw the page.

        :param text: the URDF, for the shapes of the links.
        :param urdf_folder: where meshes of the URDF are looked for.
        :param q: pose at first, (nq,); None for the neutral one.
        :param reports: reports of the server, to which reports are added.
        """
        self._robot, gui, self._loops = robot, server.gui, LoopState(robot)
        solids: Solids = solids_of(robot.model, text, urdf_folder)
        self._lock = threading.Lock()
        self._shown: tuple[Robot, MotionState, Figures, str] | None = None
        self._now: Figures | None = None
        self.history = History(history_columns(robot))
        prepare_scene(server, robot)
        self._view = RobotView(server.scene, '/robot', robot, solids.solids)
        self._marks = Marks(server.scene, robot)
        self.torques = TorquePanel(gui)
        self._notice = HtmlBox(gui)
        self._refresher = Refresher(self.refresh)
        tabs = gui.add_tab_group()
        self.case = LoadCasePanel(gui, robot, tabs, last_frame(robot), self._refresher.request,
                                  self._loops)
        self._gizmo = ToolGizmo(server.scene, robot, self.case)
        with tabs.add_tab('View'):
            add_view_switches(server, self._view, self._marks, solids.missing,
                              self._refresher.request)
        with tabs.add_tab('Compare'):
            self._add_comparison(gui)
        with tabs.add_tab('Export'):
            add_export(gui, robot, self.history.text, self.record, reports or ServedReports(),
                       lambda: self._shown and (self._shown[0], self._shown[1].q))
        gui.main_panel.dock_right()
        if q is not None:
            self.case.set_configuration(q)
        self.torques.ellipsoid.on_update(lambda _: self._refresher.request())
        self.refresh()

    def _add_comparison(self, gui: Any) -> None:
        keep = gui.add_button('Keep as "now"', hint='later cases are compared with this one')
        forget = gui.add_button('Forget "now"')
        keep.on_click(lambda _: self._compare(True))
        forget.on_click(lambda _: self._compare(False))

    def _compare(self, keep: bool) -> None:
        self._now = self._shown[2] if keep and self._shown is not None else None
        self._refresher.request()

    def refresh(self) -> None:
        """Compute and show the figures of what is set."""
        with self._lock:
            try:
                self._show()
                self._notice.say('')
            except DynamicsError as error:
                self._notice.say(str(error), strong=True)

    def _show(self) -> None:
        case = self.case.case()
        robot = robot_of_case(self._robot, case)
        state = self._loops.complete(motion_of_case(robot, case))
        frame, coordinates = case.payload_frame, self._loops.coordinates
        found = figures(robot, state, frame, coordinates=coordinates)
        ellipsoids = frame_ellipsoids(robot, state.q, frame, coordinates)
        place = robot.frame_pose(state.q, frame)[:3, 3]
        poses = self._view.move(state.q)
        self._view.colour(found)
        self._marks.move(poses, found.center_of_mass)
        self._marks.show_ellipsoid(self.torques.ellipsoid.value, ellipsoids, place)
        self._gizmo.follow(robot.frame_pose(state.q, frame))
        self.torques.show(robot, found, self._now, frame, ellipsoids, place)
        self.history.append(time.time(), np.concatenate([*state, found.torque]))
        self._shown = robot, state, found, frame

    def record(self) -> str:
        """Return the state that is shown, as JSON."""
        with self._lock:
            return state_text(*self._shown) if self._shown is not None else '{}\n'

    def close(self) -> None:
        """Stop refreshing."""
        self._refresher.stop()


def history_columns(robot: Robot) -> list[str]:
    """Return the names of position, velocity, acceleration and torque of each joint."""
    positions = [joint.name if joint.q.stop - joint.q.start == 1 else f'{joint.name}.{k}'
                 for joint in robot.model.joints for k in range(joint.q.stop - joint.q.start)]
    return [*(f'position_{name}' for name in positions),
            *(f'{kind}_{name}' for kind in ('velocity', 'acceleration', 'torque')
              for name in robot.dof_names)]


def last_frame(robot: Robot) -> str:
    """Return the link that is farthest from the root by the number of links between them."""
    depths = {robot.model.root: 0}
    for name in robot.frame_names:
        chain = [name]
        while chain[-1] not in depths:
            chain.append(robot.model.parents[chain[-1]])
        for up, link in enumerate(reversed(chain[:-1]), 1):
            depths[link] = depths[chain[-1]] + up
    return max(robot.frame_names, key=lambda name: depths[name])


def prepare_scene(server: viser.ViserServer, robot: Robot) -> None:
    """Set the camera, the ground and the direction of z."""
    size = robot_size(robot)
    server.scene.set_up_direction('+z')
    server.scene.add_grid('/ground', width=4.0 * size, height=4.0 * size, cell_size=0.1 * size,
                          section_size=0.5 * size)
    server.initial_camera.position = (1.1 * size, -1.1 * size, 0.9 * size)
    server.initial_camera.look_at = (0.0, 0.0, 0.4 * size)
