"""Show a handle in the 3D view with which a user moves the tool, by inverse kinematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.inspector.load_case_panel import LoadCasePanel
from dynamics_node.inspector.scene import robot_size
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial import so3
from dynamics_node.task_space.target import Target

if TYPE_CHECKING:
    import viser

SIZE = 0.25   # of the size of the robot


class ToolGizmo:
    """Sets the sliders so that the tool frame is where the handle is dragged."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, case: LoadCasePanel):
        """Add the handle, hidden until 'Drag the tool' is ticked."""
        self._robot, self._case, self._dragged = robot, case, False
        self._handle = scene.add_transform_controls('/tool', scale=SIZE * robot_size(robot),
                                                    visible=False, depth_test=False)
        case.drag.on_update(self._show)
        self._handle.on_update(self._on_drag)

    def _show(self, _: Any) -> None:
        self._handle.visible = self._case.drag.value

    def _on_drag(self, event: Any) -> None:
        self._dragged = event.phase != 'end'
        w, x, y, z = self._handle.wxyz
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = so3.from_quaternion((x, y, z, w)), self._handle.position
        self.reach(T)

    def reach(self, T: np.ndarray) -> None:
        """Set the sliders to the pose that brings the tool frame nearest to T, (4, 4)."""
        found = self._robot.inverse_kinematics(Target.pose(self._case.frame.value, T),
                                               start=self._case.configuration(), restarts=0)
        self._case.set_configuration(found.q)
        self._case.reached.say('' if found.success else f'Not reached: {found.reason}')

    def follow(self, T: np.ndarray) -> None:
        """Move the handle to a pose, unless it is being dragged."""
        if not self._dragged:
            self._handle.position = T[:3, 3]
            self._handle.wxyz = np.roll(so3.to_quaternion(T[:3, :3]), 1)
