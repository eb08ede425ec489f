"""Make references and gains for the tests of mode task_space."""

import numpy as np

from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.gains import TaskGains
from dynamics_node.control.pose_coordinates import PoseMotion, stepped
from dynamics_node.control.task_reference import task_reference
from dynamics_node.spatial import so3

_best_frames = {}   # of the states of random trees, which hundreds of tests begin with


def best_frame(robot, q, v):
    """Return the frame that is furthest from a singular configuration."""
    state = robot, q.tobytes(), v.tobytes()
    if state not in _best_frames:
        _best_frames[state] = _best_frame(robot, q, v)
    return _best_frames[state]


def _best_frame(robot, q, v):
    return max((name for name, frame in robot.model.frames.items() if frame.body >= 0),
               key=lambda name: robot.operational_space(q, v, name).singular_values[-1])


def aim(robot, q, frame, rng, force_axes=(False,) * 6, **given):
    """Return a TaskMotionSample near q in random contact axes; random forces too."""
    axes = so3.quaternion_exp(rng.normal(size=3))
    C = so3.from_quaternion(axes)
    force = np.array(force_axes)

    def along(mask):
        x = rng.normal(size=6) * mask
        return np.concatenate([C @ x[:3], C @ x[3:]])
    pose = stepped(robot.frame_pose(q, frame), rng.uniform(-0.3, 0.3, 6))
    reference = task_reference(
        robot, q, frame, pose[:3, 3], so3.to_quaternion(pose[:3, :3]), twist=along(~force),
        acceleration=along(~force), wrench=10.0 * along(force), force_axes=force, axes=axes,
        **given)
    return TaskMotionSample(reference, PoseMotion(pose, reference.twist, reference.acceleration),
                      robot.integrate(q, rng.normal(size=robot.nv)))


def gains(robot, rng, law='impedance', posture=True):
    """Return TaskGains that differ from axis to axis and from joint to joint."""
    kp, kd = rng.uniform(1, 9, (2, robot.nv)) * posture
    return TaskGains.of(robot.nv, law, rng.uniform(5, 50, 6), rng.uniform(0.5, 1.5), kp, kd)
