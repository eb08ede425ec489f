"""Dynamics to look at, in RViz or Foxglove: masses, inertias, torques against limits, wrenches."""

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.recursion import joints_at
from dynamics_node.ros import convert
from dynamics_node.spatial import so3
from dynamics_node.spatial.ellipsoid import equivalent_ellipsoid

PERIOD = 0.1              # [s] between two pictures
SHOWN = 1_000_000_000     # [ns] that a wrench is shown after it came
DENSITY = 1000.0          # [kg/m^3] of the balls that stand for masses: as heavy as they look
METRES_PER_NEWTON = 0.01
MASS, INERTIA = (0.9, 0.75, 0.1, 0.9), (0.2, 0.5, 0.9, 0.35)
PUSH, TWIST, UNKNOWN = (0.9, 0.1, 0.6, 0.9), (0.5, 0.1, 0.9, 0.9), (0.6, 0.6, 0.6, 0.8)


class Markers:
    """`~/markers`, drawn while somebody looks."""

    def __init__(self, node, desk):
        self._desk, self._wrenches = desk, {}   # frame -> (when it came [ns], force, torque)
        self._torque = (), ()                   # joints and efforts that were published last
        self._publisher = node.create_publisher(MarkerArray, '~/markers', QoSProfile(depth=1))
        self._timer = node.create_timer(PERIOD, self._draw, autostart=False,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.entities = [(node.destroy_publisher, self._publisher),
                         (node.destroy_timer, self._timer)]

    def look(self):
        """Draw from now on if somebody looks; to be asked now and then."""
        if not self._publisher.get_subscription_count():
            self._timer.cancel()
        elif self._timer.is_canceled():
            self._timer.reset()

    def on_wrench(self, message):
        """Show a wrench on the robot for a while; one at a link that it has."""
        held = self._desk.held
        if not held.exists or message.header.frame_id not in self._desk.robot.model.frames:
            return
        self._wrenches[message.header.frame_id] = (
            self._desk.clock(), convert.xyz(message.wrench.force),
            convert.xyz(message.wrench.torque))

    def on_torque(self, names, efforts):
        """Show the torques that are published."""
        self._torque = names, efforts

    def _draw(self):
        if not self._desk.held.exists:
            return
        self._desk.catch_up()
        state = self._desk.state
        if np.isnan(state.q).any():
            return
        now = self._desk.clock()
        recent = {frame: wrench for frame, (came, *wrench) in self._wrenches.items()
                  if 0 <= now - came < SHOWN}
        efforts = dict(zip(*self._torque)) or dict(zip(self._desk.robot.dof_names, state.effort))
        self._publisher.publish(pictures(self._desk.robot, state.q, efforts, recent, now))


def pictures(robot, q, efforts, wrenches, stamp):
    """Return the MarkerArray of a robot, all in the frame of its root link, wherever that floats.

    :param efforts: {joint: effort}, shown by colour: green is none, red the limit, grey unknown.
    :param wrenches: {link: (force, torque)} on the robot, at and in that link.
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
                      enumerate(((force, PUSH), (torque, TWIST)))
                      if np.any(vector) and np.isfinite(vector).all()]
    for k, marker in enumerate(found):
        marker.id = k
        marker.header.frame_id, marker.header.stamp = model.root, convert.time(stamp)
    return MarkerArray(markers=found)


def _body(inertia, T):
    """Return a ball at the centre of mass, and the solid ellipsoid that has the same inertia."""
    if not inertia.mass > 0.0:
        return []
    ball = 2.0 * (3.0 * inertia.mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
    centre, axes, half_axes = equivalent_ellipsoid(inertia)
    centre = T.R @ centre + T.p
    return [_marker('centre of mass', Marker.SPHERE, centre, np.eye(3), [ball] * 3, MASS),
            _marker('inertia', Marker.SPHERE, centre, T.R @ axes, 2.0 * half_axes, INERTIA)]


def _joint(model, joint, poses, efforts):
    """Return a ball at a joint, coloured by its torque against its limit."""
    body = next(i for i, body in enumerate(model.bodies) if body.joint_name == joint.name)
    share = abs(efforts.get(joint.name, np.nan)) / joint.max_effort
    return _marker('torque against limit', Marker.SPHERE, poses[body].p, np.eye(3), [0.06] * 3,
                   shade(share))


def shade(share):
    """Return the colour of a share of the limit: green, yellow at a half, red from the limit on."""
    if not np.isfinite(share):
        return UNKNOWN
    share = min(1.0, share)
    return (min(1.0, 2.0 * share), min(1.0, 2.0 * (1.0 - share)), 0.0, 0.9)


def _arrow(kind, k, T, vector, colour):
    tip = T.p + METRES_PER_NEWTON * (T.R @ vector)
    marker = _marker(kind, Marker.ARROW, np.zeros(3), np.eye(3), [0.02, 0.04, 0.0], colour)
    marker.points = [Point(**_xyz(T.p)), Point(**_xyz(tip))]
    return marker


def _marker(kind, shape, p, R, size, colour):
    x, y, z, w = map(float, so3.to_quaternion(R))
    return Marker(ns=kind, type=shape, action=Marker.ADD, scale=Vector3(**_xyz(size)),
                  pose=Pose(position=Point(**_xyz(p)), orientation=Quaternion(x=x, y=y, z=z, w=w)),
                  color=ColorRGBA(**dict(zip('rgba', map(float, colour)))))


def _xyz(values):
    return dict(zip('xyz', map(float, values)))
