"""The torques of a trajectory, its margins, and what could be carried along it."""

import copy

import numpy as np

from dynamics_node.control.spline import Spline, times_between
from dynamics_node.control.trajectory_torques import trajectory_torques as compute
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import RequestState
from dynamics_node.ros.torque.joint_trajectory import points_of


def trajectory_torques(desk, request, response):
    """Fill a TrajectoryTorques response."""
    desk.catch_up()
    robot, model_id = desk.robot, desk.held.model_id
    choice = desk.choose(request.trajectory.joint_names)
    stamp = desk.stamp_of(choice.others, 'position')
    case = RequestState(desk, robot, model_id, choice, desk.state.q, desk.state.v, stamp)
    spline = _spline(case, request.trajectory)
    limits = _limits(case, request.effort_limits)

    at_points = _whole(case, spline.positions, spline.velocities, spline.accelerations)
    extra = times_between(spline.times, request.check_period)
    motion = spline.at(extra)
    between = _whole(case, motion.q, motion.v, motion.a)
    times = np.concatenate([spline.times, extra])
    order = np.argsort(times, kind='stable')
    states = [np.concatenate(pair)[order] for pair in zip(at_points, between)]
    result = compute(robot, times[order], *states, effort_limits=limits,
                     payload_frame=request.payload_frame,
                     payload_com=convert.xyz(request.payload_com))

    points = np.empty(len(order), dtype=int)
    points[order] = np.arange(len(order))
    response.trajectory = _filled(case, request.trajectory, spline,
                                  result.effort[points[:len(spline.times)]])
    for field, value in (('effort_limit', result.effort_limit), ('peak_effort', result.peak),
                         ('margin', result.margin)):
        setattr(response, field, convert.floats(case.ordered(value)))
    first = result.first_saturated
    response.first_saturated_joint = robot.dof_names[first] if first >= 0 else ''
    response.first_saturation_time = float(result.first_saturation_time)
    response.greatest_payload = float(result.greatest_payload)
    return case.head(response)


def _spline(case, trajectory):
    """Return the Spline through the points of a trajectory."""
    times, positions, velocities, accelerations = points_of(trajectory)
    for k in case.choice.named:
        joint = case.robot.model.joints[k]
        if joint.q.stop - joint.q.start != 1:
            raise DynamicsError(f"joint '{joint.name}' is {joint.kind}; a JointTrajectory can only "
                                'speak of joints with one coordinate')
    if velocities is None and accelerations is not None:
        velocities = Spline(times, positions).velocities
    return Spline(times, positions, velocities, accelerations)


def _limits(case, given):
    """Return the effort limits, one per degree of freedom, nan where not known."""
    limits = np.full(case.robot.nv, np.nan)
    for joint in case.robot.model.joints:
        limits[joint.v] = joint.max_effort
    if len(given):
        given = np.array(given)
        if len(given) != len(case.choice.v):
            raise DynamicsError(f'effort_limits has {len(given)} entries; expected '
                                f'{len(case.choice.v)}, one per joint of the trajectory, or none')
        if not (np.isfinite(given) & (given > 0.0)).all():
            raise DynamicsError(f'effort_limits is {given.tolist()}; expected positive finite '
                                'numbers')
        limits[case.choice.v] = given
    return limits


def _whole(case, q, v, a):
    """Return states of all joints: those of the trajectory, the others at rest where measured."""
    rest = (case.desk.state.q, np.zeros(case.robot.nv), np.zeros(case.robot.nv))
    places = (case.choice.q, case.choice.v, case.choice.v)
    whole = []
    for left_out, place, x in zip(rest, places, (q, v, a)):
        full = np.tile(left_out, (len(x), 1))
        full[:, place] = x
        whole.append(full)
    return whole


def _filled(case, trajectory, spline, effort):
    """Return the trajectory with velocities, accelerations and effort at every point."""
    filled = copy.deepcopy(trajectory)
    effort = effort[:, case.choice.v]
    for k, point in enumerate(filled.points):
        point.velocities = convert.floats(spline.velocities[k])
        point.accelerations = convert.floats(spline.accelerations[k])
        point.effort = convert.floats(effort[k])
    return filled
