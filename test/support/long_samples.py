"""Make a valid request for every service that can take long, for any robot."""

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import Task
from dynamics_node.msg import FrameTarget, MotionTask
from dynamics_node.ros import convert
from dynamics_node.ros.client_messages import task_message
from dynamics_node.ros.services.table import SERVICES
from support.node_states import MANY


def request_of(service, robot, rng, states=3):
    """Return a request for a service, with some fields left out that the node has measured."""
    fields = _more(service, robot, rng)
    allowed = SERVICES[service].kind.Request.get_fields_and_field_types()
    single = service not in MANY
    rows = 1 if single else states
    if 'position' in allowed:
        fields['position'] = flat([robot.random_configuration(rng) for _ in range(rows)])
    for name in ('velocity', 'acceleration'):
        if name in allowed and (name == 'velocity' or fields.get('question', 'hybrid') in (
                'inverse', 'hybrid')):
            fields[name] = flat(rng.normal(size=(rows, robot.nv)))
    return SERVICES[service].kind.Request(**fields)


def _more(service, robot, rng):
    frame = robot.frame_names[-1]
    return {
        'batch_dynamics': {'question': 'terms'}, 'dynamics_derivatives': {'question': 'inverse'},
        'directional_derivative': {'question': 'inverse', 'gravity_rate': [1.0, 0.0, 0.0]},
        'derivative_terms': {'regressor': True, 'christoffel_symbols': True},
        'linearization': {'step': 0.01}, 'constrained_dynamics': {'question': 'hybrid'},
        'contact_and_impact': {'question': 'forces', 'contact_frames': [frame]},
        'kinematics': {'jacobians': True, 'accelerations': True},
        'joint_reactions': {'sensor_links': [frame]}, 'operational_space': {'frames': [frame]},
        'task_control': {'tasks': [task_message(Task('hold', 'frame', frame=frame))]},
        'inverse_kinematics': {'targets': [target(robot, frame, rng)], 'restarts': 1},
        'differential_kinematics': {'tasks': [MotionTask(kind='velocity', frame=frame)]},
        'trajectory_torques': {'trajectory': _trajectory(robot, rng), 'check_period': 0.1},
        'self_test': {'samples': 1, 'seed': 3}}.get(service, {})


def target(robot, frame, rng):
    """Return a FrameTarget for the position of a frame, at a random configuration."""
    message = FrameTarget(frame=frame, kind='position')
    position = robot.frame_pose(robot.random_configuration(rng), frame)[:3, 3]
    message.pose.position = convert.point(position)
    return message


def _trajectory(robot, rng):
    names = [joint.name for joint in robot.model.joints if joint.q.stop - joint.q.start == 1]
    return JointTrajectory(joint_names=names, points=[
        JointTrajectoryPoint(positions=flat(rng.normal(size=len(names))),
                             time_from_start=Duration(sec=k)) for k in range(3)])


def flat(x):
    return np.ravel(x).tolist()


def long_services():
    return sorted(name for name, each in SERVICES.items() if each.duration is not None)
