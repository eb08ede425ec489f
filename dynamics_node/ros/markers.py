"""Publish markers for RViz and Foxglove: masses, inertias, torques against limits, wrenches."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.model.model import JointInfo, Model
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import add_prefix, remove_prefix
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.topic_qos import SENSOR, overridable
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.ellipsoid import equivalent_ellipsoid
from dynamics_node.spatial.inertia import Inertia

PERIOD = 0.1              # [s] between two messages
SHOWN = 1_000_000_000     # [ns] that a wrench is shown after its arrival
DENSITY = 1000.0          # [kg/m^3] of the spheres that represent masses
METRES_PER_NEWTON = 0.01
MASS, INERTIA = (0.9, 0.75, 0.1, 0.9), (0.2, 0.5, 0.9, 0.35)
FORCE, TORQUE, UNKNOWN = (0.9, 0.1, 0.6, 0.9), (0.5, 0.1, 0.9, 0.9), (0.6, 0.6, 0.6, 0.8)


class Markers:
    """`~/markers`, published while it has a subscriber; the subscription `~/external_wrench`."""

    def __init__(self, node: Node, node_state: NodeState,
                 efforts: Callable[[], Mapping[str, float]]) -> None:
        """Create publisher and subscription.

        :param efforts: returns {joint: torque published last}.
        """
        self._node_state, self._efforts = node_state, efforts
        self._wrenches: dict[str, tuple] = {}   # {frame: (arrival [ns], force, torque)}
        self._publisher = node.create_publisher(MarkerArray, '~/markers',
                                                **overridable(QoSProfile(depth=1)))
        self._timer = node.create_timer(PERIOD, self._draw, autostart=False,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.entities = [
            (node.destroy_publisher, self._publisher), (node.destroy_timer, self._timer),
            (node.destroy_subscription, node.create_subscription(
                WrenchStamped, '~/external_wrench', self.on_wrench, **overridable(SENSOR)))]

    def check_subscribers(self) -> None:
        """Run the timer only while there are subscribers; call this every second or so."""
        if not self._publisher.get_subscription_count():
            self._timer.cancel()
        elif self._timer.is_canceled():
            self._timer.reset()

    def on_wrench(self, message: WrenchStamped) -> None:
        """Show a wrench at a link of the robot for the time SHOWN."""
        remove_prefix(self._node_state.parameters.frame_prefix, message)
        current = self._node_state.current_robot
        if not current.exists or message.header.frame_id not in current.robot.model.frames:
            return
        self._wrenches[message.header.frame_id] = (
            self._node_state.clock(), convert.xyz(message.wrench.force),
            convert.xyz(message.wrench.torque))

    def _draw(self) -> None:
        if not self._node_state.current_robot.exists:
            return
        measured, robot = self._node_state.snapshot(), self._node_state.robot
        if np.isnan(measured.q).any():
            return
        now = self._node_state.clock()
        recent = {frame: wrench for frame, (arrived, *wrench) in self._wrenches.items()
                  if 0 <= now - arrived < SHOWN}
        efforts = self._efforts() or dict(zip(robot.dof_names, measured.effort))
        markers = markers_of(robot, measured.q, efforts, recent, now)
        add_prefix(self._node_state.parameters.frame_prefix, markers)
        self._publisher.publish(markers)


def markers_of(robot: Robot, q: np.ndarray, efforts: Mapping[str, float],
               wrenches: Mapping[str, Sequence[np.ndarray]], stamp: int) -> MarkerArray:
    """Return the markers of a robot, all in the frame of its root link.

    :param efforts: {joint: effort}, shown by colour: green is zero, red the limit, grey unknown.
    :param wrenches: {link: (force, torque)} on the robot, at the link's origin, in its axes.
    """
    model = robot.model
    poses = body_poses(model, joints_at(model, q)[0])
    root = model.frames[model.root]
    to_root = (poses[root.body] @ root.pose).inverse()
    poses = [to_root @ pose for pose in poses]
    found = [Marker(action=Marker.DELETEALL)]
    for inertia, pose in zip(model.inertias, poses):
        found += _body(inertia, pose)
    found += [_joint(model, joint, poses, efforts) for joint in model.joints
              if joint.kind not in ('planar', 'floating')]
    for frame, (force, torque) in wrenches.items():
        if frame in model.frames:
            where = model.frames[frame]
            T = poses[where.body] @ where.pose
            found += [_arrow('force', k, T, vector, colour) for k, (vector, colour) in
                      enumerate(((force, FORCE), (torque, TORQUE)))
                      if np.any(vector) and np.isfinite(vector).all()]
    for k, marker in enumerate(found):
        marker.id = k
        marker.header.frame_id, marker.header.stamp = model.root, convert.time(stamp)
    return MarkerArray(markers=found)


def _body(inertia: Inertia, T: se3.Pose) -> list[Marker]:
    """Return a sphere at the centre of mass, and the solid ellipsoid with the same inertia."""
    if not inertia.mass > 0.0:
        return []
    diameter = 2.0 * (3.0 * inertia.mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
    centre, axes, half_axes = equivalent_ellipsoid(inertia)
    centre = T.R @ centre + T.p
    return [_marker('centre of mass', Marker.SPHERE, centre, np.eye(3), [diameter] * 3, MASS),
            _marker('inertia', Marker.SPHERE, centre, T.R @ axes, 2.0 * half_axes, INERTIA)]


def _joint(model: Model, joint: JointInfo, poses: list, efforts: Mapping[str, float]) -> Marker:
    """Return a sphere at a joint, coloured by its torque against its limit."""
    body = next(i for i, body in enumerate(model.bodies) if body.joint_name == joint.name)
    share = abs(efforts.get(joint.name, np.nan)) / joint.max_effort
    return _marker('torque against limit', Marker.SPHERE, poses[body].p, np.eye(3), [0.06] * 3,
                   shade(share))


def shade(share: float) -> tuple[float, float, float, float]:
    """Return the colour of a share of the limit: green at 0, yellow at 1/2, red from 1 on."""
    if not np.isfinite(share):
        return UNKNOWN
    share = min(1.0, share)
    return (min(1.0, 2.0 * share), min(1.0, 2.0 * (1.0 - share)), 0.0, 0.9)


def _arrow(kind: str, k: int, T: se3.Pose, vector: np.ndarray, colour: Sequence[float]) -> Marker:
    tip = T.p + METRES_PER_NEWTON * (T.R @ vector)
    marker = _marker(kind, Marker.ARROW, np.zeros(3), np.eye(3), [0.02, 0.04, 0.0], colour)
    marker.points = [Point(**_xyz(T.p)), Point(**_xyz(tip))]
    return marker


def _marker(kind: str, shape: int, p: np.ndarray, R: np.ndarray, size: Sequence[float] | np.ndarray,
            colour: Sequence[float]) -> Marker:
    x, y, z, w = map(float, so3.to_quaternion(R))
    return Marker(ns=kind, type=shape, action=Marker.ADD, scale=Vector3(**_xyz(size)),
                  pose=Pose(position=Point(**_xyz(p)), orientation=Quaternion(x=x, y=y, z=z, w=w)),
                  color=ColorRGBA(**dict(zip('rgba', map(float, colour)))))


def _xyz(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    return dict(zip('xyz', map(float, values)))
