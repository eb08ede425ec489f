"""Bring an arm to the state in which an event happens: enabled, at rest or moving at half speed."""

import numpy as np
from event_list import BRAKED, HALF
from event_rig import Rig

from dynamics_node.control.spline import Spline
from dynamics_node.parameter import PerJoint
from dynamics_node.safety import limits_of
from dynamics_node.spatial import so3

SETTLE = 0.1             # [s] at rest, enabled
LEAD, TAIL = 0.6, 1.1    # [s] from rest to half speed, and from there to rest
SHARE = 0.5              # of the velocity limits
# At half speed the tool of the bundled arm turns at 4 rad/s; the springs of task_space then let
# joint 6 exceed its velocity limit on the way.
TASK_SHARE = 0.25
STREAM = 10              # [ms] between two task references
FREQUENCY = 10.0         # [rad/s] of the springs of impedance, critically damped
FAST = {'ramp_in_time': 0.05}   # of events that happen long after the arm was enabled
MEASURED = 0.02   # [s] until the node has measured a motion that begins at once


def prepared(event, subject, motion, timeout, robot):
    """Return the Rig in which the event is about to happen.

    :param robot: Robot of the subject.
    :param timeout: of the driver [s] or None.
    """
    mode = event.mode or ('computed_torque' if motion == HALF else 'gravity')
    share = TASK_SHARE if mode == 'task_space' else SHARE
    velocity = share * subject.direction * limits_of(robot).velocity
    table = None
    if event.table:
        table = float(robot.frame_pose(subject.pose, last_link(subject))[2, 3]) - 0.006
    rig = Rig(subject, timeout, event.rate, table,
              {'mode': mode, **gains(mode, subject, robot), **event.torque},
              {**({} if motion == BRAKED else FAST), **event.safety}, robot.compilation_enabled)
    if motion != BRAKED:
        moves = motion == HALF and mode != 'gravity'
        if moves:
            rig.arm.set(subject.pose - 0.5 * LEAD * velocity)
        rig.run(0.01)
        rig.enable()
        assert not rig.refused, rig.refused
        rig.run(SETTLE)
        if moves:
            _accelerate(rig, mode, velocity)
        elif motion == HALF:   # as if a hand had moved it
            rig.arm.set(subject.pose, velocity)
            rig.run(MEASURED)
    rig.mark()
    return rig


def last_link(subject):
    """Return the link that touches a table."""
    return {'arm7': 'tool0', 'panda': 'panda_rightfinger'}[subject.name]


def gains(mode, subject, robot):
    """Return the parameters of the gains of a mode."""
    if mode.startswith('impedance'):
        inertia = np.diag(robot.mass_matrix(subject.pose))
        return {'gains': 'kp_kd',
                'kp': PerJoint(named=_by_name(robot, FREQUENCY ** 2 * inertia)),
                'kd': PerJoint(named=_by_name(robot, 2.0 * FREQUENCY * inertia))}
    if mode == 'task_space':
        return {'task_frame': subject.tool, 'task_max_speed': 5.0, 'task_max_turn': 10.0}
    return {}


def _by_name(robot, values):
    return dict(zip(robot.dof_names, values.tolist()))


def _accelerate(rig, mode, velocity):
    """Follow a motion that passes the pose of the subject at this velocity; stop there."""
    pose, rest = rig.subject.pose, np.zeros_like(velocity)
    rig.motion, rig.motion_start = Spline(
        np.array([0.0, LEAD, LEAD + TAIL]),
        np.array([pose - 0.5 * LEAD * velocity, pose, pose + 0.5 * TAIL * velocity]),
        np.array([rest, velocity, rest]), np.array([rest, rest, rest])), rig.ms
    motion = rig.motion
    if mode == 'task_space':
        rig.run(LEAD, lambda: rig.ms % STREAM or follow_task(rig))
    else:
        rig.pipeline.follow(list(rig.robot.joint_names), rig.clock(), motion.times,
                            motion.positions, motion.velocities, motion.accelerations)
        rig.run(LEAD)


def follow_task(rig):
    """Send the pose and twist that the tool has along the motion now."""
    robot, tool = rig.robot, rig.subject.tool
    now = rig.motion.at(1e-3 * (rig.ms - rig.motion_start))
    pose, J = robot.frame_pose(now.q, tool), robot.jacobian(now.q, tool)
    rig.pipeline.follow_task(
        rig.torque_state.snapshot(), rig.clock(), '', position=pose[:3, 3],
        orientation=so3.to_quaternion(pose[:3, :3]), twist=J @ now.v,
        acceleration=J @ now.a + robot.jacobian_rate(now.q, now.v, tool) @ now.v,
        wrench=np.zeros(6), force_axes=np.zeros(6, dtype=bool), free_axes=np.zeros(6, dtype=bool),
        axes=np.array([0.0, 0.0, 0.0, 1.0]), stiffness=(), damping=(), seen_from='')
