"""Where the joints must be for links to be where they shall."""

from contextlib import suppress
from dataclasses import replace

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.robot import arguments
from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import RequestState, fill, one_row
from dynamics_node.ros.state.measured_state import NEVER
from dynamics_node.task_space.target import Target, rotation_of

MOST_RESTARTS = 1000  # the node answers nobody else meanwhile: 30 ms for a 7-axis arm
# kind -> the fields of a FrameTarget that it reads
READS = {'pose': ('pose.position', 'pose.orientation', 'position_weight', 'rotation_weight'),
         'position': ('pose.position', 'position_weight'),
         'orientation': ('pose.orientation', 'rotation_weight'),
         'axis': ('axis', 'direction', 'rotation_weight'),
         'position_and_axis': ('pose.position', 'axis', 'direction', 'position_weight',
                               'rotation_weight')}
AS_THEY_COME = {'pose.position': (0.0, 0.0, 0.0), 'pose.orientation': (0.0, 0.0, 0.0, 1.0),
                'axis': (0.0, 0.0, 0.0), 'direction': (0.0, 0.0, 0.0),
                'position_weight': 1.0, 'rotation_weight': 1.0}
ARGUMENTS = {'pose.position': 'position', 'pose.orientation': 'orientation'}  # of Target


def inverse_kinematics(desk, request, response):
    """Fill an InverseKinematics response; what cannot be reached is no refusal."""
    if request.restarts > MOST_RESTARTS:
        raise DynamicsError(f'restarts is {request.restarts}; expected at most {MOST_RESTARTS}')
    case = _start(desk, request)
    robot = case.robot
    if not request.targets:
        raise DynamicsError('targets is empty; expected at least one')
    targets = [_named(k, _target, case, message) for k, message in enumerate(request.targets)]
    # Once for each kind, about a second; in NumPy a pose out of reach of a 7-axis arm takes three.
    with suppress(DynamicsError):  # compilation is off
        robot.compile(wait=True, targets=targets)
    found = robot.inverse_kinematics(targets, case.q, request.tolerance, request.restarts)
    response.solved, response.reason = bool(found.success), found.reason
    response.position = convert.floats(case.ordered_position(found.q))
    response.position_errors = convert.floats(found.error[:, 0])
    response.rotation_errors = convert.floats(found.error[:, 1])
    response.iterations, response.restarts = found.iterations, found.restarts
    return case.head(response)


def _start(desk, request):
    """Return the Case of where the search starts: as given, else as measured, else neutral.

    Targets that are seen from a link that moves need to know where it is: then neutral will not do.
    """
    desk.catch_up()
    robot, state = desk.robot, desk.state
    choice = desk.choose(request.joint_names)
    used = choice.others if request.position else np.arange(len(choice.names))
    if not any(_moves(robot.model, k, message) for k, message in enumerate(request.targets)):
        used = used[state.stamps[used] != NEVER]
    stamp = desk.stamp_of(used, 'position')
    left_out = np.where(np.isnan(state.q), robot.neutral(), state.q)
    q = one_row('position', fill('position', request.position, choice, choice.q, left_out), choice)
    if choice.floats and request.position:
        arguments.check_configuration(robot.model, q, 'position')
    return RequestState(desk, robot, desk.held.model_id, choice, q, None, stamp)


def _moves(model, k, message):
    """Return whether a target is seen from a link that the joints move."""
    frame = message.header.frame_id
    return frame != '' and _named(k, lambda: model.frame(frame).body >= 0)


def _target(case, message):
    """Return the Target of a FrameTarget, in the root's axes."""
    kind = message.kind
    if kind not in READS:
        raise DynamicsError(f"kind is '{kind}'; expected one of: {', '.join(READS)}")
    values = {'pose.position': convert.xyz(message.pose.position),
              'pose.orientation': convert.xyzw(message.pose.orientation),
              'axis': convert.xyz(message.axis), 'direction': convert.xyz(message.direction),
              'position_weight': message.position_weight,
              'rotation_weight': message.rotation_weight}
    for field, value in values.items():
        if field not in READS[kind] and np.any(value != np.array(AS_THEY_COME[field])):
            raise DynamicsError(f"{field} is given, but a target of kind '{kind}' has none; it "
                                f'reads {", ".join(READS[kind])}')
    target = Target(message.frame, **{ARGUMENTS.get(field, field): values[field]
                                      for field in READS[kind]})
    case.robot.model.frame(target.frame)
    seen_from = message.header.frame_id
    return _turned(target, case.robot.frame_pose(case.q, seen_from)) if seen_from else target


def _turned(target, pose):
    """Return a Target whose numbers are given in the axes of a pose (4, 4)."""
    R, p = pose[:3, :3], pose[:3, 3]
    changes = {}
    if target.position is not None:
        changes['position'] = p + R @ target.position
    if target.orientation is not None:
        changes['orientation'] = R @ rotation_of(target.orientation)
    if target.direction is not None:
        changes['direction'] = R @ target.direction
    return replace(target, **changes)


def _named(k, read, *arguments):
    """Return read(*arguments); what it refuses is said of target k."""
    try:
        return read(*arguments)
    except DynamicsError as error:
        raise DynamicsError(f'targets[{k}]: {error}') from None
