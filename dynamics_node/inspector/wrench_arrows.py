"""Draw the external loads of the robot: arrows of wrenches and joint torques, contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.inspector.colours import RGB, hexadecimal
from dynamics_node.inspector.html_box import STYLE
from dynamics_node.inspector.live_state import LiveWrench
from dynamics_node.inspector.scene import robot_size
from dynamics_node.model.joints import Prismatic, Revolute
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, tag
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial.se3 import Pose

if TYPE_CHECKING:
    import viser

# what an arrow is -> colour; those of force and moment differ in brightness too
COLOURS: dict[str, RGB] = {'force': (0, 158, 115), 'moment': (0, 114, 178),
                           'joint torque': (204, 121, 167)}
LONGEST = 1.0          # of an arrow, of the size of the robot
WEIGHTLESS = 10.0      # [N] in place of the weight of a robot without mass
UNLIMITED = 50.0       # [N m or N] in place of an unknown torque limit
LEAST_SHARE = 0.01     # of the limit: a smaller external joint torque has no arrow
LEAST_LENGTH = 0.02    # of the size of the robot: a shorter arrow is not drawn
SHAFT, HEAD, HEAD_LENGTH = 0.012, 0.03, 0.06   # of the size of the robot
GRAVITY = 9.81         # [m/s^2]


class WrenchArrows:
    """Arrows and labels of one robot."""

    def __init__(self, scene: viser.SceneApi, robot: Robot):
        """Begin without arrows and labels."""
        self._robot, self._scene, self._size = robot, scene, robot_size(robot)
        self._weight = GRAVITY * robot.total_mass or WEIGHTLESS
        self._arrows: dict[str, Any] = {}   # by what an arrow is
        self._labels: dict[str, Any] = {}   # by scene name
        self._visible = True

    def show(self, visible: bool) -> None:
        """Show or hide all, from the next `draw` on."""
        self._visible = visible

    def draw(self, poses: Sequence[Pose], wrenches: Mapping[str, LiveWrench],
             external: np.ndarray, limit: np.ndarray, contact: Sequence[str]) -> None:
        """Draw wrenches, external joint torques (nv,) and the joints in contact.

        :param poses: poses of the bodies, last entry: the world.
        :param limit: limits of the joint torques, nan = unknown, (nv,).
        """
        found: dict[str, list] = {kind: [] for kind in COLOURS}
        texts: dict[str, tuple[str, np.ndarray]] = {}
        if self._visible:
            for kind, wrench in wrenches.items():
                self._wrench(kind, wrench, poses, found, texts)
            self._joint_torques(poses, external, limit, contact, found, texts)
        for kind, arrows in found.items():
            self._put(kind, np.array(arrows).reshape(-1, 2, 3))
        self._put_labels(texts)

    def _wrench(self, kind: str, wrench: LiveWrench, poses: Sequence[Pose], found: dict,
                texts: dict) -> None:
        frame = self._robot.model.frames.get(wrench.frame)
        if frame is None:
            return
        T = poses[frame.body] @ frame.pose
        for what, vector, unit, scale in (
                ('force', wrench.force, 'N', self._weight),
                ('moment', wrench.torque, 'N m', self._weight * self._size)):
            arrow = self._arrow(T.p, T.R @ vector, scale)
            if arrow is not None:
                found[what].append(arrow)
                texts[f'/wrenches/{kind}_{what}'] = (
                    f'{kind} {what} {shown(float(np.linalg.norm(vector)), 3)} {unit}', arrow[1])

    def _joint_torques(self, poses: Sequence[Pose], external: np.ndarray, limit: np.ndarray,
                       contact: Sequence[str], found: dict, texts: dict) -> None:
        for i, body in enumerate(self._robot.model.bodies):
            if not isinstance(body.joint, (Revolute, Prismatic)):
                continue
            k, p = body.v.start, poses[i].p
            share = float(external[k] / (limit[k] if np.isfinite(limit[k]) else UNLIMITED))
            if abs(share) >= LEAST_SHARE:
                arrow = self._arrow(p, poses[i].R @ np.asarray(body.joint.axis) * share, 1.0)
                if arrow is not None:
                    found['joint torque'].append(arrow)
            if self._robot.dof_names[k] in contact:
                texts[f'/wrenches/contact_{i}'] = 'contact', p

    def _arrow(self, start: np.ndarray, vector: np.ndarray, scale: float) -> np.ndarray | None:
        """Return start and end of an arrow, LONGEST where the vector is `scale` or more; (2, 3)."""
        share = float(np.linalg.norm(vector)) / scale
        if not share >= LEAST_LENGTH:
            return None
        return np.array([start, start + self._size * min(share, LONGEST) / share * vector / scale])

    def _put(self, kind: str, points: np.ndarray) -> None:
        """Draw the arrows of one kind; a handle is kept while there are as many of them."""
        handle = self._arrows.get(kind)
        if handle is not None and len(handle.points) != len(points):
            handle.remove()
            handle = self._arrows.pop(kind, None) and None
        if not len(points):
            return
        if handle is None:
            self._arrows[kind] = self._scene.add_arrows(
                f'/wrenches/{kind.replace(" ", "_")}', points.astype(np.float32), COLOURS[kind],
                shaft_radius=SHAFT * self._size, head_radius=HEAD * self._size,
                head_length=HEAD_LENGTH * self._size)
        else:
            handle.points = points.astype(np.float32)

    def _put_labels(self, texts: Mapping[str, tuple[str, np.ndarray]]) -> None:
        for name in [name for name in self._labels if name not in texts]:
            self._labels.pop(name).remove()
        for name, (text, place) in texts.items():
            handle = self._labels.get(name)
            if handle is None:
                self._labels[name] = self._scene.add_label(name, text, position=place)
                continue
            handle.position = place
            if handle.text != text:   # a label that is set again is drawn again, slowly
                handle.text = text


def arrow_key() -> Markup:
    """Return the meaning of the arrows."""
    words = {'force': 'external force', 'moment': 'external moment',
             'joint torque': 'external torque of a joint, along its axis'}
    return tag('div', tag('div', 'Arrows: what the environment does to the robot'),
               *(tag('div', tag('span', '\N{BLACK SQUARE}',
                                style=f'color:{hexadecimal(COLOURS[kind])}'), f' {text}')
                 for kind, text in words.items()),
               tag('div', 'A force of the weight of the robot is as long as the robot; a joint '
                   'torque at its limit too. "estimated" by the node, "given" on a topic.'),
               style=STYLE)
