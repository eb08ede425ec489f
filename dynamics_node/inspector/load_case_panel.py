"""Show the controls of a supposed load case: joint sliders, tool, payload, gravity, motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.inspector.html_box import HtmlBox
from dynamics_node.inspector.load_case import ALL_JOINTS, LoadCase
from dynamics_node.inspector.loop_state import LoopState
from dynamics_node.model.model import JointInfo
from dynamics_node.reports.plots import shortened
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

STEP = 0.001                              # [rad or m] of a slider
RANGE = {'prismatic': 1.0}                # [m] of a slider without limits; other joints pi [rad]
MOST_PAYLOAD, MOST_ACCELERATION = 1000.0, 1000.0
LONGEST_LABEL = 14


class LoadCasePanel:
    """Builds the LoadCase that is set on the page."""

    def __init__(self, gui: viser.GuiApi, robot: Robot, tabs: viser.GuiTabGroupHandle,
                 frame: str, changed: Callable[[], None], loops: LoopState,
                 together: bool = False):
        """Add the tabs 'Pose' and 'What if'.

        :param frame: tool frame that is chosen at first.
        :param changed: called after every change.
        :param loops: loops of the robot; with loops only the independent joints have sliders.
        :param together: True: one tab, 'What if', has the elements of both.
        """
        self._robot, self._changed, self._loops = robot, changed, loops
        self.tab = tabs.add_tab('What if' if together else 'Pose')
        if not together:
            with self.tab:
                self._add_pose(gui, frame)
            self.tab = tabs.add_tab('What if')
        with self.tab:
            gui.add_markdown('Nothing here moves a real robot.')
            self._add_case(gui, robot)
            if together:
                self._add_pose(gui, frame)
        for handle in (self.frame, self._mass, self._com, self._gravity, self._moving,
                       self._speed, self._acceleration, *self.sliders.values()):
            handle.on_update(self._on_change)
        home = np.array(loops.last)
        self.neutral.on_click(lambda _: self.set_configuration(home))

    def _add_pose(self, gui: viser.GuiApi, frame: str) -> None:
        robot, coordinates = self._robot, self._loops.coordinates
        self.frame = gui.add_dropdown('Tool frame', robot.frame_names, initial_value=frame)
        self.drag = gui.add_checkbox('Drag the tool', False,
                                     hint='moves the joints by inverse kinematics')
        self.reached = HtmlBox(gui)
        self.neutral = gui.add_button('Neutral pose')
        self.sliders = {joint.name: self._slider(gui, joint) for joint in robot.model.joints
                        if joint.q.stop - joint.q.start == 1
                        and (coordinates is None or joint.name in coordinates)}

    def _add_case(self, gui: viser.GuiApi, robot: Robot) -> None:
        self._mass = gui.add_number('Payload [kg]', 0.0, min=0.0, max=MOST_PAYLOAD, step=0.01)
        self._com = gui.add_vector3('At [m]', (0.0, 0.0, 0.0), step=0.001,
                                    hint='centre of mass in the tool frame')
        self._gravity = gui.add_vector3('Gravity', tuple(robot.gravity.tolist()), step=0.01,
                                        hint='towards the earth, in the root frame [m/s^2]')
        self._moving = gui.add_dropdown('Moving', (ALL_JOINTS, *robot.dof_names),
                                        initial_value=ALL_JOINTS)
        self._speed = gui.add_slider('Speed [%]', -100.0, 100.0, 1.0, 0.0,
                                     hint='of the velocity limit; 1 rad/s if it is unknown')
        self._acceleration = gui.add_number(
            'Acceleration', 0.0, min=-MOST_ACCELERATION, max=MOST_ACCELERATION, step=0.1,
            hint='of the moving joints [rad/s^2 or m/s^2]')

    def _slider(self, gui: viser.GuiApi, joint: JointInfo) -> Any:
        low, high = slider_range(joint)
        return gui.add_slider(shortened(joint.name, LONGEST_LABEL), low, high, STEP,
                              float(np.clip(self._loops.last[joint.q.start], low, high)),
                              hint=f'{joint.name} [{"m" if joint.kind == "prismatic" else "rad"}]')

    def _on_change(self, _: object) -> None:
        self._changed()

    def configuration(self) -> np.ndarray:
        """Return q as the sliders are set, (nq,); joints without a slider keep their last value."""
        q = np.array(self._loops.last)
        for joint in self._robot.model.joints:
            if joint.name in self.sliders:
                q[joint.q.start] = self.sliders[joint.name].value
        return q

    def set_configuration(self, q: np.ndarray) -> None:
        """Set the sliders."""
        for joint in self._robot.model.joints:
            if joint.name in self.sliders:
                low, high = slider_range(joint)
                self.sliders[joint.name].value = float(np.clip(q[joint.q.start], low, high))

    def case(self) -> LoadCase:
        """Return the load case that is set."""
        x, y, z = self._com.value
        gx, gy, gz = self._gravity.value
        return LoadCase(self.configuration(), self.frame.value, float(self._mass.value), (x, y, z),
                        (gx, gy, gz), self._moving.value, 0.01 * self._speed.value,
                        float(self._acceleration.value))


def slider_range(joint: JointInfo) -> tuple[float, float]:
    """Return the ends of a slider: the limits of the joint, rounded inwards to STEP."""
    half = RANGE.get(joint.kind, np.pi)
    low = joint.lower if np.isfinite(joint.lower) else -half
    high = joint.upper if np.isfinite(joint.upper) else half
    low, high = np.ceil(low / STEP) * STEP, np.floor(high / STEP) * STEP
    return (float(low), float(high)) if high - low >= STEP else (float(low), float(low) + STEP)
