"""What is to be identified, and from what? A goal or a request, checked; and how the answer reads.

The work itself is in identify_jobs.py, done in the workshop.
"""

import numpy as np

from dynamics_node.checks import named_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.linear_fit import METHODS
from dynamics_node.identification.recording import check_one_axis, select_joints
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.identification.robot_fit import IdentificationOptions
from dynamics_node.identification.static_poses import StaticPoses, select_pose_joints
from dynamics_node.model.model import WORLD
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.ros import convert
from dynamics_node.ros.identification.deferred_reply import DeferredReply
from dynamics_node.ros.identification.jobs import IdentifyJob, PayloadJob
from dynamics_node.ros.identification.payload_samples import joined, mean_pose
from dynamics_node.ros.services.settings import check_payload_name, duration_of
from dynamics_node.ros.state.joint_state_buffer import recording_of

SHORTEST, LONGEST = 5.0, 3600.0   # [s] of a live recording
QUESTIONS = ('motion', 'unloaded', 'pose', 'poses', 'forget')
USUAL = {'motion': 10.0, 'unloaded': 10.0, 'pose': 1.0}   # [s] that are looked at
# of a PayloadEstimate's values, in the order of geometry_msgs/Inertia
SIGMAS = ('mass', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


# The action ---------------------------------------------------------------------------------------

def identify_job(desk, goal):
    """Return the IdentifyJob of an Identify goal, or refuse it."""
    desk.workshop.check_free()
    robot, options = _robot(desk), {'method': goal.method or 'weighted'}
    if options['method'] not in METHODS:
        raise DynamicsError(f"method is '{goal.method}'; expected one of {', '.join(METHODS)}")
    for field, greatest in (('prior_weight', np.inf), ('validation_share', 1.0),
                            ('cutoff', np.inf), ('stribeck_speed', np.inf)):
        value = getattr(goal, field)
        if not 0.0 <= value < greatest:
            raise DynamicsError(f'{field} is {value}; expected 0 for the usual one, or a positive '
                                f'number{" below 1" if greatest == 1.0 else ""}')
        if value and field != 'cutoff':
            options[field] = value
    meaning = None
    if not goal.recording:
        meaning = _meaning(desk, robot)
        if not SHORTEST <= goal.duration <= LONGEST:
            raise DynamicsError(f'duration is {goal.duration:g} s; expected {SHORTEST:g} to '
                                f'{LONGEST:g}, or the path of a recording')
    return IdentifyJob(robot, desk.held.text, goal.recording, goal.topic or TOPIC, meaning,
                       IdentificationOptions(**options), goal.cutoff or None, goal.output)


def fill_result(result, outcome):
    """Fill an Identify result."""
    result.success = True
    result.parameter_names, result.parameter_units = list(outcome.names), list(outcome.units)
    result.told = outcome.told.tolist()
    result.joint_names = list(outcome.joint_names)
    for field in ('before', 'values', 'sigmas', 'rms_before', 'rms_after'):
        setattr(result, field, convert.floats(getattr(outcome, field)))
    for field in ('gain', 'condition', 'samples', 'urdf', 'friction_yaml', 'files'):
        setattr(result, field, getattr(outcome, field))
    result.warnings = list(outcome.warnings)
    return result


# The service --------------------------------------------------------------------------------------

def identify_payload(desk, request, response):
    """Return an IdentifyPayload response, or one that comes Later."""
    robot = _robot(desk)
    if request.question not in QUESTIONS:
        raise DynamicsError(f"question is '{request.question}'; expected one of "
                            f'{", ".join(QUESTIONS)}')
    notes = desk.notes.of(robot, desk.observer.effort_meaning, desk.observer.torque_constants)
    if request.question == 'forget':
        notes.forget()
    elif request.question == 'unloaded':
        _meaning(desk, robot)
        notes.unloaded = _last(desk, request)
    elif request.question == 'pose':
        # Efforts stay as they were measured: PayloadJob makes torques of all poses at once.
        raw = select_joints(robot, recording_of(_last(desk, request)))
        notes.add(mean_pose(raw, _approach(robot, raw.joint_names, request)))
    else:
        return _found(desk, robot, notes, request, response)
    response.poses = len(notes)
    response.model_id = desk.held.settled_robot()[1]
    response.success = True
    return response


def _found(desk, robot, notes, request, response):
    """Return the Later of a question that is to be computed."""
    desk.workshop.check_free()
    duration = duration_of(request.transition_time)
    if request.set:
        check_payload_name(request.name)
    if robot.model.frame(request.frame).body == WORLD:
        raise DynamicsError(f"frame '{request.frame}' does not move: no torque depends on what it "
                            'carries')
    if request.name in robot.payloads:  # it is this one that is looked for
        robot = robot.without_payload(request.name)
    if request.question == 'motion':
        unloaded = notes.unloaded
        kept = [*unloaded, *_last(desk, request)]
        job = PayloadJob(robot, request.frame, _meaning(desk, robot), None, len(unloaded))
    else:
        poses, kept = joined(notes.poses, _given(robot, request)), []
        if poses is None:
            raise DynamicsError("there are no poses: give them, or remember some by 'pose'")
        known = desk.observer.effort_meaning != 'unknown'
        job = PayloadJob(robot, request.frame, _meaning(desk, robot) if known else None, poses)

    def fill(found):
        if request.set:
            desk.held.set_payload(request.name, (found.frame, found.mass, found.com,
                                                 found.inertia), duration)
        return fill_payload(response, found, len(notes), desk.held.settled_robot()[1])
    return DeferredReply(response, job, kept, fill)


def fill_payload(response, found, poses, model_id):
    """Fill an IdentifyPayload response with a PayloadEstimate."""
    response.success, response.poses, response.model_id = True, poses, model_id
    response.inertia_told = found.inertia is not None
    tensor = found.inertia if response.inertia_told else np.zeros((3, 3))
    response.payload = convert.inertia_message(found._replace(inertia=tensor.tolist()))
    sigma = found.sigma
    response.sigmas = [sigma[name] for name in SIGMAS if name in sigma]
    response.joint_names = list(found.joint_names)
    response.residual = convert.floats(found.residual_rms)
    response.samples, response.warnings = int(found.samples), list(found.warnings)
    return response


# What both look at --------------------------------------------------------------------------------

def _robot(desk):
    """Return the robot that is held, all transitions passed, or refuse what cannot be fitted."""
    robot = desk.held.settled_robot()[0] if desk.held.exists else desk.robot
    check_one_axis(robot)
    return robot


def _meaning(desk, robot):
    """Return what efforts in joint_states mean, or why they cannot be used."""
    p = desk.observer
    return meaning_of(robot, p.effort_meaning,
                      named_numbers('observer.torque_constants', p.torque_constants))


def _last(desk, request):
    """Return what the tape has kept of the last seconds."""
    _meaning(desk, desk.robot)
    desk.catch_up()
    if request.duration < 0.0:
        raise DynamicsError(f'duration is {request.duration:g} s; expected a positive number, or 0 '
                            f'for {USUAL[request.question]:g}')
    return desk.tape.last(request.duration or USUAL[request.question])


def _given(robot, request):
    """Return the StaticPoses of a request, None where it has none."""
    if not len(request.position) and not len(request.effort):
        return None
    names = tuple(request.joint_names) or robot.joint_names
    rows = len(request.position) // len(names)
    return select_pose_joints(robot, StaticPoses(
        names, _rows(robot, request, 'position', rows), _rows(robot, request, 'effort', rows),
        _rows(robot, request, 'approach', rows)))


def _approach(robot, joint_names, request):
    """Return the sign of each joint's velocity before the stop, in the order of names, or None."""
    rows = _rows(robot, request, 'approach', 1)
    if rows is None:
        return None
    names = tuple(request.joint_names) or robot.joint_names
    given = select_pose_joints(robot, StaticPoses(names, rows, rows, rows))
    signs = dict(zip(given.joint_names, given.approach[0]))
    return np.array([signs.get(name, 0.0) for name in joint_names])


def _rows(robot, request, field, rows):
    """Return a field as (rows, joints); None where an approach is left out."""
    names = tuple(request.joint_names) or robot.joint_names
    given = np.array(getattr(request, field))
    if field == 'approach' and not len(given):
        return None
    if len(given) != max(rows, 1) * len(names):
        raise DynamicsError(f'{field} has {len(given)} entries; expected {max(rows, 1)} rows of '
                            f'{len(names)}, for the joints {", ".join(names)}')
    if not np.isfinite(given).all():
        k = int(np.flatnonzero(~np.isfinite(given))[0])
        raise DynamicsError(f'{field}[{k}] is {given[k]}; every entry must be finite')
    return given.reshape(-1, len(names))
