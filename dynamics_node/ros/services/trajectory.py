"""Serve ~/trajectory_torques: torques of a trajectory, margins, and the greatest payload."""

from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node.control.closed_trajectory import closed_motion
from dynamics_node.control.spline import Spline, times_between
from dynamics_node.control.trajectory_torques import trajectory_torques as compute
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.closed_terms import refuse_open_tree
from dynamics_node.ros.services.request_state import RequestState
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.ros.torque.joint_trajectory import points_of
from dynamics_node.srv import TrajectoryTorques


def trajectory_torques(node_state: NodeState, request: TrajectoryTorques.Request,
                       response: TrajectoryTorques.Response) -> TrajectoryTorques.Response:
    """Fill a TrajectoryTorques response."""
    if not request.payload_frame:
        refuse_given(request, 'payload_com', 'it is read only with payload_frame')
    robot, measured, age_limit = node_state.robot, node_state.snapshot(), node_state.age_limit
    selection = node_state.current_robot.select_joints(request.trajectory.joint_names)
    used = np.arange(len(robot.joint_names)) if request.closed else selection.others
    stamp = age_limit.stamp_of(measured, used, 'position')
    state = RequestState(robot, node_state.current_robot.model_id, selection, measured.q,
                         measured.v, stamp, measured, age_limit, node_state.caps)
    if request.closed:
        _refuse_passive_joints(state)
    spline = _spline(state, request.trajectory)
    limits = _limits(state, request.effort_limits)

    at_points = _all_joints(state, spline.positions, spline.velocities, spline.accelerations)
    extra = times_between(spline.times, request.check_period)
    motion = spline.at(extra)
    between = _all_joints(state, motion.q, motion.v, motion.a)
    times = np.concatenate([spline.times, extra])
    order = np.argsort(times, kind='stable')
    states = [np.concatenate(pair)[order] for pair in zip(at_points, between)]
    q, v, a = closed_motion(robot, state.q, *states) if request.closed else states
    result = compute(robot, times[order], q, v, a, effort_limits=limits, closed=request.closed,
                     payload_frame=request.payload_frame,
                     payload_com=convert.xyz(request.payload_com))

    points = np.empty(len(order), dtype=int)
    points[order] = np.arange(len(order))
    response.trajectory = _filled(state, request.trajectory, spline,
                                  result.effort[points[:len(spline.times)]])
    for field, value in (('effort_limit', result.effort_limit), ('peak_effort', result.peak),
                         ('margin', result.margin)):
        setattr(response, field, convert.floats(state.ordered(value)))
    first = result.first_saturated
    response.first_saturated_joint = robot.dof_names[first] if first >= 0 else ''
    response.first_saturation_time = float(result.first_saturation_time)
    response.greatest_payload = float(result.greatest_payload)
    return state.fill_head(response)


def _refuse_passive_joints(state: RequestState) -> None:
    """Refuse a trajectory of joints that follow the loops."""
    refuse_open_tree(state.robot)
    passive = state.robot.loops.passive
    named = [name for name in state.selection.names[:len(state.selection.named)] if name in passive]
    if named:
        raise DynamicsError(f'trajectory.joint_names has {", ".join(named)}, which have no motor '
                            'and follow the loops; name motors only')


def _spline(state: RequestState, trajectory: JointTrajectory) -> Spline:
    """Return the Spline through the points of a trajectory."""
    points: Any = points_of(trajectory)
    times, positions, velocities, accelerations = points
    for k in state.selection.named:
        joint = state.robot.model.joints[k]
        if joint.q.stop - joint.q.start != 1:
            raise DynamicsError(f"joint '{joint.name}' is {joint.kind}; a JointTrajectory can only "
                                'have joints with one coordinate')
    if velocities is None and accelerations is not None:
        velocities = Spline(times, positions).velocities
    return Spline(times, positions, velocities, accelerations)


def _limits(state: RequestState, given: Any) -> np.ndarray:
    """Return the effort limits, one per degree of freedom, nan where unknown."""
    limits = np.full(state.robot.nv, np.nan)
    for joint in state.robot.model.joints:
        limits[joint.v] = joint.max_effort
    if len(given):
        given = np.array(given)
        if len(given) != len(state.selection.v):
            raise DynamicsError(f'effort_limits has {len(given)} entries; expected '
                                f'{len(state.selection.v)}, one per joint of the trajectory, or '
                                'none')
        if not (np.isfinite(given) & (given > 0.0)).all():
            raise DynamicsError(f'effort_limits is {given.tolist()}; expected positive finite '
                                'numbers')
        limits[state.selection.v] = given
    return limits


def _all_joints(state: RequestState, q: np.ndarray, v: np.ndarray,
                a: np.ndarray) -> list[np.ndarray]:
    """Return states of all joints; those not in the trajectory rest as measured."""
    rest = (state.q, np.zeros(state.robot.nv), np.zeros(state.robot.nv))
    places = (state.selection.q, state.selection.v, state.selection.v)
    states = []
    for default, place, x in zip(rest, places, (q, v, a)):
        full = np.tile(default, (len(x), 1))
        full[:, place] = x
        states.append(full)
    return states


def _filled(state: RequestState, trajectory: JointTrajectory, spline: Spline,
            effort: np.ndarray) -> JointTrajectory:
    """Return the trajectory with velocities, accelerations and effort at every point."""
    columns = spline.velocities, spline.accelerations, effort[:, state.selection.v]
    points = [JointTrajectoryPoint(
        positions=point.positions, velocities=v, accelerations=a, effort=tau,
        time_from_start=point.time_from_start) for point, v, a, tau in zip(
            trajectory.points, *([convert.floats(row) for row in x] for x in columns))]
    return JointTrajectory(header=trajectory.header, joint_names=trajectory.joint_names,
                           points=points)
