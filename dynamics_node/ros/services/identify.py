"""Check goals of ~/identify, serve ~/identify_payload, and fill their results.

The worker process computes: ros/identification/jobs.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.friction_choice import friction_terms
from dynamics_node.identification.linear_fit import METHODS
from dynamics_node.identification.recording import check_one_axis, select_joints
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.identification.robot_fit import IdentificationOptions
from dynamics_node.identification.static_poses import StaticPoses, select_pose_joints
from dynamics_node.model.model import WORLD
from dynamics_node.observer.effort_meaning import Meaning, meaning_of
from dynamics_node.reports.identification_files import check_new
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.identification.drive_fields import drives_of
from dynamics_node.ros.identification.jobs import IdentifyJob, Outcome, PayloadJob
from dynamics_node.ros.identification.payload_samples import PayloadSamples, joined, mean_pose
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.settings import check_payload_name, duration_of
from dynamics_node.ros.services.unread_fields import refuse_unread
from dynamics_node.ros.shared_folders import SharedFolders
from dynamics_node.ros.state.joint_state_buffer import recording_of
from dynamics_node.srv import IdentifyPayload

SHORTEST, LONGEST = 5.0, 3600.0   # [s] of a live recording
QUESTIONS = ('motion', 'unloaded', 'pose', 'poses', 'forget')
# field of a request -> the questions that read it
READERS = {'frame': ('motion', 'poses'), 'duration': ('motion', 'unloaded', 'pose'),
           'joint_names': ('pose', 'poses'), 'position': ('poses',), 'effort': ('poses',),
           'approach': ('pose', 'poses'),
           **dict.fromkeys(('set', 'name', 'transition_time'), ('motion', 'poses'))}
DEFAULT_DURATION = {'motion': 10.0, 'unloaded': 10.0, 'pose': 1.0}   # [s]
# names of a PayloadEstimate's values, in the order of geometry_msgs/Inertia
SIGMAS = ('mass', 'cx', 'cy', 'cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


# The action ---------------------------------------------------------------------------------------

def identify_job(node_state: NodeState, goal: Identify.Goal) -> IdentifyJob:
    """Return the IdentifyJob of an Identify goal; raise a DynamicsError if it is invalid."""
    node_state.worker.check_free()
    robot, p = _robot(node_state), node_state.parameters
    options: dict[str, Any] = {'method': goal.method or 'weighted'}
    if options['method'] not in METHODS:
        raise DynamicsError(f"method is '{goal.method}'; expected one of {', '.join(METHODS)}")
    for field, greatest in (('prior_weight', np.inf), ('validation_share', 1.0),
                            ('cutoff', np.inf), ('stribeck_speed', np.inf)):
        value = getattr(goal, field)
        if not 0.0 <= value < greatest:
            raise DynamicsError(f'{field} is {value}; expected 0 for the default, or a positive '
                                f'number{" below 1" if greatest == 1.0 else ""}')
        if value and field != 'cutoff':
            options[field] = value
    if goal.friction:
        friction_terms(goal.friction)
        options['friction'] = goal.friction
    meaning, drives = None, drives_of(goal)
    if not goal.recording:
        meaning = _meaning(node_state, robot)
        if not SHORTEST <= goal.duration <= LONGEST:
            raise DynamicsError(f'duration is {goal.duration:g} s; expected {SHORTEST:g} to '
                                f'{LONGEST:g}, or the path of a recording')
    folders, overwrite = SharedFolders.of(p.shared_folders), p.overwrite_files
    if goal.validation and not goal.recording:
        raise DynamicsError('validation is given without recording: a live recording is validated '
                            'by its end')
    recording, output, validation = (path and folders.below(field, path) for field, path in (
        ('recording', goal.recording), ('output', goal.output), ('validation', goal.validation)))
    if output and not overwrite:
        check_new(output)
    return IdentifyJob(robot, node_state.current_robot.text, recording, goal.topic or TOPIC,
                       meaning, IdentificationOptions(**options, transmission=drives.transmission),
                       goal.cutoff or None, output,
                       folders, validation, overwrite, tuple(goal.columns), drives,
                       node_state.current_robot.settled_robot()[1])


def fill_result(result: Identify.Result, outcome: Outcome) -> Identify.Result:
    """Fill an Identify result."""
    result.success, result.message = not outcome.reasons, '. '.join(outcome.reasons)
    result.parameter_names, result.parameter_units = list(outcome.names), list(outcome.units)
    result.determined = outcome.determined.tolist()
    result.joint_names = list(outcome.joint_names)
    for field in ('before', 'values', 'sigmas', 'rms_before', 'rms_after', 'rms_torque'):
        setattr(result, field, convert.floats(getattr(outcome, field)))
    for field in ('error', 'error_share', 'gain', 'condition', 'samples', 'urdf', 'friction_yaml',
                  'friction', 'files'):
        setattr(result, field, getattr(outcome, field))
    result.warnings = list(outcome.warnings)
    return result


# The service --------------------------------------------------------------------------------------

def identify_payload(node_state: NodeState, request: IdentifyPayload.Request,
                     response: IdentifyPayload.Response
                     ) -> IdentifyPayload.Response | DeferredReply:
    """Return an IdentifyPayload response, deferred where a payload is computed."""
    robot = _robot(node_state)
    if request.question not in QUESTIONS:
        raise DynamicsError(f"question is '{request.question}'; expected one of "
                            f'{", ".join(QUESTIONS)}')
    refuse_unread(request, READERS)
    meaning = node_state.observer_parameters
    samples = node_state.payload_samples.of(robot, meaning.effort_meaning,
                                            meaning.torque_constants)
    if request.question == 'forget':
        samples.forget()
    elif request.question == 'unloaded':
        _meaning(node_state, robot)
        samples.unloaded = _last(node_state, request)
    elif request.question == 'pose':
        # Efforts stay as measured: PayloadJob converts all poses to torques at once.
        raw = select_joints(robot, recording_of(_last(node_state, request)))
        samples.add(mean_pose(raw, _approach(robot, raw.joint_names, request)))
    else:
        return _deferred(node_state, robot, samples, request, response)
    response.poses = len(samples)
    response.model_id = node_state.current_robot.settled_robot()[1]
    response.success = True
    return response


def _deferred(node_state: NodeState, robot: Robot, samples: PayloadSamples,
              request: IdentifyPayload.Request,
              response: IdentifyPayload.Response) -> DeferredReply:
    """Return the deferred reply of a request for which a payload is computed."""
    node_state.worker.check_free()
    duration = duration_of(request.transition_time)
    if request.set:
        check_payload_name(request.name)
    if robot.model.frame(request.frame).body == WORLD:
        raise DynamicsError(f"frame '{request.frame}' does not move: no torque depends on "
                            'its payload')
    if request.name in robot.payloads:  # the payload that is identified
        robot = robot.without_payload(request.name)
    if request.question == 'motion':
        unloaded = samples.unloaded
        joint_states = [*unloaded, *_last(node_state, request)]
        job = PayloadJob(robot, request.frame, _meaning(node_state, robot), None, len(unloaded))
    else:
        poses, joint_states = joined(samples.poses, _given(robot, request)), []
        if poses is None:
            raise DynamicsError("there are no poses: give some, or store some with question 'pose'")
        known = node_state.observer_parameters.effort_meaning != 'unknown'
        job = PayloadJob(robot, request.frame,
                         _meaning(node_state, robot) if known else None, poses)

    def fill(found: Any) -> IdentifyPayload.Response:
        current = node_state.current_robot
        if request.set:
            payload = found.frame, found.mass, found.com, found.inertia
            current.set_payload(request.name, payload, duration)
        return fill_payload(response, found, len(samples), current.settled_robot()[1])
    return DeferredReply(response, job, fill, joint_states)


def fill_payload(response: IdentifyPayload.Response, found: Any, poses: int,
                 model_id: str) -> IdentifyPayload.Response:
    """Fill an IdentifyPayload response with a PayloadEstimate."""
    response.success, response.poses, response.model_id = True, poses, model_id
    response.inertia_determined = found.inertia is not None
    tensor = found.inertia if response.inertia_determined else np.zeros((3, 3))
    response.payload = convert.inertia_message(found._replace(inertia=tensor.tolist()))
    sigma = found.sigma
    response.sigmas = [sigma[name] for name in SIGMAS if name in sigma]
    response.joint_names = list(found.joint_names)
    response.residual = convert.floats(found.residual_rms)
    response.samples, response.warnings = int(found.samples), list(found.warnings)
    return response


# Both ------------------------------------------------------------------------------------------

def _robot(node_state: NodeState) -> Robot:
    """Return the current robot after all transitions; refuse planar and floating joints."""
    current = node_state.current_robot
    current.check_exists()
    robot = current.settled_robot()[0]
    check_one_axis(robot)
    return robot


def _meaning(node_state: NodeState, robot: Robot) -> Meaning:
    """Return the meaning of efforts in joint_states; refuse an unknown one."""
    p = node_state.observer_parameters
    return meaning_of(robot, p.effort_meaning, p.torque_constants.named)


def _last(node_state: NodeState, request: IdentifyPayload.Request) -> list[tuple[int, bytes]]:
    """Return the joint states of the last seconds from the buffer."""
    _meaning(node_state, node_state.robot)
    node_state.catch_up()
    if request.duration < 0.0:
        raise DynamicsError(f'duration is {request.duration:g} s; expected a positive number, or 0 '
                            f'for {DEFAULT_DURATION[request.question]:g}')
    return node_state.buffer.last(request.duration or DEFAULT_DURATION[request.question])


def _given(robot: Robot, request: IdentifyPayload.Request) -> StaticPoses | None:
    """Return the StaticPoses of a request, None where it has none."""
    if not len(request.position) and not len(request.effort):
        return None
    names = tuple(request.joint_names) or robot.joint_names
    rows = len(request.position) // len(names)
    return select_pose_joints(robot, StaticPoses(
        names, _rows(robot, request, 'position', rows), _rows(robot, request, 'effort', rows),
        _rows(robot, request, 'approach', rows)))


def _approach(robot: Robot, joint_names: tuple[str, ...],
              request: IdentifyPayload.Request) -> np.ndarray | None:
    """Return the sign of each joint's velocity before the stop, in the order of names, or None."""
    rows = _rows(robot, request, 'approach', 1)
    if rows is None:
        return None
    names = tuple(request.joint_names) or robot.joint_names
    given: Any = select_pose_joints(robot, StaticPoses(names, rows, rows, rows))
    signs = dict(zip(given.joint_names, given.approach[0]))
    return np.array([signs.get(name, 0.0) for name in joint_names])


def _rows(robot: Robot, request: IdentifyPayload.Request, field: str,
          rows: int) -> Any:
    """Return a field as (rows, joints); None for an approach that is not given."""
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
