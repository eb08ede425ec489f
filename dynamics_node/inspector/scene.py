"""Draw a robot in the 3D view: bodies, joints by torque, centre of mass, ellipsoids, frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.inspector.colours import RGB, UNKNOWN, share_colour
from dynamics_node.inspector.figures import Figures, FrameEllipsoids
from dynamics_node.inspector.shapes import z_along
from dynamics_node.inspector.solids import Solid
from dynamics_node.model.joints import Prismatic, Revolute
from dynamics_node.model.model import WORLD
from dynamics_node.reports.digits import shown
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial import so3
from dynamics_node.spatial.ellipsoid import equivalent_ellipsoid
from dynamics_node.spatial.se3 import Pose

if TYPE_CHECKING:
    import viser

BODY, SUBSTITUTE = (205, 210, 216), (170, 190, 214)
REFERENCE, SUPPOSED = (120, 170, 230), (230, 159, 0)   # of ghosts
INERTIA, MASS = (0, 114, 178), (213, 94, 0)
ELLIPSOIDS = {'velocity': (86, 180, 233), 'force': (230, 159, 0), 'inertia': (0, 158, 115)}
GREATEST_RADIUS = 0.25     # [m] of an ellipsoid of a frame; shape and direction count
THINNEST = 0.01            # of its greatest radius
JOINT_RADIUS, JOINT_HEIGHT = 0.075, 0.04   # of a joint's marker, of the size of the robot
LEAST_SIZE = 0.1           # [m] of a robot
LEAST_LABEL = 0.005        # a joint with less of its limit has no label


class RobotView:
    """One robot in the 3D view; scene names have numbers, never names of the URDF."""

    def __init__(self, scene: viser.SceneApi, root: str, robot: Robot, solids: Sequence[Solid],
                 ghost: RGB | None = None):
        """Add the robot to the scene.

        :param root: root of the scene names, such as '/robot'.
        :param ghost: colour of a transparent robot, bodies alone; None: a solid one.
        """
        self._robot, self._scene, self._root = robot, scene, root
        count = len(robot.model.bodies)
        self._bodies = [scene.add_frame(f'{root}/body_{i}', show_axes=False)
                        for i in (*range(count), WORLD)]
        self.meshes = [self._add_mesh(k, solid, ghost) for k, solid in enumerate(solids)]
        self.size = robot_size(robot)
        self._joints: dict[int, tuple[Any, Any]] = {}   # body -> (marker, label)
        self._looks: dict[int, tuple] = {}   # body -> colour, text and visibility
        self._labels = True
        if ghost is None:
            self._add_joints()

    def _add_mesh(self, k: int, solid: Solid, ghost: RGB | None) -> Any:
        return self._scene.add_mesh_simple(
            f'{self._root}/body_{solid.body}/mesh_{k}', solid.mesh.vertices.astype(np.float32),
            solid.mesh.faces.astype(np.uint32), flat_shading=not solid.substitute,
            color=ghost or (SUBSTITUTE if solid.substitute else BODY),
            opacity=0.35 if ghost else None, side='double')

    def _add_joints(self) -> None:
        radius, height = JOINT_RADIUS * self.size, JOINT_HEIGHT * self.size
        for i, body in enumerate(self._robot.model.bodies):
            if not isinstance(body.joint, (Revolute, Prismatic)):
                continue
            name = f'{self._root}/body_{i}/joint'
            marker = self._scene.add_cylinder(
                name, radius=radius, height=height, color=UNKNOWN,
                wxyz=_wxyz(z_along(body.joint.axis)))
            label = self._scene.add_label(f'{name}/label', '', position=(radius, 0.0, 0.0),
                                          visible=False)
            self._joints[i] = (marker, label)

    def move(self, q: np.ndarray) -> list[Pose]:
        """Move the bodies to a configuration; return their poses, last entry: the world."""
        model = self._robot.model
        poses = body_poses(model, joints_at(model, q)[0])
        for handle, pose in zip(self._bodies, poses):
            _place(handle, pose)
        return poses

    def colour(self, figures: Figures) -> None:
        """Colour the joints by torque over limit, with the percentage as text."""
        for i, (marker, label) in self._joints.items():
            body = self._robot.model.bodies[i]
            share = float(figures.share[body.v.start])
            look = share_colour(share), f'{shown(100.0 * share, 2)} %', bool(
                self._labels and share >= LEAST_LABEL)
            if self._looks.get(i) != look:   # a label that is set again is drawn again, slowly
                self._looks[i] = look
                marker.color, label.text, label.visible = look

    def show_labels(self, visible: bool) -> None:
        """Show or hide the percentages at the joints, from the next `colour` on."""
        self._labels = visible

    def show_bodies(self, visible: bool) -> None:
        """Show or hide the bodies; joints stay."""
        for mesh in self.meshes:
            mesh.visible = visible


class Marks:
    """Centre of mass, inertia ellipsoids, frames, and the ellipsoids of one frame."""

    def __init__(self, scene: viser.SceneApi, robot: Robot):
        """Add them to the scene, hidden but for the centre of mass."""
        self._robot = robot
        size = robot_size(robot)
        self.center = scene.add_icosphere('/center_of_mass', radius=0.03 * size, color=MASS,
                                          subdivisions=2)
        self._solids = {}
        for i, inertia in enumerate(robot.model.inertias):
            if inertia.mass > 0.0:
                solid = equivalent_ellipsoid(inertia)
                self._solids[i] = solid, scene.add_icosphere(
                    f'/inertia/{i}', radius=1.0, color=INERTIA, subdivisions=2, opacity=0.45,
                    visible=False, scale=tuple(map(float, solid.half_axes)))
        self._frames = {name: scene.add_frame(f'/frames/{k}', axes_length=0.1 * size,
                                              axes_radius=0.004 * size, visible=False)
                        for k, name in enumerate(robot.frame_names)}
        self._ellipsoids = {kind: scene.add_icosphere(f'/ellipsoid/{kind}', radius=1.0,
                                                      color=colour, opacity=0.4, subdivisions=3,
                                                      visible=False)
                            for kind, colour in ELLIPSOIDS.items()}

    def move(self, poses: Sequence[Pose], center: np.ndarray) -> None:
        """Move the marks to the poses of the bodies."""
        if np.isfinite(center).all():
            self.center.position = center
        for i, (solid, handle) in self._solids.items():
            _place(handle, poses[i] @ Pose(solid.axes, solid.centre))
        for name, handle in self._frames.items():
            where = self._robot.model.frames[name]
            _place(handle, poses[where.body] @ where.pose)

    def show_inertias(self, visible: bool) -> None:
        """Show or hide the inertia ellipsoids."""
        for _, handle in self._solids.values():
            handle.visible = visible

    def show_frames(self, visible: bool) -> None:
        """Show or hide the axes of all links."""
        for handle in self._frames.values():
            handle.visible = visible

    def show_ellipsoid(self, kind: str, found: FrameEllipsoids, place: np.ndarray) -> None:
        """Show one of ELLIPSOIDS at a place, scaled to GREATEST_RADIUS; another kind hides all."""
        for name, handle in self._ellipsoids.items():
            handle.visible = name == kind
        if kind not in self._ellipsoids:
            return
        axes, radii = getattr(found, kind)
        handle = self._ellipsoids[kind]
        handle.scale = tuple(map(float, GREATEST_RADIUS * relative_radii(radii)))
        _place(handle, Pose(_right_handed(axes), place))


def relative_radii(radii: np.ndarray) -> np.ndarray:
    """Return radii by the greatest, at least THINNEST; infinite radii are the greatest, (3,)."""
    greatest = radii.max()
    share = np.isinf(radii) * 1.0 if np.isinf(greatest) else radii / (greatest or 1.0)
    return np.maximum(share, THINNEST)


def robot_size(robot: Robot) -> float:
    """Return the greatest distance of a joint from the root at the neutral pose, a scale [m]."""
    poses = body_poses(robot.model, joints_at(robot.model, robot.neutral())[0])
    return max(LEAST_SIZE, *(float(np.linalg.norm(pose.p)) for pose in poses))


def _place(handle: Any, pose: Pose) -> None:
    handle.wxyz, handle.position = _wxyz(pose.R), pose.p


def _wxyz(R: np.ndarray) -> np.ndarray:
    return np.roll(so3.to_quaternion(R), 1)


def _right_handed(axes: np.ndarray) -> np.ndarray:
    return axes if np.linalg.det(axes) > 0.0 else axes * np.array([-1.0, 1.0, 1.0])
